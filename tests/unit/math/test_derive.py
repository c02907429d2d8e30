"""Derived intervals against brute force: every list of labels inside the bounds, on short lists.

Lists on which a metric is undefined (0/0) are left out on both sides.
"""

from __future__ import annotations

import numpy as np
import pytest
import twins

from karat.curves import Curve
from karat.errors import InvalidInput
from karat.math import areas, derive, path

TARGETS = (0.3, 0.5, 0.75, 0.9, 1.0)


def random_bounds(rng: np.random.Generator, most: int):
    """Return knots and bounds that at least one list fits, with slack of up to 3 either way."""
    n_items = int(rng.integers(1, most + 1))
    knots = np.unique(np.r_[0, rng.integers(0, n_items + 1, rng.integers(0, n_items + 1)), n_items])
    labels = (rng.random(n_items) < rng.random()).astype(int)
    y = np.r_[0, np.cumsum(labels)][knots]
    low = y - rng.random(len(knots)) * rng.integers(0, 4)
    high = y + rng.random(len(knots)) * rng.integers(0, 4)
    return knots, low, high


class Brute:
    """All lists inside the bounds, and the range of any metric over them."""

    def __init__(self, knots, low, high) -> None:
        self.n_items = int(knots[-1])
        self.paths = twins.paths_inside(self.n_items, knots, low, high)
        self.y = self.paths[:, 1:].astype(float)
        self.total = self.paths[:, -1].astype(float)
        self.lists = np.diff(self.paths, axis=1)
        self.rank = np.arange(1, self.n_items + 1)

    def range(self, values):
        """Return the range over lists (rows) on which the metric is defined at every rank; None if there is none."""
        defined = np.isfinite(values).all(axis=1)
        return (values[defined].min(axis=0), values[defined].max(axis=0)) if defined.any() else None

    def area(self, metric, *, needs_negatives: bool = False):
        usable = [v for v in self.lists if v.sum() > 0 and (not needs_negatives or v.sum() < len(v))]
        values = [metric(v.tolist()) for v in usable]
        return (min(values), max(values)) if values else None

    def with_universe(self, metric, least: int, most: int):
        """Return the range of metric(y, universe) over lists and all sizes of the universe that can hold them."""
        found = [
            metric(self.y[self.total <= size], size) for size in range(least, most + 1) if (self.total <= size).any()
        ]
        values = np.concatenate(found)
        return values.min(axis=0), values.max(axis=0)


def same(got, wanted) -> None:
    if wanted is None:
        assert np.all(np.asarray(got[0]) == 0)
        assert np.all(np.asarray(got[1]) == 1)
        return
    np.testing.assert_allclose(got[0], wanted[0], atol=1e-12)
    np.testing.assert_allclose(got[1], wanted[1], atol=1e-12)


def check(knots, low, high) -> None:
    brute = Brute(knots, low, high)
    n_items, rank, y, total = brute.n_items, brute.rank, brute.y, brute.total[:, None]
    tight = path.make_consistent(knots, low, high)
    at_low, at_high = path.bounds_at(knots, *tight, at=rank)
    known = derive.AtRank(rank, at_low, at_high, tight[0][-1], tight[1][-1], n_items)
    with np.errstate(divide="ignore", invalid="ignore"):
        recall, fpr = y / total, (rank - y) / (n_items - total)
    same(derive.precision(known), brute.range(y / rank))
    same(derive.recall(known), brute.range(recall))
    same(derive.false_positive_rate(known), brute.range(fpr))
    same(derive.specificity(known), brute.range(1 - fpr))
    same(derive.f_beta(known), brute.range(2 * y / (rank + total)))
    same(derive.f_beta(known, beta=0.5), brute.range(1.25 * y / (rank + 0.25 * total)))
    same(derive.accuracy(known), brute.range((n_items - rank + 2 * y - total) / n_items))
    if brute.range(recall) is not None:
        same(derive.lift(known), brute.range(recall * n_items / rank))
    same(areas.average_precision_range(knots, *tight), brute.area(twins.average_precision))
    same(areas.roc_auc_range(knots, *tight), brute.area(twins.roc_auc, needs_negatives=True))
    for target in TARGETS:
        sure = [r for r in rank if brute.paths[:, r].min() / r >= target - 1e-9]
        assert derive.largest_cutoff(knots, tight[0], target=target) == max(sure, default=0)
        least_recall = derive.recall(known).low
        sure = [r for r in rank if least_recall[r - 1] >= target - 1e-9]
        assert derive.smallest_cutoff(knots, *tight, target=target) == min(sure, default=None)


