"""PAULA's theorem on lists built to meet its assumptions, and its diagnostics on lists built to break them."""

from __future__ import annotations

import itertools
import math

import builders
import numpy as np
import pytest
import twins
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from karat.designs.paula import Paula

SMALL = Paula(epsilon=0.5, window=4)
MIDDLE = Paula(epsilon=0.1, window=10)


def check_bracket(method: Paula, labels) -> None:
    curve = builders.curve_of(method, labels)
    ranks = np.arange(1, len(labels) + 1)
    truth = np.cumsum(labels)
    _, low, high = curve.yields(ranks)
    assert not curve.crossed
    assert np.all(low <= truth), ranks[low > truth][:5]
    assert np.all(truth <= high), ranks[truth > high][:5]
    top = method.grid(len(labels)).points[0]
    np.testing.assert_array_equal(low[:top], truth[:top])
    np.testing.assert_array_equal(high[:top], truth[:top])
    assert [assumption.verdict for assumption in curve.assumptions[1:]] == ["held", "held"]


def check_factor(method: Paula, labels) -> None:
    curve = builders.curve_of(method, labels)
    grid = method.grid(len(labels))
    ranks = np.arange(1, len(labels) + 1)
    precision = np.cumsum(labels) / ranks
    for name in ("lower", "upper"):
        step = curve.step(name, ranks)
        assert np.all(step <= precision * grid.factor + 1e-12)
        assert np.all(precision <= step * grid.factor + 1e-12)
    assert curve.claimed_factor == grid.factor
    at_points = grid.points - 1
    lower, upper = (curve.step(name, grid.points) for name in ("lower", "upper"))
    assert np.all(lower <= precision[at_points] + 1e-12)
    assert np.all(precision[at_points] <= upper + 1e-12)


sizes = st.integers(19, 420)


@settings(max_examples=150)
@given(st.data(), sizes)
def test_the_bracket_holds_the_truth_at_every_rank(data, n_items):
    """Needs the grid form of A.2 only; hits fall anywhere between the windows and after the last grid point."""
    grid = SMALL.grid(n_items)
    labels = data.draw(builders.falling_lists(grid, even=False))
    assert len(labels) == n_items
    assert twins.holds_on_grid(labels, grid.points.tolist(), window=grid.window)
    if grid.labels_all:
        return
    check_bracket(SMALL, labels)


@settings(max_examples=60)
@given(st.data(), st.integers(150, 4000))
def test_the_bracket_on_a_finer_grid(data, n_items):
    grid = MIDDLE.grid(n_items)
    labels = data.draw(builders.falling_lists(grid, even=False))
    assert twins.holds_on_grid(labels, grid.points.tolist(), window=grid.window)
    check_bracket(MIDDLE, labels)


@settings(max_examples=150)
@given(st.data(), sizes)
def test_the_step_curves_stay_within_the_factor(data, n_items):
    grid = SMALL.grid(n_items)
    assume(not grid.labels_all)
    labels = data.draw(builders.falling_lists(grid, even=True))
    assume(twins.is_m_monotone(labels, m=grid.m, start=grid.r_tilde))
    assert twins.holds_on_grid(labels, grid.points.tolist(), window=grid.window)
    check_factor(SMALL, labels)
    check_bracket(SMALL, labels)


@settings(max_examples=60)
@given(st.data(), st.integers(150, 4000))
def test_the_factor_on_a_finer_grid(data, n_items):
    grid = MIDDLE.grid(n_items)
    labels = data.draw(builders.falling_lists(grid, even=True))
    assume(twins.is_m_monotone(labels, m=grid.m, start=grid.r_tilde))
    check_factor(MIDDLE, labels)


def geometric_fall(method: Paula, n_items: int) -> np.ndarray:
    """Return a list whose windows lose one hit at each grid point, everything between spread evenly."""
    grid = method.grid(n_items)
    points = grid.points.tolist()
    labels = [1] * points[0]
    for place, (old, new) in enumerate(itertools.pairwise(points), start=1):
        rate, gap = max(grid.window - place, 0), new - old
        hits = math.ceil(rate * gap / grid.window)
        labels += builders.spread(hits - rate, gap - grid.window) + builders.spread(rate, grid.window)
    return np.array(labels + [0] * (n_items - points[-1]), dtype=np.int8)


def test_the_theorem_at_the_papers_size():
    method = Paula()
    labels = geometric_fall(method, 217_077)
    grid = method.grid(217_077)
    assert twins.holds_on_grid(labels, grid.points.tolist(), window=100)
    assert twins.is_m_monotone(labels, m=grid.m, start=grid.r_tilde)
    check_bracket(method, labels)
    check_factor(method, labels)


