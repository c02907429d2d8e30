"""The paper's adaptive count: how many draws a new system needs, given the draws of those before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.pooled.joint import joint_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A new system among earlier ones, seen on the new system's own units (columns).

    ``law`` has one row a system, the new one last; ``times_drawn`` says how often each unit was drawn for each
    earlier system and ``n_draws`` how many draws each had in all, units elsewhere included; ``labels`` holds the
    labels of drawn units and anything elsewhere; ``overlap`` is ``sum_x p_new(x) p_j(x)``, the new one last.
    """

    law: NDArray[np.float64]
    times_drawn: NDArray[np.float64]
    n_draws: NDArray[np.float64]
    labels: NDArray[np.float64]
    overlap: NDArray[np.float64]


def arrival_variance(arrival: Arrival, n_new: int) -> float:
    """Conservative variance of the joint precision of the new system after ``n_new`` draws from it.

    Earlier draws enter with their sample variance, the new ones as if every label were 1 and without their mean.
    """
    weights = joint_weights(arrival.overlap[None, :], np.append(arrival.n_draws, n_new))[0]
    own = arrival.law[-1]
    ratio = own / (weights @ arrival.law)
    value = ratio * arrival.labels
    future = float(weights[-1] ** 2 / n_new * (own * ratio**2).sum())
    if arrival.n_draws.size == 0:
        return future
    drawn = np.where(arrival.times_drawn.any(axis=0), value, 0.0)
    mean = arrival.times_drawn @ drawn / arrival.n_draws
    mean_square = arrival.times_drawn @ drawn**2 / arrival.n_draws
    past = float((weights[:-1] ** 2 / arrival.n_draws * (mean_square - mean**2)).sum())
    return past + future


def known_arrival_variance(arrival: Arrival, n_new: int) -> float:
    """Exact variance of the same estimate when every label is known: what the rule would need to know."""
    counts = np.append(arrival.n_draws, n_new)
    weights = joint_weights(arrival.overlap[None, :], counts)[0]
    value = arrival.law[-1] * arrival.labels / (weights @ arrival.law)
    return float((weights**2 / counts) @ (arrival.law @ value**2 - (arrival.law @ value) ** 2))


def paper_count(
    arrival: Arrival,
    *,
    target_variance: float,
    variance: Callable[[Arrival, int], float] = arrival_variance,
    most: int = 1_000_000,
) -> int:
    """Smallest number of draws whose variance, by default the conservative one, meets the target, by bisection.

    Returns ``most`` when even that many do not meet it.

    Examples
    --------
    The first system: 400 draws for a variance of 1/400.

    >>> law = np.full((1, 50), 0.02)
    >>> nobody = np.zeros((0, 50))
    >>> alone = Arrival(law=law, times_drawn=nobody, n_draws=np.zeros(0), labels=np.zeros(50), overlap=np.array([0.02]))
    >>> paper_count(alone, target_variance=1 / 400)
    400
    """
    target = _check.number("target_variance", target_variance, above=0.0)
    if variance(arrival, 1) <= target:
        return 1
    missed, met = 1, most
    while met - missed > 1:
        middle = (missed + met) // 2
        if variance(arrival, middle) <= target:
            met = middle
        else:
            missed = middle
    return met


def arrive(
    law: ArrayLike, *, new: int, earlier: ArrayLike, times_drawn: ArrayLike, labels: ArrayLike
) -> tuple[Arrival, NDArray[np.int64]]:
    """Restrict full matrices to the units of the new system; returns the arrival and those units."""
    p = np.asarray(law, dtype=np.float64)
    before = np.asarray(earlier, dtype=np.int64)
    units = np.flatnonzero(p[new] > 0)
    rows = np.append(before, new)
    counts = np.asarray(times_drawn, dtype=np.float64)[before]
    arrival = Arrival(
        law=p[rows][:, units],
        times_drawn=counts[:, units],
        n_draws=counts.sum(axis=1),
        labels=np.asarray(labels, dtype=np.float64)[units],
        overlap=p[rows][:, units] @ p[new, units],
    )
    return arrival, units
