"""Submissions: checked, priced, accepted into the pool, replaced, retracted."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from karat import _check
from karat.documents import relations
from karat.errors import InvalidData, InvalidInput, KaratError
from karat.formats.sizes import refuse_oversize
from karat.service import money
from karat.service.problems import Conflict, NotAllowed, NotFound
from karat.service.sources import called
from karat.store import evaluations, projects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from karat.pool.pool import Pool
    from karat.pool.state import System
    from karat.service.allowances import Allowances
    from karat.service.campaign import Campaign
    from karat.service.evaluations import Evaluations
    from karat.service.pools import Pools
    from karat.service.prices import Prices
    from karat.store.database import Database
    from karat.store.evaluations import EvaluationRow, Submission
    from karat.store.people import User
    from karat.store.projects import Project

MOST_SYSTEM = 100
MOST_WAITING = 30
"""Systems of one person that may wait to be accepted."""
ITEM_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".run", ".trec")
MOST_PREDICTIONS = 10_000_000
"""Of a submission of items; one of relations has a limit of its own."""

RETRACTED = "This submission was retracted."


class Cost(NamedTuple):
    """What labels cost, with all their votes."""

    labels: int
    answers: int
    money: float
    currency: str


def cost_of(campaign: Campaign, labels: int) -> Cost:
    """Return what so many labels cost."""
    n_answers = labels * campaign.votes
    return Cost(labels, n_answers, money.total((n_answers, campaign.price)), campaign.currency)


class Submissions:
    """All submissions to the evaluations of an installation."""

    def __init__(
        self,
        database: Database,
        pools: Pools,
        tasks: Evaluations,
        allowances: Allowances,
        prices: Prices,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._pools = pools
        self._tasks = tasks
        self._allowances = allowances
        self._prices = prices
        self._clock = clock

    def submit(self, project: Project, system: str, path: Path, *, by: User, name: str) -> Submission:
        """Check a file of predictions and say what its labels will cost; nothing is spent and nobody is asked yet.

        Parameters
        ----------
        system
            The system's name; it belongs to whoever submitted it first.
        path
            The file, whose ending says its format; it is moved away.
        name
            What its sender calls it.
        """
        row = self._tasks.row(project)
        system = " ".join(system.split())
        if not 1 <= len(system) <= MOST_SYSTEM or not system.isprintable():
            raise _check.refuse("system", f"a name of 1 to {MOST_SYSTEM} characters", system[:120])
        if project.state == "closed":
            raise NotAllowed("The evaluation is closed.")
        before = self._stored(project.id)
        _refuse_alike(before, system)
        _refuse_foreign(before, system, by)
        _refuse_many(before, system, by)
        with called(path, name):
            checked = self._check(row, path)
            price = self._prices.of_file(row, checked)
        with self._database.write() as connection:
            projects.lock_project(connection, project.id)
            before = evaluations.list_submissions(connection, project.id)
            _refuse_alike(before, system)
            _refuse_foreign(before, system, by)  # again: others may have submitted while the file was checked
            _refuse_many(before, system, by)
            id_ = evaluations.add_submission(
                connection, project_id=project.id, user_id=by.id, system=system, state="checked", file=name[:200],
                created_at=self._clock(), **price,
            )  # fmt: skip
            # inside the transaction: a file that cannot be kept leaves no row behind
            checked.replace(self._pools.incoming(row) / f"{id_}{checked.suffix}")
            projects.add_audit(connection, "submit", now=self._clock(), user_id=by.id, project_id=project.id,
                               system=system, file=name[:200])  # fmt: skip
        with self._pools.use(row):  # not while an earlier one comes into the pool
            for each in before:  # only the latest can be accepted
                if each.system == system and each.state == "checked":
                    self._forget(row, each.id)
        return self.find(project, id_)

    def _check(self, row: EvaluationRow, path: Path) -> Path:
        """Return the file that the pool takes; of relations, one with ids."""
        task = self._tasks.task(row)
        if task.kind != "relations":
            if path.suffix not in ITEM_FORMATS:
                raise InvalidData(f"{path.name}: unknown ending; known are {', '.join(ITEM_FORMATS)}.")
            refuse_oversize(path, most_rows=MOST_PREDICTIONS)
            return path

        def texts_of(names: set[str]) -> dict[str, str]:
            with self._database.read() as connection:
                return evaluations.texts_of(connection, row.project_id, names)

        instances = relations.check_relations(path, texts_of=texts_of, predicates=task.predicates)
        checked = path.with_name("instances.jsonl")
        relations.write_instances(instances, checked)
        return checked

    def list(self, project: Project, *, of: User | None = None) -> list[Submission]:
        """Return all submissions, or those of one person; those that wait with what they would cost by now."""
        row = self._tasks.row(project)
        wanted = [each for each in self._stored(project.id) if of is None or each.user_id == of.id]
        return [self._prices.now(row, each) for each in wanted]

    def find(self, project: Project, id: int) -> Submission:
        """Return one submission; if it waits, with what it would cost by now."""
        return self._prices.now(self._tasks.row(project), self._find(project, id))

    def _stored(self, project_id: int) -> Sequence[Submission]:
        with self._database.read() as connection:
            return evaluations.list_submissions(connection, project_id)

    def _find(self, project: Project, id: int) -> Submission:
        with self._database.read() as connection:
            found = evaluations.list_submissions(connection, project.id, id=id)
        if not found:
            raise NotFound(f"There is no submission {id}.")
        return found[0]

    def _forget(self, row: EvaluationRow, id: int) -> None:
        """Remove the file of a submission that waits no longer."""
        for file in self._pools.incoming(row).glob(f"{id}.*"):
            file.unlink(missing_ok=True)

    def accept_if_allowed(self, project: Project, campaign: Campaign, id: int, *, by: User) -> Submission:
        """Accept a submission if the allowance covers the most that it may need; otherwise it waits for the owner."""
        row = self._tasks.row(project)
        with self._pools.use(row) as pool:  # what is counted is what is accepted
            found = self._prices.under(pool, row, self._find(project, id))
            if found.state != "checked" or not self._allowances.use(project, found.most_labels):
                return found
            is_used = False
            try:
                is_used = self._let_in(row, pool, found, by=by, unasked=True)
            finally:
                if not is_used:
                    self._allowances.give_back(project, found.most_labels)
            self._forget(row, id)
        self._tasks.replenish(project, campaign)
        return self.find(project, id)

    def accept(self, project: Project, campaign: Campaign, id: int, *, by: User, most: int | None = None) -> Submission:
        """Let a submission into the pool and put what it needs before people: from here on it costs.

        Parameters
        ----------
        most
            The labels that its price named as the most; if it is more by now, nothing is accepted.
        """
        row = self._tasks.row(project)
        with self._pools.use(row) as pool:
            found = self._prices.under(pool, row, self._find(project, id))
            if found.state == "accepted":
                return found
            if found.state == "checked" and most is not None and found.most_labels > most:
                raise Conflict(f"{found.system!r} needs up to {found.most_labels:,} labels by now, not {most:,}: "
                               "others came in since. Look at its price again.")  # fmt: skip
            self._let_in(row, pool, found, by=by, unasked=False)
            self._forget(row, id)
        self._tasks.replenish(project, campaign)
        return self.find(project, id)

    def _let_in(self, row: EvaluationRow, pool: Pool, found: Submission, *, by: User, unasked: bool) -> bool:
        """Let a submission into the pool; False if another process did meanwhile."""
        _refuse_settled(self._stored(row.project_id), found)
        added = self._add(row, pool, found)
        with self._database.write() as connection:
            projects.lock_project(connection, row.project_id)
            (now,) = evaluations.list_submissions(connection, row.project_id, id=found.id)
            waited = now.version is None and now.state != "retracted"  # or a newer one was submitted just now
            if waited:
                evaluations.set_submission(connection, found.id, state="accepted", version=added.version)
                projects.add_audit(connection, "accept", now=self._clock(), user_id=by.id, project_id=row.project_id,
                                   system=found.system, version=added.version, unasked=unasked)  # fmt: skip
        if now.state == "retracted" and added in pool.systems:  # taken back while it was added
            pool.retract(found.system)
            raise Conflict(RETRACTED)
        return waited

    def _add(self, row: EvaluationRow, pool: Pool, found: Submission) -> System:
        """Return the system of a submission in the pool, which is added once, however often that is tried."""
        file = self._prices.file(row, found.id)
        pool.refresh()  # after the look at the file: who adds it writes to the log first
        receipt = str(found.id)
        if file is not None:
            try:
                with called(file, found.file):
                    pool.add(found.system, file, team=found.user, replace=True, receipt=receipt)
            except (KaratError, duckdb.Error):
                if file.exists():
                    raise
        added = next((system for system in pool.state.systems if system.receipt == receipt), None)
        if added is None:
            _refuse_settled(self._stored(row.project_id), found)
            raise InvalidInput("The file of this submission is gone; submit it again.")
        return added

    def retract(self, project: Project, id: int, *, by: User) -> None:
        """Take a submission back; its labels stay and go on serving the others."""
        row = self._tasks.row(project)
        with self._pools.use(row) as pool:
            found = self._find(project, id)
            if found.state in {"retracted", "replaced"}:
                return
            if found.state == "accepted" and any(system.name == found.system for system in pool.systems):
                pool.retract(found.system)
            with self._database.write() as connection:
                evaluations.set_submission(connection, id, state="retracted", version=found.version)
                projects.add_audit(connection, "retract", now=self._clock(), user_id=by.id, project_id=project.id,
                                   system=found.system)  # fmt: skip
            self._forget(row, id)


def _refuse_settled(stored: Sequence[Submission], found: Submission) -> None:
    """Refuse to let in what was retracted or submitted again."""
    if next(each.state for each in stored if each.id == found.id) == "retracted":
        raise Conflict(RETRACTED)
    if any(each.system == found.system and each.id > found.id for each in stored):
        raise Conflict(f"{found.system!r} was submitted again since; accept the latest.")


def _refuse_alike(before: Sequence[Submission], system: str) -> None:
    """Refuse a name that people would take for another one."""
    alike = next((each.system for each in before if _plain(each.system) == _plain(system)), system)
    if alike != system and all(each.system != system for each in before):
        reason = "only in case" if alike.casefold() == system.casefold() else "only in case or in Unicode form"
        raise Conflict(f"The name {system!r} differs {reason} from {alike!r}, a system that was submitted before; "
                       "write it the same or choose another.")  # fmt: skip


def _plain(name: str) -> str:
    """Return what names have in common that look alike."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _refuse_foreign(before: Sequence[Submission], system: str, by: User) -> None:
    owner = next((each for each in before if each.system == system), None)
    if owner is not None and owner.user_id != by.id:
        raise Conflict(f"The system {system!r} belongs to somebody else; choose another name.")


def _refuse_many(before: Sequence[Submission], system: str, by: User) -> None:
    """Refuse one more system of a person too many of whose systems wait."""
    waiting = [each for each in before if each.user_id == by.id and each.state == "checked" and each.system != system]
    if len(waiting) >= MOST_WAITING:
        raise Conflict(f"{len(waiting)} of your systems wait to be accepted; retract one or wait for the owner.")
