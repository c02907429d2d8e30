"""Bounds on the yield Y(r) of every rank, kept as knots.

Y counts the positives among the first r items, so it starts at 0 and each step adds 0 or 1. Bounds known at some ranks
(the knots) therefore bound Y everywhere: ``max(low_j, low_k - (k - r)) <= Y(r) <= min(high_j + r - j, high_k)`` between
neighbouring knots j < r < k. Knots are as many as there are labels, never as many as items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ranks = NDArray[np.int64]
Floats = NDArray[np.float64]

FUZZ = 1e-9
"""Rounding slack when a bound on a whole number is itself rounded to one."""
MOST_MISSING = 0.01
"""Of the items behind an estimate, the share whose answers may be out; they count one half there."""


def make_consistent(ranks: Ranks, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Tighten bounds on a count: whole numbers in [0, rank], non-decreasing, steps of at most 1.

    Every path of labels inside the given bounds is inside the returned ones too. Crossed bounds stay crossed.

    Examples
    --------
    >>> make_consistent(np.array([0, 2, 4]), np.array([0.0, 0.2, 3.0]), np.array([0.0, 2.0, 3.9]))
    (array([0., 1., 3.]), array([0., 2., 3.]))
    """
    whole_low = np.ceil(low - FUZZ * np.maximum(1, np.abs(low)))
    whole_high = np.floor(high + FUZZ * np.maximum(1, np.abs(high)))
    return tighten(ranks, whole_low, whole_high)


def tighten(ranks: Ranks, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Tighten bounds with what every yield curve obeys: from 0 to the rank, rising by at most one an item.

    They are not rounded, so they may bound an expected yield too.

    Examples
    --------
    >>> low, high = tighten(np.array([0, 10, 20]), np.array([0.0, 3.0, 15.0]), np.array([0.0, 14.0, 12.0]))
    >>> low.tolist(), high.tolist()
    ([0.0, 5.0, 15.0], [0.0, 10.0, 12.0])
    """
    low, high = np.maximum(low, 0.0), np.minimum(high, ranks)
    low = np.maximum(low, np.maximum.accumulate((low - ranks)[::-1])[::-1] + ranks)
    low = np.maximum.accumulate(low)
    high = np.minimum.accumulate(high[::-1])[::-1]
    high = np.minimum(high, np.minimum.accumulate(high - ranks) + ranks)
    return low, high


def bounds_at(ranks: Ranks, low: Floats, high: Floats, *, at: ArrayLike) -> tuple[Floats, Floats]:
    """Return the bounds on Y at any ranks between the first and the last knot.

    Examples
    --------
    >>> knots, low, high = np.array([0, 10]), np.array([0.0, 4.0]), np.array([0.0, 6.0])
    >>> [bound.tolist() for bound in bounds_at(knots, low, high, at=[3, 8])]
    [[0.0, 2.0], [3.0, 6.0]]
    """
    wanted = np.asarray(at, dtype=np.int64)
    right = np.searchsorted(ranks, wanted)
    left = np.maximum(right - 1, 0)
    before, after = wanted - ranks[left], ranks[right] - wanted
    on_knot = after == 0
    between_low = np.maximum(low[left], low[right] - after)
    between_high = np.minimum(high[left] + before, high[right])
    return np.where(on_knot, low[right], between_low), np.where(on_knot, high[right], between_high)


def thin(ranks: Ranks, *, most: int) -> NDArray[np.intp]:
    """Return positions of at most about ``most`` knots, even in rank and in its logarithm, the ends included."""
    if len(ranks) <= most:
        return np.arange(len(ranks))
    half = most // 2
    top = np.log(max(float(ranks[-1]), 2.0))
    wanted = np.r_[np.exp(np.linspace(0, top, half)), np.linspace(float(ranks[0]), float(ranks[-1]), half)]
    positions = np.unique(np.searchsorted(ranks, wanted).clip(0, len(ranks) - 1))
    return np.unique(np.r_[0, positions, len(ranks) - 1])
