"""Who asks, and whether they may: every route names its rule, and a test builds the permission matrix from them."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from fastapi import Path, Request

from karat import _check
from karat.service.access import SCOPES, Caller
from karat.service.campaign import Campaign
from karat.service.installation import Installation
from karat.service.problems import NotAllowed, NotFound, NotSignedIn
from karat.store import people
from karat.store.projects import Project

COOKIE = "karat_session"
ABILITIES = {
    "belong": ("owner", "annotator", "viewer"),
    "label": ("owner", "annotator"),
    "watch": ("owner", "viewer"),
    "submit": ("owner", "viewer"),
    "manage": ("owner",),
}
"""What a member can do, and the roles that can; an administrator can do what an owner can."""

Slug = Annotated[str, Path(min_length=1, max_length=64, pattern="^[a-z0-9-]+$", description="The project's name.")]


class Visit(NamedTuple):
    """A request inside a project that is allowed."""

    house: Installation
    caller: Caller
    project: Project
    campaign: Campaign
    role: str


def house_of(request: Request) -> Installation:
    house: Installation = request.app.state.house
    return house


def find_caller(request: Request) -> Caller | None:
    """Return who asks, by token or by cookie."""
    access = house_of(request).access
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme:
        return access.caller_of_token(secret.strip()) if scheme.lower() == "bearer" else None
    cookie = request.cookies.get(COOKIE)
    return access.caller_of_session(cookie) if cookie else None


class Anyone:
    """Open to all; the caller is known if signed in."""

    scope = "read"

    def __call__(self, request: Request) -> Caller | None:
        return find_caller(request)


class SignedIn:
    """Open to everybody who is signed in, with a key of the given scope; a session opens all of them."""

    def __init__(self, scope: str = "read", *, session_only: bool = False) -> None:
        self.scope = _check.one_of("scope", scope, SCOPES)
        self.session_only = session_only

    def __call__(self, request: Request) -> Caller:
        caller = find_caller(request)
        if caller is None:
            raise NotSignedIn("Sign in first.")
        if self.scope not in caller.scopes:
            raise NotAllowed(f"This token has no scope {self.scope!r}.")
        if self.session_only and caller.session_id is None:
            raise NotAllowed("A token cannot do this; sign in.")
        return caller


class Administrator(SignedIn):
    """Open to administrators."""

    def __call__(self, request: Request) -> Caller:
        caller = super().__call__(request)
        if not caller.user.is_admin:
            raise NotAllowed("Only an administrator can do this.")
        return caller


class InProject:
    """Open to members of the project who have an ability; to others the project does not exist."""

    def __init__(self, ability: str, scope: str = "read") -> None:
        _check.one_of("ability", ability, ABILITIES)
        self.ability = ability
        self.scope = scope
        self._signed_in = SignedIn(scope)

    def __call__(self, request: Request, project: Slug) -> Visit:
        caller = self._signed_in(request)
        house = house_of(request)
        found = house.project(project)
        with house.database.read() as connection:
            role = people.role_in(connection, found.id, caller.user.id)
        if caller.user.is_admin:
            role = "owner"
        if role is None:
            raise NotFound(f"There is no project {project!r}.")
        if role not in ABILITIES[self.ability]:
            raise NotAllowed(f"As {house.feeds.role_in_words(found, role)} you cannot do this.")
        return Visit(house, caller, found, house.campaign(found), role)