def check_curve(knots, low, high, rng: np.random.Generator) -> None:
    """The same through Curve, with the number of positives known, bounded, or taken from the list."""
    brute = Brute(knots, low, high)
    curve = Curve(
        method="test", n_items=brute.n_items, n_labels=0, ranks=knots, yield_low=low, yield_high=high,
        yield_estimate=(low + high) / 2, confidence_level=0.9, guarantee="finite-sample",
    )  # fmt: skip
    assert not curve.crossed
    least = max(1, int(brute.total.min())) + int(rng.integers(0, 3))
    most = least + int(rng.integers(0, 5))
    for positives, (a, b) in ((least, (least, least)), ((least, most), (least, most))):
        recall = brute.with_universe(lambda y, size: y / size, a, b)
        f1 = brute.with_universe(lambda y, size: 2 * y / (brute.rank + size), a, b)
        for rank in brute.rank.tolist():
            for got, wanted in (
                (curve.recall_at(rank, positives=positives), recall),
                (curve.f1_at(rank, positives=positives), f1),
            ):
                assert (got.low, got.high) == pytest.approx((wanted[0][rank - 1], wanted[1][rank - 1]), abs=1e-12)
                assert got.low <= got.estimate <= got.high
        for target in TARGETS:
            sure = [r for r in brute.rank.tolist() if recall[0][r - 1] >= target - 1e-9]
            assert curve.cutoff(recall=target, positives=positives) == min(sure, default=None)
    ap, auc = brute.area(twins.average_precision), brute.area(twins.roc_auc, needs_negatives=True)
    for interval, wanted in ((curve.average_precision(), ap), (curve.roc_auc(), auc)):
        assert (interval.low, interval.high) == pytest.approx(wanted or (0, 1), abs=1e-12)
        assert interval.low <= interval.estimate <= interval.high


