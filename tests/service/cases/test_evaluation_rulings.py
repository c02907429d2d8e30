"""An owner rules on disagreements of an evaluation: those labels are right, the others are corrected for the crowd."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from karat.math.agreement.vote_errors import majority_errors
from karat.pool import Pool
from karat.service.assignment import Answer
from karat.service.evaluation_task import EvaluationTask, campaign_for

N_ITEMS, ACCURACY, N_RULED = 150, 0.8, 12


@pytest.fixture
def judged(house, crowd, tmp_path):
    """Return an evaluation of two systems whose items three people judged, its campaign, the truth, and the votes."""
    task = EvaluationTask(kind="items")
    campaign = campaign_for(task, votes=3)
    slug = house.evaluations.create("Things", campaign, task, by=house.owner(), half_width=0.02, seed=5)
    project = house.project(slug)
    truth = {f"x{k}": int(k % 3 > 0) for k in range(N_ITEMS)}
    for name, begin in (("all", 0), ("some", 40)):
        path = tmp_path / f"{name}.csv"
        path.write_text("id\n" + "".join(f"x{k}\n" for k in range(begin, N_ITEMS)))
        found = house.submissions.submit(project, name, path, by=house.owner(), name=path.name)
        house.submissions.accept(project, campaign, found.id, by=house.owner())
    rng, positive = np.random.default_rng(8), Counter()
    people = crowd(project, 3)
    answered = True
    while answered:
        answered = False
        for user in people:
            for each in house.assignment.next_tasks(project, campaign, user_id=user.id, n=20).tasks:
                is_yes = truth[each.name] == int(rng.random() < ACCURACY)
                positive[each.name] += is_yes
                answer = Answer(each.item_id, "yes" if is_yes else "no", f"{user.id} {each.item_id}")
                house.assignment.answer(project, campaign, answer, user_id=user.id)
                answered = True
    return project, campaign, truth, positive


def rows_of(house, project):
    return house.evaluations.leaderboard(project, metric="precision", for_user=None)["rows"]


def test_rulings_are_taken_as_they_are_and_the_rest_is_corrected(house, judged):
    project, campaign, truth, positive = judged
    before = rows_of(house, project)
    queue = house.adjudication.queue(project, campaign)
    split = {name for name, count in positive.items() if 0 < count < 3}
    assert {entry["name"] for entry in queue} == split
    assert len(split) > 2 * N_RULED
    ruled = queue[:N_RULED]
    for entry in ruled:
        value = "yes" if truth[entry["name"]] else "no"
        house.adjudication.rule(project, campaign, item_id=entry["item_id"], value=value,
                                request=f"rule {entry['item_id']}", user_id=house.owner().id)  # fmt: skip
    names = {entry["name"] for entry in ruled}
    labels = {name: truth[name] if name in names else int(count > 1) for name, count in positive.items()}
    errors = majority_errors(list(positive.values()), n_votes=3, share_ruled=N_RULED / len(split))
    rows = rows_of(house, project)
    row = house.evaluations.row(project)
    with house.pools.use(row) as pool:
        assert {name: pool.state.labels[name] for name in labels} == labels
        assert pool.state.sure == names
        assert pool.state.errors == errors
    assert rows != before
    # the pool alone, told the same, says the same; told that no label is sure, or that all are right, it does not
    other = Pool(house.pools.home / row.folder)
    assert other.scores("precision").to_dict()["rows"] == rows
    for wrong in ({"errors": errors}, {"errors": None}):
        other.tell_errors(**wrong)
        assert other.scores("precision").to_dict()["rows"] != rows


def test_a_later_ruling_takes_the_place_of_an_earlier_one(house, judged):
    project, campaign, _, _ = judged
    entry = house.adjudication.queue(project, campaign)[0]
    seen = []
    for number, value in enumerate(("yes", "no", "yes")):
        house.adjudication.rule(project, campaign, item_id=entry["item_id"], value=value, request=f"r{number}",
                                user_id=house.owner().id)  # fmt: skip
        seen.append(rows_of(house, project))
    assert seen[0] == seen[2] != seen[1]
