"""Gate: kill -9 while answers are written. What was acknowledged is there, and the database is whole.

A control that acknowledges before it commits must lose answers in the same test.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import select

import karat
from karat.service.installation import Installation
from karat.store import schema

WRITER = Path(__file__).with_name("writer.py")


@pytest.fixture
def project(start):
    return start(method=karat.Point(rank=400, labels=40))[0]


def kill_round(url, slug, user_id, first, manner, least):
    """Start a writer, kill it after it acknowledged ``least`` answers; return what it acknowledged."""
    command = [sys.executable, str(WRITER), url, slug, str(user_id), str(first), manner]
    acknowledged: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
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
        process.send_signal(signal.SIGKILL)
        process.wait()
        listener.join()
    return acknowledged


def rounds(url, house, project, *, n_rounds, least, manner):
    """Kill again and again; return all acknowledged requests and those the ledger lacks."""
    acknowledged: list[str] = []
    lost: set[str] = set()
    first = 0
    for _ in range(n_rounds):
        new = kill_round(url, project.slug, house.owner().id, first, manner, least)
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


def test_acknowledging_before_committing_loses_answers(database_url, house, project):
    for _ in range(8):  # each kill may fall between two answers
        _, lost = rounds(database_url, house, project, n_rounds=1, least=30, manner="hasty")
        if lost:
            return
    pytest.fail("the control lost nothing: the test above proves nothing")
