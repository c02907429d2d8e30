"""Who belongs to a project, and how somebody ceases to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.service.problems import NotAllowed, NotFound
from karat.store import desk, people, projects

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.store.database import Database
    from karat.store.people import User
    from karat.store.projects import Project


class Membership:
    """Changes roles and takes people out; what they answered stays, what they hold is given back at once."""

    def __init__(self, database: Database, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def change_role(self, project: Project, member: int, *, role: str, by: User) -> None:
        self._change(project, member, role, by)

    def remove(self, project: Project, member: int, *, by: User) -> None:
        self._change(project, member, None, by)

    def _change(self, project: Project, member: int, role: str | None, by: User) -> None:
        if member == by.id:
            raise NotAllowed("You cannot change your own role.")
        now = self._clock()
        with self._database.write() as connection:
            owners = people.lock_owners(connection, project.id)  # two owners may try to get rid of each other
            if by.id not in owners and not by.is_admin:
                raise NotAllowed("You are no owner of this project any more.")
            if people.role_in(connection, project.id, member) is None:
                raise NotFound(f"There is no member {member}.")
            if owners == [member] and role != "owner":
                raise NotAllowed("A project needs an owner: make somebody else one first.")
            if role is None:
                people.remove_member(connection, project.id, member)
            else:
                people.set_member(connection, project.id, member, role=role, now=now)
            if role in {None, "viewer"}:
                desk.release(connection, project.id, member)
            told = {} if role is None else {"role": role}
            projects.add_audit(connection, "remove member" if role is None else "change role", now=now, user_id=by.id,
                               project_id=project.id, member=member, **told)  # fmt: skip
