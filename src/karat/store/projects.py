"""Projects, their draws batch by batch, and the items as drawn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, insert, select, update

from karat.errors import InvalidInput
from karat.store.schema import RETIRED, audit, batches, draws, items, members, projects, slots, users

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Select
    from sqlalchemy.engine import Connection

_PLACES = 1_000_000
"""More than any batch has items: a slot's turn is batch * _PLACES + place."""


class Project(NamedTuple):
    """A project as stored; ``settings`` is what `karat.service.campaign` makes of it."""

    id: int
    slug: str
    title: str
    state: str
    settings: dict[str, Any]
    created_at: float


class NewItem(NamedTuple):
    """An item to put before people."""

    rank: int
    name: str
    score: float
    place: int
    payload: Mapping[str, Any]


class ItemRow(NamedTuple):
    """An item as stored; its payload is JSON."""

    id: int
    rank: int
    name: str
    score: float
    payload: str
    label: int | None
    gold: int | None


class LabelRow(NamedTuple):
    """What is known about an item that was drawn."""

    item_id: int
    rank: int
    label: int | None
    batch: int
    gold: int | None


def add_project(connection: Connection, slug: str, *, title: str, settings: Mapping[str, Any], now: float) -> int:
    values = {"slug": slug, "title": title, "state": "open", "settings": _dump(settings), "created_at": now}
    return int(connection.execute(insert(projects).values(values).returning(projects.c.id)).scalar_one())


def find_project(connection: Connection, slug: str) -> Project | None:
    row = connection.execute(select(projects).where(projects.c.slug == slug)).one_or_none()
    return None if row is None else _project(row)


def get_project(connection: Connection, id: int) -> Project:
    return _project(connection.execute(select(projects).where(projects.c.id == id)).one())


def list_projects(connection: Connection, *, user_id: int | None = None) -> list[tuple[Project, str | None]]:
    """Return all projects, or those a user belongs to with the role; by title."""
    if user_id is None:
        return [(_project(row), None) for row in connection.execute(select(projects).order_by(projects.c.title))]
    query = (
        select(projects, members.c.role)
        .join(members, members.c.project_id == projects.c.id)
        .where(members.c.user_id == user_id)
        .order_by(projects.c.title)
    )
    return [(_project(row[:-1]), row[-1]) for row in connection.execute(query)]


def change_project(connection: Connection, id: int, *, title: str, state: str, settings: Mapping[str, Any]) -> None:
    values = {"title": title, "state": state, "settings": _dump(settings)}
    connection.execute(update(projects).where(projects.c.id == id).values(values))


# --- draws


def add_draw(connection: Connection, project_id: int, header: Mapping[str, Any], *, now: float) -> None:
    connection.execute(insert(draws).values(project_id=project_id, header=_dump(header), created_at=now))


def add_batch(connection: Connection, project_id: int, number: int, *, document: Mapping[str, Any], now: float) -> None:
    """Write one sealed batch; a second one with the same number violates the key."""
    content = {name: value for name, value in document.items() if name != "seal"}
    values = {"project_id": project_id, "number": number, "content": _dump(content), "seal": document["seal"],
              "created_at": now}  # fmt: skip
    connection.execute(insert(batches).values(values))


def count_batches(connection: Connection, project_id: int) -> int:
    return int(connection.scalar(select(func.count()).where(batches.c.project_id == project_id)) or 0)


def has_draw(connection: Connection, project_id: int) -> bool:
    return connection.scalar(select(draws.c.project_id).where(draws.c.project_id == project_id)) is not None


def draw_document(connection: Connection, project_id: int) -> dict[str, Any]:
    """Return the draw as the document that `karat.draws.Draw.from_dict` reads."""
    text = connection.execute(select(draws.c.header).where(draws.c.project_id == project_id)).scalar_one_or_none()
    if text is None:
        raise InvalidInput("This project has no draw: its items come from an evaluation. See its leaderboard.")
    header = json.loads(text)
    query = (
        select(batches.c.content, batches.c.seal).where(batches.c.project_id == project_id).order_by(batches.c.number)
    )
    return {**header, "batches": [{**json.loads(content), "seal": seal} for content, seal in connection.execute(query)]}


# --- items


def add_items(connection: Connection, project_id: int, new_items: Sequence[NewItem], *, batch: int, votes: int) -> None:
    """Put items before people, each with as many open slots as votes are wanted."""
    if not new_items:
        return
    known = {row[0]: row[1] for row in connection.execute(_gold_by_name(project_id))}
    rows = [{"project_id": project_id, "rank": item.rank, "name": item.name, "score": item.score, "batch": batch,
             "place": item.place, "payload": _dump(item.payload), "gold": known.get(item.name)}
            for item in new_items]  # fmt: skip
    connection.execute(insert(items), rows)
    drawn = [item.name for item in new_items if item.name in known]
    if drawn:
        retired = (items.c.project_id == project_id, items.c.rank < 0, items.c.name.in_(drawn))
        connection.execute(update(items).where(*retired).values(batch=RETIRED))
    query = select(items.c.id, items.c.place).where(items.c.project_id == project_id, items.c.batch == batch)
    connection.execute(
        insert(slots),
        [{"project_id": project_id, "item_id": id_, "number": number, "turn": batch * _PLACES + place, "state": "open"}
         for id_, place in connection.execute(query).all() for number in range(1, votes + 1)],
    )  # fmt: skip


