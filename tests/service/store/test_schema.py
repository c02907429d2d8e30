"""The migrations make exactly the tables of the code, on both databases, and the database guards the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from karat.errors import InvalidData, InvalidInput
from karat.store import schema
from karat.store.database import Database
from karat.store.upgrade import revision_of, upgrade

MIGRATIONS = Path(schema.__file__).parent / "migrations"


@pytest.fixture
def database(database_url):
    opened = Database(database_url)
    upgrade(opened)
    yield opened
    opened.close()


def test_migrations_and_code_agree(database):
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []


def test_a_column_that_no_migration_makes_is_noticed(database):
    """The test above can fail."""
    with database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE users DROP COLUMN disabled_at")
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, schema.metadata) != []


def test_upgrading_twice_changes_nothing(database):
    upgrade(database)
    with database.read() as connection:
        assert revision_of(connection) == ScriptDirectory(str(MIGRATIONS)).get_current_head()


def test_what_an_older_karat_wrote_is_still_there(database_url):
    """A database at the first revision, with a slot in somebody's hands, is brought up to date as it stands."""
    database = Database(database_url)
    upgrade(database, revision="0001")
    rows = {
        "users": "(1, 'ada', NULL, TRUE, 0, NULL)", "projects": "(1, 'p', 'P', 'open', '{}', 0)",
        "items": "(1, 1, 7, 'seven', 0.5, 0, 0, '{}', 1)", "slots": "(1, 1, 1, 1, 0, 'leased', 1, 9)",
    }  # fmt: skip
    with database.write() as connection:
        for table, values in rows.items():
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES {values}")
    upgrade(database)
    with database.read() as connection:
        slot, item = (connection.execute(select(table)).one() for table in (schema.slots, schema.items))
        assert (slot.state, slot.user_id, slot.is_gold) == ("leased", 1, False)
        assert (item.rank, item.label, item.gold) == (7, 1, None)
        assert connection.execute(select(schema.users)).one().own_keys is None
    database.close()


def test_a_database_of_a_newer_karat_is_refused(database):
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InvalidData, match="newer karat"):
        upgrade(database)


@pytest.mark.parametrize("table", schema.APPEND_ONLY)
@pytest.mark.parametrize("verb", ["update", "delete"])
def test_what_is_written_stays(start, house, table, verb):
    project, campaign = start()
    hand = house.assignment.next_tasks(project, campaign, user_id=house.owner().id, n=1)
    house.assignment.skip(project, campaign, item_id=hand.tasks[0].item_id, request="r", user_id=house.owner().id)
    with house.database.write() as connection:
        marks = {"item_id": hand.tasks[0].item_id, "user_id": house.owner().id, "content": "{}", "at": 0.0}
        connection.execute(insert(schema.marks).values(marks))
    thing = schema.metadata.tables[table]
    column = list(thing.columns)[-1]
    with house.database.read() as connection:
        before = connection.execute(select(thing)).all()
    assert before
    statement = delete(thing) if verb == "delete" else update(thing).values({column: column})
    with pytest.raises(DBAPIError, match="append-only"), house.database.write() as connection:
        connection.execute(statement)
    with house.database.read() as connection:
        assert connection.execute(select(thing)).all() == before


def test_nobody_holds_two_slots_of_an_item(start, house):
    project, campaign = start(votes=2)
    user_id = house.owner().id
    task = house.assignment.next_tasks(project, campaign, user_id=user_id, n=1).tasks[0]
    with pytest.raises(IntegrityError), house.database.write() as connection:
        connection.execute(
            update(schema.slots)
            .where(schema.slots.c.item_id == task.item_id)
            .values(state="leased", user_id=user_id, leased_until=0)
        )


def test_a_failed_transaction_leaves_nothing(database):
    row = {"name": "a", "is_admin": False, "created_at": 0.0}

    def add_twice():
        with database.write() as connection:
            connection.execute(insert(schema.users).values(row))
            connection.execute(insert(schema.users).values(row))

    with pytest.raises(IntegrityError):
        add_twice()
    with database.read() as connection:
        assert connection.execute(select(schema.users)).all() == []


def test_sqlite_is_as_durable_as_promised(tmp_path):
    database = Database(tmp_path / "karat.db")
    with database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    database.close()


@pytest.mark.parametrize("url", ["sqlite://", ":memory:", "mysql://x/y", "nonsense://", "sqlite:///:memory:"])
def test_other_databases_are_refused(url):
    with pytest.raises(InvalidInput):
        Database(url)


def test_a_read_sees_one_state(database):
    """Whatever is committed meanwhile, all statements of one read see the same."""
    count = select(func.count()).select_from(schema.users)
    with database.read() as reading:
        before = reading.scalar(count)
        with database.write() as writing:
            writing.execute(insert(schema.users).values(name="new", is_admin=False, created_at=0.0))
        assert reading.scalar(count) == before
    with database.read() as reading:
        assert reading.scalar(count) == before + 1


def test_a_database_that_cannot_be_opened_is_one_sentence(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no database, but long enough to look like the file of one" * 20)
    with pytest.raises(InvalidInput, match=r"got .*notes.txt: file is not a database\.$"):
        upgrade(Database(path))
    with pytest.raises(InvalidInput, match=r"'db' must be a database that can be opened; got postgresql.*x:\*\*\*@127"):
        upgrade(Database("postgresql://x:secret@127.0.0.1:1/karat"))
