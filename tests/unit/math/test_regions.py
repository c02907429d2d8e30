"""PR and ROC bands from bounds on the yield, against every list of labels that fits the bounds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from karat.math import regions
from karat.math.path import bounds_at, make_consistent


def possible_points(knots, low, high):
    """Return (recall, precision), (rate, recall) and (yield, precision) of every rank of every possible list."""
    n_items = int(knots[-1])
    low_all, high_all = bounds_at(knots, low, high, at=np.arange(n_items + 1))
    pr, roc, by_yield = [], [], []
    for labels in product((0, 1), repeat=n_items):
        hits = np.r_[0, np.cumsum(labels)]
        if np.any(hits < low_all) or np.any(hits > high_all) or hits[-1] == 0:
            continue
        for rank in range(1, n_items + 1):
            if hits[rank]:
                pr.append((hits[rank] / hits[-1], hits[rank] / rank))
                by_yield.append((hits[rank], hits[rank] / rank))
            if hits[-1] < n_items:
                roc.append(((rank - hits[rank]) / (n_items - hits[-1]), hits[rank] / hits[-1]))
    return [np.array(points).reshape(-1, 2) for points in (pr, roc, by_yield)]


@pytest.mark.parametrize("seed", range(60))
def test_every_possible_point_lies_inside(seed):
    rng = np.random.default_rng(seed)
    n_items = int(rng.integers(1, 9))
    knots = np.unique(np.r_[0, rng.integers(0, n_items + 1, rng.integers(0, n_items + 1)), n_items])
    truth = np.r_[0, np.cumsum(rng.random(n_items) < rng.random())]
    low, high = make_consistent(
        knots,
        truth[knots] - rng.random(len(knots)) * rng.integers(0, 4),
        truth[knots] + rng.random(len(knots)) * rng.integers(0, 4),
    )
    pr, roc, by_yield = possible_points(knots, low, high)
    for points, band in (
        (pr, lambda at: regions.precision_at_recall(knots, low, high, recall=at)),
        (roc, lambda at: regions.recall_at_false_positive_rate(knots, low, high, rate=at)),
        (by_yield, lambda at: regions.precision_at_yield(knots, low, high, hits=at)),
    ):
        if len(points):
            bottom, top = band(points[:, 0].copy())
            assert np.all(bottom <= points[:, 1] + 1e-12)
            assert np.all(points[:, 1] <= top + 1e-12)


def test_precision_at_yield_is_reached():
    knots, low, high = np.array([0, 4, 8]), np.array([0.0, 1.0, 3.0]), np.array([0.0, 3.0, 5.0])
    _, _, points = possible_points(knots, low, high)
    for hits in (1, 2, 3):
        bottom, top = regions.precision_at_yield(knots, low, high, hits=np.array([float(hits)]))
        reached = points[points[:, 0] == hits, 1]
        assert bottom[0] == pytest.approx(reached.min())
        assert top[0] == pytest.approx(reached.max())


def test_bounds_of_a_rank_over_its_estimated_recall_are_no_band():
    """The naive picture (bounds of each rank drawn over its estimated recall) leaves possible points outside."""
    knots, low, high = np.array([0, 4, 8]), np.array([0.0, 1.0, 2.0]), np.array([0.0, 4.0, 6.0])
    estimate = (low + high) / 2
    pr, _, _ = possible_points(knots, low, high)
    ranks = np.arange(1, 9)
    low_at, high_at = bounds_at(knots, low, high, at=ranks)
    across = np.interp(ranks, knots, estimate) / estimate[-1]
    bottom = np.interp(pr[:, 0], across, low_at / ranks)
    top = np.interp(pr[:, 0], across, high_at / ranks)
    assert np.any((pr[:, 1] < bottom - 1e-9) | (pr[:, 1] > top + 1e-9))
