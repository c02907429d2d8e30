"""Who may come in: passwords, sessions, API tokens, one-time links, and a brake on guessing.

Secrets are random and only their hashes are stored. Failed sign-ins are counted for a name at an address, and for an
address, never for a name alone: a stranger cannot lock anybody out.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
from typing import TYPE_CHECKING, NamedTuple

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from karat import _check
from karat.service.problems import Conflict, NotAllowed, NotFound, NotSignedIn, TooManyTries
from karat.store import people, projects
from karat.store.schema import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from karat.store.database import Database
    from karat.store.people import User
    from karat.store.projects import Project

SCOPES = ("read", "label", "submit", "manage")
SESSION_DAYS = 30
LINK_DAYS = {"sign-in": 1 / 12, "invitation": 14}  # two hours; two weeks
TRIES_OF_NAME, TRIES_OF_ADDRESS = 5, 50
BRAKE_SECONDS = 15 * 60
NOTED_EVERY = 3600
"""Seconds within which a token's use is written down once: reading shall not cost a write each time."""
LEAST_PASSWORD, MOST_PASSWORD = 10, 200
USED_UP = "This invitation is used up or too old; ask for a new one."
_DAY = 86_400
# OWASP's recommendation of 2024 for Argon2id: 19 MiB, two passes, one lane
_HASHER = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=19_456, parallelism=1),))


@functools.cache
def _nobody() -> str:
    """Return the hash of a password that nobody has."""
    return _HASHER.hash(secrets.token_hex())


class Caller(NamedTuple):
    """Who asks, and how far the key they came with opens."""

    user: User
    scopes: Sequence[str]
    session_id: int | None


