"""Planning, the pilot, the random stream, wrong labels and the verdict on a band, each against something simpler."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from karat.errors import InvalidInput
from karat.math.certify.bets import make_bets
from karat.math.certify.bounds import Bounds
from karat.math.certify.judge import worst_share
from karat.math.certify.noise import LabelErrors, true_yield_bounds
from karat.math.certify.pilot import NO_FORECAST, forecast_rates, pilot_ranks
from karat.math.certify.planner import Goal, Position, _minorant_cost, plan_ahead, scale_for_budget
from karat.math.certify.settings import Settings
from karat.math.certify.stream import uniform
from karat.math.certify.variance import effective_variance, variance_table
from karat.math.path import bounds_at

GOAL = Goal(
    last_rank=100_000.0,
    from_rank=1000.0,
    absolute=0.02,
    relative=0.08,
    slack=0.9,
    early_care=1.0,
    jump_care=0.0,
    drift=5.5,
    step_ratio=1.03,
)


def test_cost_is_the_least_that_keeps_under_every_ceiling():
    """Against a general optimiser: fewest labels sum(width/size) with sum(size * variance * width) under ceilings."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        widths = rng.uniform(50, 100, 6)
        root_variances = rng.uniform(0.1, 0.5, 6)
        ceilings = np.sort(rng.uniform(200, 4000, 6))
        rng.shuffle(ceilings[:3])
        across = np.cumsum(widths * root_variances)
        cost = _minorant_cost(across, ceilings.copy(), root_variances, widths, 10.0)
        spending = np.tril(np.ones((6, 6))) * (root_variances**2 * widths)
        best = optimize.minimize(
            lambda log_size, widths=widths: np.sum(widths * np.exp(-log_size)),
            np.zeros(6),
            constraints=[
                {"type": "ineq", "fun": lambda s, a=spending, c=ceilings: (c - 10.0 - a @ np.exp(s)) / 100},
                {"type": "ineq", "fun": lambda s: s},
            ],
            options={"maxiter": 500, "ftol": 1e-10},
        )
        assert cost == pytest.approx(best.fun, rel=2e-3)


def test_a_budget_is_planned_to_be_spent():
    position = Position(0.0, 0.0, 0.0, 0.0, 0.7, 1.0)
    table = variance_table()
    for budget in (200.0, 1000.0, 5000.0):
        scale = scale_for_budget(position, budget, 1.0, GOAL, NO_FORECAST, table)
        _, cost = plan_ahead(position, scale, GOAL, NO_FORECAST, table, True)
        assert cost == pytest.approx(budget, rel=0.03)


def test_effective_variance_is_the_variance_where_bets_are_small():
    table = variance_table()
    for rate in (0.2, 0.5, 0.8):
        assert effective_variance(rate, 0.01, table) == pytest.approx(rate * (1 - rate), rel=0.08)
    lower, upper = variance_table("lower"), variance_table("upper")
    for rate, tolerance in itertools.product((0.02, 0.3, 0.95), (0.01, 0.05)):
        mirrored = effective_variance(1 - rate, tolerance, upper)
        assert effective_variance(rate, tolerance, lower) == pytest.approx(mirrored, rel=1e-9)


def test_bets_are_sharp_between_their_tolerances():
    """At the variance T**2/(2 l) some bet, in a mixture, reaches a half-width of about T."""
    bets = make_bets(20.0, 2000.0, delta=0.05)
    for tolerance in (30.0, 200.0, 1500.0):
        variance = tolerance**2 / (2 * bets.drift)

        def excess(gap, variance=variance):
            exponents = bets.thetas * gap - 0.5 * bets.thetas**2 * variance
            return np.log(np.sum(np.exp(exponents - exponents.max()))) + exponents.max() - bets.level

        assert optimize.brentq(excess, 0.0, 1e6) == pytest.approx(tolerance, rel=0.04)


def test_uniform_numbers_are_uniform_and_unrelated():
    numbers = np.array(
        [[uniform(seed, look, place, 2) for place in range(4000)] for seed, look in ((1, 1), (1, 2), (2, 1))]
    )
    for row in numbers:
        assert stats.kstest(row, "uniform").pvalue > 1e-3
        assert abs(np.corrcoef(row[1:], row[:-1])[0, 1]) < 0.06
    assert np.all(np.abs(np.corrcoef(numbers) - np.eye(3)) < 0.06)
    assert uniform(1, 1, 5, 2) == numbers[0, 5]
    assert uniform(1, 1, 5, 3) != numbers[0, 5]


