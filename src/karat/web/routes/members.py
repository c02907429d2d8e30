"""Who belongs to a project."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from karat.store import people
from karat.web.deps import InProject, Visit
from karat.web.shapes import people as shapes
from karat.web.shapes.base import ItemId

router = APIRouter(prefix="/api/projects/{project}", tags=["members"])
Manage = Annotated[Visit, Depends(InProject("manage", "manage"))]


@router.get("/members")
def list_members(visit: Manage) -> list[shapes.Member]:
    with visit.house.database.read() as connection:
        rows = people.list_members(connection, visit.project.id)
    return [shapes.Member(id=id_, name=name, role=role) for id_, name, role in rows]


@router.put("/members/{member}", status_code=204)
def change_role(member: ItemId, body: shapes.Role, visit: Manage) -> Response:
    visit.house.membership.change_role(visit.project, member, role=body.role, by=visit.caller.user)
    return Response(status_code=204)


@router.delete("/members/{member}", status_code=204)
def remove_member(member: ItemId, visit: Manage) -> Response:
    """Take somebody out of the project: what they answered stays, what they hold goes to others."""
    visit.house.membership.remove(visit.project, member, by=visit.caller.user)
    return Response(status_code=204)


@router.post("/invitations", status_code=201)
def invite(body: shapes.Invite, request: Request, visit: Manage) -> shapes.Invitation:
    """Make a link with which one person can join, within two weeks."""
    secret = visit.house.access.invite(visit.project, role=body.role, by=visit.caller.user.id)
    base = request.app.state.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    return shapes.Invitation(link=f"{base}/#/join/{secret}")
