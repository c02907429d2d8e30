"""Several votes an item: the rules, more votes where the first ones disagree, and who agrees with whom."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from tests.service.cases.test_assignment import say, state_of, take

import karat
from karat.math.agreement.chance import krippendorff_alpha
from karat.math.agreement.dawid_skene import fit_dawid_skene
from karat.math.agreement.votes import Votes
from karat.service.assignment import Answer
from karat.service.votes import decide, model_labels, more_wanted
from karat.store import schema

WORDS = {1: "yes", 0: "no", -1: "unsure"}


def ask_until_decided(stream, *, wanted, extra):
    """Follow `more_wanted` through a stream of votes, as the service does."""
    taken = list(stream[:wanted])
    while more := more_wanted(taken, wanted=wanted, extra=extra):
        taken = list(stream[: len(taken) + more])
    return taken


@pytest.mark.parametrize(("wanted", "extra"), [(2, 1), (2, 3), (3, 2)])
def test_asking_only_where_votes_disagree_gives_the_label_of_all_votes(wanted, extra):
    """Brute force over every stream: beyond a unanimous start, the label is that of all votes, for fewer of them."""
    fewer = 0
    for stream in itertools.product((1, 0, -1), repeat=wanted + extra):
        taken = ask_until_decided(stream, wanted=wanted, extra=extra)
        assert len(taken) <= wanted + extra
        fewer += len(taken) < wanted + extra
        label = decide(taken, wanted=wanted, extra=extra)
        assert label is not None
        start = stream[:wanted]
        if len(set(start)) == 1 and start[0] != -1:
            assert (label, len(taken)) == (start[0], wanted)
        else:
            assert label == decide(stream, wanted=wanted + extra)
    assert fewer > 0


def test_a_third_vote_is_asked_for_where_two_disagree_and_only_there(house, start, crowd):
    project, campaign = start(votes=2, extra=1, method=karat.Point(rank=20, labels=20))
    one, two, three = crowd(project, 3)
    items = [task.item_id for task in take(house, project, campaign, one, 20)]
    for user, words in ((one, ["yes", "yes"]), (two, ["yes", "no"])):
        take(house, project, campaign, user, 20)
        for item_id, word in zip(items, words, strict=False):
            say(house, project, campaign, user, item_id, word)
    assert {id_: labels_of(house, project).get(id_) for id_ in items[:2]} == {items[0]: 1, items[1]: None}
    mine = {task.item_id for task in take(house, project, campaign, three, 20)}
    assert items[1] in mine
    assert items[0] not in mine
    say(house, project, campaign, three, items[1], "no")
    assert labels_of(house, project)[items[1]] == 0


def labels_of(house, project):
    from karat.service.labels import read_labels

    with house.database.read() as connection:
        return {row.item_id: row.label for row in read_labels(connection, project)}


def test_undo_is_exact_with_extra_votes(house, start, crowd):
    project, campaign = start(votes=2, extra=2)
    one, two = crowd(project, 2)
    item = take(house, project, campaign, one, 1)[0].item_id
    take(house, project, campaign, two, 1)
    say(house, project, campaign, one, item, "yes")
    before = state_of(house)
    say(house, project, campaign, two, item, "no")
    assert len(slots_of(house, item)) == 4
    house.assignment.undo(project, campaign, request="back", user_id=two.id)
    assert state_of(house) == before
    say(house, project, campaign, two, item, "no")
    say(house, project, campaign, one, item, "no")  # a changed mind: they agree now
    assert len(slots_of(house, item)) == 2


def slots_of(house, item_id):
    return [row for row in state_of(house, schema.slots)["slots"] if row[2] == item_id]


def test_votes_of_a_random_crowd_end_with_the_label_of_the_rule(house, start, crowd):
    """Five people answer at random until nothing is left: every item has the votes it needs, and no more."""
    project, campaign = start(votes=2, extra=3, method=karat.Point(rank=30, labels=30))
    people = crowd(project, 5)
    rng = np.random.default_rng(8)
    for _ in range(400):
        user = people[rng.integers(5)]
        tasks = take(house, project, campaign, user, 1)
        if tasks:
            say(house, project, campaign, user, tasks[0].item_id, str(rng.choice(["yes", "no"])))
    seen = set()
    for line in house.progress.items_jsonl(project).splitlines():
        item = json.loads(line)
        meanings = [campaign.meaning(vote["value"]) for vote in item["votes"]]
        assert item["label"] == (1 if sum(meanings) * 2 > len(meanings) else 0)
        margin = abs(2 * sum(meanings) - len(meanings))
        assert margin == len(meanings) == 2 or (2 < len(meanings) <= 5 and margin > 5 - len(meanings))
        seen.add(len(meanings))
    assert seen >= {2, 4, 5}


@pytest.mark.parametrize("rule", ["dawid-skene", "gold-weighted"])
def test_labels_of_a_model_are_those_of_the_library_on_the_exported_votes(house, start, crowd, rule):
    project, campaign = start(votes=3, rule=rule, method=karat.Point(rank=60, labels=60))
    good, better, random = crowd(project, 3)
    rng = np.random.default_rng(4)
    for user, accuracy in ((good, 0.9), (better, 0.95), (random, 0.2)):
        while tasks := take(house, project, campaign, user, 20):
            for task in tasks:
                truth = task.rank <= 30
                say(house, project, campaign, user, task.item_id, "yes" if (rng.random() < accuracy) == truth else "no")
    rows = [json.loads(line) for line in house.progress.items_jsonl(project).splitlines()]
    votes = Votes.from_arrays(
        item=[row["rank"] for row in rows for _ in row["votes"]],
        annotator=[vote["user"] for row in rows for vote in row["votes"]],
        answer=[campaign.meaning(vote["value"]) for row in rows for vote in row["votes"]],
    )
    by_rank = {row["rank"]: row["label"] for row in rows}
    expected = model_labels(votes, rule="majority", gold={})  # no gold question was answered
    if rule == "dawid-skene":
        label = fit_dawid_skene(votes).consensus.label
        assert dict(zip(votes.items.tolist(), label.tolist(), strict=True)) != expected  # the models differ here
        expected = dict(zip(votes.items.tolist(), label.tolist(), strict=True))
    assert by_rank == expected
    design = house.studies.design(project)
    assert dict(zip(design.labels.ranks.tolist(), design.labels.values.tolist(), strict=True)) == expected
    counted = house.progress.summary(project, campaign)
    assert counted["labelled"] == sum(label >= 0 for label in expected.values())
    assert counted["open"] == 0


def test_a_ruling_stands_whatever_a_model_says(house, start, crowd):
    project, campaign = start(votes=2, rule="dawid-skene")
    one, two = crowd(project, 2)
    item = take(house, project, campaign, one, 1)[0].item_id
    take(house, project, campaign, two, 1)
    for user in (one, two):
        say(house, project, campaign, user, item, "yes")
    assert labels_of(house, project)[item] == 1
    ruling = {"item_id": item, "value": "no", "request": "rule", "user_id": house.owner().id}
    house.adjudication.rule(project, campaign, **ruling)
    assert labels_of(house, project)[item] == 0


def test_agreement_leaves_out_the_votes_that_were_asked_for_because_of_disagreement(house, start, crowd):
    """They fall on the hard items; with them the coefficient would be another one."""
    project, campaign = start(votes=2, extra=2, method=karat.Point(rank=30, labels=30))
    people = crowd(project, 4)
    rng = np.random.default_rng(2)
    first: dict[int, list[int]] = {}
    every: dict[int, list[int]] = {}
    for _ in range(300):
        user = people[rng.integers(4)]
        for task in take(house, project, campaign, user, 1):
            meaning = int(rng.random() < (0.5 if task.rank % 3 == 0 else 0.95))
            say(house, project, campaign, user, task.item_id, WORDS[meaning])
            every.setdefault(task.item_id, []).append(meaning)
            first[task.item_id] = every[task.item_id][:2]
    found = house.progress.people(project, campaign)

    def alpha(votes):
        return krippendorff_alpha([[v.count(0), v.count(1), 0] for v in votes.values()]).coefficient

    assert found["krippendorff_alpha"] == pytest.approx(alpha(first))
    assert abs(alpha(every) - alpha(first)) > 1e-6
    assert found["agreement"] == pytest.approx(np.mean([a == b for a, b in (v for v in first.values() if len(v) == 2)]))
    pairs = {(pair["first"], pair["second"]): pair for pair in found["pairs"]}
    assert sum(pair["shared_items"] for pair in pairs.values()) == found["shared_items"]
    for person in found["annotators"]:
        assert person["beside_others"] is None or 0 <= person["beside_others"]["low"] <= person["beside_others"]["high"]


def test_nothing_is_said_about_people_before_they_answer(house, start):
    project, campaign = start(votes=2)
    found = house.progress.people(project, campaign)
    assert found == {
        "agreement": None, "shared_items": 0, "krippendorff_alpha": None, "fleiss_kappa": None, "pairs": [],
        "gold_questions": 0, "annotators": [],
    }  # fmt: skip


def test_how_votes_become_labels_stays(house, start):
    project, _ = start(votes=2)
    for change in ({"rule": "dawid-skene"}, {"extra": 1}, {"votes": 3}, {"tie": "positive"}):
        with pytest.raises(karat.InvalidInput, match="left as it was"):
            house.change_project(project, change, by=house.owner())


def test_two_people_who_disagree_at_the_same_moment_open_one_slot(house, start, crowd):
    """The slot is opened in the transaction that sees the disagreement, whichever of the two comes second."""
    import threading

    project, campaign = start(votes=2, extra=1, method=karat.Point(rank=20, labels=20))
    one, two = crowd(project, 2)
    items = [task.item_id for task in take(house, project, campaign, one, 12)]
    take(house, project, campaign, two, 12)
    barrier = threading.Barrier(2)

    def work(user, word):
        for item_id in items:
            barrier.wait()
            given = Answer(item_id, word, request=f"{user.id} {item_id}")
            house.assignment.answer(project, campaign, given, user_id=user.id)

    threads = [threading.Thread(target=work, args=pair) for pair in ((one, "yes"), (two, "no"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(slots_of(house, item)) for item in items] == [3] * 12
