"""Bounds on a yield curve at knots: made consistent, carried to other ranks, intersected."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def make_consistent(knots: NDArray[np.int64], low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Tighten bounds at knots with what every yield curve obeys: it rises by at most one an item and never falls.

    Examples
    --------
    >>> low, high = make_consistent(np.array([0, 10, 20]), np.array([0.0, 3.0, 15.0]), np.array([0.0, 14.0, 12.0]))
    >>> low.tolist(), high.tolist()
    ([0.0, 5.0, 15.0], [0.0, 10.0, 12.0])
    """
    low = np.maximum(low, 0.0)
    high = np.minimum(high, knots)
    low = np.maximum(low, np.maximum.accumulate((low - knots)[::-1])[::-1] + knots)
    low = np.maximum.accumulate(low)
    high = np.minimum.accumulate(high[::-1])[::-1]
    high = np.minimum(high, np.minimum.accumulate(high - knots) + knots)
    return low, high


def bounds_at(
    ranks: NDArray[np.int64], *, knots: NDArray[np.int64], low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Carry consistent bounds from knots (0 and the number of items among them) to any ranks.

    Examples
    --------
    >>> knots, low, high = np.array([0, 10]), np.array([0.0, 4.0]), np.array([0.0, 6.0])
    >>> [bound.tolist() for bound in bounds_at(np.array([3, 8]), knots=knots, low=low, high=high)]
    [[0.0, 2.0], [3.0, 6.0]]
    """
    right = np.searchsorted(knots, ranks)
    left = np.maximum(right - 1, 0)
    return (
        np.maximum(low[left], low[right] - (knots[right] - ranks)),
        np.minimum(high[right], high[left] + (ranks - knots[left])),
    )


class Bounds(NamedTuple):
    """Consistent bounds on the yield at knots, the first of which is rank 0 and the last the end of the list."""

    knots: NDArray[np.int64]
    low: FloatArray
    high: FloatArray
    estimate: FloatArray


def intersect(first: Bounds, second: Bounds) -> Bounds:
    """Return bounds that hold where both do; the estimate is the second's."""
    knots = np.union1d(first.knots, second.knots)
    low_first, high_first = bounds_at(knots, knots=first.knots, low=first.low, high=first.high)
    low_second, high_second = bounds_at(knots, knots=second.knots, low=second.low, high=second.high)
    low, high = make_consistent(knots, np.maximum(low_first, low_second), np.minimum(high_first, high_second))
    estimate = np.interp(knots, second.knots, second.estimate)
    return Bounds(knots, low, high, np.clip(estimate, low, np.maximum(low, high)))
