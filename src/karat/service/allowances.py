"""What submissions may cost without the owner being asked, and what of it is used."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.service.evaluation_task import Allowance, EvaluationTask
from karat.store import evaluations, projects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy.engine import Connection

    from karat.pool.state import State
    from karat.service.evaluations import Evaluations
    from karat.service.pools import Pools
    from karat.store.database import Database
    from karat.store.evaluations import Submission
    from karat.store.people import User
    from karat.store.projects import Project


def labels_beyond(state: State, submissions: Iterable[Submission]) -> int:
    """Return how many more labels the draws asked for than the submissions in them were each said to need at most.

    Drawn together, systems can need more: of a relation that is drawn for one, the instances of all are asked.
    """
    said = {(each.system, each.version): each.most_labels for each in submissions}
    drawn = {number for draw in state.draws for number in draw.systems}
    versions: Counter[str] = Counter()
    expected = 0
    for system in state.systems:
        versions[system.name] += 1
        if system.number in drawn:
            expected += said.get((system.name, versions[system.name]), 0)
    return max(sum(draw.n_asked for draw in state.draws) - expected, 0)


class Allowances:
    """The allowance of each evaluation; whoever changes one holds its project alone."""

    def __init__(self, database: Database, pools: Pools, tasks: Evaluations, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._pools = pools
        self._tasks = tasks
        self._clock = clock

    def set(self, project: Project, *, each: int, in_all: int, by: User) -> Allowance:
        """Set what submissions may cost without the owner being asked; what was used so far stays used."""
        self._tasks.row(project)
        with self._database.write() as connection:
            task = self._locked_task(connection, project)
            allowance = Allowance(each=each, in_all=in_all, used=task.allowance.used)
            evaluations.set_settings(connection, project.id, replace(task, allowance=allowance).to_dict())
            projects.add_audit(connection, "allow", now=self._clock(), user_id=by.id, project_id=project.id,
                               each=each, in_all=in_all)  # fmt: skip
        return allowance

    def _locked_task(self, connection: Connection, project: Project) -> EvaluationTask:
        """Return the task as it is now; nobody else changes it until the transaction ends."""
        projects.lock_project(connection, project.id)
        row = evaluations.find_evaluation(connection, project.id)
        assert row is not None  # noqa: S101
        return self._tasks.task(row)

    def beyond(self, project: Project) -> int:
        """Return what draws took beyond what submissions were counted with: it is of the allowance too."""
        with self._pools.use(self._tasks.row(project)) as pool, self._database.read() as connection:
            return labels_beyond(pool.state, evaluations.list_submissions(connection, project.id))

    def use(self, project: Project, labels: int) -> bool:
        """Count labels against the allowance if it covers them; return whether it does."""
        # the pool first, as everybody does who holds both: nothing is drawn or accepted between reading and counting
        with self._pools.use(self._tasks.row(project)) as pool, self._database.write() as connection:
            task = self._locked_task(connection, project)
            pool.refresh()  # other processes hold the project, not this pool
            beyond = labels_beyond(pool.state, evaluations.list_submissions(connection, project.id))
            if not task.allowance.covers(labels, beyond=beyond):
                return False
            self._count(connection, project, task, labels)
        return True

    def give_back(self, project: Project, labels: int) -> None:
        """Count labels no longer that came to nothing."""
        with self._database.write() as connection:
            self._count(connection, project, self._locked_task(connection, project), -labels)

    def _count(self, connection: Connection, project: Project, task: EvaluationTask, labels: int) -> None:
        allowance = replace(task.allowance, used=task.allowance.used + labels)
        evaluations.set_settings(connection, project.id, replace(task, allowance=allowance).to_dict())
