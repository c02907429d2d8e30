"""The finished band of a look, and whether it is as tight as was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.math.certify.bounds import Bounds
from karat.math.certify.noise import true_yield_bounds
from karat.math.path import bounds_at, tighten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.certify.settings import Settings


def trivial_bounds(n_items: int) -> Bounds:
    """Return what is known without any label."""
    ends = np.array([0, n_items])
    return Bounds(ends, np.zeros(2), ends.astype(np.float64), 0.5 * ends)


def look_bounds(
    ends: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    estimate: NDArray[np.float64],
    *,
    settings: Settings,
    n_items: int,
) -> Bounds:
    """Return consistent bounds on the true yield from those at the cell ends of one look."""
    if len(ends) == 0:
        return trivial_bounds(n_items)
    rest = [n_items - ends[-1]] if ends[-1] < n_items else []  # beyond the last cell anything may happen
    knots = np.concatenate([[0], ends, ends[-1] + np.array(rest, np.int64)])
    low = np.concatenate([[0.0], low, low[-1] + 0.0 * np.array(rest)])
    high = np.concatenate([[0.0], high, high[-1] + 1.0 * np.array(rest)])
    estimate = np.concatenate([[0.0], estimate, estimate[-1] + 0.5 * np.array(rest)])
    low, high = tighten(knots, low, high)
    errors = settings.label_errors
    if errors is not None:
        wrong = 1.0 - (sum(errors.specificity)) / 2.0
        estimate = (estimate - wrong * knots) / max(errors.gain(settings.side), 0.01)
        low, high = tighten(knots, *true_yield_bounds(knots, low, high, errors=errors))
    return Bounds(knots, low, high, np.clip(estimate, low, np.maximum(low, high)))


def tolerance_shares(bounds: Bounds, settings: Settings) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ranks that decide and, at each, the half-width over the tolerance (at most 1: good enough).

    Within a cell the width is largest where the upper bound stops rising or the lower one starts to, whichever
    comes first; those ranks are judged beside the knots.
    """
    knots, low, high, estimate = bounds
    last_rank = min(int(knots[-1]), settings.top or int(knots[-1]))
    from_rank = min(settings.from_rank, last_rank)
    wide = np.flatnonzero(np.diff(knots) > 1)
    rising = high[wide + 1] - high[wide]
    waiting = np.diff(knots)[wide] - (low[wide + 1] - low[wide])
    turns = np.clip(np.floor(np.minimum(rising, waiting)), 1, np.diff(knots)[wide] - 1).astype(np.int64) + knots[wide]
    ranks = np.unique(np.concatenate([knots, turns, turns + 1, [from_rank, last_rank]]))
    ranks = ranks[(ranks >= from_rank) & (ranks <= last_rank)]
    low, high = bounds_at(knots, low, high, at=ranks)
    if settings.side == "both":
        middle = 0.5 * (low + high)
        half_width = 0.5 * (high - low)
    else:
        middle = np.clip(np.interp(ranks, knots, estimate), low, np.maximum(low, high))
        half_width = middle - low if settings.side == "lower" else high - middle
    half_width = np.maximum(half_width, 0.0)
    tolerance = np.maximum(settings.absolute * ranks, settings.relative * middle)
    shares = np.divide(half_width, tolerance, out=np.full(len(ranks), np.inf), where=tolerance > 0.0)
    return ranks, np.where(half_width <= 1e-9, 0.0, shares)


def worst_share(bounds: Bounds, settings: Settings, *, upto: int | None = None) -> float:
    """Return the largest half-width over its tolerance, at ranks up to ``upto``; 0 if none of them is judged."""
    ranks, shares = tolerance_shares(bounds, settings)
    if upto is not None:
        shares = shares[ranks <= upto]
    return float(shares.max(initial=0.0))
