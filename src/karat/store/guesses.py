"""What judge models say about items: kept apart from people's votes, and among them only where the owner wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update

from karat.store import bulk
from karat.store.schema import guesses, items, judges, slots, votes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from karat.store.bulk import Given


def counts(connection: Connection, project_id: int, user_id: int) -> bool:
    mine = (judges.c.project_id == project_id, judges.c.user_id == user_id)
    return bool(connection.scalar(select(judges.c.counts).where(*mine)))


def items_left(connection: Connection, project_id: int, user_id: int, *, most: int) -> list[tuple[int, str]]:
    """Return drawn items that the judge has said nothing about, with their payload as JSON."""
    known = select(guesses.c.item_id).where(guesses.c.project_id == project_id, guesses.c.user_id == user_id)
    query = (
        select(items.c.id, items.c.payload)
        .where(items.c.project_id == project_id, items.c.rank > 0, items.c.id.not_in(known))
        .order_by(items.c.id)
        .limit(most)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]


def count_left(connection: Connection, project_id: int, user_id: int) -> int:
    drawn = select(func.count()).where(items.c.project_id == project_id, items.c.rank > 0)
    return int(connection.scalar(drawn) or 0) - count(connection, project_id, user_id)


def record(connection: Connection, project_id: int, given: Sequence[Given], *, as_votes: bool) -> None:
    """Write what a judge says; as votes too, where it counts."""
    if not given:
        return
    ids = bulk.record(connection, project_id, given) if as_votes else bulk.append(connection, project_id, given)
    connection.execute(
        insert(guesses),
        [{"item_id": answer.item_id, "user_id": answer.user_id, "project_id": project_id, "value": answer.value,
          "note": answer.note, "ledger_id": id_} for answer, id_ in zip(given, ids, strict=True)],
    )  # fmt: skip


def let_count(connection: Connection, project_id: int, user_id: int) -> list[int]:
    """Make votes of all that a judge has said; return the items."""
    _set(connection, project_id, user_id, counts=True)
    mine = (guesses.c.project_id == project_id, guesses.c.user_id == user_id)
    columns = (guesses.c.item_id, guesses.c.user_id, guesses.c.project_id, guesses.c.value, guesses.c.note,
               guesses.c.ledger_id)  # fmt: skip
    rows = connection.execute(select(*columns).where(*mine).order_by(guesses.c.item_id)).mappings().all()
    if rows:
        connection.execute(insert(votes), [dict(row) for row in rows])
        bulk.take_slots(connection, project_id, {(row["item_id"], user_id) for row in rows})
    return [row["item_id"] for row in rows]


def let_not_count(connection: Connection, project_id: int, user_id: int, *, votes_wanted: int) -> list[int]:
    """Take a judge's votes away again, and give its slots back; what it said stays. Return the items."""
    _set(connection, project_id, user_id, counts=False)
    mine = (votes.c.project_id == project_id, votes.c.user_id == user_id)
    touched = list(connection.scalars(select(votes.c.item_id).where(*mine).order_by(votes.c.item_id)))
    connection.execute(delete(votes).where(*mine))
    held = (slots.c.project_id == project_id, slots.c.user_id == user_id)
    connection.execute(delete(slots).where(*held, slots.c.number > votes_wanted))
    connection.execute(update(slots).where(*held).values(state="open", user_id=None, leased_until=None))
    return touched


def count(connection: Connection, project_id: int, user_id: int) -> int:
    mine = (guesses.c.project_id == project_id, guesses.c.user_id == user_id)
    return int(connection.scalar(select(func.count()).where(*mine)) or 0)


def labelled_guesses(connection: Connection, project_id: int, user_id: int) -> list[tuple[str, int]]:
    """Return what a judge said about items that have a sure label, with that label."""
    query = (
        select(guesses.c.value, items.c.label)
        .join(items, items.c.id == guesses.c.item_id)
        .where(guesses.c.project_id == project_id, guesses.c.user_id == user_id, items.c.label.in_((0, 1)))
    )
    return [(row[0], row[1]) for row in connection.execute(query)]


def _set(connection: Connection, project_id: int, user_id: int, *, counts: bool) -> None:
    mine = (judges.c.project_id == project_id, judges.c.user_id == user_id)
    if connection.execute(update(judges).where(*mine).values(counts=counts)).rowcount == 0:
        connection.execute(insert(judges).values(project_id=project_id, user_id=user_id, counts=counts))
