"""What follows from readings keeps up with systems that come and go, in this process and in others."""

from __future__ import annotations

import json

import pytest

from karat.documents.text import Document
from karat.service.evaluation_task import EvaluationTask, campaign_for
from karat.service.installation import Installation

TASK = EvaluationTask(kind="relations", predicates={"employer": "works for"}, types=("person", "organization"))
TEXT = "Ann Lee works for Acme."
LINKED, NAMED = ("wiki/Ann", "employer", "wiki/Acme"), ("Ann Lee", "employer", "Acme")


@pytest.fixture
def evaluation(house):
    """Return an evaluation of two documents, of which one was read, with links."""
    by = house.owner()
    documents = [Document(name=name, text=TEXT) for name in "de"]
    slug = house.evaluations.create("N", campaign_for(TASK, votes=1), TASK, by=by, documents=documents)
    project = house.project(slug)
    reading = house.project(house.readings.create(project, house.evaluations.row(project), by=by, n=1, votes=1, seed=1))
    campaign = house.campaign(reading)
    (task,) = house.assignment.next_tasks(reading, campaign, user_id=by.id, n=1).tasks
    mentions = [{"start": 0, "end": 7, "type": "person", "canonical": 0, "link": "wiki/Ann"},
                {"start": 18, "end": 22, "type": "organization", "canonical": 1, "link": "wiki/Acme"}]  # fmt: skip
    content = {"mentions": mentions, "relations": [{"subject": 0, "predicate": "employer", "object": 1}]}
    house.readings.annotate(
        reading, house.evaluations.row(project), campaign, item_id=task.item_id, user_id=by.id, request="r",
        content=content,
    )  # fmt: skip
    return project, task.name


def let_in(house, project, path, name, document):
    """Submit and accept a system that finds the relation in a document and gives no links."""
    line = {"document": document, "subject": "Ann Lee", "predicate": "employer", "object": "Acme",
            "subject_mention": "Ann Lee", "subject_start": 0, "subject_end": 7, "object_mention": "Acme",
            "object_start": 18, "object_end": 22}  # fmt: skip
    file = path / f"{name}.jsonl"
    file.write_text(json.dumps(line) + "\n")
    found = house.submissions.submit(project, name, file, by=house.owner(), name=file.name)
    return house.submissions.accept(project, house.campaign(project), found.id, by=house.owner())


def test_what_a_retracted_system_found_is_still_met(house, evaluation, tmp_path):
    """It stays in the pool, and theta counts it: a result from before it came must not be kept."""
    project, document = evaluation
    row = house.evaluations.row(project)
    assert house.reading_results.read_in(row) == {LINKED: 1}
    found = let_in(house, project, tmp_path, "bare", document)
    house.submissions.retract(project, found.id, by=house.owner())
    assert house.reading_results.read_in(row) == {NAMED: 1}


def test_systems_that_another_process_let_in_are_known(house, evaluation, database_url, clock, tmp_path):
    project, document = evaluation
    row = house.evaluations.row(project)
    other = Installation(database_url, pools=house.pools.home, clock=clock)
    assert other.reading_results.read_in(row) == {LINKED: 1}
    let_in(house, project, tmp_path, "bare", document)
    assert other.reading_results.read_in(row) == {NAMED: 1}
    found = other.submissions.list(project)
    assert other.link_warnings.of(row, found) == {each.id: [] for each in found}
    other.close()
