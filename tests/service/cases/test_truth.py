"""What the curve speaks of: the truth where gold questions show how people err, else the labels as given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.service.cases.test_assignment import say, take

import karat
from karat.service.campaign import Campaign
from karat.service.truth import OF_LABELS, OF_THE_TRUTH, labels_of_gold, tell_truth
from karat.store.answers import Vote
from karat.store.gold import Question

N = 600


@pytest.fixture
def begin(house, tmp_path):
    def run(*, method=None, **settings):
        path = tmp_path / "facts.csv"
        pd.DataFrame({"id": range(N), "text": "t", "score": -np.arange(N)}).to_csv(path, index=False)
        campaign = Campaign(gold_share=0.5, **settings)
        engine = karat.open(path, score="score", id="id", seed=3)
        method = method or karat.Certify(absolute=0.15, relative=0.3, from_rank=200, pilot=20)
        return house.create_project("Facts", engine, campaign, by=house.owner(), method=method), campaign

    return run


def add_gold(house, project, campaign, n=120):
    questions = [Question(f"gold {number}", number % 2, {"text": "t"}) for number in range(n)]
    house.gold.add(project, campaign, questions, by=house.owner())


def work(house, project, campaign, user, *, right, most=10_000):
    """Answer as somebody does who is right that often, until nothing comes; items of the upper two thirds are true."""
    rng = np.random.default_rng(user.id)
    for _ in range(most):
        tasks = take(house, project, campaign, user, 1)
        if not tasks:
            return
        task = tasks[0]
        true = int(task.name.split()[1]) % 2 if task.is_gold else int(task.rank <= 2 * N // 3)
        said = true if rng.random() < right else 1 - true
        say(house, project, campaign, user, task.item_id, "yes" if said else "no")


def told(house, project, campaign):
    return tell_truth(house.database, project, campaign, house.studies.curve(project))


def test_with_gold_the_curve_speaks_of_the_truth(house, begin, crowd):
    project, campaign = begin()
    add_gold(house, project, campaign)
    (ann,) = crowd(project, 1)
    before = told(house, project, campaign)
    assert (before.of, before.corrected) == (OF_LABELS, False)
    assert "no gold question whose answer is “right” has been answered yet" in before.sentence
    work(house, project, campaign, ann, right=0.97)
    given, true = house.studies.curve(project), told(house, project, campaign)
    assert (true.of, true.corrected) == (OF_THE_TRUTH, True)
    assert "gold questions show that people call a right item right" in true.sentence
    assert true.curve.confidence_level == pytest.approx(0.94)
    assert true.curve.at(N).low <= 2 / 3 <= true.curve.at(N).high
    assert true.curve.at(N).high - true.curve.at(N).low > given.at(N).high - given.at(N).low
    assert true.curve.worst_over_target is None  # the target is one for the labels as given


def test_a_few_gold_questions_do_not_tell(house, begin, crowd):
    project, campaign = begin()
    add_gold(house, project, campaign, n=4)
    (ann,) = crowd(project, 1)
    work(house, project, campaign, ann, right=1.0)
    found = told(house, project, campaign)
    assert (found.of, found.corrected) == (OF_LABELS, False)
    assert "4 gold questions do not tell yet how often they are wrong" in found.sentence


def test_without_gold_it_says_that_it_speaks_of_the_labels(house, begin, crowd):
    project, campaign = begin()
    (ann,) = crowd(project, 1)
    work(house, project, campaign, ann, right=0.9, most=40)
    found = told(house, project, campaign)
    assert found.of == OF_LABELS
    assert found.curve is house.studies.curve(project)
    assert found.sentence.startswith("The curve speaks of the labels as people give them, right or wrong: no gold")


@pytest.mark.parametrize(
    ("settings", "method", "said"),
    [
        ({"rule": "dawid-skene", "votes": 3}, None, "the rule 'dawid-skene'"),
        ({}, karat.Paula(), "the bounds of paula cannot be corrected"),
        ({}, karat.Certify(sensitivity=0.9, specificity=0.9, absolute=0.2), "allows for the error rates given"),
    ],
)
def test_where_it_cannot_be_corrected_it_says_why(house, begin, settings, method, said):
    project, campaign = begin(method=method, **settings)
    add_gold(house, project, campaign)
    found = told(house, project, campaign)
    assert said in found.sentence
    assert not found.corrected


def test_a_gold_question_is_one_label_of_as_many_votes_as_an_item_gets():
    """Not one a vote: several people's answers about one question are not several questions."""
    campaign = Campaign(votes=2, extra=1)
    said = {1: ["yes", "yes", "no", "yes"], 2: ["no", "no", "no"], 3: ["yes", "yes"], 4: ["unsure", "yes", "no"]}
    votes = [
        Vote(item, user, f"u{user}", value, None, 10 * user + item)
        for item, values in said.items()
        for user, value in enumerate(values)
    ]
    labels, truth = labels_of_gold(votes, {1: 1, 2: 0, 3: 1, 4: 0}, campaign, seed=1)
    assert truth == [1, 0, 0]  # the third has too few votes
    assert labels == [1, 0, -1]


def test_rulings_are_right_more_often_than_votes(house, begin, crowd):
    """A ruling on one item makes the most that people's labels can be right certain: both ends at 1."""
    project, campaign = begin()
    add_gold(house, project, campaign)
    (ann,) = crowd(project, 1)
    work(house, project, campaign, ann, right=0.97)
    before = told(house, project, campaign).curve
    past = house.assignment.history(project, user_id=ann.id)
    item = next(entry for entry in past if not entry["name"].startswith("gold"))
    given = {"item_id": item["item_id"], "value": item["value"], "request": "r"}
    house.adjudication.rule(project, campaign, **given, user_id=house.owner().id)
    after = told(house, project, campaign).curve
    assert ", 1.000], a wrong one" in after.assumptions[0].statement
    assert after.at(N).low <= before.at(N).low
    assert after.at(N).high >= before.at(N).high


def test_gold_says_nothing_about_models(house, begin, crowd):
    """A wrong certificate otherwise: people are right on gold, a model that nobody tested made the labels."""
    project, campaign = begin()
    add_gold(house, project, campaign)
    (ann,) = crowd(project, 1)
    work(house, project, campaign, ann, right=1.0)
    assert told(house, project, campaign).of == OF_THE_TRUTH
    with house.database.write() as connection:
        connection.exec_driver_sql(f"UPDATE users SET kind = 'model' WHERE id = {ann.id}")
    found = told(house, project, campaign)
    assert found.of == OF_LABELS
    assert "models' or imported answers" in found.sentence


def test_gold_is_decided_as_items_are():
    """Two who agree settle an item, although three more votes could overrule them; so they settle a gold question."""
    rng = np.random.default_rng(4)
    campaign = Campaign(votes=2, extra=3)
    right = rng.random((4000, 5)) < 0.8
    votes = [
        Vote(item, person, "", "yes" if right[item, person] else "no", None, 5 * item + person)
        for item in range(4000)
        for person in range(5)
    ]
    given, truth = labels_of_gold(votes, dict.fromkeys(range(4000), 1), campaign, seed=1)
    # Two agree (.68): right .64 of all; else the majority of five.
    assert np.mean(np.equal(given, truth)) == pytest.approx(
        0.9282, abs=0.013
    )  # three standard errors; five votes: .942
