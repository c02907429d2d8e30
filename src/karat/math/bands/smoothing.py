"""The law that replicates are drawn from: one class's upper tail as a function of the other's.

A curve depends on the two class distributions only through the map ``anchor tail -> counted tail``: for a PR curve
the anchor class is the positives and the map is ``alpha(beta) = 1 - H(G^-1(1 - beta))``; for a ROC curve the classes
change places. Smoothing both distributions with a kernel makes this map continuous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import irfft, rfft, rfftfreq

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Tails = Callable[[NDArray[np.float64]], NDArray[np.float64]]

KERNELS = ("gaussian", "box")
_N_NODES = 65_536
_MANY = 100_000
# Beyond these many bandwidths a kernel carries less mass than a double can tell from nothing.
_REACH = 9.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothTails:
    """Upper tails of both smoothed classes at common thresholds, from the highest threshold to the lowest."""

    anchor_tail: NDArray[np.float64]
    counted_tail: NDArray[np.float64]

    def __call__(self, tail: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the counted class's tail at the thresholds where the anchor class has the given tail."""
        return np.interp(tail, self.anchor_tail, self.counted_tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTails:
    """The unsmoothed map of a sample: plain resampling."""

    counted_tail_at_rank: NDArray[np.float64]

    def __call__(self, tail: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the counted class's tail at the anchor item that holds the given tail."""
        n_anchor = self.counted_tail_at_rank.size
        rank = np.ceil(tail * n_anchor - 1e-12).astype(np.int64)
        return self.counted_tail_at_rank[np.clip(rank, 1, n_anchor) - 1]


def step_tails(ordered: NDArray[np.bool_], *, anchor_is_positive: bool) -> StepTails:
    """Map of the empirical distributions."""
    places = np.flatnonzero(ordered == anchor_is_positive)
    return StepTails(counted_tail_at_rank=(places - np.arange(places.size)) / (ordered.size - places.size))


def bandwidth(scores: NDArray[np.float64], *, factor: float = 0.9, power: float = -1 / 3) -> float:
    """Rule of thumb ``factor * min(sd, IQR / 1.349) * n ** power`` (Silverman's with power -1/5).

    Examples
    --------
    >>> round(bandwidth(np.arange(8.0)), 3)
    1.102
    """
    spread = float(np.std(scores, ddof=1)) if scores.size > 1 else 0.0
    lower, upper = _quartiles(scores)
    if upper > lower:
        spread = min(spread, float(upper - lower) / 1.349)
    # One item, or equal items, say nothing of the spread: one unit of a normal score is the neutral guess.
    return float(factor * (spread if spread > 0 else 1.0) * scores.size**power)


def _quartiles(scores: NDArray[np.float64]) -> tuple[float, float]:
    if np.all(scores[1:] <= scores[:-1]):
        # Normal scores come sorted, best first: two look-ups instead of a partition.
        places = (scores.size - 1) * np.array([0.75, 0.25])
        lower, upper = np.interp(places, np.arange(scores.size), scores)
    else:
        lower, upper = np.quantile(scores, [0.25, 0.75])
    return float(lower), float(upper)


def smooth_tails(
    anchor: NDArray[np.float64],
    counted: NDArray[np.float64],
    *,
    anchor_bandwidth: float,
    counted_bandwidth: float,
    kernel: str = "gaussian",
    n_pseudo: float = 0.0,
) -> SmoothTails:
    """Tails of the two kernel-smoothed samples on a common grid: each to 1e-8, the map between them to 1e-7.

    Parameters
    ----------
    anchor, counted : scores of the two classes, in any order
    anchor_bandwidth, counted_bandwidth : standard deviation (gaussian) or half-width (box) of the kernels
    kernel : ``"gaussian"`` or ``"box"``
    n_pseudo : weight of two pseudo-items of the counted class, half of it above and half below every score

    Notes
    -----
    Only the order of scores matters, so a gap that no kernel can bridge is closed to the width of two reaches; an
    outlier a million bandwidths away would otherwise leave one grid cell for all the rest.
    """
    widest = max(anchor_bandwidth, counted_bandwidth)
    both = np.concatenate([anchor, counted])
    low, high = float(both.min()), float(both.max())
    if high - low > _N_NODES * min(anchor_bandwidth, counted_bandwidth) / 64:
        both = _close_gaps(both, 2 * _REACH * widest)
        low, high = float(both.min()), float(both.max())
    nodes = np.linspace(low - _REACH * widest, high + _REACH * widest, _N_NODES)
    tail = gaussian_tail if kernel == "gaussian" else _box_tail
    anchor_tail = tail(both[: anchor.size], nodes, anchor_bandwidth)
    counted_tail = tail(both[anchor.size :], nodes, counted_bandwidth)
    weight = n_pseudo / (counted.size + n_pseudo)
    return SmoothTails(anchor_tail=anchor_tail, counted_tail=(1 - weight) * counted_tail + weight / 2)


def gaussian_tail(scores: NDArray[np.float64], nodes: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Upper tail at the nodes from the last to the first: binning, then a convolution by FFT.

    The nodes reach nine bandwidths beyond the data, so the circular convolution wraps nothing but rounding. Each item
    is shared among its four nearest nodes with Lagrange's weights, which keep its first three moments: the error is of
    the order of (cell / bandwidth)^4. A large sample is shared among two nodes instead, three times faster: that adds
    a variance of cell^2 / 6 on average over so many items, which the kernel gives back.
    """
    cell = float(nodes[1] - nodes[0])
    place = (scores - nodes[0]) / cell
    node = place.astype(np.int64)
    part = place - node
    variance = width**2
    shares: tuple[NDArray[np.float64], ...]
    if scores.size > _MANY:
        shares, first = (1 - part, part), 0
        variance -= cell**2 / 6
    else:
        inner, outer = part * (part - 1) / 6, (part + 1) * (part - 2) / 2
        shares, first = (inner * (2 - part), outer * (part - 1), -outer * part, inner * (part + 1)), -1
    mass = np.zeros(nodes.size)
    for step, share in enumerate(shares, start=first):
        mass += np.bincount(node + step, share, nodes.size)
    damping = np.exp(-0.5 * variance * (2 * math.pi * rfftfreq(nodes.size, cell)) ** 2)
    mass = np.maximum(irfft(rfft(mass) * damping, nodes.size), 0.0)[::-1]
    # Half of a node's own mass lies above it: the trapezoid rule, with the end correction of Euler and Maclaurin.
    tail = (np.cumsum(mass) - mass / 2 - np.gradient(mass) / 12) / mass.sum()
    return np.maximum.accumulate(np.clip(tail, 0.0, 1.0))


def _box_tail(scores: NDArray[np.float64], nodes: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Upper tail at the nodes from the last to the first, exact: a moving average of the empirical distribution."""
    ordered = np.sort(scores)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])

    def integral(points: NDArray[np.float64]) -> NDArray[np.float64]:
        below = np.searchsorted(ordered, points)
        return np.asarray(points * below - sums[below])

    cdf = (integral(nodes + width) - integral(nodes - width)) / (2 * width * scores.size)
    return np.maximum.accumulate(np.clip(1 - cdf[::-1], 0.0, 1.0))


def _close_gaps(scores: NDArray[np.float64], widest: float) -> NDArray[np.float64]:
    order = np.argsort(scores, kind="stable")
    steps = np.minimum(np.diff(scores[order], prepend=scores[order[0]]), widest)
    closed = np.empty_like(scores)
    closed[order] = np.cumsum(steps)
    return closed