def _gold_by_name(project_id: int) -> Select[str, int]:
    return select(items.c.name, items.c.gold).where(items.c.project_id == project_id, items.c.rank < 0)


def stored_labels(connection: Connection, project_id: int) -> list[LabelRow]:
    """Return every item that was drawn, by rank, with the label that its own votes give (None: open)."""
    query = (
        select(items.c.id, items.c.rank, items.c.label, items.c.batch, items.c.gold)
        .where(items.c.project_id == project_id, items.c.rank > 0)
        .order_by(items.c.rank)
    )
    return [LabelRow(*row) for row in connection.execute(query)]


def item_rows(connection: Connection, project_id: int) -> list[ItemRow]:
    """Return every item that was drawn, by rank."""
    columns = (items.c.id, items.c.rank, items.c.name, items.c.score, items.c.payload, items.c.label,
               items.c.gold)  # fmt: skip
    query = select(*columns).where(items.c.project_id == project_id, items.c.rank > 0).order_by(items.c.rank)
    return [ItemRow(*row) for row in connection.execute(query)]


def item_names(connection: Connection, project_id: int) -> dict[int, str]:
    """Return the name of every item that was drawn."""
    query = select(items.c.id, items.c.name).where(items.c.project_id == project_id, items.c.rank > 0)
    return {int(row[0]): str(row[1]) for row in connection.execute(query)}


def labels_by_name(connection: Connection, project_id: int) -> dict[str, int | None]:
    """Return the label (None: open) of every item, in the order the items were laid out."""
    mine = (items.c.project_id == project_id, items.c.rank > 0)
    query = select(items.c.name, items.c.label).where(*mine).order_by(items.c.rank)
    return {row[0]: row[1] for row in connection.execute(query)}


def count_labels(connection: Connection, project_id: int) -> dict[int | None, int]:
    """Return the number of items that were laid out by label (None: open); gold questions do not count."""
    mine = (items.c.project_id == project_id, items.c.rank > 0)
    query = select(items.c.label, func.count()).where(*mine).group_by(items.c.label)
    return {row[0]: int(row[1]) for row in connection.execute(query)}


def lock_project(connection: Connection, project_id: int) -> None:
    """Make others who would lay out items of the project wait."""
    connection.execute(select(projects.c.id).where(projects.c.id == project_id).with_for_update())


def any_payload(connection: Connection, project_id: int) -> dict[str, Any]:
    """Return what is known of some item that was drawn: all have the same columns."""
    query = select(items.c.payload).where(items.c.project_id == project_id, items.c.rank > 0).limit(1)
    found = connection.scalar(query)
    return {} if found is None else dict(json.loads(found))


def some_payloads(connection: Connection, project_id: int, *, most: int = 1000) -> list[dict[str, Any]]:
    """Return what is known of items that were drawn."""
    query = select(items.c.payload).where(items.c.project_id == project_id, items.c.rank > 0).limit(most)
    return [dict(json.loads(payload)) for payload in connection.scalars(query)]


def set_label(connection: Connection, item_id: int, label: int | None) -> None:
    connection.execute(update(items).where(items.c.id == item_id).values(label=label))


# --- audit


def add_audit(
    connection: Connection,
    action: str,
    *,
    now: float,
    user_id: int | None = None,
    project_id: int | None = None,
    **detail: Any,
) -> None:
    """Write down who did what."""
    values = {"at": now, "user_id": user_id, "project_id": project_id, "action": action, "detail": _dump(detail)}
    connection.execute(insert(audit).values(values))


def list_audit(connection: Connection, project_id: int, *, most: int) -> list[dict[str, Any]]:
    query = (
        select(audit.c.at, users.c.name, audit.c.action, audit.c.detail)
        .join(users, users.c.id == audit.c.user_id, isouter=True)
        .where(audit.c.project_id == project_id)
        .order_by(audit.c.id.desc())
        .limit(most)
    )
    return [{"at": at, "user": name, "action": action, "detail": json.loads(detail)}
            for at, name, action, detail in connection.execute(query)]  # fmt: skip


def _project(row: Any) -> Project:
    id_, slug, title, state, settings, created_at = row
    return Project(id_, slug, title, state, json.loads(settings), created_at)


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, default=str)