def test_pilot_is_even_in_log_rank_and_finds_the_rates():
    ranks = pilot_ranks(200, n_items=1_000_000, seed=1)
    assert len(ranks) == 200
    shares = np.histogram(np.log(ranks), np.linspace(math.log(100), math.log(1e6), 5))[0]
    assert shares.tolist() == pytest.approx([50] * 4, abs=1)
    rates = forecast_rates(ranks, (ranks < 10_000).astype(float), n_items=1_000_000, pseudo_labels=0.5)
    assert rates.rates[5] > 0.9
    assert rates.rates[-5] < 0.1
    assert rates.yield_upto(10_000) == pytest.approx(10_000, rel=0.2)
    assert len(pilot_ranks(50, n_items=100, seed=1)) == 0


def test_gold_limits_are_clopper_pearson():
    errors = LabelErrors.from_gold((47, 50), (88, 90), delta=0.04)
    for (right, total), limits in (((47, 50), errors.sensitivity), ((88, 90), errors.specificity)):
        exact = stats.binomtest(right, total).proportion_ci(0.98, method="exact")
        assert limits == pytest.approx((exact.low, exact.high), rel=1e-9)
    assert LabelErrors.from_gold((0, 0), (0, 0), delta=0.1).sensitivity == (0.0, 1.0)
    lower = LabelErrors.from_gold((47, 50), (88, 90), delta=0.04, side="lower")
    assert lower.sensitivity[1] < errors.sensitivity[1]
    assert lower.specificity[0] > errors.specificity[0]


def test_true_yield_bounds_hold_for_every_admissible_error_rate():
    rng = np.random.default_rng(3)
    errors = LabelErrors(sensitivity=(0.8, 0.95), specificity=(0.85, 1.0))
    truth = rng.random(200) < 0.4
    ranks = np.arange(1, 201)
    for _ in range(50):
        chance = np.where(truth, rng.uniform(0.8, 0.95, 200), 1 - rng.uniform(0.85, 1.0, 200))
        observed = np.cumsum(chance)
        low, high = true_yield_bounds(ranks, observed, observed, errors=errors)
        assert np.all(low <= np.cumsum(truth) + 1e-9)
        assert np.all(np.cumsum(truth) <= high + 1e-9)


def test_labels_no_better_than_chance_say_nothing():
    errors = LabelErrors(sensitivity=(0.3, 0.5), specificity=(0.5, 0.6))
    low, high = true_yield_bounds(np.array([10]), np.array([9.0]), np.array([1.0]), errors=errors)
    assert (low[0], high[0]) == (0.0, 10.0)
    with pytest.raises(InvalidInput, match="'sensitivity' must be an interval"):
        LabelErrors(sensitivity=(0.9, 0.8), specificity=(0.9, 0.9))
    with pytest.raises(InvalidInput, match="label_errors"):
        Settings(label_errors=LabelErrors(sensitivity=(1, 1), specificity=(1, 1), delta_spent=0.05))


def test_verdict_equals_a_scan_of_every_rank():
    rng = np.random.default_rng(4)
    for _ in range(100):
        knots = np.unique(np.concatenate([[0, 400], rng.integers(1, 400, 9)]))
        curve = np.concatenate([[0.0], np.cumsum(rng.random(400) < 0.7)])
        low, high = curve[knots] * 0.9, np.minimum(curve[knots] * 1.1, knots)
        low, high = np.floor(low), np.ceil(high)
        bounds = Bounds(knots, low, high, curve[knots])
        settings = Settings(from_rank=60, relative=rng.choice([0.0, 0.1]), absolute=0.05)
        ranks = np.arange(60, 401)
        at_low, at_high = bounds_at(knots, low, high, at=ranks)
        tolerance = np.maximum(0.05 * ranks, settings.relative * (at_low + at_high) / 2)
        assert worst_share(bounds, settings) == pytest.approx(((at_high - at_low) / 2 / tolerance).max(), rel=0.02)
