"""PAULA against Algorithm 2 by the book, and its diagnostics."""

from __future__ import annotations

import itertools

import builders
import numpy as np
import pytest
import twins

from karat.designs.paula import Paula
from karat.math import path, paula
from karat.math.geometric import make_grid

SMALL = {"epsilon": 0.25, "window": 6}


def random_lists():
    rng = np.random.default_rng(11)
    for n_items in (60, 137, 500, 900):
        for rate in (0.1, 0.6, 0.95):
            yield (rng.random(n_items) < np.linspace(rate, rate / 3, n_items)).astype(np.int8)


@pytest.mark.parametrize("labels", list(random_lists()), ids=lambda labels: str(len(labels)))
def test_agrees_with_the_book(labels):
    n_items = len(labels)
    grid, book = make_grid(n_items, **SMALL), twins.Paula(labels, **SMALL)
    ranks = paula.ranks_to_label(grid)
    assert ranks.tolist() == book.ranks()
    assert len(ranks) == paula.count_labels(grid)
    asked = labels[ranks - 1]
    yields = paula.bound_yields(grid, asked, asked)
    every = np.arange(1, n_items + 1)
    low, high = path.bounds_at(yields.ranks, yields.low, yields.high, at=every)
    np.testing.assert_allclose(low, [book.bracket(r)[0] for r in every], atol=1e-9)
    np.testing.assert_allclose(high, [book.bracket(r)[1] for r in every], atol=1e-9)
    curve = builders.curve_of(Paula(**SMALL), labels)
    np.testing.assert_allclose(curve.step("lower", every), [book.step(r)[0] for r in every], atol=1e-12)
    np.testing.assert_allclose(curve.step("upper", every), [book.step(r)[1] for r in every], atol=1e-12)


def test_missing_and_unsure_labels_count_0_below_and_1_above():
    rng = np.random.default_rng(2)
    labels = builders.falling_rate(400, rng)
    grid = make_grid(400, **SMALL)
    ranks = paula.ranks_to_label(grid)
    asked = labels[ranks - 1]
    hidden = rng.random(len(asked)) < 0.2
    low_labels, high_labels = np.where(hidden, 0, asked), np.where(hidden, 1, asked)
    yields = paula.bound_yields(grid, low_labels, high_labels)
    full_low, full_high = labels.copy(), labels.copy()
    full_low[ranks - 1], full_high[ranks - 1] = low_labels, high_labels
    below, above = twins.Paula(full_low, **SMALL), twins.Paula(full_high, **SMALL)
    at = np.searchsorted(yields.ranks, grid.points)
    np.testing.assert_allclose(yields.low[at], [float(y) for y in below.lower], atol=1e-9)
    np.testing.assert_allclose(yields.high[at], [float(y) for y in above.upper], atol=1e-9)


def test_no_list_is_too_short():
    for n_items in range(1, 40):
        labels = np.arange(n_items) % 2
        curve = builders.curve_of(Paula(**SMALL), labels)
        if n_items <= make_grid(n_items, **SMALL).g_l:
            assert curve.guarantee == "exact"
            assert curve.n_labels == n_items


# --- rises


def windows_of(grid, rates, rng):
    """Return labels of the asked ranks, each window drawn with its own rate."""
    top = np.full(grid.g_l, rates[0])
    each = np.repeat(rates[1:], grid.window)
    return (rng.random(paula.count_labels(grid)) < np.r_[top, each]).astype(np.int8)


def test_a_rise_is_found_and_placed():
    grid = make_grid(217_077)
    rates = np.where(np.arange(grid.n_intervals + 1) < 70, 0.5, 0.8)
    rises = paula.find_rises(grid, windows_of(grid, rates, np.random.default_rng(1)))
    assert rises
    strongest = min(rises, key=lambda rise: rise.p_value)
    assert strongest.before[1] <= grid.points[70] <= strongest.after[1]
    assert strongest.rate_before < 0.65 < strongest.rate_after
    assert all(0 <= rise.p_value <= 0.05 for rise in rises)
    assert all(first.after[1] < second.before[1] for first, second in itertools.pairwise(rises))


def test_a_slow_rise_is_found_by_pooling_windows():
    """No pair of neighbouring windows shows it; long runs do."""
    grid = make_grid(2_000_000)
    rates = np.linspace(0.4, 0.7, grid.n_intervals + 1)
    rises = paula.find_rises(grid, windows_of(grid, rates, np.random.default_rng(2)))
    assert rises
    assert all(rise.before[1] - rise.before[0] > grid.window for rise in rises)


