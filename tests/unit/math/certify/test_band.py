"""The evaluation against a textbook twin, and what must hold for any labels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, special

from karat.math.certify.band import Rules, Tally, evaluate
from karat.math.certify.bets import Bets, make_bets
from karat.math.certify.bounds import Bounds, intersect
from karat.math.certify.cells import PENDING, Drawn
from karat.math.certify.variance import variance_table
from karat.math.path import bounds_at, tighten

MEMORY = 0.25


def rules(*, noisy=False, low=True, high=True):
    return Rules(noisy=noisy, bound_low=low, bound_high=high, memory=MEMORY, absolute=0.02, relative=0.08)


def run(drawn, values, bets, *, expect=False, **kinds):
    n = len(drawn.ends)
    tally = Tally.empty(len(bets.thetas), drawn.counts.shape[1])
    low, high, estimate = np.empty(n), np.empty(n), np.empty(n)
    evaluate(tally, drawn, values, bets, rules(**kinds), variance_table(), 0, n, expect, low, high, estimate)
    return low, high, estimate, tally


def twin_weight(tilt, klass):
    return 0.4 + 0.6 * ((int(tilt) >> (4 * klass)) & 15) / 15


def twin(drawn, values, bets, *, noisy=False):
    """The same bounds, one cell and one theta at a time, straight from the formulas."""
    n_classes = drawn.counts.shape[1]
    hits, weight = np.zeros(n_classes + 1), np.zeros(n_classes + 1)
    wealth_low, wealth_high = [0.0] * len(bets.thetas), [0.0] * len(bets.thetas)
    low = high = 0.0
    ones = zeros = 0
    bounds = []
    start = 0
    for end, klass, counts, tilt, x in zip(drawn.ends, drawn.classes, drawn.counts, drawn.tilt, values, strict=True):
        size = end - start
        everyone = (hits[-1] + 0.5) / (weight[-1] + 1)
        guesses = []
        for k in range(n_classes):
            guess = everyone if n_classes == 1 else (hits[k] + 3 * everyone) / (weight[k] + 3)
            guesses.append(min(max(guess, 1e-5), 1 - 1e-3))
        total = sum(counts[k] * twin_weight(tilt, k) for k in range(n_classes))
        chance = [twin_weight(tilt, k) / total for k in range(n_classes)]
        if size == 1 and not noisy:
            wealth_low = [a + theta * x for a, theta in zip(wealth_low, bets.thetas, strict=True)]
            wealth_high = [a - theta * x for a, theta in zip(wealth_high, bets.thetas, strict=True)]
            low, high = low + x, high + x
        else:
            for j, theta in enumerate(bets.thetas):
                below = [min(f, 0.9 * q / theta) for f, q in zip(guesses, chance, strict=True)]
                above = [max(f, 1 - 0.9 * q / theta) for f, q in zip(guesses, chance, strict=True)]
                bet = theta / chance[klass]
                wealth_low[j] += math.log(1 + bet * (x - below[klass])) + theta * np.dot(counts, below)
                wealth_high[j] += math.log(1 - bet * (x - above[klass])) - theta * np.dot(counts, above)
            a, b = np.array(wealth_low), np.array(wealth_high)
            root_low = optimize.brentq(
                lambda y, a=a: special.logsumexp(a - bets.thetas * y) - bets.level, -1e6, 1e6, xtol=1e-12, rtol=1e-14
            )
            root_high = optimize.brentq(
                lambda y, b=b: special.logsumexp(b + bets.thetas * y) - bets.level, -1e6, 1e6, xtol=1e-12, rtol=1e-14
            )
            low, high = max(low, root_low), min(high + size, root_high)
        if not noisy:
            ones, zeros = ones + x, zeros + 1 - x
        low, high = max(low, ones), min(high, end - zeros)
        bounds.append((low, high))
        fade = (1 + size / max(start, 100)) ** (-1 / MEMORY)
        hits, weight = hits * fade, weight * fade
        share = 1.0 if size > 1 else min(1.0, 200 / max(0.01 * start, 1))
        for row in (klass, n_classes):
            hits[row] += share * x
            weight[row] += share
        start = end
    return np.array(bounds).T


def random_cells(rng, *, n_cells=120, n_classes=1, largest=40):
    sizes = np.where(rng.random(n_cells) < 0.2, 1, rng.integers(1, largest, n_cells))
    counts = np.array([rng.multinomial(size, rng.dirichlet(np.ones(n_classes))) for size in sizes])
    classes = np.array([rng.choice(np.flatnonzero(row)) for row in counts])
    tilt = np.zeros(n_cells, np.int64)
    if n_classes > 1:
        tilt = rng.integers(0, 16**n_classes, n_cells)
    return Drawn(np.cumsum(sizes), classes, counts, tilt)


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("n_classes", [1, 3])
@pytest.mark.parametrize("rate", [0.02, 0.5, 0.97])
def test_equals_the_textbook_twin(rate, n_classes, noisy):
    rng = np.random.default_rng([int(100 * rate), n_classes])
    drawn = random_cells(rng, n_classes=n_classes)
    values = (rng.random(len(drawn.ends)) < rate).astype(np.int8)
    bets = make_bets(15.0, 300.0, delta=0.05)
    low, high, _, _ = run(drawn, values, bets, noisy=noisy)
    twin_low, twin_high = twin(drawn, values, bets, noisy=noisy)
    np.testing.assert_allclose(low, twin_low, rtol=0, atol=1e-9)
    np.testing.assert_allclose(high, twin_high, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [1, 2])
def test_open_answers_contain_every_completion(n_classes):
    rng = np.random.default_rng(5 + n_classes)
    bets = make_bets(15.0, 300.0, delta=0.05)
    for _ in range(20):
        drawn = random_cells(rng, n_classes=n_classes, n_cells=60)
        values = (rng.random(60) < 0.7).astype(np.int8)
        open_at = rng.choice(60, 5, replace=False)
        unknown = values.copy()
        unknown[open_at] = rng.choice([PENDING, -1], 5)
        low, high, _, _ = run(drawn, unknown, bets)
        for completion in itertools.product((0, 1), repeat=5):
            values[open_at] = completion
            full_low, full_high, _, _ = run(drawn, values, bets)
            assert np.all(low <= full_low + 1e-9)
            assert np.all(full_high <= high + 1e-9)


def test_expected_answers_stand_between_the_completions():
    rng = np.random.default_rng(8)
    bets = make_bets(15.0, 300.0, delta=0.05)
    drawn = random_cells(rng, n_cells=100, largest=20)
    values = (rng.random(100) < 0.6).astype(np.int8)
    values[60:] = PENDING
    low, high, _, _ = run(drawn, values, bets, expect=True)
    worst_low, worst_high, _, _ = run(drawn, values, bets)
    assert np.all(worst_low <= low)
    assert np.all(high <= worst_high)
    assert worst_low[-1] < low[-1]
    assert high[-1] < worst_high[-1]


def test_one_sided_bounds_use_only_what_is_seen_on_the_other_side():
    rng = np.random.default_rng(3)
    drawn = random_cells(rng)
    values = (rng.random(len(drawn.ends)) < 0.6).astype(np.int8)
    bets = make_bets(15.0, 300.0, delta=0.05)
    low, high, _, _ = run(drawn, values, bets)
    only_low, seen_high, _, _ = run(drawn, values, bets, high=False)
    np.testing.assert_array_equal(low, only_low)
    zeros = np.cumsum(1 - values)
    np.testing.assert_allclose(seen_high, drawn.ends - zeros)
    assert np.all(high <= seen_high)


def test_fully_labelled_lists_are_exact():
    values = np.array([1, 0, 1, 1, 0], np.int8)
    drawn = Drawn(np.arange(1, 6), np.zeros(5, np.int64), np.ones((5, 1), np.int64), np.zeros(5, np.int64))
    low, high, estimate, _ = run(drawn, values, make_bets(1.0, 2.0, delta=0.05))
    for bound in (low, high, estimate):
        np.testing.assert_array_equal(bound, [1, 1, 2, 3, 3])


def test_one_bet_has_the_closed_form():
    """With a single theta the root is (log-wealth - level) / theta."""
    drawn = Drawn(np.array([10, 20]), np.zeros(2, np.int64), np.full((2, 1), 10), np.zeros(2, np.int64))
    bets = Bets(np.array([0.05]), math.log(40), math.log(40))
    low, _, _, tally = run(drawn, np.array([1, 1], np.int8), bets)
    assert tally.wealth_low[0] == pytest.approx(math.log(1 + 0.5 * 0.5) + 0.25 + _second_gain())
    assert low[1] == max(2.0, (tally.wealth_low[0] - bets.level) / 0.05)


def _second_gain():
    guess = (1 + 0.5) / (1 + 1)  # the first label came after the fading, so its weight is one
    return math.log(1 + 0.5 * (1 - guess)) + 0.5 * guess


def test_consistent_bounds_obey_every_yield_curve():
    rng = np.random.default_rng(2)
    for _ in range(50):
        curve = np.concatenate([[0], np.cumsum(rng.random(60) < 0.5)])
        knots = np.unique(np.concatenate([[0, 60], rng.integers(1, 60, 12)]))
        low = curve[knots] - rng.exponential(3, len(knots))
        high = curve[knots] + rng.exponential(3, len(knots))
        low[0] = high[0] = 0
        low, high = tighten(knots, low, high)
        for bound in (low, high):
            steps = np.diff(bound)
            assert np.all(steps >= -1e-12)
            assert np.all(steps <= np.diff(knots) + 1e-12)
        at_low, at_high = bounds_at(knots, low, high, at=np.arange(61))
        assert np.all(at_low <= curve + 1e-12)
        assert np.all(curve <= at_high + 1e-12)
        np.testing.assert_array_equal(at_low[knots], low)


def test_intersection_is_the_tighter_of_both():
    wide = Bounds(np.array([0, 10, 20]), np.array([0.0, 2, 5]), np.array([0.0, 9, 18]), np.array([0.0, 5, 10]))
    late = Bounds(np.array([0, 15, 20]), np.array([0.0, 6, 8]), np.array([0.0, 10, 12]), np.array([0.0, 8, 10]))
    both = intersect(wide, late)
    assert both.knots.tolist() == [0, 10, 15, 20]
    assert both.low.tolist() == [0, 2, 6, 8]
    assert both.high.tolist() == [0, 9, 10, 12]
