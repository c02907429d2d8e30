"""A shared task with 20 systems and 200 documents through the whole service, judged by people who err."""

from __future__ import annotations

import json

import numpy as np
import pytest

from karat.demo.relations import PREDICATES, make_corpus, make_systems
from karat.documents.relations import instance_id
from karat.service.assignment import Answer
from karat.service.evaluation_task import EvaluationTask, campaign_for
from karat.service.installation import Installation
from karat.store import people

ACCURACY = 0.85


def submit_all(house, project, campaign, systems, tmp_path):
    """Submit and accept all systems before anything is drawn; return the labels that each alone would need, summed."""
    alone, waiting = 0, []
    for name, lines in systems.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        found = house.evaluations.submit(project, name, path, by=house.owner(), name=path.name)
        alone += found.most_labels  # nothing is in the pool yet
        waiting.append(found)
    row = house.evaluations.row(project)
    with house.pools.use(row) as pool:
        for found in waiting:
            (file,) = house.pools.incoming(row).glob(f"{found.id}.*")
            pool.add(found.system, file)
    house.feeds.replenish(project, campaign)
    return alone


def answer_all(house, project, campaign, crowd, truth, rng):
    n_answers = 0
    while True:
        before = n_answers
        for user in crowd:
            for each in house.assignment.next_tasks(project, campaign, user_id=user.id, n=20).tasks:
                right = rng.random() < ACCURACY
                value = "yes" if bool(truth[each.name]) == right else "no"
                answer = Answer(each.item_id, value, f"{user.id} {each.item_id}")
                house.assignment.answer(project, campaign, answer, user_id=user.id)
                n_answers += 1
        if n_answers == before:
            return n_answers


@pytest.mark.slow
def test_twenty_systems_and_a_crowd_that_is_right_85_percent_of_the_time(tmp_path, capsys):
    """The leaderboard corrects for the crowd's errors, and costs a fraction of what the systems would alone.

    The systems of one run share their labels, so the share of its sixty 90% intervals that hold the truth scatters
    from .6 to 1; that they cover at their level is tested over many runs in tests/coverage/test_shared_task.py.
    """
    corpus = make_corpus(200, seed=1)
    systems = make_systems(corpus, 20, seed=1)
    house = Installation(tmp_path / "karat.db")
    task = EvaluationTask(kind="relations", predicates=PREDICATES)
    campaign = campaign_for(task, votes=3, price=0.05, currency="USD")
    slug = house.evaluations.create("Shared", campaign, task, by=house.owner(), documents=corpus.documents, seed=2,
                                    half_width=0.1)  # fmt: skip
    project = house.project(slug)
    crowd = [house.add_user(f"person{k}") for k in range(3)]
    with house.database.write() as connection:
        for user in crowd:
            people.set_member(connection, project.id, user.id, role="annotator", now=0.0)
    alone = submit_all(house, project, campaign, systems, tmp_path)
    n_answers = answer_all(house, project, campaign, crowd, corpus.truth, np.random.default_rng(3))
    board = house.evaluations.leaderboard(project, metric="f1", for_user=None)
    spent = house.evaluations.describe(project, campaign)["spent"]
    house.close()
    true = {_relation(line) for lines in systems.values() for line in lines if corpus.truth[instance_id(line)]}
    inside = []
    for row in board["rows"]:
        lines = systems[row["system"]]
        right = [line for line in lines if corpus.truth[instance_id(line)]]
        precision, recall = len(right) / len(lines), len({_relation(line) for line in right}) / len(true)
        known = {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}
        inside += [row[m]["low"] <= known[m] <= row[m]["high"] for m in known]
    with capsys.disabled():
        print({"labels": board["n_labels"], "labels alone": alone, "spent": spent, "covered": np.mean(inside)})  # noqa: T201
    assert any(note.startswith("Corrected for wrong labels") for note in board["notes"])
    assert len(inside) == 60
    assert np.mean(inside) >= 0.6
    assert n_answers == 3 * board["n_labels"]
    assert spent == pytest.approx(0.05 * n_answers)
    assert board["n_labels"] < 0.5 * alone


def _relation(line):
    return line["subject_link"], line["predicate"], line["object_link"]
