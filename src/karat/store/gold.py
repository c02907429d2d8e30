"""Gold questions: items whose answer is known. One that was not drawn has a rank below zero."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, insert, select, update

from karat.store.schema import DEALT, items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.engine import Connection


class Question(NamedTuple):
    """A gold question to add."""

    name: str | None
    truth: int
    payload: Mapping[str, Any]


def add(connection: Connection, project_id: int, questions: Sequence[Question]) -> int:
    """Add gold questions, or correct the answer of those that are there; return how many are new.

    A question about an item that was drawn already is no new one: what people answer about that item tells as much.
    """
    mine = items.c.project_id == project_id
    there = set(connection.scalars(select(items.c.name).where(mine)))
    for question in questions:
        if question.name in there:
            same = (mine, items.c.name == question.name)
            connection.execute(update(items).where(*same).values(gold=question.truth))
    lowest = int(connection.scalar(select(func.min(items.c.rank)).where(mine, items.c.rank < 0)) or 0)
    new = [question for question in questions if question.name not in there]
    rows = [{"project_id": project_id, "rank": lowest - number, "score": 0.0, "batch": DEALT, "place": 0,
             "name": f"gold {number - lowest}" if question.name is None else question.name,
             "payload": json.dumps(dict(question.payload), ensure_ascii=False, allow_nan=False),
             "gold": question.truth}
            for number, question in enumerate(new, start=1)]  # fmt: skip
    if rows:
        connection.execute(insert(items), rows)
    return len(rows)


def truths(connection: Connection, project_id: int) -> dict[int, int]:
    """Return the known answers: item to 1 or 0, drawn or not."""
    query = select(items.c.id, items.c.gold).where(items.c.project_id == project_id, items.c.gold.is_not(None))
    return {int(row[0]): int(row[1]) for row in connection.execute(query)}


def drawn(connection: Connection, project_id: int) -> list[int]:
    """Return the items that were drawn and whose answer is known."""
    known = (items.c.project_id == project_id, items.c.gold.is_not(None), items.c.rank > 0)
    return list(connection.scalars(select(items.c.id).where(*known)))


def count(connection: Connection, project_id: int) -> int:
    """Return how many gold questions there are that were not drawn."""
    return int(connection.scalar(select(func.count()).where(items.c.project_id == project_id, items.c.rank < 0)) or 0)


def version(connection: Connection, project_id: int) -> tuple[int, int]:
    """Return two numbers that change when a gold question is added or corrected."""
    known = (items.c.project_id == project_id, items.c.gold.is_not(None))
    query = select(func.count(), func.coalesce(func.sum(items.c.id * items.c.gold), 0)).where(*known)
    n_questions, mark = connection.execute(query).one()
    return int(n_questions), int(mark)


def truth_of(connection: Connection, item_id: int) -> int | None:
    return connection.scalar(select(items.c.gold).where(items.c.id == item_id))
