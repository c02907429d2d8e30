"""Intervals from an estimate and its variance, and paired differences between systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtri, stdtrit

from karat import _check
from karat.math.pooled.degrees import satterthwaite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from karat.math.pooled.estimate import Estimate

_ROUNDING = 1e-12  # below this two estimates are the same number
_MANY = 1e9  # degrees of freedom beyond which Student's law is the normal one
Ends = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


def normal_quantile(confidence_level: float) -> float:
    """Two-sided standard normal quantile.

    Examples
    --------
    >>> round(normal_quantile(0.9), 4)
    1.6449
    """
    return float(ndtri((1.0 + _check.fraction("confidence_level", confidence_level)) / 2.0))


def student_quantile(confidence_level: float, degrees: ArrayLike) -> NDArray[np.float64]:
    """Two-sided quantiles of Student's law: the normal one where the degrees of freedom are many or infinite.

    Examples
    --------
    >>> student_quantile(0.9, [5.0, 20.0, np.inf]).round(3).tolist()
    [2.015, 1.725, 1.645]
    """
    wanted = (1.0 + _check.fraction("confidence_level", confidence_level)) / 2.0
    return np.asarray(stdtrit(np.minimum(degrees, _MANY), wanted), dtype=np.float64)


def wilson_interval(rate: ArrayLike, n_labels: ArrayLike, *, confidence_level: float = 0.9) -> Ends:
    """Wilson's interval for a rate seen in n independent labels.

    Examples
    --------
    >>> low, high = wilson_interval(0.9, 100)
    >>> round(float(low), 3), round(float(high), 3)
    (0.84, 0.939)
    """
    z = normal_quantile(confidence_level)
    p, n = np.asarray(rate, dtype=np.float64), np.asarray(n_labels, dtype=np.float64)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2) / (1 + z * z / n)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def logit_interval(
    value: ArrayLike,
    variance: ArrayLike,
    *,
    n_effective: ArrayLike,
    degrees: ArrayLike = np.inf,
    confidence_level: float = 0.9,
) -> Ends:
    """Interval that is symmetric on the logit scale; a variance of 0 gives the point itself.

    A value within one label of 0 or 1 is moved one label inside before the logit, and that end is left open to 0
    or 1, because a sample without a single error does not show that there is none.

    Examples
    --------
    >>> low, high = logit_interval([0.5, 1.0, 0.25], [0.01, 1e-4, 0.0], n_effective=[25, 80, 100])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.341, 0.954, 0.25], [0.659, 1.0, 0.25])
    """
    quantile = student_quantile(confidence_level, degrees)
    point = np.clip(np.asarray(value, dtype=np.float64), 0.0, 1.0)
    spread = np.sqrt(np.asarray(variance, dtype=np.float64))
    one_label = 1.0 / (np.asarray(n_effective, dtype=np.float64) + 2.0)
    inside = np.clip(point, one_label, 1.0 - one_label)
    half = quantile * spread / (inside * (1.0 - inside))
    low = np.where(point <= one_label, 0.0, expit(logit(inside) - half))
    high = np.where(point >= 1.0 - one_label, 1.0, expit(logit(inside) + half))
    exact = spread == 0.0
    return np.where(exact, point, np.minimum(low, point)), np.where(exact, point, np.maximum(high, point))


def estimate_interval(estimate: Estimate, *, confidence_level: float = 0.9) -> Ends:
    """Interval of every system on the logit scale, by Student's law; [0, 1] where no label says anything."""
    z = normal_quantile(confidence_level)
    low, high = logit_interval(
        estimate.value,
        estimate.variance(z),
        n_effective=estimate.n_effective,
        degrees=estimate.degrees_of_freedom(z),
        confidence_level=confidence_level,
    )
    return np.where(estimate.known, low, 0.0), np.where(estimate.known, high, 1.0)


def noisy_interval(estimate: Estimate, *, confidence_level: float = 0.9) -> Ends:
    """Return the symmetric interval of every system, cut to [0, 1], for labels that were corrected for errors.

    A corrected estimate is not held between 0 and 1: near them its noise is as large as anywhere, where the logit scale
    would take it for nothing known at all.
    """
    z = normal_quantile(confidence_level)
    half = student_quantile(confidence_level, estimate.degrees_of_freedom(z)) * np.sqrt(estimate.variance(z))
    low, high = (np.clip(estimate.value + side * half, 0.0, 1.0) for side in (-1.0, 1.0))
    return np.where(estimate.known, low, 0.0), np.where(estimate.known, high, 1.0)


def difference_interval(
    estimate: Estimate, *, confidence_level: float = 0.9
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Paired differences ``value_i - value_j`` with symmetric intervals, as square arrays.

    Labels that two systems share cancel in the difference, so it is known far better than the two intervals
    suggest; two systems with the same predictions differ by exactly 0. The allowance for few labels shrinks
    with the share of influence that the two do not have in common.
    """
    z = normal_quantile(confidence_level)
    value, own = np.clip(estimate.value, 0.0, 1.0), estimate.variance()
    squares, fourth = _apart(estimate)
    sums = own[:, None] + own[None, :]
    apart = np.where(sums > 0, np.minimum(squares / np.where(sums > 0, sums, 1.0), 1.0), 1.0)
    apart[apart < _ROUNDING] = 0.0
    floors = estimate.floor[:, None] + estimate.floor[None, :]
    variance = squares + z * z * floors * apart
    quantile = student_quantile(confidence_level, satterthwaite(variance, fourth))
    half = quantile * np.sqrt(np.where(apart > 0, variance, 0.0))
    difference = value[:, None] - value[None, :]
    difference[np.abs(difference) < _ROUNDING] = 0.0
    known = estimate.known[:, None] & estimate.known[None, :]
    low = np.where(known, np.maximum(difference - half, -1.0), -1.0)
    high = np.where(known, np.minimum(difference + half, 1.0), 1.0)
    np.fill_diagonal(low, 0.0)
    np.fill_diagonal(high, 0.0)
    return difference, low, high


def _apart(estimate: Estimate) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum the squares, and the fourth powers by their degrees, of the differences of every two systems' influences.

    System by system, as near copies would be lost in the rounding of matrix products.
    """
    squares, fourth = np.zeros((2, estimate.value.size, estimate.value.size))
    for row, own in enumerate(estimate.influence):
        square = (estimate.influence - own) ** 2
        squares[row] = square.sum(axis=1)
        fourth[row] = (square**2 / estimate.degrees).sum(axis=1)
    return squares, fourth


def shared_ranks(low: ArrayLike) -> NDArray[np.int64]:
    """Rank systems with honest ties: one plus the number of systems that are certainly better.

    Parameters
    ----------
    low
        ``low[i, j]`` is the lower end of the interval for system i minus system j.

    Examples
    --------
    The first is better than the last, the middle one is not told from either:

    >>> shared_ranks([[0.0, -0.1, 0.2], [-0.2, 0.0, -0.1], [-0.5, -0.4, 0.0]]).tolist()
    [1, 1, 2]
    """
    better = np.asarray(low, dtype=np.float64) > 0.0
    ranks: NDArray[np.int64] = 1 + better.sum(axis=0)
    return ranks