def test_the_step_curves_are_no_bracket_between_grid_points():
    """The wrong variant: reading the paper's step curves as bounds everywhere."""
    labels = geometric_fall(Paula(), 217_077)
    curve = builders.curve_of(Paula(), labels)
    ranks = np.arange(1, 217_078)
    precision = np.cumsum(labels) / ranks
    inside = (curve.step("lower", ranks) <= precision) & (precision <= curve.step("upper", ranks))
    assert not inside.all()
    assert inside[Paula().grid(217_077).points - 1].all()


@pytest.mark.parametrize("n_items", [3493, 3500, 3502])
def test_no_factor_is_claimed_where_no_two_ranks_can_be_compared(n_items):
    """A gap in the theorem: A.1 holds, for no two ranks are far enough apart, and the end is as good as it likes."""
    grid = Paula().grid(n_items)
    labels = np.zeros(n_items, dtype=np.int8)
    labels[0], labels[grid.g_l :] = 1, 1
    assert twins.is_m_monotone(labels, m=grid.m, start=grid.r_tilde)
    curve = builders.curve_of(Paula(), labels)
    assert labels.mean() > grid.factor * curve.step("upper", np.array([n_items]))[0]
    assert curve.claimed_factor is None
    longer = np.append(labels, np.ones(3503 - n_items, dtype=np.int8))
    assert not twins.is_m_monotone(longer, m=grid.m, start=grid.r_tilde)
    assert builders.curve_of(Paula(), longer).claimed_factor == grid.factor


# --- broken assumptions


@settings(max_examples=40)
@given(st.integers(0, 60), st.integers(20, 40), st.integers(60_000, 200_000))
def test_a_rising_list_is_noticed(low_rate, rise, n_items):
    """The rate jumps up by 20 to 40 points in the middle of the grid: rises found; bounds crossed; said so."""
    method = Paula()
    points = method.grid(n_items).points
    middle = int(points[len(points) // 2])
    labels = builders.spread(low_rate * middle // 100, middle)
    labels += builders.spread((low_rate + rise) * (n_items - middle) // 100, n_items - middle)
    curve = builders.curve_of(method, np.array(labels, dtype=np.int8))
    rising, _, crossing = curve.assumptions
    assert rising.verdict == "contradicted"
    assert crossing.verdict == "contradicted"
    assert curve.crossed
    assert f"{low_rate / 100:.2f}"[:3] in rising.finding


@settings(max_examples=40)
@given(st.integers(0, 80), st.integers(3, 19))
def test_a_top_worse_than_its_end_is_noticed(top_rate, more):
    method = Paula()
    top = builders.spread(top_rate * 3392 // 100, 3392) + builders.spread(min(100, top_rate + more), 100)
    labels = np.array(top + [0] * 6508, dtype=np.int8)
    assert builders.curve_of(method, labels).assumptions[1].verdict == "contradicted"


@settings(max_examples=100)
@given(st.data(), sizes)
def test_crossed_bounds_are_always_called_contradicted(data, n_items):
    """Any labels at all: if the bounds end up crossed, some assumption is reported as contradicted."""
    seed, rate = data.draw(st.integers(0, 10**6)), data.draw(st.floats(0, 1))
    labels = (np.random.default_rng(seed).random(n_items) < rate).astype(np.int8)
    curve = builders.curve_of(SMALL, labels)
    if curve.crossed:
        assert curve.contradicted


@pytest.mark.parametrize("n_items", [1, 2, 17, 18])
def test_a_short_list_is_labelled_whole(n_items):
    for seed in range(5):
        labels = np.random.default_rng(seed).integers(0, 2, n_items)
        curve = builders.curve_of(SMALL, labels)
        _, low, high = curve.yields(np.arange(1, n_items + 1))
        np.testing.assert_array_equal(low, np.cumsum(labels))
        np.testing.assert_array_equal(high, np.cumsum(labels))
        assert (curve.guarantee, curve.confidence_level, curve.claimed_factor) == ("exact", 1.0, 1.0)
        assert curve.n_labels == n_items
        assert curve.assumptions == ()


@settings(max_examples=80)
@given(st.data(), sizes)
def test_open_labels_widen_the_bounds_to_all_their_answers(data, n_items):
    """With answers missing, the bounds hold what any answer would give."""
    grid = SMALL.grid(n_items)
    labels = data.draw(builders.falling_lists(grid, even=False))
    full = builders.curve_of(SMALL, labels)
    from karat import Labels

    design = SMALL.begin(n_items)
    ranks = design.ask()
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(ranks), max_size=len(ranks))))
    unsure = data.draw(st.booleans())
    values = np.where(kept, labels[ranks - 1], -1)
    design.tell(Labels.from_pairs(ranks, values) if unsure else Labels.from_pairs(ranks[kept], values[kept]))
    part = design.curve()
    every = np.arange(1, n_items + 1)
    assert part.n_labels == kept.sum()
    assert np.all(part.yields(every)[1] <= full.yields(every)[1])
    assert np.all(part.yields(every)[2] >= full.yields(every)[2])
    assert bool(part.notes) is (not kept.all())
