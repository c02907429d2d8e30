"""Bringing a database to the schema of this karat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from karat.errors import InvalidData

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from karat.store.database import Database
MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(database: Database, *, revision: str = "head") -> None:
    """Create or migrate the tables, in one transaction; a database of a newer karat is refused."""
    database.require_reachable()
    with database.write() as connection:
        config = _config(connection)
        now = revision_of(connection)
        known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
        if now is not None and now not in known:
            raise InvalidData(f"The database was made by a newer karat (schema {now}); upgrade karat first.")
        command.upgrade(config, revision)


def revision_of(connection: Connection) -> str | None:
    """Return the schema's revision; None for an empty database."""
    return MigrationContext.configure(connection).get_current_revision()


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