@pytest.mark.parametrize("seed", range(8))
def test_every_range_is_exactly_that_of_all_lists_inside(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        check(*random_bounds(rng, 8))


@pytest.mark.parametrize("seed", range(4))
def test_ranges_through_the_curve(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(30):
        check_curve(*random_bounds(rng, 7), rng)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_every_range_on_longer_lists(seed):
    rng = np.random.default_rng(1000 + seed)
    for _ in range(100):
        check(*random_bounds(rng, 11))
        check_curve(*random_bounds(rng, 9), rng)


@pytest.mark.parametrize("labels", [[0], [1], [0, 0, 0], [1, 1, 1], [0, 1], [1, 0, 1, 1]])
def test_known_lists_have_no_slack(labels):
    """Bounds that fit one list only: every metric is exact, or [0, 1] where it is undefined."""
    knots = np.arange(len(labels) + 1)
    y = np.r_[0, np.cumsum(labels)].astype(float)
    check(knots, y, y)


# --- the wrong variant: putting the ends of the bounds into the formula


def plugged_areas(knots, low, high, metric):
    """Return the metric of the lower path and of the upper path: what is NOT a valid interval."""
    rank = np.arange(1, int(knots[-1]) + 1)
    both = path.bounds_at(knots, *path.make_consistent(knots, low, high), at=rank)
    return sorted(metric(np.diff(np.r_[0, ends]).astype(int).tolist()) for ends in both)


def plugged_recall(known: derive.AtRank):
    return known.low / known.total_high, known.high / known.total_low


@pytest.mark.parametrize("metric", [twins.average_precision, twins.roc_auc])
def test_plugging_the_ends_in_is_wrong(metric):
    rng = np.random.default_rng(5)
    n_tried = n_missed = 0
    for _ in range(300):
        knots, low, high = random_bounds(rng, 8)
        brute = Brute(knots, low, high)
        if not all(0 < total < brute.n_items for total in brute.total):
            continue
        n_tried += 1
        got = plugged_areas(knots, low, high, metric)
        wanted = brute.area(metric)
        n_missed += got[0] > wanted[0] + 1e-9 or got[1] < wanted[1] - 1e-9
    assert n_tried > 50
    assert n_missed > 0.1 * n_tried


def test_plugging_the_ends_into_recall_is_wrong():
    rng = np.random.default_rng(6)
    n_loose = 0
    for _ in range(200):
        knots, low, high = random_bounds(rng, 8)
        brute = Brute(knots, low, high)
        if brute.total.min() < 1:
            continue
        tight = path.make_consistent(knots, low, high)
        at = path.bounds_at(knots, *tight, at=brute.rank)
        known = derive.AtRank(brute.rank, *at, tight[0][-1], tight[1][-1], brute.n_items)
        wanted = brute.range(brute.y / brute.total[:, None])
        got = plugged_recall(known)
        n_loose += bool(np.any(got[0] < wanted[0] - 1e-9) or np.any(got[1] > wanted[1] + 1e-9))
    assert n_loose > 50


# --- estimates


def test_estimates_of_a_known_list_are_its_metrics():
    rng = np.random.default_rng(3)
    for _ in range(20):
        labels = rng.integers(0, 2, 40)
        labels[:2] = 0, 1
        knots, y = np.arange(41), np.r_[0.0, np.cumsum(labels)]
        assert areas.estimated_average_precision(knots, y) == pytest.approx(
            twins.average_precision(labels.tolist()), abs=1e-12
        )
        assert areas.estimated_roc_auc(knots, y) == pytest.approx(twins.roc_auc(labels.tolist()), abs=1e-12)


def test_estimates_between_knots_are_expectations():
    """Hits that fall evenly between knots: the mean over many lists drawn so."""
    rng = np.random.default_rng(4)
    knots, y = np.array([0, 30, 100]), np.array([0.0, 24.0, 45.0])
    rates = np.repeat(np.diff(y) / np.diff(knots), np.diff(knots))
    lists = (rng.random((4000, 100)) < rates).astype(int)
    hits = lists.cumsum(axis=1)
    ap = np.mean((lists * hits / np.arange(1, 101)).sum(axis=1) / hits[:, -1])
    assert areas.estimated_average_precision(knots, y) == pytest.approx(ap, abs=0.01)
    auc = np.mean([np.sum((1 - v) * np.cumsum(v)) / (v.sum() * (100 - v.sum())) for v in lists])
    assert areas.estimated_roc_auc(knots, y) == pytest.approx(auc, abs=0.01)


def test_large_lists_stay_finite_and_ordered():
    knots = np.array([0, 10**6, 10**9])
    low, high = path.make_consistent(knots, np.array([0, 8e5, 4e8]), np.array([0, 9e5, 6e8]))
    for bound in (areas.average_precision_range, areas.roc_auc_range):
        least, most = bound(knots, low, high)
        assert 0 <= least < most <= 1
    assert derive.largest_cutoff(knots, low, target=0.5) > 10**6


def test_cutoffs_need_one_target():
    curve = Curve(
        method="test", n_items=4, n_labels=4, ranks=np.arange(5), yield_low=np.array([0.0, 1, 1, 2, 2]),
        yield_high=np.array([0.0, 1, 1, 2, 2]), yield_estimate=np.array([0.0, 1, 1, 2, 2]), confidence_level=1.0,
        guarantee="exact",
    )  # fmt: skip
    assert curve.cutoff(precision=0.6) == 3
    assert curve.cutoff(recall=1.0) == 3
    assert curve.cutoff(precision=1.0) == 1
    for wrong in ({}, {"precision": 0.5, "recall": 0.5}, {"precision": 0}, {"precision": 1.2}, {"recall": 0}):
        with pytest.raises(InvalidInput):
            curve.cutoff(**wrong)
    with pytest.raises(InvalidInput, match="at least the 2 that the list certainly holds"):
        curve.recall_at(2, positives=1)
