"""Many answers at once, in one transaction: what was collected elsewhere, and what judge models say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, delete, insert, select, update

from karat.store.schema import items, ledger, projects, slots, votes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection

_AT_ONCE = 500


class Given(NamedTuple):
    """An answer to write into the ledger."""

    item_id: int
    user_id: int
    value: str
    note: str | None
    seconds: float | None
    at: float
    request: str


class Standing(NamedTuple):
    """What somebody's vote on an item is by now."""

    value: str
    note: str | None
    seconds: float | None
    at: float
    ledger_id: int


def lock_project(connection: Connection, project_id: int) -> None:
    """Let one import into a project follow the other."""
    connection.execute(select(projects.c.id).where(projects.c.id == project_id).with_for_update(key_share=True))


def items_by_name(connection: Connection, project_id: int) -> dict[str, int | None]:
    """Return the items that were drawn, by name; None where several have the same."""
    found: dict[str, int | None] = {}
    query = select(items.c.id, items.c.name).where(items.c.project_id == project_id, items.c.rank > 0)
    for id_, name in connection.execute(query):
        found[name] = None if name in found else id_
    return found


def standing_votes(
    connection: Connection, project_id: int, user_ids: Collection[int]
) -> dict[tuple[int, int], Standing]:
    """Return the votes of some people by item and person."""
    found: dict[tuple[int, int], Standing] = {}
    for some in _portions(sorted(user_ids)):
        query = (
            select(votes.c.item_id, votes.c.user_id, votes.c.value, votes.c.note, ledger.c.seconds, ledger.c.at,
                   votes.c.ledger_id)
            .join(ledger, ledger.c.id == votes.c.ledger_id)
            .where(votes.c.project_id == project_id, votes.c.user_id.in_(some))
        )  # fmt: skip
        for item_id, user_id, *rest in connection.execute(query):
            found[item_id, user_id] = Standing(*rest)
    return found


def append(connection: Connection, project_id: int, given: Sequence[Given]) -> Sequence[int]:
    """Write answers into the ledger and return their lines."""
    rows = [{**answer._asdict(), "project_id": project_id, "kind": "answer"} for answer in given]
    return connection.scalars(insert(ledger).returning(ledger.c.id, sort_by_parameter_order=True), rows).all()


def record(connection: Connection, project_id: int, given: Sequence[Given]) -> Sequence[int]:
    """Write answers into the ledger, make them votes, and give each a slot; labels are left to the caller."""
    if not given:
        return []
    touched = sorted({answer.item_id for answer in given})
    for some in _portions(touched):  # in one order everywhere, so that nobody waits for each other
        lock = select(items.c.id).where(items.c.id.in_(some)).order_by(items.c.id).with_for_update(key_share=True)
        connection.execute(lock)
    ids = append(connection, project_id, given)
    pairs = [{"of_item": answer.item_id, "of_user": answer.user_id} for answer in given]
    mine = (votes.c.item_id == bindparam("of_item"), votes.c.user_id == bindparam("of_user"))
    connection.execute(delete(votes).where(*mine), pairs)
    connection.execute(
        insert(votes),
        [{"item_id": answer.item_id, "user_id": answer.user_id, "project_id": project_id, "value": answer.value,
          "note": answer.note, "ledger_id": id_} for answer, id_ in zip(given, ids, strict=True)],
    )  # fmt: skip
    take_slots(connection, project_id, {(answer.item_id, answer.user_id) for answer in given})
    return ids


def take_slots(connection: Connection, project_id: int, pairs: Collection[tuple[int, int]]) -> None:
    """Give each person a slot of the item: the one already theirs, an open one, or one more."""
    wanted: dict[int, list[int]] = {}
    for item_id, user_id in sorted(pairs):
        wanted.setdefault(item_id, []).append(user_id)
    taken, added = [], []
    for some in _portions(list(wanted)):
        rows = connection.execute(
            select(slots).where(slots.c.item_id.in_(some)).order_by(slots.c.item_id, slots.c.number).with_for_update()
        ).all()
        of_item: dict[int, list[tuple[int, int, int, int | None]]] = {item_id: [] for item_id in some}
        for row in rows:
            of_item[row.item_id].append((row.id, row.number, row.turn, row.user_id))
        for item_id in some:
            mine = {user_id: id_ for id_, _, _, user_id in of_item[item_id] if user_id is not None}
            free = [id_ for id_, _, _, user_id in of_item[item_id] if user_id is None]
            _, number, turn, _ = of_item[item_id][-1]
            for user_id in wanted[item_id]:
                slot = mine.get(user_id) or (free.pop(0) if free else None)
                if slot is not None:
                    taken.append({"slot": slot, "holder": user_id})
                    continue
                number += 1
                added.append({"project_id": project_id, "item_id": item_id, "number": number, "turn": turn,
                              "state": "answered", "user_id": user_id})  # fmt: skip
    if taken:
        answered: dict[str, Any] = {"state": "answered", "user_id": bindparam("holder"), "leased_until": None}
        connection.execute(update(slots).where(slots.c.id == bindparam("slot")).values(answered), taken)
    if added:
        connection.execute(insert(slots), added)


def _portions(ids: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(ids[start : start + _AT_ONCE]) for start in range(0, len(ids), _AT_ONCE)]
