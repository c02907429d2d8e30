"""A copy taken while answers are written is complete in itself and one state of the database."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import DatabaseError

from karat.errors import InvalidInput
from karat.service.installation import Installation
from karat.store import people, schema
from karat.store.database import Database


@pytest.fixture
def database_url(tmp_path):
    return str(tmp_path / "karat.db")


def test_backup_under_load(house, tmp_path):
    stop = threading.Event()
    written = []

    def write():
        while not stop.is_set():
            with house.database.write() as connection:  # two rows that belong together
                number = len(written)
                user = people.add_user(connection, f"u{number}", password_hash=None, is_admin=False, now=0.0)
                people.add_session(connection, user, f"h{number}", now=0.0, expires_at=1.0, client="")
            written.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(written) < 20:
            stop.wait(0.01)
        for round_ in range(5):
            at_least = len(written)
            copy = tmp_path / f"copy{round_}.db"
            house.database.back_up(copy)
            restored = Database(copy)
            assert restored.check() == []
            with restored.read() as connection:
                n_users = connection.scalar(select(func.count()).select_from(schema.users))
                n_sessions = connection.scalar(select(func.count()).select_from(schema.sessions))
            restored.close()
            assert n_users == n_sessions >= at_least
    finally:
        stop.set()
        writer.join()


def test_a_restored_copy_goes_on(house, start, tmp_path, clock):
    project, campaign = start()
    task = house.assignment.next_tasks(project, campaign, user_id=house.owner().id, n=1).tasks[0]
    house.database.back_up(tmp_path / "copy.db")
    other = Installation(tmp_path / "copy.db", clock=clock)
    again = other.assignment.next_tasks(other.project(project.slug), campaign, user_id=house.owner().id, n=1).tasks[0]
    assert again.item_id == task.item_id
    other.close()


def test_a_backup_never_overwrites(house, tmp_path):
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(InvalidInput, match="must not exist"):
        house.database.back_up(target)
    assert target.read_text() == "precious"


def test_damage_is_found(tmp_path, house):
    copy = tmp_path / "copy.db"
    house.database.back_up(copy)
    data = bytearray(copy.read_bytes())
    data[5 * 4096 : 5 * 4096 + 8] = b"\xff" * 8
    copy.write_bytes(bytes(data))
    try:
        found = Database(copy).check()
    except DatabaseError as error:  # SQLite may refuse such a file outright
        found = [str(error)]
    assert found != []
