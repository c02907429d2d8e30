"""Who submits, and who accepts, is warned where links would not meet those of earlier systems; nobody is refused."""

from __future__ import annotations

import json

import pytest
from tests.service.cases.test_reading import TASK

from karat.documents.text import Document
from karat.pool.relation_ends import LinksCompared
from karat.service.evaluation_task import campaign_for
from karat.service.link_warnings import warn
from karat.store import people

TEXT = "Ann Lee works for Acme."


def line(ann=None, acme=None):
    return {"document": "d", "subject": "Ann Lee", "predicate": "employer", "object": "Acme",
            "subject_mention": "Ann Lee", "subject_start": 0, "subject_end": 7, "subject_link": ann,
            "object_mention": "Acme", "object_start": 18, "object_end": 22, "object_link": acme}  # fmt: skip


@pytest.fixture
def task(house, client_of):
    """Return clients of the owner and of a participant, and how to submit: it answers with the warnings."""
    project = house.project(house.evaluations.create("News", campaign_for(TASK, votes=1), TASK, by=house.owner(),
                                                     documents=[Document(name="d", text=TEXT)]))  # fmt: skip
    team = house.add_user("team")
    with house.database.write() as connection:
        people.set_member(connection, project.id, team.id, role="viewer", now=house.clock())
    owner, participant = client_of(house.owner()), client_of(team)
    base = f"/api/projects/{project.slug}"

    def submit(system, *lines, accept=True):
        answer = participant.post(f"{base}/submissions", params={"system": system, "file": "x.jsonl"},
                                  content="\n".join(json.dumps(each) for each in lines).encode())  # fmt: skip
        assert answer.status_code == 201, answer.text
        if accept:
            assert owner.post(f"{base}/submissions/{answer.json()['id']}/accept").status_code == 200
        return answer.json()["warnings"]

    return owner, base, submit


def listed(owner, base):
    return {each["system"]: each["warnings"] for each in owner.get(f"{base}/submissions").json()}


def test_links_that_do_not_meet_are_told_at_submission(task):
    owner, base, submit = task
    assert submit("first", line("wiki/Ann", "wiki/Acme")) == []
    (warning,) = submit("bare", line(), accept=False)
    assert warning == (
        "2 of the 2 names that earlier systems have too come without a link, though earlier systems link them. "
        "The same relation then counts as two."
    )
    (warning,) = submit("numbers", line("Q1", "Q2"), accept=False)
    assert warning.startswith("0 of the 2 names that earlier systems link too have a link in common with them")
    assert submit("alike", line("wiki/Ann", "wiki/Acme"), accept=False) == []
    assert submit("half", line("wiki/Ann", "Q2"), accept=False) == []
    assert submit("first", line()) == []  # its own earlier version is no other system
    # what waits is compared with the systems of now, what is accepted with those before it
    told = listed(owner, base)
    assert told["bare"] == []
    assert told["first"] == []
    (warning,) = told["numbers"]
    assert warning.startswith("2 of the 2 names that earlier systems have too come with a link, though no earlier")
    assert told["half"] == told["alike"] == told["numbers"]


def test_the_answer_to_one_that_is_accepted_unasked_warns_as_well(task):
    owner, base, submit = task
    assert submit("first", line("wiki/Ann", "wiki/Acme")) == []
    assert owner.put(f"{base}/allowance", json={"each": 10, "in_all": 100}).status_code == 200
    (warning,) = submit("bare", line("wiki/Ann"), accept=False)
    assert warning.startswith("1 of the 2 names")
    assert listed(owner, base) == {"first": [], "bare": [warning]}


def test_warnings_are_given_where_they_should_be():
    def kinds(**counts):
        found = LinksCompared(**{"names": 20, "lacking": 0, "alone": 0, "linked": 0, "known": 0, **counts})
        return [warning.partition(" of the ")[0] for warning in warn(found)]

    assert kinds() == kinds(linked=4, known=2) == []
    assert kinds(linked=5, known=2) == ["2"]
    assert kinds(lacking=1, alone=3, linked=1) == ["1", "3", "0"]


def test_items_without_ends_give_no_warnings(house, client_of):
    from karat.service.evaluation_task import EvaluationTask

    project = house.project(house.evaluations.create("Items", campaign_for(EvaluationTask()), EvaluationTask(),
                                                     by=house.owner()))  # fmt: skip
    answer = client_of(house.owner()).post(f"/api/projects/{project.slug}/submissions", content=b"id\na\nb\n",
                                           params={"system": "s", "file": "x.csv"})  # fmt: skip
    assert answer.json()["warnings"] == []
