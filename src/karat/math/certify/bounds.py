"""Bounds on a yield curve at knots, and what two of them say together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat.math.path import Floats, Ranks, bounds_at, tighten


class Bounds(NamedTuple):
    """Consistent bounds on the yield at knots, the first of which is rank 0 and the last the end of the list."""

    knots: Ranks
    low: Floats
    high: Floats
    estimate: Floats


def intersect(first: Bounds, second: Bounds, *, until: int | None = None) -> Bounds:
    """Return bounds that hold where both do; the estimate is the second's, below ``until`` with the first's growth."""
    knots = np.union1d(first.knots, second.knots)
    low_first, high_first = bounds_at(first.knots, first.low, first.high, at=knots)
    low_second, high_second = bounds_at(second.knots, second.low, second.high, at=knots)
    low, high = tighten(knots, np.maximum(low_first, low_second), np.minimum(high_first, high_second))
    answered = knots if until is None else np.minimum(knots, until)
    estimate = np.interp(answered, second.knots, second.estimate)
    estimate += np.interp(knots, first.knots, first.estimate) - np.interp(answered, first.knots, first.estimate)
    return Bounds(knots, low, high, np.clip(estimate, low, np.maximum(low, high)))
