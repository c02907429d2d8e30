"""The ledger of answers, and what it adds up to: votes, skips, adjudications."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, case, delete, exists, func, insert, select

from karat.store.schema import adjudications, items, ledger, skips, users, votes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Column, Select
    from sqlalchemy.engine import Connection


class Event(NamedTuple):
    """One line of the ledger."""

    id: int
    project_id: int
    item_id: int
    user_id: int
    kind: str
    undoes: int | None
    value: str | None
    note: str | None
    seconds: float | None
    request: str
    at: float


def append(
    connection: Connection,
    kind: str,
    *,
    project_id: int,
    item_id: int,
    user_id: int,
    request: str,
    now: float,
    value: str | None = None,
    note: str | None = None,
    seconds: float | None = None,
    undoes: int | None = None,
) -> int:
    """Write one line; nothing in the ledger is ever changed."""
    values = {"kind": kind, "project_id": project_id, "item_id": item_id, "user_id": user_id, "request": request,
              "at": now, "value": value, "note": note, "seconds": seconds, "undoes": undoes}  # fmt: skip
    return int(connection.execute(insert(ledger).values(values).returning(ledger.c.id)).scalar_one())


def find_request(connection: Connection, user_id: int, request: str) -> Event | None:
    row = connection.execute(
        select(ledger).where(ledger.c.user_id == user_id, ledger.c.request == request)
    ).one_or_none()
    return None if row is None else Event(*row)


def last_to_undo(connection: Connection, project_id: int, user_id: int) -> Event | None:
    """Return the latest answer or skip of a person that is not undone yet."""
    row = connection.execute(_LAST_IN_PROJECT, {"place": project_id, "by": user_id}).one_or_none()
    return None if row is None else Event(*row)


def standing(connection: Connection, item_id: int, user_id: int) -> Event | None:
    """Return what a person's answers about an item come to: the latest answer or skip that is not undone."""
    row = connection.execute(_LAST_ON_ITEM, {"place": item_id, "by": user_id}).one_or_none()
    return None if row is None else Event(*row)


def _latest(place: Column[Any]) -> Select[Any]:
    """Return the query for a person's latest answer or skip somewhere; built once, for it is asked all day."""
    undo = ledger.alias()
    return (
        select(ledger)
        .where(
            place == bindparam("place"),
            ledger.c.user_id == bindparam("by"),
            ledger.c.kind.in_(("answer", "skip")),
            ~exists().where(undo.c.undoes == ledger.c.id),
        )
        .order_by(ledger.c.id.desc())
        .limit(1)
    )


_LAST_IN_PROJECT, _LAST_ON_ITEM = _latest(ledger.c.project_id), _latest(ledger.c.item_id)


def history(connection: Connection, project_id: int, user_id: int, *, most: int) -> list[Any]:
    """Return a person's standing answers and skips, latest first: item, kind, value, note, time, payload."""
    undo, later = ledger.alias(), ledger.alias()
    undone = exists().where(undo.c.undoes == ledger.c.id)
    later_undo = ledger.alias()
    replaced = exists().where(
        later.c.item_id == ledger.c.item_id,
        later.c.user_id == ledger.c.user_id,
        later.c.kind.in_(("answer", "skip")),
        later.c.id > ledger.c.id,
        ~exists().where(later_undo.c.undoes == later.c.id),
    )
    query = (
        select(items.c.id, ledger.c.kind, ledger.c.value, ledger.c.note, ledger.c.at, items.c.name, items.c.payload)
        .join(items, items.c.id == ledger.c.item_id)
        .where(
            ledger.c.project_id == project_id,
            ledger.c.user_id == user_id,
            ledger.c.kind.in_(("answer", "skip")),
            ~undone,
            ~replaced,
        )
        .order_by(ledger.c.id.desc())
        .limit(most)
    )
    return [tuple(row) for row in connection.execute(query)]


def events(connection: Connection, project_id: int) -> list[dict[str, Any]]:
    """Return the whole ledger of a project, oldest line first; a gold question that was not drawn has no rank."""
    rank = case((items.c.rank > 0, items.c.rank))
    query = (
        select(ledger.c.id, ledger.c.at, ledger.c.kind, rank, items.c.name, users.c.name.label("user"),
               ledger.c.value, ledger.c.note, ledger.c.seconds, ledger.c.undoes)
        .join(items, items.c.id == ledger.c.item_id)
        .join(users, users.c.id == ledger.c.user_id)
        .where(ledger.c.project_id == project_id)
        .order_by(ledger.c.id)
    )  # fmt: skip
    names = ("line", "at", "kind", "rank", "item", "user", "value", "note", "seconds", "undoes")
    return [dict(zip(names, row, strict=True)) for row in connection.execute(query)]


def version(connection: Connection, project_id: int) -> tuple[int, int, int]:
    """Return length and last line of a project's ledger, and its votes: whether anything was answered since.

    A judge model's guesses become votes, and cease to be, without a line in the ledger.
    """
    query = select(func.count(), func.coalesce(func.max(ledger.c.id), 0)).where(ledger.c.project_id == project_id)
    count, last = connection.execute(query).one()
    n_votes = connection.scalar(select(func.count()).select_from(votes).where(votes.c.project_id == project_id))
    return int(count), int(last), int(n_votes or 0)


# --- what the ledger adds up to


def set_vote(connection: Connection, event: Event | None, *, item_id: int, user_id: int, project_id: int) -> None:
    """Make votes and skips agree with a person's standing answer about an item (None: there is none)."""
    for table in (votes, skips):
        connection.execute(delete(table).where(table.c.item_id == item_id, table.c.user_id == user_id))
    keys = {"item_id": item_id, "user_id": user_id, "project_id": project_id}
    if event is not None and event.kind == "answer":
        connection.execute(insert(votes).values(**keys, value=event.value, note=event.note, ledger_id=event.id))
    elif event is not None:
        connection.execute(insert(skips).values(**keys))


