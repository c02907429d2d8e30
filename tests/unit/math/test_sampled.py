"""Totals of groups from draws made for something else: against a plain loop, and on cases known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import logsumexp

from karat.math.certify.bets import make_bets
from karat.math.sampled import Answers, Groups, Sampled, bound_totals

DELTA = 0.05


def cells_of(rng, n_items: int, size: int) -> Sampled:
    """One uniform draw from each cell of a few items."""
    ends = np.unique(np.r_[np.arange(size, n_items, size), n_items])
    starts = np.r_[0, ends[:-1]]
    ranks = rng.integers(starts + 1, ends + 1)
    return Sampled.uniform(ranks, starts, ends, np.ones_like(ends))


def twin(sampled: Sampled, low, high, codes, group: int, *, delta: float) -> tuple[float, float]:
    """The bound of one group in plain loops: each bet's wealth, then the total at which their sum is too large."""
    size = int(np.sum(codes == group))
    bets = make_bets(max(0.004 * size, 0.5), max(0.5 * size, 1.0), delta=delta)
    known = np.zeros(2)
    reached = set()
    logs = np.zeros((2, len(bets.thetas)))
    memory = np.zeros((2, 2))  # (hits, weight) if open answers are 0, or 1
    for row in range(len(sampled.ranks)):
        start, end = int(sampled.starts[row]), int(sampled.ends[row])
        inside = codes[sampled.ranks[row] - 1] == group
        members = int(np.sum(codes[start:end] == group))
        if end - start == 1:
            known += inside * np.array([low[row], high[row]])
            reached.update(range(start, end))
            continue
        reached.update(range(start, end))
        if not members:
            continue
        copies = sampled.copies[row]
        for side, label in enumerate((low[row], high[row])):
            for j, theta in enumerate(bets.thetas):
                bet = theta * sampled.heaviest[row] / copies
                gains = []
                for hits, weight in memory:
                    guess = (hits + 0.5) / (weight + 1.0)
                    guess = min(guess, 0.9 / bet) if side == 0 else max(guess, 1 - 0.9 / bet)
                    sign = 1 if side == 0 else -1
                    stake = sign * theta * sampled.weights[row] / copies * inside
                    gains.append(math.log(1 + stake * (label - guess)) + sign * theta * guess * members / copies)
                logs[side, j] += min(gains)
        for which, label in enumerate((low[row], high[row])):
            memory[which] = 0.99 * memory[which] + inside * np.array([label, 1.0])
    unseen = sum(1 for place in range(len(codes)) if codes[place] == group and place not in reached)

    def excess(total: float, side: int) -> float:
        sign = 1 if side == 0 else -1
        return float(logsumexp(logs[side] - sign * bets.thetas * total)) - bets.level

    far = 50.0 * len(codes)
    return (
        known[0] + brentq(lambda total: excess(total, 0), -far, far),
        known[1] + unseen + brentq(lambda total: excess(total, 1), -far, far),
    )


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    n_items = 400
    codes = rng.integers(0, 3, n_items)
    top = Sampled.certain(np.arange(1, 21))
    cells = Sampled.uniform(*(column + 20 for column in cells_of(rng, 300, 5)[:3]), np.ones(60, dtype=np.int64))
    sampled = top.joined(cells).joined(Sampled.shared(rng.integers(321, 381, size=25), start=320, end=380))
    truth = (rng.random(n_items) < 0.7).astype(np.int8)
    unsure = np.isin(sampled.ranks, rng.choice(sampled.ranks, 8, replace=False))
    low, high = (np.where(unsure, end, truth[sampled.ranks - 1]).astype(np.int8) for end in (0, 1))
    groups = Groups(codes, 3)
    totals = bound_totals(Answers(sampled, low, high, groups), sizes=groups.sizes(), delta=DELTA)
    for group in range(3):
        expected_low, expected_high = twin(sampled, low, high, codes, group, delta=DELTA)
        seen = np.unique(sampled.ranks[(codes[sampled.ranks - 1] == group) & (low == high) & (low == 1)]).size
        wrong = np.unique(sampled.ranks[(codes[sampled.ranks - 1] == group) & (low == high) & (low == 0)]).size
        assert totals.low[group] == pytest.approx(max(expected_low, seen), abs=1e-4)
        assert totals.high[group] == pytest.approx(min(expected_high, groups.sizes()[group] - wrong), abs=1e-4)


def test_items_that_no_draw_stands_for_count_nothing_below_and_all_above():
    groups = Groups(np.zeros(50, dtype=np.int64), 1)
    labels = np.ones(10, dtype=np.int8)
    totals = bound_totals(
        Answers(Sampled.certain(np.arange(1, 11)), labels, labels, groups), sizes=groups.sizes(), delta=DELTA
    )
    assert (totals.low[0], totals.high[0]) == (10, 50)


@given(st.integers(0, 2**31), st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_open_answers_contain_every_completion(seed, n_open):
    rng = np.random.default_rng(seed)
    sampled = cells_of(rng, 200, 6)
    groups = Groups(rng.integers(0, 2, 200), 2)
    labels = (rng.random(len(sampled.ranks)) < 0.5).astype(np.int8)
    rows = rng.choice(len(labels), n_open, replace=False)
    low, high = labels.copy(), labels.copy()
    low[rows], high[rows] = 0, 1
    wide = bound_totals(Answers(sampled, low, high, groups), sizes=groups.sizes(), delta=DELTA)
    full = bound_totals(Answers(sampled, labels, labels, groups), sizes=groups.sizes(), delta=DELTA)
    assert np.all(wide.low <= full.low + 1e-4)
    assert np.all(full.high <= wide.high + 1e-4)


def test_nested_groups_are_the_first_items_of_another_ranking():
    rng = np.random.default_rng(3)
    sampled = Sampled.certain(np.arange(1, 101))
    labels = (rng.random(100) < 0.5).astype(np.int8)
    new_ranks = rng.permutation(100) + 1
    knots = np.array([10, 40, 100])
    groups = Groups(np.searchsorted(knots, new_ranks), 3, nested=True)
    totals = bound_totals(Answers(sampled, labels, labels, groups), sizes=knots, delta=DELTA)
    assert totals.low.tolist() == [float(labels[new_ranks <= knot].sum()) for knot in knots]


def test_a_second_sample_narrows_the_bounds():
    rng = np.random.default_rng(5)
    truth = (rng.random(3000) < 0.6).astype(np.int8)
    everything = Groups(np.zeros(3000, dtype=np.int64), 1)
    first, second = cells_of(rng, 3000, 10), cells_of(rng, 3000, 5)
    one = Answers(first, truth[first.ranks - 1], truth[first.ranks - 1], everything)
    unknown = everything.codes.copy()
    unknown[first.ranks - 1] = -1
    two = Answers(second, truth[second.ranks - 1], truth[second.ranks - 1], Groups(unknown, 1))
    alone = bound_totals(one, sizes=everything.sizes(), delta=DELTA)
    both = bound_totals(one, two, sizes=everything.sizes(), delta=DELTA)
    assert both.high[0] - both.low[0] < 0.75 * (alone.high[0] - alone.low[0])
    assert both.low[0] <= truth.sum() <= both.high[0]
    assert both.n_labels[0] == np.union1d(first.ranks, second.ranks).size
