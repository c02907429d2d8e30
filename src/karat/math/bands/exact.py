"""Bands that hold in every finite sample: equal local levels for order statistics, combined without any assumption.

The upper tails of a class's items, best first, are the order statistics of n uniforms, whatever the distribution. Each
gets the interval that a Beta law gives it at one local level, and the level is chosen so that ALL intervals hold
together with the wanted probability, which a recursion computes exactly. Two such bands, one a class, pin down the map
from one class's tail to the other's at every level; for a PR curve a Clopper-Pearson interval for the base rate joins
them.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.signal import fftconvolve
from scipy.special import betaincinv, gammaln, xlogy

from karat.math.binomial import clopper_pearson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pair = tuple[NDArray[np.float64], NDArray[np.float64]]

_MOST_RANKS = 600
# How the permitted error is shared: base rate, anchor class, counted class.
_PR_SHARES = (0.2, 0.4, 0.4)
_ROC_SHARES = (0.5, 0.5)


def noncrossing_probability(
    low: NDArray[np.float64], high: NDArray[np.float64], *, ranks: NDArray[np.int64], n_draws: int
) -> float:
    """Probability that n uniforms have ``low_j <= U_(rank_j) <= high_j`` for all j.

    With N(t) the number of uniforms up to t the event reads ``N(low_j) <= rank_j - 1`` and ``N(high_j) >= rank_j``. N
    is a Poisson process of rate n given that it ends at n, so its distribution is carried from one time to the next
    by convolution with a Poisson law and cut to the permitted counts, then conditioned on the end.

    Examples
    --------
    >>> one = np.array([1])
    >>> round(noncrossing_probability(np.array([0.2]), np.array([0.7]), ranks=one, n_draws=1), 12)
    0.5
    """
    times = np.concatenate([low, high])
    is_floor = np.arange(times.size) >= low.size
    counts = np.concatenate([ranks - 1, ranks])
    order = np.argsort(times, kind="stable")
    # Counts never fall, so whatever exceeds a later cap is lost already.
    caps = np.where(is_floor, n_draws, counts)[order]
    caps = np.minimum.accumulate(caps[::-1])[::-1]
    mass, first, now = np.ones(1), 0, 0.0
    for event, cap in zip(order.tolist(), caps.tolist(), strict=True):
        time = float(times[event])
        width = cap - first + 1
        if width < 1:
            return 0.0
        mass = _convolve(mass, _poisson(n_draws * (time - now), width), width)
        now = time
        if is_floor[event]:
            drop = int(counts[event]) - first
            if drop > 0:
                mass, first = mass[drop:], first + drop
                if mass.size == 0:
                    return 0.0
    left = n_draws - first - np.arange(mass.size)
    log_end = _log_poisson(n_draws * (1 - now), left) - _log_poisson(float(n_draws), np.array([n_draws]))
    return float(np.sum(mass * np.exp(log_end)))


@lru_cache(maxsize=512)  # a pure function of two numbers, asked for again and again by simulations
def local_level(n_draws: int, confidence_level: float) -> float:
    """Largest two-sided level of each order statistic at which all hold together with ``confidence_level``.

    The answer errs on the safe side by at most a thousandth of itself.

    Examples
    --------
    >>> round(local_level(1, 0.95), 4)
    0.05
    """
    ranks = chosen_ranks(n_draws)

    def shortfall(log_level: float) -> float:
        low, high = _beta_intervals(ranks, n_draws, math.exp(log_level))
        return confidence_level - noncrossing_probability(low, high, ranks=ranks, n_draws=n_draws)

    miss = 1 - confidence_level
    if ranks.size == 1:
        return miss * (1 - 1e-9)
    # Between the union bound, which always holds, and the level of a single interval, which never does.
    root = brentq(shortfall, math.log(miss / ranks.size), math.log(miss), xtol=5e-4, rtol=1e-6)
    return math.exp(root - 6e-4)


def chosen_ranks(n_draws: int) -> NDArray[np.int64]:
    """Ranks whose intervals are used: all of them, or for a large class some hundreds, closer together at the ends."""
    if n_draws <= _MOST_RANKS:
        return np.arange(1, n_draws + 1)
    even = np.linspace(1, n_draws, _MOST_RANKS // 2)
    ends = np.geomspace(1, n_draws / 4, _MOST_RANKS // 4)
    return np.unique(np.round(np.concatenate([even, ends, n_draws + 1 - ends])).astype(np.int64))


def tail_band(n_draws: int, *, confidence_level: float) -> tuple[NDArray[np.int64], Pair]:
    """Ranks from the top, and simultaneous bounds for the upper tail at each of these items."""
    ranks = chosen_ranks(n_draws)
    return ranks, _beta_intervals(ranks, n_draws, local_level(n_draws, confidence_level))


def exact_tails(
    ordered: NDArray[np.bool_],
    levels: NDArray[np.float64],
    *,
    anchor_is_positive: bool,
    anchor_confidence: float,
    counted_confidence: float,
) -> Pair:
    """Bounds for the counted class's tail where the anchor class has the tail ``level``, for all levels at once.

    An anchor item whose tail is certainly at most ``level`` stands at or above the true threshold, so the counted
    class's tail there is a lower bound; it is at least the tail of the last counted item above. The upper bound
    mirrors this with the first counted item below.
    """
    places = np.flatnonzero(ordered == anchor_is_positive)
    n_anchor, n_counted = places.size, ordered.size - places.size
    ranks, (anchor_low, anchor_high) = tail_band(n_anchor, confidence_level=anchor_confidence)
    above = places[ranks - 1] - (ranks - 1)
    counted_ranks, (counted_low, counted_high) = tail_band(n_counted, confidence_level=counted_confidence)
    # The best bound for a count of items above: the last chosen rank within it, the first chosen rank beyond it.
    low_at = np.concatenate([[0.0], counted_low])[np.searchsorted(counted_ranks, above, side="right")]
    high_at = np.concatenate([counted_high, [1.0]])[np.searchsorted(counted_ranks, above + 1, side="left")]
    before = np.searchsorted(anchor_high, levels, side="right")
    after = np.searchsorted(anchor_low, levels, side="left")
    return np.concatenate([[0.0], low_at])[before], np.concatenate([high_at, [1.0]])[after]


def exact_pr_band(ordered: NDArray[np.bool_], levels: NDArray[np.float64], *, confidence_level: float) -> Pair:
    """Bounds for precision at all recall levels at once, with at least the given confidence in every sample size."""
    for_rate, for_anchor, for_counted = (1 - (1 - confidence_level) * share for share in _PR_SHARES)
    low_tail, high_tail = exact_tails(
        ordered, levels, anchor_is_positive=True, anchor_confidence=for_anchor, counted_confidence=for_counted
    )
    low_rate, high_rate = map(float, clopper_pearson(ordered.sum(), ordered.size, confidence_level=for_rate))
    return _precision(low_rate, levels, high_tail), _precision(high_rate, levels, low_tail)


def exact_roc_band(ordered: NDArray[np.bool_], levels: NDArray[np.float64], *, confidence_level: float) -> Pair:
    """Bounds for the true positive rate at all false positive rates at once."""
    for_anchor, for_counted = (1 - (1 - confidence_level) * share for share in _ROC_SHARES)
    return exact_tails(
        ordered, levels, anchor_is_positive=False, anchor_confidence=for_anchor, counted_confidence=for_counted
    )


def _precision(rate: float, levels: NDArray[np.float64], tail: NDArray[np.float64]) -> NDArray[np.float64]:
    hits = rate * levels
    return np.asarray(hits / (hits + (1 - rate) * tail))


def _beta_intervals(ranks: NDArray[np.int64], n_draws: int, level: float) -> Pair:
    low = np.asarray(betaincinv(ranks, n_draws - ranks + 1, level / 2), dtype=np.float64)
    # By symmetry: 1 - betaincinv keeps its digits at the small end.
    high = 1 - np.asarray(betaincinv(n_draws - ranks + 1, ranks, level / 2), dtype=np.float64)
    return low, high


def _poisson(mean: float, width: int) -> NDArray[np.float64]:
    """Poisson probabilities of 0, 1, ..., as far as they count and at most ``width`` of them."""
    reach = int(mean + 12 * math.sqrt(mean) + 40)
    return np.exp(_log_poisson(mean, np.arange(min(width, reach))))


def _log_poisson(mean: float, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(xlogy(counts, mean) - mean - gammaln(counts + 1.0))


def _convolve(mass: NDArray[np.float64], step: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    if min(mass.size, step.size) < 256:
        return np.convolve(mass, step)[:width]
    return np.maximum(fftconvolve(mass, step)[:width], 0.0)
