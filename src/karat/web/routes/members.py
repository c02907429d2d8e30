"""Who belongs to a project."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from karat.service.problems import NotAllowed, NotFound
from karat.store import people, projects
from karat.web import shapes
from karat.web.deps import InProject, Visit

router = APIRouter(prefix="/api/projects/{project}", tags=["members"])
Manage = Annotated[Visit, Depends(InProject("manage", "manage"))]


@router.get("/members")
def list_members(visit: Manage) -> list[shapes.Member]:
    with visit.house.database.read() as connection:
        rows = people.list_members(connection, visit.project.id)
    return [shapes.Member(id=id_, name=name, role=role) for id_, name, role in rows]


@router.put("/members/{member}", status_code=204)
def change_role(member: shapes.ItemId, body: shapes.Role, visit: Manage) -> Response:
    _not_oneself(member, visit)
    now = visit.house.clock()
    with visit.house.database.write() as connection:
        if people.role_in(connection, visit.project.id, member) is None:
            raise NotFound(f"There is no member {member}.")
        people.set_member(connection, visit.project.id, member, role=body.role, now=now)
        projects.add_audit(connection, "change role", now=now, user_id=visit.caller.user.id,
                           project_id=visit.project.id, member=member, role=body.role)  # fmt: skip
    return Response(status_code=204)


@router.delete("/members/{member}", status_code=204)
def remove_member(member: shapes.ItemId, visit: Manage) -> Response:
    """Take somebody out of the project; what they answered stays."""
    _not_oneself(member, visit)
    with visit.house.database.write() as connection:
        if not people.remove_member(connection, visit.project.id, member):
            raise NotFound(f"There is no member {member}.")
        projects.add_audit(connection, "remove member", now=visit.house.clock(), user_id=visit.caller.user.id,
                           project_id=visit.project.id, member=member)  # fmt: skip
    visit.house.assignment.release(visit.project, user_id=member)
    return Response(status_code=204)


@router.post("/invitations", status_code=201)
def invite(body: shapes.Invite, request: Request, visit: Manage) -> shapes.Invitation:
    """Make a link with which one person can join, within two weeks."""
    secret = visit.house.access.invite(visit.project, role=body.role, by=visit.caller.user.id)
    base = request.app.state.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    return shapes.Invitation(link=f"{base}/#/join/{secret}")


def _not_oneself(member: int, visit: Visit) -> None:
    if member == visit.caller.user.id:
        raise NotAllowed("You cannot change your own role.")
