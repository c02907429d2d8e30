"""Users, their sessions, tokens and one-time links, and failed sign-ins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, func, insert, select, update

from karat.store.schema import failures, links, members, sessions, tokens, users

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection


class User(NamedTuple):
    """Who somebody is."""

    id: int
    name: str
    password_hash: str | None
    is_admin: bool
    created_at: float
    disabled_at: float | None
    own_keys: str | None = None
    kind: str = "person"


# --- users


def add_user(
    connection: Connection,
    name: str,
    *,
    password_hash: str | None,
    is_admin: bool,
    now: float,
    kind: str = "person",
) -> int:
    values = {"name": name, "password_hash": password_hash, "is_admin": is_admin, "created_at": now, "kind": kind}
    return int(connection.execute(insert(users).values(values).returning(users.c.id)).scalar_one())


def ensure_user(connection: Connection, name: str, *, kind: str, now: float) -> int:
    """Return the id of somebody who answers but never signs in; added when first named."""
    found = connection.scalar(select(users.c.id).where(users.c.name == name, users.c.kind == kind))
    if found is not None:
        return int(found)
    return add_user(connection, name, password_hash=None, is_admin=False, now=now, kind=kind)


def find_user(connection: Connection, *, name: str | None = None, id: int | None = None) -> User | None:
    wanted = users.c.name == name if id is None else users.c.id == id
    row = connection.execute(select(users).where(wanted)).one_or_none()
    return None if row is None else User(*row)


def list_users(connection: Connection) -> list[User]:
    return [User(*row) for row in connection.execute(select(users).order_by(users.c.name))]


def first_admin(connection: Connection) -> User | None:
    row = connection.execute(select(users).where(users.c.is_admin).order_by(users.c.id).limit(1)).one_or_none()
    return None if row is None else User(*row)


def set_password(connection: Connection, user_id: int, password_hash: str) -> None:
    connection.execute(update(users).where(users.c.id == user_id).values(password_hash=password_hash))


def set_disabled(connection: Connection, user_id: int, at: float | None) -> None:
    connection.execute(update(users).where(users.c.id == user_id).values(disabled_at=at))


def set_keys(connection: Connection, user_id: int, keys: str | None) -> None:
    connection.execute(update(users).where(users.c.id == user_id).values(own_keys=keys))


# --- sessions


def add_session(
    connection: Connection, user_id: int, token_hash: str, *, now: float, expires_at: float, client: str
) -> int:
    values = {"user_id": user_id, "token_hash": token_hash, "created_at": now, "seen_at": now,
              "expires_at": expires_at, "client": client}  # fmt: skip
    return int(connection.execute(insert(sessions).values(values).returning(sessions.c.id)).scalar_one())


def find_session(connection: Connection, token_hash: str, *, now: float) -> tuple[int, User] | None:
    """Return the id and the user of a session that is neither expired nor revoked, nor its user disabled."""
    row = connection.execute(
        select(sessions.c.id, users)
        .join(users, users.c.id == sessions.c.user_id)
        .where(
            sessions.c.token_hash == token_hash,
            sessions.c.expires_at > now,
            sessions.c.revoked_at.is_(None),
            users.c.disabled_at.is_(None),
        )
    ).one_or_none()
    return None if row is None else (row[0], User(*row[1:]))


def list_sessions(connection: Connection, user_id: int, *, now: float) -> list[tuple[int, float, float, str]]:
    columns = (sessions.c.id, sessions.c.created_at, sessions.c.expires_at, sessions.c.client)
    alive = (sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None), sessions.c.expires_at > now)
    return [tuple(row) for row in connection.execute(select(*columns).where(*alive).order_by(sessions.c.id.desc()))]


def revoke_sessions(connection: Connection, user_id: int, *, now: float, id: int | None = None) -> int:
    """Revoke one session of a user, or all of them; return how many."""
    wanted = [sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None)]
    if id is not None:
        wanted.append(sessions.c.id == id)
    return connection.execute(update(sessions).where(*wanted).values(revoked_at=now)).rowcount


# --- API tokens


def add_token(connection: Connection, user_id: int, token_hash: str, *, name: str, scopes: str, now: float) -> int:
    values = {"user_id": user_id, "token_hash": token_hash, "name": name, "scopes": scopes, "created_at": now}
    return int(connection.execute(insert(tokens).values(values).returning(tokens.c.id)).scalar_one())


def find_token(connection: Connection, token_hash: str) -> tuple[int, str, float | None, User] | None:
    """Return id, scopes, last use and user of a token that is not revoked, nor its user disabled."""
    row = connection.execute(
        select(tokens.c.id, tokens.c.scopes, tokens.c.used_at, users)
        .join(users, users.c.id == tokens.c.user_id)
        .where(tokens.c.token_hash == token_hash, tokens.c.revoked_at.is_(None), users.c.disabled_at.is_(None))
    ).one_or_none()
    return None if row is None else (row[0], row[1], row[2], User(*row[3:]))


def note_use(connection: Connection, token_id: int, *, now: float) -> None:
    connection.execute(update(tokens).where(tokens.c.id == token_id).values(used_at=now))


def list_tokens(connection: Connection, user_id: int) -> list[tuple[int, str, str, float, float | None]]:
    columns = (tokens.c.id, tokens.c.name, tokens.c.scopes, tokens.c.created_at, tokens.c.used_at)
    alive = (tokens.c.user_id == user_id, tokens.c.revoked_at.is_(None))
    return [tuple(row) for row in connection.execute(select(*columns).where(*alive).order_by(tokens.c.id))]


def revoke_token(connection: Connection, user_id: int, id: int, *, now: float) -> int:
    wanted = (tokens.c.id == id, tokens.c.user_id == user_id, tokens.c.revoked_at.is_(None))
    return connection.execute(update(tokens).where(*wanted).values(revoked_at=now)).rowcount


# --- one-time links


class Link(NamedTuple):
    """A link that signs somebody in, or lets somebody join a project; good for once."""

    id: int
    kind: str
    user_id: int | None
    project_id: int | None
    role: str | None


def add_link(
    connection: Connection,
    kind: str,
    token_hash: str,
    *,
    now: float,
    expires_at: float,
    user_id: int | None = None,
    project_id: int | None = None,
    role: str | None = None,
) -> int:
    values = {"kind": kind, "token_hash": token_hash, "user_id": user_id, "project_id": project_id, "role": role,
              "created_at": now, "expires_at": expires_at}  # fmt: skip
    return int(connection.execute(insert(links).values(values).returning(links.c.id)).scalar_one())


def find_link(connection: Connection, kind: str, token_hash: str, *, now: float) -> Link | None:
    columns = (links.c.id, links.c.kind, links.c.user_id, links.c.project_id, links.c.role)
    good = (links.c.token_hash == token_hash, links.c.kind == kind, links.c.expires_at > now, links.c.used_at.is_(None))
    row = connection.execute(select(*columns).where(*good)).one_or_none()
    return None if row is None else Link(*row)


def use_link(connection: Connection, id: int, *, now: float) -> bool:
    """Mark a link as used; False if somebody was faster."""
    wanted = (links.c.id == id, links.c.used_at.is_(None))
    return connection.execute(update(links).where(*wanted).values(used_at=now)).rowcount == 1


# --- failed sign-ins


def add_failure(connection: Connection, keys: Sequence[str], *, now: float) -> None:
    connection.execute(insert(failures), [{"who": key, "at": now} for key in keys])


def count_failures(connection: Connection, key: str, *, since: float) -> int:
    query = select(func.count()).where(failures.c.who == key, failures.c.at > since)
    return int(connection.scalar(query) or 0)


def forget_failures(connection: Connection, *, before: float, key: str | None = None) -> None:
    wanted = failures.c.at < before if key is None else failures.c.who == key
    connection.execute(delete(failures).where(wanted))


# --- members of projects


def set_member(connection: Connection, project_id: int, user_id: int, *, role: str, now: float) -> None:
    """Give a user a role in a project, in place of an earlier one."""
    mine = (members.c.project_id == project_id, members.c.user_id == user_id)
    if connection.execute(update(members).where(*mine).values(role=role)).rowcount == 0:
        values = {"project_id": project_id, "user_id": user_id, "role": role, "joined_at": now}
        connection.execute(insert(members).values(values))


def remove_member(connection: Connection, project_id: int, user_id: int) -> int:
    mine = (members.c.project_id == project_id, members.c.user_id == user_id)
    return connection.execute(delete(members).where(*mine)).rowcount


def lock_owners(connection: Connection, project_id: int) -> list[int]:
    """Return a project's owners; nobody else can change who they are until the transaction ends."""
    owning = (members.c.project_id == project_id, members.c.role == "owner")
    return list(
        connection.scalars(select(members.c.user_id).where(*owning).order_by(members.c.user_id).with_for_update())
    )


def role_in(connection: Connection, project_id: int, user_id: int) -> str | None:
    mine = (members.c.project_id == project_id, members.c.user_id == user_id)
    return connection.scalar(select(members.c.role).where(*mine))


def list_members(connection: Connection, project_id: int) -> list[tuple[int, str, str]]:
    query = (
        select(users.c.id, users.c.name, members.c.role)
        .join(users, users.c.id == members.c.user_id)
        .where(members.c.project_id == project_id)
        .order_by(users.c.name)
    )
    return [tuple(row) for row in connection.execute(query)]
