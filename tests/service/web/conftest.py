"""The application in this process, with a client for each kind of caller."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from karat.store import people
from karat.web.app import create_app
from karat.web.deps import COOKIE
from karat.web.settings import Settings


@pytest.fixture
def database_url(tmp_path):
    return str(tmp_path / "karat.db")


@pytest.fixture
def app(house, tmp_path):
    (tmp_path / "tables").mkdir()
    settings = Settings(db="unused", uploads=str(tmp_path / "uploads"), folder=str(tmp_path / "tables"))
    return create_app(settings, house=house)


@pytest.fixture
def client_of(app, house):
    """Return a client signed in as a user (None: nobody)."""

    def make(user=None):
        client = TestClient(app, raise_server_exceptions=False)
        if user is not None:
            secret = house.access.use_sign_in_link(house.access.make_sign_in_link(user.id))
            client.cookies.set(COOKIE, secret)
        return client

    return make


@pytest.fixture
def cast(house, start):
    """Return a project and one user of each kind."""
    project, campaign = start(votes=2)
    other, _ = start("Other")
    users = {"admin": house.owner()}
    with_role = {"owner": project, "annotator": project, "viewer": project, "stranger": other}
    for name, where in with_role.items():
        users[name] = house.add_user(name + "1")
        with house.database.write() as connection:
            role = "owner" if name == "stranger" else name  # even an owner elsewhere is a stranger here
            people.set_member(connection, where.id, users[name].id, role=role, now=house.clock())
    return project, campaign, users
