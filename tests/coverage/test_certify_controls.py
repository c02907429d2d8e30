"""Variants that are wrong on purpose must be caught by the very checks that the right ones pass, at delta = .2."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from karat.math.certify.band import Rules, Tally, evaluate
from karat.math.certify.bets import Bets, make_bets
from karat.math.certify.cells import Drawn
from karat.math.certify.layout import describe
from karat.math.certify.noise import LabelErrors
from karat.math.certify.settings import Settings
from karat.math.certify.simulate import simulate_pass
from karat.math.certify.stream import PURPOSE_DRAW, uniform
from karat.math.certify.variance import variance_table

DELTA = 0.2
RULES = Rules(noisy=False, bound_low=True, bound_high=True, memory=0.25, absolute=0.02, relative=0.08)


def passes(n_missed, n_runs):
    """Say whether so many misses are what a band of level .8 may show (once in a thousand times it shows more)."""
    return n_missed <= stats.binom.ppf(0.999, n_runs, DELTA)


# ---------------------------------------------------------------- fixed cells: guesses, mixtures and levels

SIZE, N_CELLS, N_RUNS = 4, 500, 1500
LEVEL = math.log(2 / DELTA)
THETAS = np.array([0.03, 0.05, 0.08, 0.12])


def misses(*, guess="running mean", mixture="uniform", level=LEVEL):
    """Count runs in which the true yield is rejected at some cell end, on an alternating list.

    The yield is rejected where the mean wealth of the bets, the yield divided out, reaches exp(level). On this list
    a guess of one half is exactly right, so the wealth is a martingale and the level is almost used up.
    """
    rng = np.random.default_rng(1)
    labels = np.arange(SIZE * N_CELLS) % 2
    draws = np.arange(N_CELLS) * SIZE + rng.integers(SIZE, size=(N_RUNS, N_CELLS))
    x = labels[draws].astype(float)
    yields = np.cumsum(labels)[SIZE - 1 :: SIZE]
    before = np.cumsum(x, axis=1) - x
    m = (before + 5.0) / (np.arange(N_CELLS) + 10.0)
    if guess == "own label":
        m = x
    elif guess == "moved towards own label":
        m = m + 0.3 * (x - m)
    missed = np.zeros(N_RUNS, bool)
    for sign in (1, -1):
        wealth = np.empty((len(THETAS), N_RUNS, N_CELLS))
        for j, theta in enumerate(THETAS):
            bet = theta * SIZE
            clipped = np.minimum(m, 0.9 / bet) if sign > 0 else np.maximum(m, 1 - 0.9 / bet)
            gains = np.log1p(sign * bet * (x - clipped)) + sign * bet * clipped
            wealth[j] = np.cumsum(gains, axis=1) - sign * theta * yields
        mixed = special.logsumexp(wealth, axis=0) - math.log(len(THETAS)) if mixture == "uniform" else wealth.max(0)
        missed |= (mixed >= level).any(axis=1)
    return int(missed.sum())


def test_the_right_band_passes_and_uses_its_level_up():
    n_missed = misses()
    assert passes(n_missed, N_RUNS)
    assert n_missed > 0.4 * DELTA * N_RUNS


@pytest.mark.parametrize(
    "cheat",
    [
        {"guess": "own label"},
        {"guess": "moved towards own label"},
        {"mixture": "best afterwards"},
        {"level": math.log(1 / DELTA)},
    ],
    ids=str,
)
def test_wrong_guesses_mixtures_and_levels_are_caught(cheat):
    assert not passes(misses(**cheat), N_RUNS)


def test_the_wealth_above_is_the_wealth_of_the_product():
    """Ties the vectorised twin to the kernel: same draws, same gains, but for the rule of the guess."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 2, 50).astype(np.int8)
    drawn = Drawn(np.arange(4, 204, 4), np.zeros(50, np.int64), np.full((50, 1), 4), np.zeros(50, np.int64))
    tally = Tally.empty(len(THETAS), 1)
    bets = Bets(THETAS, math.log(2 * len(THETAS) / DELTA), 1.0)
    out = [np.empty(50) for _ in range(3)]
    evaluate(tally, drawn, x, bets, RULES, variance_table(), 0, 50, False, *out)
    hits = weight = 0.0
    m = np.empty(50)
    for cell in range(50):
        m[cell] = (hits + 0.5) / (weight + 1.0)
        fade = (1 + 4 / max(4 * cell, 100)) ** -4
        hits, weight = hits * fade + x[cell], weight * fade + 1
    for j, theta in enumerate(THETAS):
        clipped = np.minimum(m, 0.9 / (4 * theta))
        gains = np.log1p(4 * theta * (x - clipped)) + 4 * theta * clipped
        assert tally.wealth_low[j] == pytest.approx(gains.sum(), abs=1e-9)


