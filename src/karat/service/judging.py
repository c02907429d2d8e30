"""Judge models as annotators: named and marked as models; their votes count only where a project's owner says so."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from karat.judges.chat import Chat, NoAnswer
from karat.judges.settings import Judge, find_judge
from karat.judges.verdicts import ask_for_word, read_word
from karat.service.assignment import settle_votes
from karat.service.problems import NotAllowed
from karat.service.shown import shown_columns
from karat.store import bulk, guesses, people, projects
from karat.store.bulk import Given

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from karat.service.campaign import Campaign
    from karat.service.studies import Studies
    from karat.store.database import Database
    from karat.store.projects import Project

MARK = " (model)"
"""Names of people who sign in have no spaces, so a model is never taken for one of them."""
MOST_AT_ONCE = 100


class Standing(NamedTuple):
    """How far a judge is in a project."""

    name: str
    model: str
    price: float
    currency: str
    counts: bool
    said: int
    left: int
    cost_of_rest: float
    compared: int
    agrees: float | None
    """Share of the labels that people gave and it did not have a vote in; None where it has."""


class Turn(NamedTuple):
    """What asking about a few items came to."""

    said: int
    unclear: int
    failed: int
    calls: int
    cost: float
    left: int
    problem: str


class Judging:
    """The judges of an installation, as its settings name them."""

    def __init__(
        self, database: Database, studies: Studies, judges: Mapping[str, Judge], *, clock: Callable[[], float]
    ) -> None:
        self._database = database
        self._studies = studies
        self._judges = dict(judges)
        self._clock = clock

    def standings(self, project: Project, campaign: Campaign) -> list[Standing]:
        return [self._standing(project, campaign, judge) for judge in self._judges.values()]

    def vote(self, project: Project, campaign: Campaign, name: str, *, n: int, by: int) -> Turn:
        """Ask a judge about up to ``n`` drawn items that it has said nothing about."""
        judge = find_judge(self._judges, name)
        if project.state == "closed":
            raise NotAllowed("The project is closed.")
        with self._database.write() as connection:
            user_id = people.ensure_user(connection, judge.name + MARK, kind="model", now=self._clock())
        with self._database.read() as connection:
            rows = guesses.items_left(connection, project.id, user_id, most=min(n, MOST_AT_ONCE))
        words = {word.lower(): option.value for option in campaign.options for word in (option.label, option.value)}
        offered = [option.value for option in campaign.options]
        unsure = next((option.value for option in campaign.options if option.meaning == "unsure"), None)
        proxy = (self._studies.resource_of(project) or {}).get("proxy")

        def ask(chat: Chat, payload: str) -> str | NoAnswer:
            fields = json.loads(payload)
            shown = {column: fields[column] for column in shown_columns(fields, campaign, proxy=proxy)}
            try:
                return chat.reply(ask_for_word(campaign.question, shown, offered))
            except NoAnswer as error:
                return error

        given, unclear, failed, problem = [], 0, 0, ""
        with Chat(judge) as chat, ThreadPoolExecutor(judge.at_once) as pool:
            replies = pool.map(lambda row: ask(chat, row[1]), rows)
            for (item_id, _), reply in zip(rows, replies, strict=True):
                if isinstance(reply, NoAnswer):
                    failed, problem = failed + 1, problem or str(reply)
                    continue
                value = read_word(reply, words)
                unclear += value is None
                if value is None and unsure is None:
                    continue
                request = f"judge {item_id}"
                given.append(Given(item_id, user_id, value or str(unsure), None, None, self._clock(), request))
            calls = chat.calls
        self._write(project, campaign, user_id, given, by=by, judge=judge)
        with self._database.read() as connection:
            left = guesses.count_left(connection, project.id, user_id)
        return Turn(len(given), unclear, failed, calls, judge.cost(calls), left, problem)

    def let_count(self, project: Project, campaign: Campaign, name: str, *, counts: bool, by: int) -> None:
        """Say whether a judge's votes count like people's; both ways, at any time."""
        judge = find_judge(self._judges, name)
        with self._database.write() as connection:
            bulk.lock_project(connection, project.id)
            user_id = people.ensure_user(connection, judge.name + MARK, kind="model", now=self._clock())
            if guesses.counts(connection, project.id, user_id) == counts:
                return
            if counts:
                touched = guesses.let_count(connection, project.id, user_id)
            else:
                touched = guesses.let_not_count(connection, project.id, user_id, votes_wanted=campaign.votes)
            for item_id in touched:
                settle_votes(connection, project.id, campaign, item_id)
            action = "let judge count" if counts else "let judge not count"
            projects.add_audit(connection, action, now=self._clock(), user_id=by, project_id=project.id, judge=name)

    def _write(
        self, project: Project, campaign: Campaign, user_id: int, given: list[Given], *, by: int, judge: Judge
    ) -> None:
        if not given:
            return
        with self._database.write() as connection:
            bulk.lock_project(connection, project.id)
            known = {item_id for item_id, _ in guesses.items_left(connection, project.id, user_id, most=10**9)}
            fresh = [answer for answer in given if answer.item_id in known]  # somebody may have asked at the same time
            as_votes = guesses.counts(connection, project.id, user_id)
            guesses.record(connection, project.id, fresh, as_votes=as_votes)
            if as_votes:
                for answer in fresh:
                    settle_votes(connection, project.id, campaign, answer.item_id)
            projects.add_audit(connection, "ask judge", now=self._clock(), user_id=by, project_id=project.id,
                               judge=judge.name, said=len(fresh))  # fmt: skip

    def _standing(self, project: Project, campaign: Campaign, judge: Judge) -> Standing:
        with self._database.read() as connection:
            user = people.find_user(connection, name=judge.name + MARK)
            user_id = 0 if user is None else user.id
            counts = guesses.counts(connection, project.id, user_id)
            said = guesses.count(connection, project.id, user_id)
            left = guesses.count_left(connection, project.id, user_id)
            pairs = [] if counts else guesses.labelled_guesses(connection, project.id, user_id)
        right = sum(campaign.meaning(value) == label for value, label in pairs)
        return Standing(
            name=judge.name,
            model=judge.model,
            price=judge.price,
            currency=judge.currency,
            counts=counts,
            said=said,
            left=left,
            cost_of_rest=judge.cost(left),
            compared=len(pairs),
            agrees=right / len(pairs) if pairs else None,
        )
