"""Signing in and out."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from karat.service.access import SESSION_DAYS, Caller
from karat.service.keys import check_keys, read_keys
from karat.service.problems import NotFound
from karat.store import people, projects
from karat.web.deps import COOKIE, Anyone, SignedIn, house_of
from karat.web.shapes import people as shapes
from karat.web.shapes.base import ItemId

router = APIRouter(prefix="/api", tags=["sessions"])


@router.get("/session")
def who_am_i(caller: Annotated[Caller | None, Depends(Anyone())]) -> shapes.Me | None:
    """Return who you are; null if nobody is signed in."""
    if caller is None:
        return None
    user = caller.user
    return shapes.Me(name=user.name, is_admin=user.is_admin, has_password=user.password_hash is not None,
                     keys=read_keys(user.own_keys))  # fmt: skip


@router.post("/session", status_code=204, dependencies=[Depends(Anyone())])
def sign_in(body: shapes.SignIn, request: Request) -> Response:
    """Sign in with name and password; the session comes as a cookie."""
    access = house_of(request).access
    return _with_cookie(
        request, access.sign_in(body.name, body.password, address=_address(request), client=_client(request))
    )


@router.post("/session/link", status_code=204, dependencies=[Depends(Anyone())])
def use_link(body: shapes.UseLink, request: Request) -> Response:
    """Sign in with a one-time link."""
    return _with_cookie(request, house_of(request).access.use_sign_in_link(body.link, client=_client(request)))


@router.post("/session/invitation", dependencies=[Depends(Anyone())])
def read_invitation(body: shapes.ReadInvitation, request: Request) -> shapes.InvitedTo:
    """Return where an invitation leads, before it is used."""
    house = house_of(request)
    project_id, role = house.access.read_invitation(body.invitation)
    with house.database.read() as connection:
        project = projects.get_project(connection, project_id)
    return shapes.InvitedTo(title=project.title, kind=house.feeds.kind(project), role=role)


@router.post("/session/join", status_code=204)
def join(body: shapes.Join, request: Request, caller: Annotated[Caller | None, Depends(Anyone())]) -> Response:
    """Join a project with an invitation: as who you are, or with a new name and password."""
    user = None if caller is None else caller.user
    secret = house_of(request).access.join(
        body.invitation, user=user, name=body.name, password=body.password, client=_client(request)
    )
    return Response(status_code=204) if secret is None else _with_cookie(request, secret)


@router.delete("/session", status_code=204)
def sign_out(request: Request, caller: Annotated[Caller, Depends(SignedIn("read", session_only=True))]) -> Response:
    house_of(request).access.sign_out(caller)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/")
    return response


@router.put("/session/password", status_code=204)
def set_password(
    body: shapes.NewPassword,
    request: Request,
    caller: Annotated[Caller, Depends(SignedIn("manage", session_only=True))],
) -> Response:
    """Set your password; your other sessions end."""
    access = house_of(request).access
    access.set_password(caller.user.id, body.password)
    for session in _sessions(request, caller):
        if not session.current:
            access.revoke_session(caller.user.id, session.id)
    return Response(status_code=204)


@router.put("/session/keys", status_code=204)
def set_keys(body: shapes.Keys, request: Request, caller: Annotated[Caller, Depends(SignedIn("label"))]) -> Response:
    """Choose your own keys of the labelling screen; one that would do two things is refused."""
    house = house_of(request)
    with house.database.read() as connection:
        mine = projects.list_projects(connection, user_id=caller.user.id)
    keys = check_keys(body.keys, [(project.title, house.campaign(project).options) for project, _ in mine])
    with house.database.write() as connection:
        people.set_keys(connection, caller.user.id, json.dumps(keys) if keys else None)
    return Response(status_code=204)


@router.get("/sessions")
def list_sessions(request: Request, caller: Annotated[Caller, Depends(SignedIn())]) -> list[shapes.Session]:
    return _sessions(request, caller)


@router.delete("/sessions/{session}", status_code=204)
def revoke_session(
    session: ItemId,
    request: Request,
    caller: Annotated[Caller, Depends(SignedIn("manage", session_only=True))],
) -> Response:
    if not house_of(request).access.revoke_session(caller.user.id, session):
        raise NotFound(f"There is no session {session} of yours.")
    return Response(status_code=204)


def _sessions(request: Request, caller: Caller) -> list[shapes.Session]:
    house = house_of(request)
    with house.database.read() as connection:
        rows = people.list_sessions(connection, caller.user.id, now=house.clock())
    mine = caller.session_id
    return [
        shapes.Session(id=id_, created_at=created, expires_at=expires, client=client, current=id_ == mine)
        for id_, created, expires, client in rows
    ]


def _with_cookie(request: Request, secret: str) -> Response:
    response = Response(status_code=204)
    secure = request.app.state.settings.secure_cookies or request.url.scheme == "https"
    response.set_cookie(
        COOKIE, secret, max_age=SESSION_DAYS * 86_400, path="/", httponly=True, samesite="strict", secure=secure
    )
    return response


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host


def _client(request: Request) -> str:
    return request.headers.get("user-agent", "")
