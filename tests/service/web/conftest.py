"""The application in this process, with a client for each kind of caller."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from karat.demo.relations import PREDICATES, Corpus, make_corpus, make_systems
from karat.service.evaluation_task import EvaluationTask, campaign_for
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


class SharedTask(NamedTuple):
    """An evaluation with a submission in the pool and one that waits, and a reading of two documents."""

    slugs: dict[str, str]
    corpus: Corpus
    systems: dict[str, list[dict]]


@pytest.fixture
def shared_task(house, tmp_path):
    corpus = make_corpus(30, seed=2)
    systems = make_systems(corpus, 3, seed=2)
    task = EvaluationTask(kind="relations", predicates=PREDICATES)
    campaign = campaign_for(task, price=0.1, currency="EUR", guidelines="Read *well*.")
    slug = house.evaluations.create("Shared", campaign, task, by=house.owner(), documents=corpus.documents,
                                    half_width=0.15)  # fmt: skip
    project = house.project(slug)
    for place, name in enumerate(("system-01", "system-02")):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in systems[name]))
        found = house.submissions.submit(project, name, path, by=house.owner(), name=path.name)
        if place == 0:
            house.submissions.accept(project, campaign, found.id, by=house.owner())
    reading = house.readings.create(project, house.evaluations.row(project), by=house.owner(), n=2, votes=2, seed=1)
    return SharedTask({"evaluation": slug, "reading": reading}, corpus, systems)


@pytest.fixture
def owner(client_of, house):
    return client_of(house.owner())


@pytest.fixture
def base(shared_task):
    return f"/api/projects/{shared_task.slugs['evaluation']}"
