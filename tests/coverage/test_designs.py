"""Coverage by simulation: each stated confidence holds, and a deliberately wrong variant fails the same check.

Seeded; the tolerance is an exact binomial tail, see tolerance.py.
"""

from __future__ import annotations

import builders
import numpy as np
import pytest
from tolerance import covers, rare

import karat
from karat.math import path, paula, stratified, uniform
from karat.math.geometric import make_grid

LEVEL = 0.8  # low, so that a few hundred runs can tell

SHAPES = {
    "falling": builders.falling_rate,
    "flat": lambda n, rng: (rng.random(n) < 0.5).astype(np.int8),
    "alternating": lambda n, rng: np.tile([0, 1], n)[:n].astype(np.int8),  # noqa: ARG005
    "rising": lambda n, rng: (rng.random(n) < np.linspace(0.5, 0.9, n)).astype(np.int8),
    "blocks": lambda n, rng: np.repeat([1, 0, 1, 0, 1], -(-n // 5))[:n].astype(np.int8),  # noqa: ARG005
}


def holds_everywhere(curve, labels) -> bool:
    truth = np.cumsum(labels)
    _, low, high = curve.yields(np.arange(1, len(labels) + 1))
    return bool(np.all(low <= truth) and np.all(truth <= high))


def n_covered(method, labels, n_runs: int) -> int:
    return sum(holds_everywhere(builders.curve_of(method, labels, seed=seed), labels) for seed in range(n_runs))


# --- uniform: any list, all ranks at once


@pytest.mark.parametrize("shape", SHAPES)
def test_uniform_covers_the_whole_curve(shape):
    labels = SHAPES[shape](2000, np.random.default_rng(1))
    method = karat.Uniform(labels=500, confidence_level=LEVEL)
    assert covers(n_covered(method, labels, 150), 150, level=LEVEL)


def covered_with_union_over(n_ranks: int, n_runs: int) -> int:
    labels = SHAPES["flat"](2000, np.random.default_rng(1))
    truth, found = np.cumsum(labels), 0
    for seed in range(n_runs):
        drawn = np.sort(np.random.default_rng(seed).integers(1, 2001, size=500))
        asked = labels[drawn - 1]
        known = uniform.bound_yields(drawn, asked, asked, n_items=2000, confidence_level=LEVEL, n_ranks=n_ranks)
        at = truth[known.ranks - 1]
        found += bool(np.all(known.low <= at + 1e-9) and np.all(at <= known.high + 1e-9))
    return found


def test_uniform_without_the_union_bound_fails_the_same_check():
    assert covers(covered_with_union_over(2000, 1000), 1000, level=LEVEL)
    assert not covers(covered_with_union_over(1, 1000), 1000, level=LEVEL)


# --- stratified: lists whose precision never falls below the planned one


@pytest.mark.parametrize("shape", ["falling", "flat", "rising"])
def test_stratified_covers_the_whole_curve(shape):
    labels = SHAPES[shape](20_000, np.random.default_rng(2))
    least = float((np.cumsum(labels) / np.arange(1, 20_001))[100:].min())
    method = karat.Stratified(epsilon=0.3, window=20, precision=least, confidence_level=LEVEL)
    assert covers(n_covered(method, labels, 150), 150, level=LEVEL)


def covered_within(factor_share: float, n_runs: int) -> int:
    """Return in how many runs every grid point is within 1 + factor_share (gamma - 1) of its sample's mean."""
    grid = make_grid(20_000, epsilon=0.3, window=20)
    labels = SHAPES["flat"](20_000, np.random.default_rng(2))
    precision = np.cumsum(labels)[grid.points - 1] / grid.points
    s = stratified.draws_per_point(grid, least_precision=float(precision.min()), confidence_level=LEVEL)
    beta, found = 1 + factor_share * (grid.gamma - 1), 0
    for seed in range(n_runs):
        draws = stratified.draw(grid, n_draws=int(np.ceil(s)), rng=np.random.default_rng(seed))
        q = stratified.sample_means(grid, draws, labels[draws.ranks - 1])[1:]
        found += bool(np.all((q / beta <= precision[1:]) & (precision[1:] <= q * beta)))
    return found


def test_stratified_claiming_a_third_of_its_factor_fails_the_same_check():
    assert covers(covered_within(1.0, 300), 300, level=LEVEL)
    assert not covers(covered_within(1 / 3, 300), 300, level=LEVEL)


BELOW_PLAN = {
    "one in twenty": lambda n, rng: (rng.random(n) < 0.05).astype(np.int8),
    "falling to nothing": lambda n, rng: (rng.random(n) < 0.9 / (1 + np.arange(n) / 500)).astype(np.int8),
}


@pytest.mark.parametrize("shape", BELOW_PLAN)
def test_stratified_covers_lists_worse_than_planned_and_the_papers_bounds_do_not(shape):
    """Planned for a precision of .5 that the list has not; the wrong variant is the paper's q/gamma and q gamma."""
    n_items, n_runs = 20_000, 150
    labels = BELOW_PLAN[shape](n_items, np.random.default_rng(2))
    method = karat.Stratified(epsilon=0.3, window=20, precision=0.5, confidence_level=LEVEL)
    grid, truth = method.grid(n_items), np.cumsum(labels)
    at, papers, ours = truth[grid.points[1:] - 1], 0, 0
    for seed in range(n_runs):
        curve, _ = method.replay(labels, seed=seed)
        estimate, _, _ = curve.yields(grid.points[1:])
        papers += bool(np.all((estimate / grid.gamma <= at) & (at <= estimate * grid.gamma)))
        ours += holds_everywhere(curve, labels)
    assert covers(ours, n_runs, level=LEVEL)
    assert not covers(papers, n_runs, level=LEVEL)


# --- point: one rank


@pytest.mark.parametrize("shape", SHAPES)
def test_point_covers_its_rank(shape):
    labels = SHAPES[shape](5000, np.random.default_rng(3))
    method = karat.Point(rank=2000, labels=100, confidence_level=LEVEL)
    truth = labels[:2000].mean()
    n_runs = 400
    inside = sum(
        interval.low <= truth <= interval.high
        for interval in (builders.curve_of(method, labels, seed=seed).at(2000) for seed in range(n_runs))
    )
    assert covers(inside, n_runs, level=LEVEL)


def test_point_with_half_the_width_fails_the_same_check():
    labels = SHAPES["flat"](5000, np.random.default_rng(3))
    method = karat.Point(rank=2000, labels=100, confidence_level=LEVEL)
    truth, n_runs = labels[:2000].mean(), 400
    curves = [builders.curve_of(method, labels, seed=seed).at(2000) for seed in range(n_runs)]
    inside = sum(abs(found.estimate - truth) <= (found.high - found.low) / 4 for found in curves)
    assert not covers(inside, n_runs, level=LEVEL)


def test_point_drawn_from_the_wrong_ranks_fails_the_same_check():
    """The wrong variant: draws from the top half only, on a list that falls."""
    labels = np.repeat([1, 0], 1000).astype(np.int8)
    n_runs, half = 200, uniform.half_width(np.array([100]), confidence_level=LEVEL)[0]
    rng = np.random.default_rng(4)
    inside = sum(abs(labels[rng.integers(0, 1000, 100)].mean() - 0.5) <= half for _ in range(n_runs))
    assert not covers(inside, n_runs, level=LEVEL)


# --- how many distinct labels


@pytest.mark.parametrize(("epsilon", "n_items"), [(0.03, 30_000), (0.03, 300_000), (0.1, 3_000_000)])
def test_distinct_labels_are_near_the_formula(epsilon, n_items):
    """The paper counts draws; items drawn twice are labelled once, so a little less is bought."""
    method = karat.Stratified(epsilon=epsilon, precision=0.5)
    plan, points = method.plan(n_items), method.grid(n_items).points
    gaps = np.diff(points)
    fresh = plan["draws_per_point"] * gaps / points[1:]
    expected = points[0] + np.sum(gaps * (1 - (1 - 1 / gaps) ** fresh))
    distinct = np.mean([len(method.begin(n_items, seed=seed).draw.ranks) for seed in range(4)])
    assert distinct == pytest.approx(expected, rel=0.01)
    assert 0.75 * plan["labels"] <= distinct <= 1.01 * plan["labels"]


def test_distinct_labels_of_uniform():
    method, n_items = karat.Uniform(), 217_077
    plan = method.plan(n_items)
    fresh = (n_items - plan["exhaustive"]) * (1 - (1 - 1 / n_items) ** plan["draws"])
    distinct = [len(method.begin(n_items, seed=seed).draw.ranks) for seed in range(5)]
    assert np.mean(distinct) == pytest.approx(plan["exhaustive"] + fresh, rel=0.005)
    assert max(distinct) <= plan["labels"]


def test_paula_buys_exactly_what_it_plans():
    for n_items in (100, 3492, 3493, 35_615, 217_077):
        assert len(karat.Paula().begin(n_items).draw.ranks) == karat.Paula().plan(n_items)["labels"]


# --- PAULA's estimate, on lists whose labels are noisy


def paulas_factor(labels) -> float:
    """Return within which factor of the truth the worse of the paper's step curves stays; to g_l both are exact."""
    ranks = np.arange(karat.Paula().grid(len(labels)).g_l, len(labels) + 1)
    precision, curve = np.cumsum(labels)[ranks - 1] / ranks, builders.curve_of(karat.Paula(), labels)
    steps = np.stack([curve.step(name, ranks) for name in ("lower", "upper")])
    return float(np.max(np.maximum(steps / precision, precision / steps)))


def test_paulas_estimate_keeps_its_factor_where_the_rate_falls_slowly_and_not_on_clumps():
    """The rate falls, the labels are noise around it; the wrong variant has stretches of 700 good and bad items."""
    n_items, ranks = 60_000, np.arange(60_000)
    promised = karat.Paula().grid(n_items).factor
    factors = {
        name: [paulas_factor(np.random.default_rng(seed).random(n_items) < rates) for seed in range(20)]
        for name, rates in {
            "falling": 0.85 - 0.03 * np.log1p(ranks / 100),
            "clumps": np.where((ranks // 700) % 2 == 0, 0.9, 0.45),
        }.items()
    }
    assert max(factors["falling"]) < promised
    assert min(factors["clumps"]) > promised


def test_paulas_bracket_misses_although_the_rate_falls_and_says_so():
    """Windows of 100 labels are noisier than the fall from one grid point to the next."""
    rates = 0.85 - 0.03 * np.log1p(np.arange(60_000) / 100)
    for seed in range(10):
        labels = np.random.default_rng(seed).random(len(rates)) < rates
        curve = builders.curve_of(karat.Paula(), labels)
        assert not holds_everywhere(curve, labels)
        assert curve.contradicted


# --- PAULA's test for rises


def alarms(n_runs: int, *, significance: float, falling: bool) -> int:
    grid = make_grid(217_077)
    rates = np.linspace(0.8, 0.5, grid.n_intervals + 1) if falling else np.full(grid.n_intervals + 1, 0.5)
    each = np.r_[np.full(grid.g_l, rates[0]), np.repeat(rates[1:], grid.window)]
    rng, found = np.random.default_rng(6), 0
    for _ in range(n_runs):
        found += bool(paula.find_rises(grid, (rng.random(len(each)) < each).astype(np.int8), significance=significance))
    return found


@pytest.mark.parametrize("falling", [True, False])
def test_false_alarms_of_the_rise_test_stay_below_its_level(falling):
    assert rare(alarms(300, significance=0.05, falling=falling), 300, level=0.05)


def test_rises_without_correction_would_cry_wolf():
    """The wrong variant: every comparison at 5%, as if it were the only one."""
    grid = make_grid(217_077)
    n_tests = sum(grid.n_intervals + 2 - 2 * 2**k for k in range(10) if 2 * 2**k <= grid.n_intervals + 1)
    assert not rare(alarms(60, significance=0.05 * n_tests, falling=False), 60, level=0.05)


# --- the bracket's own slack


def test_a_band_shrunk_by_one_item_is_caught():
    """The check itself can fail: exact bounds moved by one item hold nowhere."""
    labels = SHAPES["flat"](500, np.random.default_rng(0))
    curve = builders.curve_of(karat.Paula(), labels)
    assert holds_everywhere(curve, labels)
    truth = np.cumsum(labels)
    _, low, _ = curve.yields(np.arange(1, 501))
    assert not np.all(low + 1 <= truth)
    assert path.FUZZ < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("shape", SHAPES)
def test_full_grid(shape, level):
    labels = SHAPES[shape](10_000, np.random.default_rng(9))
    n_runs = 600
    assert covers(n_covered(karat.Uniform(labels=1500, confidence_level=level), labels, n_runs), n_runs, level=level)
    least = float((np.cumsum(labels) / np.arange(1, 10_001))[200:].min())
    if least > 0.2:
        method = karat.Stratified(epsilon=0.2, window=30, precision=least, confidence_level=level)
        assert covers(n_covered(method, labels, n_runs), n_runs, level=level)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_stratified_covers_coarse_grids_where_the_papers_bounds_do_not(epsilon):
    """At q < pmin the paper's p <= gamma q does not follow from Hoeffding; an even list on a coarse grid shows it."""
    n_items, runs = 50_000, 150
    ranked = np.tile([0, 1], n_items // 2).astype(np.int8)
    truth = np.cumsum(ranked)
    method = karat.Stratified(epsilon=epsilon, window=20, precision=0.5)
    points = method.grid(n_items).points[1:]
    gamma = method.grid(n_items).gamma
    ours = papers = 0
    for seed in range(runs):
        curve, _ = method.replay(ranked, seed=seed)
        estimate, low, high = curve.yields(points)
        ours += bool(np.all((low <= truth[points - 1]) & (truth[points - 1] <= high)))
        papers += bool(np.all((estimate / gamma <= truth[points - 1]) & (truth[points - 1] <= estimate * gamma)))
    assert ours >= 0.95 * runs - 3 * np.sqrt(runs * 0.05 * 0.95)
    if epsilon == 1.0:
        assert papers < 0.95 * runs - 3 * np.sqrt(runs * 0.05 * 0.95)
