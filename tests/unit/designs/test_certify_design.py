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


def answered_in_part(design, ranks, values, *, but):
    """Tell all but some of the ranks asked for; return the curve."""
    told = ~np.isin(ranks, but)
    design.tell(Labels.from_pairs(ranks[told], values[told]))
    return design.curve()


def test_an_estimate_ends_where_answers_are_missing():
    """Every label is right: an estimate that counts missing answers as a half would show."""
    design = karat.Certify().begin(5000, seed=1)
    walk(design, np.ones(5000, dtype=np.int8), rounds=4)
    reach = design.curve().reach
    design.ask(400)  # nothing is known of these yet
    curve = design.curve()
    assert curve.reach == reach < 5000
    assert not curve.is_whole
    assert curve.at(reach).estimate > 0.99
    assert not curve.at(reach + 1).estimated


def test_answers_out_of_order_wait_for_the_missing_ones_before_them(ranked):
    design = walk(karat.Certify(budget=600).begin(6000, seed=3), ranked, n=200, rounds=2)
    before = design.curve().reach
    ranks = design.ask(100)
    own = design.walk.cells
    ends = own.ends[np.isin(own.ranks, ranks) & (own.look == 1)]
    first_half = ranks < ends[len(ends) // 2]
    late = answered_in_part(design, ranks, ranked[ranks - 1], but=ranks[first_half])
    assert before == late.reach
    design.tell(Labels.from_pairs(ranks[first_half], ranked[ranks[first_half] - 1]))
    assert design.curve().reach == ends[-1]


def test_one_missing_answer_of_a_few_items_stops_no_estimate_and_an_unsure_one_neither(ranked):
    design = walk(karat.Certify(budget=600).begin(6000, seed=3), ranked, n=1000, rounds=1)
    ranks = design.ask(1000)
    single = ranks[:1]
    curve = answered_in_part(design, ranks, ranked[ranks - 1], but=single)
    assert curve.is_whole
    last = design.draw.ranks.max()
    design.tell(Labels.from_pairs([last], [-1]))
    assert design.curve().is_whole


def test_unsure_answers_alone_are_no_estimate():
    design = walk(karat.Certify(budget=100).begin(6000, seed=3), np.full(6000, -1, dtype=np.int8), n=1000)
    assert design.done
    assert design.curve().reach == 0


def test_a_finer_round_keeps_the_estimate_of_the_coarser_one_until_it_is_answered(ranked):
    design = karat.Certify(looks=2, relative=0.1, absolute=0.03).begin(6000, seed=2)
    while design.walk.look < 2 and len(ranks := design.ask(1000)):
        if design.walk.look < 2:
            design.tell(Labels.from_pairs(ranks, ranked[ranks - 1]))
            coarse = design.curve()
    finer = design.curve()  # its cells are laid out, and those that are new are not answered
    assert len(design.pending) > 100
    assert finer.is_whole
    assert np.allclose(finer.precision(np.arange(1000, 6001))[0], coarse.precision(np.arange(1000, 6001))[0], atol=0.01)
    design.tell(Labels.from_pairs(ranks, ranked[ranks - 1]))
    walk(design, ranked)
    assert design.curve().at(6000).estimate == pytest.approx(ranked.mean(), abs=0.03)