# ---------------------------------------------------------------- dropped zeros, through the product's evaluation


def run_dropping(labels, *, drop, n_runs=300):
    """Count misses when late zeros are dropped, their cells melting into the next, or counted as they should be."""
    n_items = len(labels)
    yields = np.concatenate([[0], np.cumsum(labels)])
    bets = make_bets(20.0, 120.0, delta=DELTA)
    missed = 0
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        ends = np.arange(SIZE, n_items + 1, SIZE)
        ranks = ends - SIZE + 1 + rng.integers(SIZE, size=len(ends))
        x = labels[ranks - 1].astype(np.int8)
        late_zero = (x == 0) & (ranks > n_items // 2) & (rng.random(len(x)) < 0.3)
        if drop:
            ends, x = ends[~late_zero], x[~late_zero]
        else:
            x = np.where(late_zero, -1, x).astype(np.int8)
        sizes = np.diff(ends, prepend=0)
        drawn = Drawn(ends, np.zeros(len(x), np.int64), sizes[:, None], np.zeros(len(x), np.int64))
        low, high, estimate = (np.empty(len(x)) for _ in range(3))
        evaluate(
            Tally.empty(len(bets.thetas), 1),
            drawn,
            x,
            bets,
            RULES,
            variance_table(),
            0,
            len(x),
            False,
            low,
            high,
            estimate,
        )
        missed += not np.all((low <= yields[ends] + 1e-9) & (yields[ends] <= high + 1e-9))
    return missed


def test_dropping_late_zeros_is_caught():
    labels = np.random.default_rng(3).random(3000) < 0.6
    assert passes(run_dropping(labels, drop=False), 300)
    assert not passes(run_dropping(labels, drop=True), 300)


# ---------------------------------------------------------------- a second look


def second_look(*, split, look, n_runs=400, n_items=4800, part=4):
    """Count misses of the second look's band on a periodic list (0011...), with cells of 8 split into parts of 4."""
    labels = (np.arange(n_items) % part) >= part // 2
    yields = np.concatenate([[0], np.cumsum(labels)])
    bets = make_bets(15.0, 100.0, delta=DELTA)
    missed = 0
    for run in range(n_runs):
        ends, x = [], []
        for start in range(0, n_items, 2 * part):
            old = start + 1 + int(2 * part * uniform(run, 1, start, PURPOSE_DRAW))
            splits = {"always": True, "by own label": not labels[old - 1]}[split]
            for low in (start, start + part) if splits else (start,):
                high = low + part if splits else start + 2 * part
                fresh = low + 1 + int(part * uniform(run, look, low, PURPOSE_DRAW))
                rank = old if low < old <= high else fresh
                ends.append(high)
                x.append(labels[rank - 1])
        ends, x = np.array(ends), np.array(x, np.int8)
        drawn = Drawn(ends, np.zeros(len(x), np.int64), np.diff(ends, prepend=0)[:, None], np.zeros(len(x), np.int64))
        low, high, estimate = (np.empty(len(x)) for _ in range(3))
        evaluate(
            Tally.empty(len(bets.thetas), 1),
            drawn,
            x,
            bets,
            RULES,
            variance_table(),
            0,
            len(x),
            False,
            low,
            high,
            estimate,
        )
        missed += not np.all((low <= yields[ends] + 1e-9) & (yields[ends] <= high + 1e-9))
    return missed


def test_a_second_look_with_its_own_stream_passes():
    assert passes(second_look(split="always", look=2), 400)


def test_reusing_the_first_looks_stream_is_caught():
    assert not passes(second_look(split="always", look=1), 400)


def test_splitting_by_a_cells_own_label_is_caught():
    assert not passes(second_look(split="by own label", look=2), 400)


# ---------------------------------------------------------------- wrong labels


def noisy_misses(errors, n_runs=150, n_items=6000):
    """Count misses against the truth when a twentieth of the labels are wrong."""
    settings = Settings(
        confidence_level=1 - DELTA, absolute=0.025, relative=0.0, from_rank=500, pilot=0, label_errors=errors
    )
    missed = 0
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        truth = rng.random(n_items) < 0.9
        observed = truth ^ (rng.random(n_items) < 0.05)
        missed += not simulate_pass(observed, settings, seed=run).covers(np.cumsum(truth))
    return missed


def test_ignoring_wrong_labels_is_caught_and_correcting_them_passes():
    known = LabelErrors(sensitivity=(0.95, 0.95), specificity=(0.95, 0.95))
    rng = np.random.default_rng(4)
    gold = LabelErrors.from_gold((rng.binomial(400, 0.95), 400), (rng.binomial(400, 0.95), 400), delta=0.05)
    assert passes(noisy_misses(known), 150)
    assert passes(noisy_misses(gold), 150)
    assert not passes(noisy_misses(None), 150)


# ---------------------------------------------------------------- the supermartingale itself


def wealth_ratios(mode, *, n_runs, stop):
    """Return exp(A+ - theta Y) and exp(A- + theta Y) of adaptively laid out cells, at the end or at a stopping time."""
    wish = {"from_rank": 100, "absolute": 0.06, "relative": 0.1, "looks": 3 if mode == "looks" else 1}
    thetas = np.array([0.01, 0.03])
    bets = Bets(thetas, 1.0, 1.0)
    ratios = []
    for run in range(n_runs):
        rng = np.random.default_rng([7, run])
        labels = rng.random(1500) < 0.8 - 0.4 * np.arange(1500) / 1500
        proxy = np.where(rng.random(1500) < 0.8, labels, ~labels).astype(np.uint8) if mode == "proxy" else None
        cells = simulate_pass(labels, Settings(**wish), seed=run, proxy=proxy).cells
        cells = cells.part(cells.look == cells.look.max())
        n_classes = 1 if proxy is None else 2
        votes = np.empty(0, np.uint8) if proxy is None else proxy
        classes, counts, _ = describe(0, cells.ends, cells.ranks, cells.tilt, votes, n_classes)
        x = labels[cells.ranks - 1].astype(np.int8)
        last = len(x)
        if stop:  # the first time that three zeros in a row were drawn: known without looking ahead
            zeros = np.flatnonzero((x[2:] == 0) & (x[1:-1] == 0) & (x[:-2] == 0))
            last = int(zeros[0]) + 3 if len(zeros) else len(x)
        drawn = Drawn(cells.ends, classes, counts, cells.tilt)
        tally = Tally.empty(2, n_classes)
        out = [np.empty(len(x)) for _ in range(3)]
        evaluate(tally, drawn, x, bets, RULES, variance_table(), 0, last, False, *out)
        true_yield = labels[: cells.ends[last - 1]].sum()
        ratios.append(np.exp([*(tally.wealth_low - thetas * true_yield), *(tally.wealth_high + thetas * true_yield)]))
    return np.array(ratios)


@pytest.mark.parametrize("stop", [False, True], ids=["end", "stopping time"])
@pytest.mark.parametrize("mode", ["one pass", "looks", "proxy"])
def test_mean_wealth_is_at_most_one(mode, stop):
    ratios = wealth_ratios(mode, n_runs=250, stop=stop)
    error = ratios.std(axis=0) / math.sqrt(len(ratios))
    assert np.all(ratios.mean(axis=0) <= 1 + 3.5 * error)
    assert np.all(ratios.mean(axis=0) >= 0.5)  # and it does not hold for want of betting