def test_a_fall_is_not_a_rise():
    grid = make_grid(217_077)
    rates = np.where(np.arange(grid.n_intervals + 1) < 70, 0.8, 0.5)
    assert paula.find_rises(grid, windows_of(grid, rates, np.random.default_rng(3))) == []


def test_p_values_are_fishers():
    from scipy.stats import fisher_exact

    grid = make_grid(3600)  # g_l and one further window
    assert grid.n_intervals == 1
    labels = np.zeros(paula.count_labels(grid), dtype=np.int8)
    labels[grid.g_l - 100 : grid.g_l - 70] = 1  # 30 of the last 100 at g_l
    labels[-55:] = 1  # 55 of the next window
    (rise,) = paula.find_rises(grid, labels)
    assert (rise.rate_before, rise.rate_after) == (0.30, 0.55)
    assert rise.p_value == pytest.approx(fisher_exact([[55, 45], [30, 70]], alternative="greater").pvalue)


def test_nothing_to_compare_in_a_list_labelled_whole():
    grid = make_grid(100)
    assert paula.find_rises(grid, np.ones(100, dtype=np.int8)) == []


# --- what a result says about its assumptions


def verdicts(curve):
    return [assumption.verdict for assumption in curve.assumptions]


def test_diagnostics_of_a_falling_list_hold():
    """Rates of 100, 99, 98, ... in a hundred, stretch by stretch, the hits spread evenly."""
    points = [0, *make_grid(50_000).points.tolist(), 50_000]
    labels = []
    for place, (old, new) in enumerate(itertools.pairwise(points)):
        labels += builders.spread((new - old) * max(99 - place, 0) // 100, new - old)
    curve = builders.curve_of(Paula(), np.array(labels, dtype=np.int8))
    assert verdicts(curve) == ["not testable", "held", "held"]
    assert curve.contradicted == ()
    assert not curve.crossed


def test_diagnostics_of_a_rising_list():
    labels = np.tile([1, 0], 25_000).astype(np.int8)
    labels[20_000:] = 1
    curve = builders.curve_of(Paula(), labels)
    assert verdicts(curve)[0] == "contradicted"
    assert "rises by more than noise explains" in curve.contradicted[0].finding
    assert verdicts(curve)[2] == "contradicted"
    assert "cross at rank" in curve.assumptions[2].finding
    assert curve.crossed
    assert "nothing is certified" in curve.headline()
    assert "cross" in curve.average_precision().note
    assert (curve.average_precision().low, curve.average_precision().high) == (0, 1)


def test_crossed_bounds_are_reported_never_swapped():
    labels = np.tile([1, 0], 25_000).astype(np.int8)
    labels[20_000:] = 1
    book = twins.Paula(labels, epsilon=0.03, window=100)
    curve = builders.curve_of(Paula(), labels)
    last = book.g[-1]
    interval = curve.at(last)
    assert interval.low == pytest.approx(float(book.lower[-1]) / last)
    assert interval.high == pytest.approx(float(book.upper[-1]) / last)
    assert interval.low > interval.high
    assert interval.crossed
    assert "crossed" in str(interval)
    assert curve.cutoff(recall=0.5) is None


def test_a_top_worse_than_its_last_window():
    labels = np.zeros(20_000, dtype=np.int8)
    labels[3392:3492] = 1  # the window at g_l is perfect, the top is not
    curve = builders.curve_of(Paula(), labels)
    assert verdicts(curve)[1] == "contradicted"
    assert "precision is 0.029, that of their last 100 is 1.000" in curve.assumptions[1].finding


def test_crossed_bounds_are_always_called_contradicted():
    """All windows alike and a fraction of an item between grid points: no list fits, so nothing 'held'."""
    method = Paula(epsilon=0.5, window=4)
    labels = np.ones(1000, dtype=np.int8)
    for point in method.grid(1000).points:
        labels[point - 4 : point] = [1, 1, 1, 0]
    curve = builders.curve_of(method, labels)
    assert not curve.crossed or curve.contradicted


def test_open_labels_leave_the_tests_open():
    method = Paula(**SMALL)
    design = method.begin(500)
    assert verdicts(design.curve()) == ["not testable", "not testable", "held"]
    assert "missing or unsure" in design.curve().notes[0]
