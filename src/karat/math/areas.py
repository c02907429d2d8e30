"""Average precision and ROC AUC over all lists of labels inside bounds on the yield.

For a fixed number T of positives, both areas grow when a positive moves up, so the extremes are the earliest hits (the
upper path cut at T) and the latest (the lower path, then all ones at the end). What remains is one search over T:

- largest AP: inside a run of hits the running mean of precision falls, then rises, so T at the end of a run is best;
- smallest AP: S(T), the sum of precisions at the hits, is convex in T (one more hit at the last gap z adds
  (Y(z)+1)/z plus 1/r for each r > z, which grows as z moves up), so S(T)/T has one minimum: bisection;
- AUC: on each run both pairs-in-order and T (N - T) are quadratic in T: compare run ends and stationary points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma

from karat.math.path import Floats, Ranks

FloatOrFloats = Floats | np.float64 | float


def average_precision_range(ranks: Ranks, low: Floats, high: Floats) -> tuple[float, float]:
    """Return the smallest and largest average precision of lists inside consistent bounds at the knots.

    Examples
    --------
    >>> average_precision_range(np.array([0, 1, 2, 3]), np.array([0.0, 0, 0, 1]), np.array([0.0, 1, 1, 1]))
    (0.333..., 1.0)
    """
    least, most = max(float(low[-1]), 1.0), float(high[-1])
    if most < 1:
        return 0.0, 1.0
    return _smallest_average_precision(ranks, low, least, most), _largest_average_precision(ranks, high, least)


def roc_auc_range(ranks: Ranks, low: Floats, high: Floats) -> tuple[float, float]:
    """Return the smallest and largest ROC AUC of lists inside consistent bounds at the knots."""
    n_items = float(ranks[-1])
    least, most = max(float(low[-1]), 1.0), min(float(high[-1]), n_items - 1)
    if least > most:
        return 0.0, 1.0
    start, gap = ranks[:-1].astype(np.float64), np.diff(ranks).astype(np.float64)
    hits = np.diff(high)
    before = high[:-1]
    positions = np.r_[0.0, np.cumsum(hits * start + hits * (hits + 1) / 2)][:-1]
    top = _extreme_ratio(  # T = before + i hits
        (before * n_items - before * (before - 1) / 2 - positions, n_items - before - start, -np.ones_like(start)),
        before,
        n_items,
        (np.maximum(least - before, 0), np.minimum(most - before, hits)),
        sign=1,
    )
    misses, reached = gap - np.diff(low), low[:-1]
    n_misses = np.r_[0.0, np.cumsum(misses)][:-1]
    pairs = np.r_[0.0, np.cumsum(misses * reached)][:-1]
    bottom = _extreme_ratio(  # N - T = n_misses + i misses, each after `reached` hits
        (pairs, reached, np.zeros_like(start)),
        n_misses,
        n_items,
        (np.maximum(n_items - most - n_misses, 0), np.minimum(n_items - least - n_misses, misses)),
        sign=-1,
    )
    return float(np.clip(bottom, 0, 1)), float(np.clip(top, 0, 1))


def estimated_average_precision(ranks: Ranks, estimate: Floats) -> float:
    """Return the expected average precision when hits fall evenly between the knots of an estimated yield."""
    total = float(estimate[-1])
    if total <= 0:
        return 0.0
    start, gap = ranks[:-1].astype(np.float64), np.diff(ranks).astype(np.float64)
    rate = np.diff(estimate) / gap
    harmonic = digamma(ranks[1:] + 1.0) - digamma(start + 1.0)
    return float(np.sum(rate * (rate * gap + (estimate[:-1] + 1 - rate - rate * start) * harmonic)) / total)


def estimated_roc_auc(ranks: Ranks, estimate: Floats) -> float:
    """Return the expected ROC AUC when hits fall evenly between the knots of an estimated yield."""
    total, n_items = float(estimate[-1]), float(ranks[-1])
    if not 0 < total < n_items:
        return 0.5
    hits = np.diff(estimate)
    return float(np.sum((np.diff(ranks) - hits) * (estimate[:-1] + hits / 2)) / (total * (n_items - total)))


def _run_sum(start: FloatOrFloats, before: FloatOrFloats, length: FloatOrFloats) -> Any:
    """Sum the precision at ``length`` hits in a row after rank ``start``, where ``before`` hits came earlier."""
    return length + (before - start) * (digamma(start + length + 1.0) - digamma(start + 1.0))


def _largest_average_precision(ranks: Ranks, high: Floats, least: float) -> float:
    start, hits, before = ranks[:-1].astype(np.float64), np.diff(high), high[:-1]
    sums = np.cumsum(_run_sum(start, before, hits))
    totals = high[1:]
    feasible = totals >= least
    run = int(np.argmax(feasible))  # the run in which the least total is reached
    at_least = sums[run] - _run_sum(start[run], before[run], hits[run])
    at_least += _run_sum(start[run], before[run], least - before[run])
    return float(min(1.0, max(at_least / least, np.max(sums[feasible] / totals[feasible]))))


def _smallest_average_precision(ranks: Ranks, low: Floats, least: float, most: float) -> float:
    n_items = int(ranks[-1])
    hits, before = np.diff(low), low[:-1]
    misses = np.diff(ranks) - hits
    n_misses = np.r_[0.0, np.cumsum(misses)]
    sums = np.r_[0.0, np.cumsum(_run_sum(ranks[1:] - hits, before, hits))]

    def mean_precision(total: int) -> float:
        run = max(int(np.searchsorted(n_misses, n_items - total)) - 1, 0)
        last_miss = float(ranks[run]) + (n_items - total - n_misses[run])
        tail = _run_sum(last_miss, before[run], n_items - last_miss)
        return float(sums[run] + tail) / total

    below, above = int(least), int(most)
    while above > below:
        middle = (below + above) // 2
        below, above = (below, middle) if mean_precision(middle + 1) >= mean_precision(middle) else (middle + 1, above)
    return max(0.0, mean_precision(below))


def _extreme_ratio(
    numerator: tuple[Floats, Floats, Floats],
    offset: Floats,
    n_items: float,
    steps: tuple[Floats, Floats],
    *,
    sign: int,
) -> float:
    """Return the extreme of (n0 + n1 i + n2 i^2) / ((offset + i)(N - offset - i)) over whole i in each run's range."""
    n0, n1, n2 = numerator
    d0, d1, d2 = offset * (n_items - offset), n_items - 2 * offset, -1.0
    first, last = steps
    c0, c1, c2 = n1 * d0 - n0 * d1, 2 * (n2 * d0 - n0 * d2), n2 * d1 - n1 * d2  # the derivative's numerator
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(c1**2 - 4 * c2 * c0, 0))
        linear = -c0 / c1
        stationary = [np.where(c2 == 0, linear, (-c1 + side * root) / (2 * c2)) for side in (1, -1)]
    candidates = [first, last]
    for point in stationary:
        point_ = np.nan_to_num(point, nan=0.0, posinf=0.0, neginf=0.0)
        candidates += [np.clip(np.floor(point_), first, last), np.clip(np.ceil(point_), first, last)]
    feasible = first <= last
    best = -np.inf
    for i in candidates:
        total = offset + i
        usable = feasible & (total > 0) & (total < n_items)
        if usable.any():
            value = (n0 + n1 * i + n2 * i**2)[usable] / (total * (n_items - total))[usable]
            best = max(best, float(np.max(sign * value)))
    return sign * best