def votes_on(connection: Connection, item_id: int) -> list[str]:
    return list(connection.scalars(select(votes.c.value).where(votes.c.item_id == item_id).order_by(votes.c.ledger_id)))


def set_adjudication(
    connection: Connection, item_id: int, user_id: int, *, value: str, note: str | None, ledger_id: int
) -> None:
    connection.execute(delete(adjudications).where(adjudications.c.item_id == item_id))
    values = {"item_id": item_id, "user_id": user_id, "value": value, "note": note, "ledger_id": ledger_id}
    connection.execute(insert(adjudications).values(values))


def adjudicated(connection: Connection, item_id: int) -> str | None:
    return connection.scalar(select(adjudications.c.value).where(adjudications.c.item_id == item_id))


def adjudicated_items(connection: Connection, project_id: int) -> set[int]:
    query = select(adjudications.c.item_id).join(items, items.c.id == adjudications.c.item_id)
    return set(connection.scalars(query.where(items.c.project_id == project_id)))


def any_set_right(connection: Connection, project_id: int) -> bool:
    """Whether the label of an item that was drawn is a ruling or a known answer, not what votes made it."""
    known = exists().where(adjudications.c.item_id == items.c.id) | items.c.gold.is_not(None)
    drawn = (items.c.project_id == project_id, items.c.rank > 0, items.c.label.is_not(None))
    return connection.execute(select(items.c.id).where(*drawn, known).limit(1)).one_or_none() is not None


class Vote(NamedTuple):
    """Somebody's standing answer about an item."""

    item_id: int
    user_id: int
    user: str
    value: str
    note: str | None
    ledger_id: int


def list_votes(connection: Connection, project_id: int) -> list[Vote]:
    query = (
        select(votes.c.item_id, votes.c.user_id, users.c.name, votes.c.value, votes.c.note, votes.c.ledger_id)
        .join(users, users.c.id == votes.c.user_id)
        .where(votes.c.project_id == project_id)
        .order_by(votes.c.item_id, votes.c.user_id)
    )
    return [Vote(*row) for row in connection.execute(query)]


def any_from_elsewhere(connection: Connection, project_id: int) -> bool:
    """Say whether a vote on an item of the draw is not that of a person of this installation."""
    query = (
        select(votes.c.ledger_id)
        .join(users, users.c.id == votes.c.user_id)
        .join(items, items.c.id == votes.c.item_id)
        .where(votes.c.project_id == project_id, users.c.kind != "person", items.c.rank > 0)
        .limit(1)
    )
    return connection.execute(query).first() is not None


class Disputed(NamedTuple):
    """An item whose votes do not agree."""

    item_id: int
    name: str
    rank: int
    payload: dict[str, Any]
    label: int | None
    adjudicated: str | None


def disputed_items(connection: Connection, project_id: int, *, unsure: Sequence[str]) -> list[Disputed]:
    """Return items with differing votes or an unsure one, adjudicated ones last."""
    doubtful = (
        select(votes.c.item_id)
        .where(votes.c.project_id == project_id)
        .group_by(votes.c.item_id)
        .having((func.min(votes.c.value) != func.max(votes.c.value)) | (func.min(votes.c.value).in_(list(unsure))))
    )
    query = (
        select(items.c.id, items.c.name, items.c.rank, items.c.payload, items.c.label, adjudications.c.value)
        .join(adjudications, adjudications.c.item_id == items.c.id, isouter=True)
        .where(items.c.project_id == project_id, items.c.rank > 0, items.c.id.in_(doubtful))
        .order_by(adjudications.c.value.is_not(None), items.c.id)
    )
    return [Disputed(id_, name, rank, json.loads(payload), label, value)
            for id_, name, rank, payload, label, value in connection.execute(query)]  # fmt: skip


def spending(connection: Connection, project_id: int) -> list[tuple[int, str, int, float | None, float | None]]:
    """Return for each person: id, name, standing answers, median-free mean seconds an answer, time of the last one."""
    standing_line = and_(ledger.c.id == votes.c.ledger_id)
    query = (
        select(users.c.id, users.c.name, func.count(), func.avg(ledger.c.seconds), func.max(ledger.c.at))
        .select_from(votes)
        .join(ledger, standing_line)
        .join(users, users.c.id == votes.c.user_id)
        .where(votes.c.project_id == project_id)
        .group_by(users.c.id, users.c.name)
        .order_by(users.c.name)
    )
    return [(row[0], row[1], int(row[2]), row[3], row[4]) for row in connection.execute(query)]


def count_votes(connection: Connection, project_id: int, *, user_id: int | None = None) -> int:
    wanted = [votes.c.project_id == project_id]
    if user_id is not None:
        wanted.append(votes.c.user_id == user_id)
    return int(connection.scalar(select(func.count()).where(*wanted)) or 0)


class Spread(NamedTuple):
    """How many items that were drawn have a label, and the votes on those and on the others."""

    labelled_items: int
    on_labelled: int
    on_open: int


def spread(connection: Connection, project_id: int) -> Spread:
    labelled = items.c.label.is_not(None)
    drawn = (items.c.project_id == project_id, items.c.rank > 0)
    n_items = connection.scalar(select(func.count()).select_from(items).where(*drawn, labelled))
    voted = select(labelled, func.count()).select_from(votes).join(items, items.c.id == votes.c.item_id)
    n_votes = {bool(row[0]): int(row[1]) for row in connection.execute(voted.where(*drawn).group_by(labelled))}
    return Spread(int(n_items or 0), n_votes.get(True, 0), n_votes.get(False, 0))
