"""Opening a database and its transactions.

SQLite: write-ahead log and `synchronous = FULL`, so an answer that was acknowledged survives a power cut; a transaction
that writes takes the write lock at its beginning, so it cannot fail half way because another one wrote meanwhile. Who
has to wait for SQLite's lock looks again now and then, and the unlucky one never finds it free; so the threads of a
process queue for it here, first come, first served.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import sqlalchemy
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from karat.errors import InvalidInput, MissingExtra
from karat.store.queue import Queue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine

_READS_ONLY = "karat_reads_only"
_SHARED: dict[str, Any] = {"pool_size": 20, "max_overflow": 20, "hide_parameters": True}
"""Parameters of statements are people's words and hashes of secrets: they do not belong into error messages."""
_PATIENCE = 30.0
"""Seconds that a SQLite connection waits for another writer: nobody sees "database is locked"."""


class Database:
    """A database by URL: a path means SQLite.

    Examples
    --------
    >>> import tempfile, sqlalchemy
    >>> database = Database(tempfile.mkdtemp() + "/karat.db")
    >>> with database.write() as connection:
    ...     connection.scalar(sqlalchemy.text("PRAGMA journal_mode"))
    'wal'
    >>> database.close()
    """

    def __init__(self, url: str | Path) -> None:
        text = str(url)
        try:
            self.url = sqlalchemy.make_url(text if "://" in text else f"sqlite:///{text}")
            if self.url.drivername in {"postgresql", "postgres"}:
                self.url = self.url.set(drivername="postgresql+psycopg")
            self.engine = self._open()
            self._one_writer: AbstractContextManager[object] = Queue() if self.is_sqlite else nullcontext()
        except (ArgumentError, NoSuchModuleError) as error:
            raise InvalidInput(f"'db' must be a path or a URL of SQLite or PostgreSQL; {error}.") from error
        except ModuleNotFoundError as error:
            raise MissingExtra(f"PostgreSQL needs an extra: pip install 'karat[postgres]' ({error}).") from error

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    def _open(self) -> Engine:
        backend = self.url.get_backend_name()
        if backend == "postgresql":
            return sqlalchemy.create_engine(self.url, pool_pre_ping=True, **_SHARED)
        if backend != "sqlite":
            raise InvalidInput(f"'db' must be SQLite or PostgreSQL; got {backend!r}.")
        if self.url.database in {None, "", ":memory:"}:
            raise InvalidInput("'db' must be a file: a database in memory would lose its answers.")
        engine = sqlalchemy.create_engine(self.url, connect_args={"timeout": _PATIENCE}, **_SHARED)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    def require_reachable(self) -> None:
        """Raise one sentence unless the database can be opened."""
        try:
            with self.engine.connect():
                pass
        except DBAPIError as error:
            name = self.url.render_as_string() if not self.is_sqlite else str(self.url.database)
            reason = str(error.orig).strip().splitlines()[0].rstrip(".")
            raise InvalidInput(f"'db' must be a database that can be opened; got {name}: {reason}.") from error

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that is committed at the end, or rolled back whole."""
        with self._one_writer, self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that sees one state of the database and writes nothing."""
        options: dict[str, Any] = {_READS_ONLY: True}
        if not self.is_sqlite:
            options["isolation_level"] = "REPEATABLE READ"  # else every statement would see a state of its own
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    def close(self) -> None:
        self.engine.dispose()

    # --- the whole database

    def back_up(self, target: Path) -> None:
        """Copy a SQLite database while it is in use, page by page; the copy is one consistent state."""
        if target.exists():
            raise InvalidInput(f"'target' must not exist yet; got {str(target)!r}.")
        with closing(sqlite3.connect(str(self.url.database))) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy, pages=1000)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, complete in itself

    def make_one_file(self) -> None:
        """Fold the write-ahead log of a SQLite database into it: the file is complete in itself then."""
        self.close()
        with closing(sqlite3.connect(str(self.url.database))) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")

    def check(self) -> list[str]:
        """Return what is wrong with the files of a SQLite database; nothing, if all is well."""
        if not self.is_sqlite:
            raise InvalidInput("To check PostgreSQL use its own tool: pg_amcheck.")
        with self.read() as connection:
            found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
            found += [f"dangling reference: {row}" for row in connection.exec_driver_sql("PRAGMA foreign_key_check")]
        return [line for line in found if line != "ok"]


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    reads_only = connection.get_execution_options().get(_READS_ONLY, False)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")
