"""Handing out items and taking answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from karat import _check
from karat.service.problems import Conflict, NotAllowed, NotFound
from karat.service.votes import decide, more_wanted
from karat.store import answers, desk, gold, projects
from karat.store.answers import Event
from karat.store.desk import Task

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from sqlalchemy.engine import Connection

    from karat.service.campaign import Campaign
    from karat.service.feeds import Feeds
    from karat.store.database import Database
    from karat.store.projects import Project

MOST_TASKS = 20
MOST_NOTE = 5_000


class Hand(NamedTuple):
    """What a person holds, and if that is nothing, why."""

    tasks: list[Task]
    finished: bool
    """The person has judged all there is for now."""
    for_good: bool
    """And nothing more will come."""
    retry_after: float | None
    """Seconds after which asking again may bring something."""


class Answer(NamedTuple):
    """An answer as a person sends it; ``request`` is the sender's own name for it, so that it counts once."""

    item_id: int
    value: str
    request: str
    note: str | None = None
    seconds: float | None = None


class Assignment:
    """First come, first served, up to as many people an item as votes are wanted.

    Gold questions are mixed in by ``dice``, only ever in front of other items: where those run out, so do they.
    """

    def __init__(self, database: Database, feeds: Feeds, *, clock: Callable[[], float], dice: random.Random) -> None:
        self._database = database
        self._feeds = feeds
        self._clock = clock
        self._dice = dice

    # --- handing out

    def next_tasks(self, project: Project, campaign: Campaign, *, user_id: int, n: int = 3) -> Hand:
        """Return up to ``n`` items for a person: those already held, then new ones; leases are extended."""
        n = _check.whole("n", n, least=1, most=MOST_TASKS)
        if project.state != "open":
            closed = project.state == "closed"
            return Hand([], finished=closed, for_good=closed, retry_after=None)
        tasks = self._claim(project, campaign, user_id, n)
        if not tasks:
            self._feeds.replenish(project, campaign)
            tasks = self._claim(project, campaign, user_id, n)  # somebody else may have laid out more meanwhile
        if tasks:
            return Hand(tasks, finished=False, for_good=False, retry_after=None)
        with self._database.read() as connection:
            expiry = desk.next_expiry(connection, project.id)
        if expiry is not None:
            wait = max(1.0, min(expiry - self._clock(), 15.0))
            return Hand([], finished=False, for_good=False, retry_after=wait)
        done = self._feeds.is_done(project)
        with self._database.read() as connection:
            left = desk.count_free(connection, project.id, now=self._clock())
        # what is left waits for other people's votes: this person has given all of theirs
        for_good = done and self._feeds.ends(project)
        return Hand([], finished=done or left > 0, for_good=for_good, retry_after=None if for_good else 15.0)

    def _claim(self, project: Project, campaign: Campaign, user_id: int, n: int) -> list[Task]:
        now = self._clock()
        until = now + 60 * campaign.lease_minutes
        with self._database.read() as connection:
            mine = desk.held(connection, project.id, user_id)
        if len(mine) >= n and all(task.leased_until > (now + until) / 2 for task in mine):
            return mine[:n]  # nothing to write
        with self._database.write() as connection:
            desk.lock_person(connection, project.id, user_id)
            desk.renew(connection, project.id, user_id, until=until)
            missing = n - len(desk.held(connection, project.id, user_id))
            chance = campaign.gold_share / (1 - campaign.gold_share)  # gold questions for each other item
            while missing > 0:
                item_id = desk.claim(connection, project.id, user_id, now=now, until=until)
                if item_id is None:
                    break
                missing -= 1
                if chance and self._dice.random() < chance:
                    missing -= desk.deal_gold(connection, project.id, user_id, before=item_id, now=now, until=until)
            return desk.held(connection, project.id, user_id)[:n]

    def release(self, project: Project, *, user_id: int) -> int:
        """Give back what a person holds, on leaving."""
        with self._database.write() as connection:
            return desk.release(connection, project.id, user_id)

    # --- taking answers

    def answer(
        self,
        project: Project,
        campaign: Campaign,
        answer: Answer,
        *,
        user_id: int,
        alongside: Callable[[Connection, Event, bool], None] | None = None,
    ) -> Event:
        """Record an answer, or a changed one, once; when this returns it is on disk.

        ``alongside`` is called in the same transaction once nothing refuses the answer, with its line of the ledger and
        whether that is new; what it raises takes the answer back.
        """
        campaign.meaning(answer.value)
        _check_note(answer.note)
        if answer.seconds is not None:
            _check.number("seconds", answer.seconds, least=0, most=1e6)
        given = {"value": answer.value, "note": answer.note or None, "seconds": answer.seconds}
        return self._act(project, campaign, "answer", answer.item_id, answer.request, user_id, given, alongside)

    def skip(self, project: Project, campaign: Campaign, *, item_id: int, request: str, user_id: int) -> Event:
        """Leave an item to others; the person does not see it again unless the skip is undone."""
        return self._act(project, campaign, "skip", item_id, request, user_id, {})

    def undo(self, project: Project, campaign: Campaign, *, request: str, user_id: int) -> Event | None:
        """Take back the person's latest answer or skip; None if there is none left."""
        _check_request(request)
        with self._database.write() as connection:
            desk.lock_person(connection, project.id, user_id)
            known = answers.find_request(connection, user_id, request)
            if known is not None:
                return _same(known, kind="undo", item_id=known.item_id)
            last = answers.last_to_undo(connection, project.id, user_id)
            if last is None:
                return None
            desk.lock_item(connection, last.item_id)
            line = answers.append(
                connection,
                "undo",
                project_id=project.id,
                item_id=last.item_id,
                user_id=user_id,
                request=request,
                now=self._clock(),
                undoes=last.id,
            )
            task = desk.find_task(connection, project.id, last.item_id)
            assert task is not None  # noqa: S101  # an item in the ledger stays
            self._settle(connection, project, campaign, task, user_id)
            return last._replace(id=line, kind="undo", undoes=last.id, value=None, request=request)

    def history(self, project: Project, *, user_id: int, most: int = 50) -> list[dict[str, Any]]:
        """Return a person's own answers and skips as they stand, latest first."""
        with self._database.read() as connection:
            rows = answers.history(connection, project.id, user_id, most=_check.whole("most", most, least=1, most=1000))
        names = ("item_id", "kind", "value", "note", "at", "name", "payload")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _act(
        self,
        project: Project,
        campaign: Campaign,
        kind: str,
        item_id: int,
        request: str,
        user_id: int,
        given: dict[str, Any],
        alongside: Callable[[Connection, Event, bool], None] | None = None,
    ) -> Event:
        _check_request(request)
        with self._database.write() as connection:
            desk.lock_person(connection, project.id, user_id)
            known = answers.find_request(connection, user_id, request)
            if known is not None:
                same = _same(known, kind=kind, item_id=item_id, value=given.get("value"))
                if alongside is not None:
                    alongside(connection, same, False)
                return same
            if project.state == "closed":
                raise NotAllowed("The project is closed.")
            task = desk.find_task(connection, project.id, item_id)
            if task is None:
                raise NotFound(f"There is no item {item_id} in this project.")
            if not desk.was_handed_out(connection, item_id, user_id):
                raise NotAllowed(f"Item {item_id} was not handed out to you.")
            desk.lock_item(connection, item_id)
            now = self._clock()
            line = answers.append(
                connection,
                kind,
                project_id=project.id,
                item_id=item_id,
                user_id=user_id,
                request=request,
                now=now,
                **given,
            )
            self._settle(connection, project, campaign, task, user_id)
            values = (given.get("value"), given.get("note"), given.get("seconds"))
            event = Event(line, project.id, item_id, user_id, kind, None, *values, request, now)
            if alongside is not None:
                alongside(connection, event, True)
            return event

    def _settle(self, connection: Connection, project: Project, campaign: Campaign, task: Task, user_id: int) -> None:
        """Make slot, vote and label of an item agree with what the ledger says by now."""
        standing = answers.standing(connection, task.item_id, user_id)
        answers.set_vote(connection, standing, item_id=task.item_id, user_id=user_id, project_id=project.id)
        if standing is None:
            until = self._clock() + 60 * campaign.lease_minutes
            desk.take_back(connection, project.id, task, user_id, until=until)
        elif standing.kind == "skip":
            desk.free_after_skip(connection, task.item_id, user_id)
        else:
            desk.take_for_answer(connection, project.id, task, user_id)
        if task.is_gold:
            return  # its answer is known, and it is no draw
        settle_votes(connection, project.id, campaign, task.item_id)


