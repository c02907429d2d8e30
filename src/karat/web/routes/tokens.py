"""API tokens and, for administrators, users."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from karat.service.access import Caller
from karat.store import people
from karat.web.deps import Administrator, SignedIn, house_of
from karat.web.shapes import people as shapes
from karat.web.shapes.base import ItemId

router = APIRouter(prefix="/api", tags=["tokens"])


@router.get("/tokens")
def list_tokens(request: Request, caller: Annotated[Caller, Depends(SignedIn())]) -> list[shapes.Token]:
    """Return your tokens; a use is noted once an hour."""
    with house_of(request).database.read() as connection:
        rows = people.list_tokens(connection, caller.user.id)
    return [shapes.Token(id=id_, name=name, scopes=scopes.split(), created_at=made, used_at=used)
            for id_, name, scopes, made, used in rows]  # fmt: skip


@router.post("/tokens", status_code=201)
def make_token(
    body: shapes.NewToken, request: Request, caller: Annotated[Caller, Depends(SignedIn("manage", session_only=True))]
) -> shapes.Token:
    """Make a token; its secret is shown this once."""
    house = house_of(request)
    id_, secret = house.access.make_token(caller.user.id, name=body.name, scopes=body.scopes)
    return shapes.Token(
        id=id_, name=body.name, scopes=sorted(set(body.scopes)) or ["read"], created_at=house.clock(), secret=secret
    )


@router.delete("/tokens/{token}", status_code=204)
def revoke_token(
    token: ItemId, request: Request, caller: Annotated[Caller, Depends(SignedIn("manage", session_only=True))]
) -> Response:
    house_of(request).access.revoke_token(caller.user.id, token)
    return Response(status_code=204)


@router.delete("/users/{user}", status_code=204)
def disable_user(
    user: ItemId, request: Request, caller: Annotated[Caller, Depends(Administrator("manage"))]
) -> Response:
    """Shut somebody out; what they answered stays."""
    house_of(request).access.disable(user, by=caller.user)
    return Response(status_code=204)
