"""Slots: who holds which item, until when.

A slot is the right to give one of an item's votes. It is open, leased to one person until a time, or answered. Every
function here runs inside a transaction that writes: on SQLite that transaction holds the only write lock, on PostgreSQL
the rows it reads are locked first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, delete, exists, func, insert, or_, select, update

from karat.store.schema import DEALT, handouts, items, members, skips, slots

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.engine import Connection


class Task(NamedTuple):
    """An item in somebody's hands."""

    item_id: int
    name: str
    rank: int
    score: float
    payload: dict[str, Any]
    leased_until: float

    @property
    def is_gold(self) -> bool:
        """Whether it is a gold question that was not drawn."""
        return self.rank < 0


def lock_person(connection: Connection, project_id: int, user_id: int) -> None:
    """Make this person's other requests in the project wait, so that two tabs cannot fall over each other."""
    mine = (members.c.project_id == project_id, members.c.user_id == user_id)
    connection.execute(select(members.c.role).where(*mine).with_for_update())


def lock_item(connection: Connection, item_id: int) -> None:
    """Make others' answers about an item wait: its label is read off all its votes.

    Not so those who are just handed the item: they refer to its row, holding a slot that an answer may wait for.
    """
    connection.execute(select(items.c.id).where(items.c.id == item_id).with_for_update(key_share=True))


def held(connection: Connection, project_id: int, user_id: int) -> list[Task]:
    """Return what the person holds, in the order it was to be handed out; leases that ran out unnoticed included."""
    mine = (slots.c.project_id == project_id, slots.c.user_id == user_id, slots.c.state == "leased")
    query = (
        select(*_TASK).join(items, items.c.id == slots.c.item_id).where(*mine).order_by(slots.c.turn, ~slots.c.is_gold)
    )
    return [_task(row) for row in connection.execute(query)]


def renew(connection: Connection, project_id: int, user_id: int, *, until: float) -> None:
    """Extend all leases of a person."""
    mine = _lock_held(connection, project_id, user_id)
    if mine:
        connection.execute(update(slots).where(slots.c.id.in_(mine)).values(leased_until=until))


def _lock_held(connection: Connection, project_id: int, user_id: int) -> list[int]:
    """Return the slots that a person holds, locked.

    Slots are locked by their number everywhere, or not waited for: else two people who renew what they hold and two who
    answer about the same items could wait for each other in a circle.
    """
    mine = (slots.c.project_id == project_id, slots.c.user_id == user_id, slots.c.state == "leased")
    return list(connection.scalars(select(slots.c.id).where(*mine).order_by(slots.c.id).with_for_update()))


def claim(connection: Connection, project_id: int, user_id: int, *, now: float, until: float) -> int | None:
    """Lease the first free slot whose item the person has not had yet; return the item, None if there is none.

    A slot whose lease ran out is as free as an open one, and older, so it comes first.
    """
    given = {"of_project": project_id, "for_user": user_id, "at": now}
    for query in _FREE:
        found = connection.execute(query, given).one_or_none()
        if found is not None:
            lease(connection, found.id, user_id, until=until)
            _remember(connection, found.item_id, user_id, now=now)
            return int(found.item_id)
    return None


def _first_free(free: ColumnElement[bool]) -> Select[int, int]:
    """Return the query for the first free slot that a person may have; it is built once, for it is asked all day."""
    other = slots.alias()
    return (
        select(slots.c.id, slots.c.item_id)
        .where(
            free,
            ~slots.c.is_gold,
            slots.c.project_id == bindparam("of_project"),
            ~exists().where(other.c.item_id == slots.c.item_id, other.c.user_id == bindparam("for_user")),
            ~exists().where(skips.c.item_id == slots.c.item_id, skips.c.user_id == bindparam("for_user")),
        )
        .order_by(slots.c.turn, slots.c.number)
        .limit(1)
        .with_for_update(skip_locked=True, of=slots)
    )


_FREE = (
    _first_free(and_(slots.c.state == "leased", slots.c.leased_until < bindparam("at"))),
    _first_free(slots.c.state == "open"),
)


def lease(connection: Connection, slot_id: int, user_id: int, *, until: float) -> None:
    values = {"state": "leased", "user_id": user_id, "leased_until": until}
    connection.execute(update(slots).where(slots.c.id == slot_id).values(values))


def was_handed_out(connection: Connection, item_id: int, user_id: int) -> bool:
    mine = (handouts.c.item_id == item_id, handouts.c.user_id == user_id)
    return connection.scalar(select(handouts.c.at).where(*mine)) is not None


def take_for_answer(connection: Connection, project_id: int, task: Task, user_id: int) -> None:
    """Mark the person's slot of an item as answered.

    Where the lease ran out and the slot went to somebody else, a free slot of the item is taken; where there is none
    the answer gets a slot of its own: what a person has done is never thrown away.
    """
    _take(connection, project_id, task, user_id, state="answered", until=None)


def take_back(connection: Connection, project_id: int, task: Task, user_id: int, *, until: float) -> None:
    """Lease the person's slot of an item to the person again, after an undo; a free one, if the person has none."""
    _take(connection, project_id, task, user_id, state="leased", until=until)