def settle_votes(connection: Connection, project_id: int, campaign: Campaign, item_id: int) -> None:
    """Ask for more votes on an item where they are wanted, and write the label that they come to."""
    if campaign.extra:
        meanings = [campaign.meaning(value) for value in answers.votes_on(connection, item_id)]
        wanted = len(meanings) + more_wanted(meanings, wanted=campaign.votes, extra=campaign.extra)
        desk.ask_for(connection, project_id, item_id, max(campaign.votes, wanted))
    settle_label(connection, campaign, item_id)


def settle_label(connection: Connection, campaign: Campaign, item_id: int) -> None:
    """Write the label that an item's own votes, its known answer or its adjudication come to."""
    ruling = answers.adjudicated(connection, item_id)
    if ruling is not None:
        projects.set_label(connection, item_id, campaign.meaning(ruling))
        return
    meanings = [campaign.meaning(value) for value in answers.votes_on(connection, item_id)]
    label = decide(meanings, wanted=campaign.votes, extra=campaign.extra, tie=campaign.tie)
    truth = None if label is None else gold.truth_of(connection, item_id)
    projects.set_label(connection, item_id, label if truth is None else truth)


def _same(known: Event, **expected: Any) -> Event:
    """Return what was recorded for a request that came again; another content under the same name is refused."""
    for name, value in expected.items():
        if getattr(known, name) != value:
            raise Conflict(f"The request {known.request!r} was already used for something else.")
    return known


def _check_request(request: str) -> None:
    if not 1 <= len(request) <= 64 or not request.isprintable():
        raise _check.refuse("request", "a name of 1 to 64 characters", request[:80])


def _check_note(note: str | None) -> None:
    if note is not None and (len(note) > MOST_NOTE or "\x00" in note):
        raise _check.refuse("note", f"text of at most {MOST_NOTE:,} characters", f"{len(note):,} characters")
