"""A shared task with 20 systems and 200 documents through the whole service, judged by people who err.

That the intervals cover at their level is shown over 300 runs of the pool in tests/coverage/test_shared_task_pool.py;
here, that the service adds nothing to the pool and takes nothing away.
"""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from shared_task import covers, label_pool, true_metrics

from karat.demo.relations import PREDICATES, make_corpus, make_systems
from karat.service.assignment import Answer
from karat.service.evaluation_task import EvaluationTask, campaign_for
from karat.service.installation import Installation
from karat.store import people

ACCURACY = 0.85


def submit_all(house, project, campaign, systems, tmp_path):
    """Submit all and let them in before anything is drawn; return their files and the labels that each alone needs."""
    alone, waiting, files = 0, [], {}
    for name, lines in systems.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        found = house.submissions.submit(project, name, path, by=house.owner(), name=path.name)
        alone += found.most_labels  # nothing is in the pool yet
        waiting.append(found)
    row = house.evaluations.row(project)
    with house.pools.use(row) as pool:
        for found in waiting:
            (file,) = house.pools.incoming(row).glob(f"{found.id}.*")
            pool.add(found.system, file)
            files[found.system] = file
    house.feeds.replenish(project, campaign)
    return files, alone


def answer_all(house, project, campaign, crowd, truth, rng):
    """Let everybody answer until nothing is left; return how many answers each item got that are positive."""
    positive, n_answers = Counter(), 0
    while True:
        before = n_answers
        for user in crowd:
            for each in house.assignment.next_tasks(project, campaign, user_id=user.id, n=20).tasks:
                right = rng.random() < ACCURACY
                value = "yes" if bool(truth[each.name]) == right else "no"
                answer = Answer(each.item_id, value, f"{user.id} {each.item_id}")
                house.assignment.answer(project, campaign, answer, user_id=user.id)
                positive[each.name] += value == "yes"
                n_answers += 1
        if n_answers == before:
            return positive, n_answers


def rounded(board):
    """Return a board without what the order of sums changes: matrix products differ in the last digits."""
    return json.loads(json.dumps(board), parse_float=lambda digits: round(float(digits), 9))


@pytest.mark.slow
def test_twenty_systems_and_a_crowd_that_is_right_85_percent_of_the_time(tmp_path, capsys, root):
    """The leaderboard is that of a pool told the same votes, and costs a fraction of what the systems would alone."""
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
    files, alone = submit_all(house, project, campaign, systems, tmp_path)
    positive, n_answers = answer_all(house, project, campaign, crowd, corpus.truth, np.random.default_rng(3))
    board = house.evaluations.leaderboard(project, metric="f1", for_user=None)
    spent = house.spending.so_far(house.evaluations.row(project), campaign).judging
    house.close()
    pool, n_labels = label_pool(tmp_path / "library", files, lambda asked: {name: positive[name] for name in asked},
                                n_votes=3, seed=2, half_width=0.1)  # fmt: skip
    library = pool.scores().to_dict()
    assert rounded(board) == rounded(library | {"hidden": 0, "doubt": None})
    assert any(note.startswith("Corrected for wrong labels") for note in board["notes"])
    pool.tell_errors(None)
    assert pool.scores().to_dict()["rows"] != board["rows"]  # as if the majority were always right
    known = true_metrics(corpus, systems)
    inside = [covers(row[m], known[row["system"]][m]) for row in board["rows"] for m in ("precision", "recall", "f1")]
    with capsys.disabled():
        print({"labels": n_labels, "labels alone": alone, "spent": spent, "covered": np.mean(inside)})
    assert len(inside) == 60
    assert n_labels == board["n_labels"]
    assert n_answers == 3 * n_labels
    assert spent == pytest.approx(0.05 * n_answers)
    assert n_labels < 0.5 * alone
    page = " ".join((root / "docs/how-to/run-a-shared-task.md").read_text(encoding="utf-8").split())
    assert f"they took {n_labels} labels, which is {spent:.2f} at 0.05 an answer" in page
    assert f"they would need {alone:,} labels at most, or {0.15 * alone:.2f}" in page
