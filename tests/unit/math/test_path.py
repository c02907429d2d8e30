"""Bounds on the yield at knots: tightened and extended exactly as far as steps of 0 and 1 allow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st

from karat.math import path


@st.composite
def bounds_around_a_list(draw, most: int = 8):
    n_items = draw(st.integers(1, most))
    labels = draw(st.lists(st.integers(0, 1), min_size=n_items, max_size=n_items))
    knots = np.array(sorted({0, n_items, *draw(st.lists(st.integers(0, n_items), max_size=n_items))}))
    y = np.r_[0, np.cumsum(labels)][knots]
    slack = st.lists(st.floats(0, 3), min_size=len(knots), max_size=len(knots))
    return knots, y - np.array(draw(slack)), y + np.array(draw(slack))


@given(bounds_around_a_list())
def test_consistent_bounds_are_reached_by_some_list_at_every_rank(bounds):
    knots, low, high = bounds
    n_items = int(knots[-1])
    paths = twins.paths_inside(n_items, knots, low, high)
    tight_low, tight_high = path.make_consistent(knots, low, high)
    at_low, at_high = path.bounds_at(knots, tight_low, tight_high, at=np.arange(n_items + 1))
    np.testing.assert_array_equal(at_low, paths.min(axis=0))
    np.testing.assert_array_equal(at_high, paths.max(axis=0))


@given(bounds_around_a_list())
def test_making_consistent_twice_changes_nothing(bounds):
    knots, low, high = bounds
    once = path.make_consistent(knots, low, high)
    np.testing.assert_array_equal(once, path.make_consistent(knots, *once))


@given(
    st.lists(st.floats(-3, 12), min_size=3, max_size=9),
    st.lists(st.floats(-3, 12), min_size=3, max_size=9),
    st.lists(st.integers(1, 40), min_size=9, max_size=9, unique=True),
)
def test_crossed_exactly_when_no_list_fits(low, high, ranks):
    size = min(len(low), len(high))
    knots = np.r_[0, np.sort(ranks[: size - 1])] % 9
    knots = np.unique(knots)
    low_, high_ = np.array(low[: len(knots)]), np.array(high[: len(knots)])
    fits = len(twins.paths_inside(int(knots[-1]), knots, low_, high_)) > 0
    tight_low, tight_high = path.make_consistent(knots, low_, high_)
    assert bool(np.any(tight_low > tight_high)) is not fits


def test_rounding_noise_does_not_cost_a_whole_item():
    knots = np.array([0, 1000])
    low, high = path.make_consistent(knots, np.array([0, 700 + 1e-10]), np.array([0, 700 - 1e-10]))
    assert low[1] == high[1] == 700


def test_bounds_at_knots_and_between():
    knots, low, high = np.array([0, 10, 20]), np.array([0.0, 6, 12]), np.array([0.0, 8, 15])
    at_low, at_high = path.bounds_at(knots, low, high, at=[0, 5, 10, 11, 15, 19, 20])
    assert at_low.tolist() == [0, 1, 6, 6, 7, 11, 12]
    assert at_high.tolist() == [0, 5, 8, 9, 13, 15, 15]


@pytest.mark.parametrize("most", [2, 10, 100, 5000])
def test_thinning_keeps_the_ends_and_the_size(most):
    ranks = np.r_[np.arange(1000), np.unique(np.geomspace(1000, 1e6, 700).astype(int))]
    kept = path.thin(ranks, most=most)
    assert kept[0] == 0
    assert kept[-1] == len(ranks) - 1
    assert len(kept) <= max(most, 0) + 2
    assert np.all(np.diff(kept) > 0)


def test_the_enumeration_itself():
    paths = twins.paths_inside(3, np.array([0, 3]), [0, 1], [0, 2])
    assert len(paths) == len([v for v in itertools.product((0, 1), repeat=3) if 1 <= sum(v) <= 2])
