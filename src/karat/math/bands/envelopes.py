"""From replicates of a curve to a band, simultaneous or pointwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


_SEEN = 2.0


def simultaneous_envelope(
    curves: NDArray[np.float64], *, confidence_level: float, judged: NDArray[np.bool_] | None = None
) -> Pair:
    """Narrowest equal-rank envelope that holds at least a share ``confidence_level`` of the replicates entirely.

    At every level the envelope runs from the j-th smallest to the j-th largest value, with one j for all levels: the
    largest that keeps enough replicates inside at all levels at once. A replicate's depth is its smallest weak rank
    from either end over the levels, and it lies inside for j exactly when its depth is at least j, so the share falls
    with j and bisection finds it.

    Parameters
    ----------
    curves : replicates by levels
    confidence_level : share of replicates to hold
    judged : levels at which a replicate must lie inside; all if None

    Examples
    --------
    >>> curves = np.arange(100.0).reshape(100, 1)
    >>> simultaneous_envelope(curves, confidence_level=0.9)
    (array([5.]), array([94.]))
    """
    n_replicates = len(curves)
    wanted = np.ceil(confidence_level * n_replicates - 1e-9)
    # Level by level in memory: the sorts then run over neighbouring numbers.
    by_level = np.ascontiguousarray(curves.T)
    ordered = np.sort(by_level, axis=1)
    values, ranked = (by_level, ordered) if judged is None else (by_level[judged], ordered[judged])

    def holds_enough(depth: int) -> bool:
        outside = (values < ranked[:, depth - 1 : depth]) | (values > ranked[:, -depth][:, None])
        return bool(n_replicates - np.count_nonzero(outside.any(axis=0)) >= wanted)

    deepest, too_deep = 1, n_replicates // 2 + 1
    while too_deep - deepest > 1:
        middle = (deepest + too_deep) // 2
        deepest, too_deep = (middle, too_deep) if holds_enough(middle) else (deepest, middle)
    return ordered[:, deepest - 1].copy(), ordered[:, -deepest].copy()


def unseen(levels: NDArray[np.float64], n_anchor: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Levels above, and below, which fewer than two items of the anchor class are expected.

    The sample has hardly seen what lies there, and a kernel would invent it: with ten positives nearly all misses of an
    envelope fall on these levels, and on one side, the side towards the unseen.
    """
    return levels * n_anchor < _SEEN - 1e-9, (1 - levels) * n_anchor < _SEEN - 1e-9


def percentile_envelope(curves: NDArray[np.float64], *, confidence_level: float) -> Pair:
    """Percentiles of the replicates at each level by itself: pointwise, too narrow for a whole curve."""
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
    return low, high


def sup_radius(
    curves: NDArray[np.float64],
    estimate: NDArray[np.float64],
    *,
    confidence_level: float,
    weights: NDArray[np.float64],
) -> float:
    """Weighted quantile of the largest distance between replicate and estimate: step 4 of the paper's Algorithm 1."""
    distance = np.abs(curves - estimate).max(axis=1)
    order = np.argsort(distance)
    reached = np.searchsorted(np.cumsum(weights[order]), confidence_level - 1e-12)
    return float(distance[order][min(int(reached), distance.size - 1)])


def studentised_envelope(
    curves: NDArray[np.float64],
    deviations: NDArray[np.float64],
    *,
    centre: NDArray[np.float64],
    estimate: NDArray[np.float64],
    deviation: NDArray[np.float64],
    confidence_level: float,
) -> Pair:
    """Pointwise bootstrap-t: quantiles of ``(curve* - centre) / deviation*`` turned around the estimate.

    Parameters
    ----------
    curves, deviations : replicates by levels, and each replicate's own standard deviation
    centre : the curve of the law that the replicates were drawn from
    estimate, deviation : the sample's curve and its standard deviation
    confidence_level : at each level by itself
    """
    tail = (1 - confidence_level) / 2
    low, high = np.quantile((curves - centre) / deviations, [tail, 1 - tail], axis=0)
    return estimate - high * deviation, estimate - low * deviation