class Access:
    """Signs people in and out."""

    def __init__(self, database: Database, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    # --- passwords

    def sign_in(self, name: str, password: str, *, address: str, client: str = "") -> str:
        """Return a new session's secret."""
        name = name.strip().lower()
        now = self._clock()
        pair, place = _hash(f"{name}@{address}"), _hash(f"@{address}")
        since = now - BRAKE_SECONDS
        with self._database.read() as connection:
            for key, most in ((pair, TRIES_OF_NAME), (place, TRIES_OF_ADDRESS)):
                if people.count_failures(connection, key, since=since) >= most:
                    raise TooManyTries(BRAKE_SECONDS)
            user = people.find_user(connection, name=name)
        # the same work whether or not there is such a user, so that time does not tell
        stored = user.password_hash if user is not None and user.password_hash else _nobody()
        right = _HASHER.verify(password[:MOST_PASSWORD], stored) and stored != _nobody()
        with self._database.write() as connection:
            people.forget_failures(connection, before=since)
            if not right or user is None or user.disabled_at is not None:
                people.add_failure(connection, [pair, place], now=now)
            else:
                people.forget_failures(connection, before=since, key=pair)
        if not right or user is None or user.disabled_at is not None:
            raise NotSignedIn("Name or password is wrong.")
        return self._open_session(user.id, client)

    def set_password(self, user_id: int, password: str) -> None:
        """Give a user a password; all sessions but the caller's new one end."""
        hashed = _hash_password(password)
        with self._database.write() as connection:
            people.set_password(connection, user_id, hashed)
            projects.add_audit(connection, "set password", now=self._clock(), user_id=user_id)

    # --- one-time links

    def make_sign_in_link(self, user_id: int) -> str:
        """Return the secret of a link that signs a user in once."""
        secret, now = _secret("karat_link_"), self._clock()
        with self._database.write() as connection:
            expires = now + LINK_DAYS["sign-in"] * _DAY
            people.add_link(connection, "sign-in", _hash(secret), now=now, expires_at=expires, user_id=user_id)
        return secret

    def use_sign_in_link(self, secret: str, *, client: str = "") -> str:
        now = self._clock()
        with self._database.write() as connection:
            link = people.find_link(connection, "sign-in", _hash(secret), now=now)
            if link is None or link.user_id is None or not people.use_link(connection, link.id, now=now):
                raise NotSignedIn("This link is used up or too old; ask for a new one.")
        return self._open_session(link.user_id, client)

    def invite(self, project: Project, *, role: str, by: int) -> str:
        """Return the secret of a link with which one person can join a project."""
        _check.one_of("role", role, ROLES)
        secret, now = _secret("karat_invite_"), self._clock()
        with self._database.write() as connection:
            expires = now + LINK_DAYS["invitation"] * _DAY
            people.add_link(connection, "invitation", _hash(secret), now=now, expires_at=expires,
                            project_id=project.id, role=role)  # fmt: skip
            projects.add_audit(connection, "invite", now=now, user_id=by, project_id=project.id, role=role)
        return secret

    def read_invitation(self, secret: str) -> tuple[int, str]:
        """Return the project to which an invitation leads, and the role that it gives."""
        with self._database.read() as connection:
            link = people.find_link(connection, "invitation", _hash(secret), now=self._clock())
        if link is None or link.project_id is None or link.role is None:
            raise NotFound(USED_UP)
        return link.project_id, link.role

    def join(
        self, secret: str, *, user: User | None, name: str = "", password: str = "", client: str = ""
    ) -> str | None:
        """Use an invitation: as the user who is signed in, or with a new account (then return its session's secret)."""
        now = self._clock()
        hashed = None if user is not None else _hash_password(password)
        with self._database.write() as connection:
            link = people.find_link(connection, "invitation", _hash(secret), now=now)
            if link is None or link.project_id is None or link.role is None:
                raise NotFound(USED_UP)
            if user is None:
                name = check_name(name)
                if people.find_user(connection, name=name) is not None:
                    raise Conflict(f"The name {name!r} is taken.")
                user_id = people.add_user(connection, name, password_hash=hashed, is_admin=False, now=now)
            else:
                user_id = user.id
            people.use_link(connection, link.id, now=now)
            if people.role_in(connection, link.project_id, user_id) != "owner":  # an invitation never takes away
                people.set_member(connection, link.project_id, user_id, role=link.role, now=now)
            projects.add_audit(connection, "join", now=now, user_id=user_id, project_id=link.project_id, role=link.role)
        return None if user is not None else self._open_session(user_id, client)

    # --- sessions and tokens

    def caller_of_session(self, secret: str) -> Caller | None:
        with self._database.read() as connection:
            found = people.find_session(connection, _hash(secret), now=self._clock())
        return None if found is None else Caller(found[1], SCOPES, found[0])

    def caller_of_token(self, secret: str) -> Caller | None:
        with self._database.read() as connection:
            found = people.find_token(connection, _hash(secret))
        if found is None:
            return None
        id_, scopes, used_at, user = found
        now = self._clock()
        if used_at is None or now - used_at >= NOTED_EVERY:
            with self._database.write() as connection:
                people.note_use(connection, id_, now=now)
        return Caller(user, tuple(scopes.split()), None)

    def sign_out(self, caller: Caller) -> None:
        if caller.session_id is not None:
            self.revoke_session(caller.user.id, caller.session_id)

    def revoke_session(self, user_id: int, session_id: int | None) -> int:
        """End one session of a user, or all."""
        with self._database.write() as connection:
            return people.revoke_sessions(connection, user_id, now=self._clock(), id=session_id)

    def make_token(self, user_id: int, *, name: str, scopes: Sequence[str]) -> tuple[int, str]:
        """Return id and secret of an API token; the secret is shown this once."""
        if not 1 <= len(name.strip()) <= 100:
            raise _check.refuse("name", "text of 1 to 100 characters", name[:120])
        wanted = [_check.one_of("scopes", scope, SCOPES) for scope in scopes] or ["read"]
        secret, now = _secret("karat_"), self._clock()
        with self._database.write() as connection:
            scopes_text = " ".join(sorted(set(wanted)))
            id_ = people.add_token(connection, user_id, _hash(secret), name=name.strip(), scopes=scopes_text, now=now)
            projects.add_audit(connection, "make token", now=now, user_id=user_id, name=name, scopes=scopes_text)
        return id_, secret

    def revoke_token(self, user_id: int, token_id: int) -> None:
        with self._database.write() as connection:
            if not people.revoke_token(connection, user_id, token_id, now=self._clock()):
                raise NotFound(f"There is no token {token_id} of yours.")

    # --- people

    def disable(self, user_id: int, *, by: User) -> None:
        """Shut somebody out: sessions end, tokens stop working, what they answered stays."""
        if user_id == by.id:
            raise NotAllowed("You cannot shut yourself out.")
        now = self._clock()
        with self._database.write() as connection:
            if people.find_user(connection, id=user_id) is None:
                raise NotFound(f"There is no user {user_id}.")
            people.set_disabled(connection, user_id, now)
            people.revoke_sessions(connection, user_id, now=now)
            projects.add_audit(connection, "disable user", now=now, user_id=by.id, disabled=user_id)

    def _open_session(self, user_id: int, client: str) -> str:
        secret, now = _secret("karat_session_"), self._clock()
        with self._database.write() as connection:
            user = people.find_user(connection, id=user_id)
            if user is None or user.disabled_at is not None:
                raise NotSignedIn("Name or password is wrong.")
            expires = now + SESSION_DAYS * _DAY
            people.add_session(connection, user_id, _hash(secret), now=now, expires_at=expires, client=client[:200])
            projects.add_audit(connection, "sign in", now=now, user_id=user_id)
        return secret


def check_name(name: str) -> str:
    """Return a user's name as it is stored."""
    cleaned = name.strip().lower()
    if not 1 <= len(cleaned) <= 64 or not cleaned.isprintable() or any(letter.isspace() for letter in cleaned):
        raise _check.refuse("name", "1 to 64 characters without spaces", name[:80])
    return cleaned


def _hash_password(password: str) -> str:
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise _check.refuse("password", f"{LEAST_PASSWORD} to {MOST_PASSWORD} characters long", f"{len(password)}")
    return _HASHER.hash(password)


def _secret(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(32)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
