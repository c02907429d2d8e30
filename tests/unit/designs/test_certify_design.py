"""The ask/tell face of certify: documents, resuming, budgets, unsure answers, wrong labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

import karat
from karat.draws import Draw, Labels
from karat.errors import InvalidInput


@pytest.fixture(scope="module")
def ranked():
    rng = np.random.default_rng(8)
    return (rng.random(6000) < np.linspace(0.95, 0.4, 6000)).astype(np.int8)


def walk(design, ranked, n=50, rounds=10**6):
    while rounds and len(ranks := design.ask(n)):
        design.tell(Labels.from_pairs(ranks, ranked[ranks - 1]))
        rounds -= 1
    return design


def through_json(draw):
    return Draw.from_dict(json.loads(json.dumps(draw.to_dict())))


@pytest.mark.parametrize(
    "parameters",
    [{}, {"budget": 300}, {"looks": 3}, {"side": "lower"}, {"top": 2000}, {"sensitivity": 0.97, "specificity": 0.96}],
)
def test_resuming_changes_nothing(ranked, parameters):
    method = karat.Certify(relative=0.2, absolute=0.05, from_rank=200, **parameters)
    straight = walk(method.begin(6000, seed=3), ranked)
    broken = walk(method.begin(6000, seed=3), ranked, rounds=4)
    for _ in range(200):
        broken = method.resume(through_json(broken.draw), broken.labels)
        before = broken.draw.n_ranks
        walk(broken, ranked, rounds=3)
        if broken.draw.n_ranks == before:
            break
    assert broken.draw.seal == straight.draw.seal
    assert np.array_equal(broken.curve().yield_low, straight.curve().yield_low)
    assert np.array_equal(broken.curve().yield_high, straight.curve().yield_high)
    assert straight.done


def test_replay_equals_asking_one_batch_at_a_time(ranked):
    method = karat.Certify(budget=400)
    design = method.begin(6000, seed=4)
    while len(ranks := design.ask()):
        design.tell(Labels.from_pairs(ranks, ranked[ranks - 1]))
    curve, n_labels = method.replay(ranked, seed=4)
    assert n_labels == len(design.labels)
    assert np.array_equal(curve.yield_low, design.curve().yield_low)
    assert np.array_equal(curve.yield_high, design.curve().yield_high)


@pytest.mark.parametrize("budget", [1, 7, 40, 333])
def test_a_budget_is_never_exceeded(ranked, budget):
    design = walk(karat.Certify(budget=budget).begin(6000, seed=1), ranked, n=1000)
    assert len(design.labels) <= budget
    assert design.curve().n_labels <= budget


def test_unsure_answers_are_never_redrawn_and_count_both_ways(ranked):
    method = karat.Certify(budget=300)
    sure = walk(method.begin(6000, seed=2), ranked, n=1000)
    unsure = method.begin(6000, seed=2)
    while len(ranks := unsure.ask(1000)):
        values = ranked[ranks - 1].copy()
        values[::10] = -1
        unsure.tell(Labels.from_pairs(ranks, values))
    curve = unsure.curve()
    assert len(set(unsure.draw.ranks.tolist())) == unsure.draw.n_ranks
    assert curve.at(6000).high - curve.at(6000).low > sure.curve().at(6000).high - sure.curve().at(6000).low
    assert "unsure" in curve.notes[0]


def test_an_adjudicated_answer_replaces_the_unsure_one(ranked):
    method = karat.Certify(budget=200)
    first = walk(method.begin(6000, seed=5), ranked, n=1000)
    second = method.begin(6000, seed=5)
    while len(ranks := second.ask(1000)):
        second.tell(Labels.from_pairs(ranks, np.where(ranks % 7 == 0, -1, ranked[ranks - 1])))
    asked = second.draw.ranks
    second.tell(Labels.from_pairs(asked, ranked[asked - 1]))
    truth = np.cumsum(ranked)
    estimate, low, high = second.curve().yields(np.arange(1, 6001))
    assert np.all((low <= truth) & (truth <= high))
    assert np.all(low <= estimate)
    assert second.curve().n_labels == len(second.labels)
    assert first.curve().n_labels <= 200


def test_a_label_that_was_not_asked_for_is_refused():
    design = karat.Certify().begin(6000, seed=1)
    asked = design.ask()
    stray = next(rank for rank in range(1, 6001) if rank not in set(asked.tolist()))
    with pytest.raises(InvalidInput, match="asked for"):
        design.tell(Labels.from_pairs([stray], [1]))


def test_a_forged_draw_is_refused(ranked):
    design = walk(karat.Certify(budget=100).begin(6000, seed=1), ranked, n=200)
    document = design.draw.to_dict()
    document["batches"][1]["columns"]["ends"][0] += 1
    with pytest.raises(InvalidInput, match="seal"):
        Draw.from_dict(document)


def test_with_wrong_labels_the_truth_is_inside():
    rng = np.random.default_rng(0)
    truth = (rng.random(4000) < 0.7).astype(np.int8)
    observed = np.where(rng.random(4000) < 0.1, 1 - truth, truth).astype(np.int8)
    method = karat.Certify(budget=3000, sensitivity=0.9, specificity=0.9)
    curve = walk(method.begin(4000, seed=1), observed, n=200).curve()
    _, low, high = curve.yields(np.arange(1, 4001))
    assert np.all((low <= np.cumsum(truth)) & (np.cumsum(truth) <= high))
    assert curve.assumptions[0].verdict == "not testable"
    naive = walk(karat.Certify(budget=3000).begin(4000, seed=1), observed, n=200).curve()
    _, low, high = naive.yields(np.arange(1, 4001))
    assert not np.all((low <= np.cumsum(truth)) & (np.cumsum(truth) <= high))


def test_bad_settings_are_named():
    with pytest.raises(InvalidInput, match="'target'"):
        karat.Certify(target="fast")
    with pytest.raises(InvalidInput, match="'sensitivity' must be given together with 'specificity'"):
        karat.Certify(sensitivity=0.9)
    with pytest.raises(InvalidInput, match="'proxy'"):
        karat.Paula().begin(100, proxy=np.zeros(100, np.uint8))


def test_with_a_proxy_the_curve_needs_the_draw_and_the_labels_alone(ranked):
    judge = np.where(np.random.default_rng(1).random(6000) < 0.9, ranked, 1 - ranked).astype(np.uint8)
    method = karat.Certify(relative=0.2, absolute=0.05, from_rank=200)
    design = walk(method.begin(6000, seed=3, proxy=judge), ranked)
    again = method.resume(through_json(design.draw), design.labels)
    assert np.array_equal(again.curve().yield_low, design.curve().yield_low)
    assert np.array_equal(again.curve().yield_high, design.curve().yield_high)
    with pytest.raises(InvalidInput, match="'proxy'"):
        again.ask()


def test_another_proxy_than_the_one_drawn_with_is_refused(ranked):
    judge = ranked.astype(np.uint8)
    method = karat.Certify(relative=0.2, absolute=0.05, from_rank=200)
    design = walk(method.begin(6000, seed=3, proxy=judge), ranked, rounds=5)
    with pytest.raises(InvalidInput, match="drawn by this seed and proxy"):
        method.resume(design.draw, design.labels, proxy=1 - judge)
