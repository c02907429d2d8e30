"""What submissions may cost without the owner being asked, and what of it is used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from karat.service.evaluation_task import Allowance, EvaluationTask
from karat.store import evaluations, projects

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import Connection

    from karat.service.evaluations import Evaluations
    from karat.store.database import Database
    from karat.store.people import User
    from karat.store.projects import Project


class Allowances:
    """The allowance of each evaluation; whoever changes one holds its project alone."""

    def __init__(self, database: Database, tasks: Evaluations, *, clock: Callable[[], float]) -> None:
        self._database = database
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

    def use(self, project: Project, labels: int, *, only_if_covered: bool = True) -> bool:
        """Count labels against the allowance (or give them back); return whether it covers them."""
        with self._database.write() as connection:
            task = self._locked_task(connection, project)
            if only_if_covered and not task.allowance.covers(labels):
                return False
            allowance = replace(task.allowance, used=task.allowance.used + labels)
            evaluations.set_settings(connection, project.id, replace(task, allowance=allowance).to_dict())
        return True
