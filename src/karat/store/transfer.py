"""Taking all that a database holds into another one, of the other kind too."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from alembic.script import ScriptDirectory
from sqlalchemy import func, insert, select, text

from karat.errors import InvalidData, InvalidInput
from karat.store.schema import metadata
from karat.store.upgrade import MIGRATIONS, revision_of, upgrade

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Table
    from sqlalchemy.engine import Connection

    from karat.store.database import Database

_AT_ONCE = 2000


def copy_all(source: Database, target: Database) -> dict[str, int]:
    """Copy every row into a database that holds none, in one transaction; return how many each table has.

    What was written is read back and compared by checksum before it is committed. The source may be in use: one state
    of it is copied.
    """
    with source.read() as reading:
        _require_newest(reading, source)
        upgrade(target)
        with target.write() as writing:
            for table in metadata.sorted_tables:
                if writing.execute(select(table).limit(1)).first() is not None:
                    raise InvalidInput(f"The database to fill must be empty; its table '{table.name}' is not.")
            return {table.name: _copy(table, reading, writing) for table in metadata.sorted_tables}


def checksum(connection: Connection, table: Table) -> tuple[str, int]:
    """Return a digest of all rows of a table and how many there are; it is the same on both kinds of database."""
    digest, count = hashlib.sha256(), 0
    for rows in _pages(connection, table):
        count += len(rows)
        for row in rows:
            digest.update(repr(tuple(row)).encode())
    return digest.hexdigest(), count


def _copy(table: Table, reading: Connection, writing: Connection) -> int:
    for rows in _pages(reading, table):
        writing.execute(insert(table), [dict(zip(table.c.keys(), row, strict=True)) for row in rows])
    if "id" in table.c and writing.dialect.name == "postgresql":  # keys were given: the counter goes on after them
        last = writing.scalar(select(func.max(table.c.id)))
        if last is not None:
            writing.execute(text("SELECT setval(pg_get_serial_sequence(:table, 'id'), :last)"),
                            {"table": table.name, "last": last})  # fmt: skip
    before, after = checksum(reading, table), checksum(writing, table)
    if before != after:
        raise InvalidData(f"The table '{table.name}' was not copied right; nothing was written.")
    return after[1]


def _pages(connection: Connection, table: Table) -> Iterator[Sequence[Any]]:
    """Read a table by its key: a line of the ledger comes after those that it refers to."""
    query = select(table).order_by(*table.primary_key).execution_options(yield_per=_AT_ONCE)
    yield from connection.execute(query).partitions()


def _require_newest(connection: Connection, source: Database) -> None:
    now, newest = revision_of(connection), ScriptDirectory(str(MIGRATIONS)).get_current_head()
    if now != newest:
        name = source.url.render_as_string()
        raise InvalidInput(
            f"{name} has the schema {now} of another karat, not {newest}: let `karat serve` open it once."
        )