def _take(
    connection: Connection, project_id: int, task: Task, user_id: int, *, state: str, until: float | None
) -> None:
    of_item = slots.c.item_id == task.item_id
    rows = connection.execute(select(slots).where(of_item).order_by(slots.c.number).with_for_update()).all()
    values = {"state": state, "user_id": user_id, "leased_until": until}
    chosen = next((row.id for row in rows if row.user_id == user_id), None)
    if chosen is None:
        chosen = next((row.id for row in rows if row.state == "open"), None)
    if chosen is None:
        if state == "leased" and not task.is_gold:
            return  # others have taken it over
        number, turn = (rows[-1].number + 1, rows[-1].turn) if rows else (1, 0)
        place = {"project_id": project_id, "item_id": task.item_id, "number": number, "turn": turn}
        connection.execute(insert(slots).values(**place, **values, is_gold=task.is_gold))
        return
    connection.execute(update(slots).where(slots.c.id == chosen).values(values))


def ask_for(connection: Connection, project_id: int, item_id: int, n: int) -> None:
    """Make an item have ``n`` slots: open more, or take away open ones that are not needed any more."""
    of_item = slots.c.item_id == item_id
    rows = connection.execute(select(slots).where(of_item).order_by(slots.c.number).with_for_update()).all()
    surplus = len(rows) - n
    if surplus < 0:
        connection.execute(
            insert(slots),
            [{"project_id": project_id, "item_id": item_id, "number": rows[-1].number + more, "turn": rows[-1].turn,
              "state": "open"} for more in range(1, 1 - surplus)],
        )  # fmt: skip
    unneeded = [row.id for row in reversed(rows) if row.state == "open"][: max(surplus, 0)]
    if unneeded:
        connection.execute(delete(slots).where(slots.c.id.in_(unneeded), slots.c.state == "open"))


def release(connection: Connection, project_id: int, user_id: int) -> int:
    """Free what a person holds without an answer; return how many slots."""
    mine = slots.c.id.in_(_lock_held(connection, project_id, user_id))
    values = {"state": "open", "user_id": None, "leased_until": None}
    dealt = connection.execute(delete(slots).where(mine, slots.c.is_gold)).rowcount
    return dealt + connection.execute(update(slots).where(mine).values(values)).rowcount


def free_after_skip(connection: Connection, item_id: int, user_id: int) -> None:
    """Free the person's slot of an item, leased or answered."""
    mine = (slots.c.item_id == item_id, slots.c.user_id == user_id)
    connection.execute(delete(slots).where(*mine, slots.c.is_gold))
    connection.execute(update(slots).where(*mine).values(state="open", user_id=None, leased_until=None))


def deal_gold(connection: Connection, project_id: int, user_id: int, *, before: int, now: float, until: float) -> bool:
    """Lease a gold question that the person has never had, in front of an item that was just leased.

    One that was drawn meanwhile is no longer dealt: it comes in its turn. False if there is none left, or others are
    just answering about those that are.
    """
    turn = connection.scalar(select(slots.c.turn).where(slots.c.item_id == before).limit(1))
    query = (
        select(items.c.id)
        .where(
            items.c.project_id == project_id,
            items.c.rank < 0,
            items.c.batch == DEALT,
            ~exists().where(handouts.c.item_id == items.c.id, handouts.c.user_id == user_id),
        )
        .order_by(func.random())
        .limit(1)
        .with_for_update(key_share=True, skip_locked=True)  # who holds slots already must not wait
    )
    item_id = connection.scalar(query)
    if item_id is None:
        return False
    number = connection.scalar(select(func.coalesce(func.max(slots.c.number), 0)).where(slots.c.item_id == item_id))
    place = {"project_id": project_id, "item_id": item_id, "number": int(number or 0) + 1, "turn": turn}
    held_by = {"state": "leased", "user_id": user_id, "leased_until": until, "is_gold": True}
    connection.execute(insert(slots).values(**place, **held_by))
    _remember(connection, item_id, user_id, now=now)
    return True


def count_free(connection: Connection, project_id: int, *, now: float) -> int:
    """Return how many slots could be handed out now."""
    free = or_(slots.c.state == "open", and_(slots.c.state == "leased", slots.c.leased_until < now))
    mine = (slots.c.project_id == project_id, ~slots.c.is_gold)
    return int(connection.scalar(select(func.count()).where(*mine, free)) or 0)


def count_untouched(connection: Connection, project_id: int, *, most: int) -> int:
    """Return how many items nobody has begun yet, counting no further than ``most``.

    An item's first slot is handed out first, so it is open as long as nobody holds the item or has answered it.
    """
    mine = (slots.c.project_id == project_id, slots.c.state == "open", slots.c.number == 1)
    some = select(slots.c.id).where(*mine).limit(most).subquery()
    return int(connection.scalar(select(func.count()).select_from(some)) or 0)


def next_expiry(connection: Connection, project_id: int) -> float | None:
    """Return when the first lease of the project runs out."""
    query = select(func.min(slots.c.leased_until)).where(slots.c.project_id == project_id, slots.c.state == "leased",
                                                         ~slots.c.is_gold)  # fmt: skip
    found: float | None = connection.scalar(query)
    return found


def find_task(connection: Connection, project_id: int, item_id: int) -> Task | None:
    query = select(items.c.id, items.c.name, items.c.rank, items.c.score, items.c.payload).where(
        items.c.project_id == project_id, items.c.id == item_id
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else _task((*row, 0.0))


def _remember(connection: Connection, item_id: int, user_id: int, *, now: float) -> None:
    if not was_handed_out(connection, item_id, user_id):
        connection.execute(insert(handouts).values(item_id=item_id, user_id=user_id, at=now))


_TASK = (items.c.id, items.c.name, items.c.rank, items.c.score, items.c.payload, slots.c.leased_until)


def _task(row: Any) -> Task:
    id_, name, rank, score, payload, until = row
    return Task(id_, name, rank, score, json.loads(payload), until)
