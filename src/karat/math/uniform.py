"""Uniform sampling with Hoeffding's bound (Sabharwal & Sedghi 2017, sections 2.1 and 3)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.path import Floats, Ranks


def labels_for_point(*, epsilon: float, precision: float, confidence_level: float) -> int:
    """Return how many draws bring one rank within a factor 1 + epsilon: eq. (2).

    Examples
    --------
    >>> labels_for_point(epsilon=0.05, precision=0.7, confidence_level=0.95)
    1506
    """
    return math.ceil(math.log(2 / (1 - confidence_level)) / (2 * epsilon**2 * precision**2))


def half_width(n_draws: NDArray[np.int64], *, confidence_level: float, n_ranks: int = 1) -> Floats:
    """Return Hoeffding's half-width of a mean of n draws, eq. (3), shared out over ``n_ranks`` (union bound)."""
    log_term = math.log(2 * n_ranks / (1 - confidence_level))
    with np.errstate(divide="ignore"):
        return np.minimum(np.sqrt(log_term / (2 * np.asarray(n_draws, dtype=np.float64))), 1.0)


def accurate_from_rank(n_items: int, *, n_draws: int, alpha: float, precision: float, confidence_level: float) -> float:
    """Return eq. (4): the rank from which ``n_draws`` uniform draws give the factor 1 + alpha."""
    return n_items / (2 * n_draws * alpha**2 * precision**2) * math.log(2 * n_items / (1 - confidence_level))


def total_labels(n_items: int, *, alpha: float, precision: float, confidence_level: float) -> float:
    """Return eq. (5), not rounded: labels of the best mix of an exhaustive top and uniform draws.

    Examples
    --------
    >>> round(total_labels(217_077, alpha=0.08, precision=0.7, confidence_level=0.95))
    47031
    """
    return math.sqrt(2 * n_items / (alpha**2 * precision**2) * math.log(2 * n_items / (1 - confidence_level)))


class UniformYields(NamedTuple):
    """Yields at the knots."""

    ranks: Ranks
    low: Floats
    high: Floats
    estimate: Floats


def bound_yields(
    sample: Ranks,
    low_labels: NDArray[np.int8],
    high_labels: NDArray[np.int8],
    *,
    n_items: int,
    confidence_level: float,
    n_ranks: int,
) -> UniformYields:
    """Return bounds on the yield at every drawn rank and just before it, all at once.

    ``sample`` holds ranks drawn uniformly with replacement from 1..n_items, sorted; given how many fell into 1..r they
    are uniform there, so eq. (3) holds at r; it is shared out over the ``n_ranks`` ranks whose bounds are claimed.
    """
    n_below = np.arange(1, len(sample) + 1)
    last_of_rank = np.r_[sample[1:] != sample[:-1], True]
    at, counts = sample[last_of_rank], n_below[last_of_rank]
    sum_low, sum_high = np.cumsum(low_labels)[last_of_rank], np.cumsum(high_labels)[last_of_rank]
    until = np.r_[at[1:] - 1, n_items]
    half = half_width(counts, confidence_level=confidence_level, n_ranks=n_ranks)
    ranks = np.stack([at, until], axis=1).ravel()
    mean_low, mean_high = (np.repeat(total / counts, 2) for total in (sum_low, sum_high))
    halves = np.repeat(half, 2)
    keep = np.r_[True, ranks[1:] > ranks[:-1]]
    ranks = ranks[keep].astype(np.int64)
    low = np.maximum(mean_low - halves, 0)[keep] * ranks
    high = np.minimum(mean_high + halves, 1)[keep] * ranks
    return UniformYields(ranks, low, high, (mean_low + mean_high)[keep] / 2 * ranks)
