"""Evaluations, their submissions, documents and what people annotated in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, func, insert, or_, select, update

from karat.store.schema import documents, evaluations, items, marks, submissions, users

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.engine import Connection

_AT_ONCE = 500


class EvaluationRow(NamedTuple):
    """An evaluation as stored; ``settings`` is what `karat.service.evaluation_task` makes of it."""

    project_id: int
    reading_id: int | None
    folder: str
    settings: dict[str, Any]
    published_at: float | None
    created_at: float
    is_public: bool
    """Published to anybody who has the address, not to members alone."""


class Submission(NamedTuple):
    """A file of predictions that passed all checks; ``version`` is that of the pool, once it is accepted.

    One that waits is replaced by any later one of its system, for good; one that was accepted by a later accepted one.
    The price (``n_new``, ``first_labels``, ``most_labels``) was found when the pool's log had ``priced_at`` events.
    """

    id: int
    project_id: int
    user_id: int
    system: str
    version: int | None
    state: str
    file: str
    n_predictions: int
    n_new: int
    first_labels: int
    most_labels: int
    created_at: float
    priced_at: int
    user: str


class Annotation(NamedTuple):
    """What one person made of one document."""

    item_id: int
    document: str
    user_id: int
    user: str
    content: dict[str, Any]


# --- evaluations


def add_evaluation(
    connection: Connection, project_id: int, *, folder: str, settings: Mapping[str, Any], now: float
) -> None:
    values = {"project_id": project_id, "folder": folder, "settings": _dump(settings), "created_at": now}
    connection.execute(insert(evaluations).values(values))


def find_evaluation(connection: Connection, project_id: int) -> EvaluationRow | None:
    """Return the evaluation that a project is, or whose documents it reads."""
    mine = or_(evaluations.c.project_id == project_id, evaluations.c.reading_id == project_id)
    row = connection.execute(select(evaluations).where(mine)).one_or_none()
    if row is None:
        return None
    return EvaluationRow(row[0], row[1], row[2], json.loads(row[3]), row[4], row[5], row[6])


def set_settings(connection: Connection, project_id: int, settings: Mapping[str, Any]) -> None:
    changed = update(evaluations).where(evaluations.c.project_id == project_id)
    connection.execute(changed.values(settings=_dump(settings)))


def set_reading(connection: Connection, project_id: int, reading_id: int) -> None:
    connection.execute(update(evaluations).where(evaluations.c.project_id == project_id).values(reading_id=reading_id))


def set_published(connection: Connection, project_id: int, at: float | None, *, is_public: bool) -> None:
    changed = update(evaluations).where(evaluations.c.project_id == project_id)
    connection.execute(changed.values(published_at=at, is_public=is_public))


# --- submissions


def add_submission(connection: Connection, **values: Any) -> int:
    return int(connection.execute(insert(submissions).values(values).returning(submissions.c.id)).scalar_one())


def list_submissions(connection: Connection, project_id: int, *, id: int | None = None) -> list[Submission]:
    """Return the submissions, oldest first; with an id only that one."""
    wanted = [submissions.c.project_id == project_id]
    if id is not None:
        wanted.append(submissions.c.id == id)
    columns: list[Any] = [_state() if column is submissions.c.state else column for column in submissions.c]
    query = select(*columns, users.c.name).join(users, users.c.id == submissions.c.user_id).where(*wanted)
    return [Submission._make(row) for row in connection.execute(query.order_by(submissions.c.id))]


def _state() -> ColumnElement[str]:
    """Return the state as stored, or that a later submission of the system took its place."""
    later = submissions.alias()
    same = (later.c.project_id == submissions.c.project_id, later.c.system == submissions.c.system)
    resubmitted = select(later.c.id).where(*same, later.c.id > submissions.c.id)
    waited = (submissions.c.state == "checked") & resubmitted.exists()
    competed = (submissions.c.state == "accepted") & resubmitted.where(later.c.version.is_not(None)).exists()
    return case((waited | competed, "replaced"), else_=submissions.c.state)


def set_submission(connection: Connection, id: int, *, state: str, version: int | None) -> None:
    connection.execute(update(submissions).where(submissions.c.id == id).values(state=state, version=version))


def set_price(connection: Connection, id: int, *, was: int, **price: int) -> None:
    """Change the price of a submission that still waits, if it is the one of ``was``: nobody found another since."""
    waiting = (submissions.c.id == id, submissions.c.state == "checked", submissions.c.priced_at == was)
    connection.execute(update(submissions).where(*waiting).values(price))


# --- documents


def add_documents(connection: Connection, project_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    connection.execute(insert(documents), [{"project_id": project_id, **row} for row in rows])


def texts_of(connection: Connection, project_id: int, names: Iterable[str]) -> dict[str, str]:
    """Return the texts of those of the documents that there are."""
    wanted = sorted(names)
    found: dict[str, str] = {}
    for begin in range(0, len(wanted), _AT_ONCE):
        some = documents.c.name.in_(wanted[begin : begin + _AT_ONCE])
        query = select(documents.c.name, documents.c.content).where(documents.c.project_id == project_id, some)
        found.update((name, text) for name, text in connection.execute(query))
    return found


def known_mentions(connection: Connection, project_id: int) -> dict[str, list[list[Any]]]:
    """Return the mentions that came with each document, as start, end and type; documents by name."""
    query = select(documents.c.name, documents.c.mentions).where(documents.c.project_id == project_id)
    return {name: json.loads(mentions) for name, mentions in connection.execute(query.order_by(documents.c.name))}


def count_documents(connection: Connection, project_id: int) -> tuple[int, int]:
    """Return the number of documents and of their tokens."""
    query = select(func.count(), func.coalesce(func.sum(documents.c.n_tokens), 0)).where(
        documents.c.project_id == project_id
    )
    count, tokens = connection.execute(query).one()
    return int(count), int(tokens)


# --- annotations


def add_annotation(connection: Connection, item_id: int, user_id: int, *, content: Any, now: float) -> None:
    connection.execute(insert(marks).values(item_id=item_id, user_id=user_id, content=_dump(content), at=now))


def annotations_by(connection: Connection, item_id: int, user_id: int, *, at: float) -> list[Any]:
    """Return what a person had marked in a document at some time; several, if within one tick of the clock."""
    mine = (marks.c.item_id == item_id, marks.c.user_id == user_id)
    last = select(func.max(marks.c.at)).where(*mine, marks.c.at <= at).scalar_subquery()
    return [json.loads(text) for text in connection.scalars(select(marks.c.content).where(*mine, marks.c.at == last))]


def latest_annotations(connection: Connection, project_id: int, *, user_id: int | None = None) -> list[Annotation]:
    """Return the latest annotation of each person about each document of a project."""
    last = select(func.max(marks.c.id)).group_by(marks.c.item_id, marks.c.user_id)
    query = (
        select(marks.c.item_id, items.c.name, marks.c.user_id, users.c.name, marks.c.content)
        .join(items, items.c.id == marks.c.item_id)
        .join(users, users.c.id == marks.c.user_id)
        .where(items.c.project_id == project_id, marks.c.id.in_(last))
        .order_by(items.c.name, users.c.name)
    )
    if user_id is not None:
        query = query.where(marks.c.user_id == user_id)
    return [Annotation(*row[:4], json.loads(row[4])) for row in connection.execute(query)]


def _dump(document: Any) -> str:
    return json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
