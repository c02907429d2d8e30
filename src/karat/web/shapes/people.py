"""People: signing in, sessions, tokens, members."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from karat.web.shapes.base import Shape


class SignIn(Shape):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    password: Annotated[str, Field(min_length=1, max_length=200)]


class UseLink(Shape):
    link: Annotated[str, Field(min_length=1, max_length=200)]


class Join(Shape):
    invitation: Annotated[str, Field(min_length=1, max_length=200)]
    name: Annotated[str, Field(max_length=64)] = ""
    password: Annotated[str, Field(max_length=200)] = ""


class ReadInvitation(Shape):
    invitation: Annotated[str, Field(min_length=1, max_length=200)]


class InvitedTo(BaseModel):
    """Where an invitation leads: the project's title and kind, and the role there."""

    title: str
    kind: str
    role: str


class NewPassword(Shape):
    password: Annotated[str, Field(min_length=10, max_length=200)]


class Me(BaseModel):
    name: str
    is_admin: bool
    has_password: bool
    keys: dict[str, str]


class Keys(Shape):
    keys: Annotated[dict[str, Annotated[str, Field(max_length=8)]], Field(max_length=26)]


class Session(BaseModel):
    id: int
    created_at: float
    expires_at: float
    client: str
    current: bool


class NewToken(Shape):
    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
    scopes: list[Literal["read", "label", "submit", "manage"]] = Field(default=["read"])


class Token(BaseModel):
    id: int
    name: str
    scopes: list[str]
    created_at: float
    used_at: float | None = None
    secret: str | None = None


class Invite(Shape):
    role: Literal["owner", "annotator", "viewer"] = "annotator"


class Invitation(BaseModel):
    link: str


class Member(BaseModel):
    id: int
    name: str
    role: str


class Role(Shape):
    role: Literal["owner", "annotator", "viewer"]
