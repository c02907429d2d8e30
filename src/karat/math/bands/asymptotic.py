"""Normal approximation at each level: the limit variances of the PR and the ROC curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.bands.smoothing import SmoothTails


def precision_variance(
    levels: NDArray[np.float64],
    tail: NDArray[np.float64],
    *,
    slope: NDArray[np.float64],
    positive_rate: NDArray[np.float64] | float,
) -> NDArray[np.float64]:
    """Limit variance of ``sqrt(n) (PRhat - PR)`` at each recall level.

    ``PR^4 / beta^2 * [(1-p) alpha^2 / p^3 + (1-p)^2 beta (1-beta) slope^2 / p^3 + (1-p) alpha (1-alpha) / p^2]``

    with ``slope = alpha'(beta)``, the ratio of the class densities at the threshold ``G^-1(1 - beta)``. The paper's
    eq. (9) prints the leading factor before the first term only and takes the densities at ``G(1 - beta)``.

    Parameters
    ----------
    levels : recall levels beta
    tail : false positive rates alpha(beta)
    slope : alpha'(beta)
    positive_rate : base rate p

    Examples
    --------
    A binormal with p = .3 and means one apart, at recall .2, .5 and .8:

    >>> from scipy.special import ndtr, ndtri
    >>> beta = np.array([0.2, 0.5, 0.8])
    >>> threshold = 1 + ndtri(1 - beta)
    >>> slope = np.exp(-(threshold**2) / 2 + (threshold - 1) ** 2 / 2)
    >>> precision_variance(beta, ndtr(-threshold), slope=slope, positive_rate=0.3).round(2)
    array([3.24, 1.46, 0.74])
    """
    rest = 1 - positive_rate
    precision = positive_rate * levels / (positive_rate * levels + rest * tail)
    from_rate = rest * tail**2 / positive_rate**3
    from_positives = rest**2 * levels * (1 - levels) * slope**2 / positive_rate**3
    from_negatives = rest * tail * (1 - tail) / positive_rate**2
    return np.asarray(precision**4 / levels**2 * (from_rate + from_positives + from_negatives))


def sensitivity_variance(
    levels: NDArray[np.float64],
    tail: NDArray[np.float64],
    *,
    slope: NDArray[np.float64],
    positive_rate: NDArray[np.float64] | float,
) -> NDArray[np.float64]:
    """Limit variance of ``sqrt(n) (ROChat - ROC)`` at each false positive rate (Hsieh and Turnbull 1996)."""
    from_positives = tail * (1 - tail) / positive_rate
    from_negatives = slope**2 * levels * (1 - levels) / (1 - positive_rate)
    return np.asarray(from_positives + from_negatives)


def tail_slope(tails: SmoothTails, levels: NDArray[np.float64], *, width: float) -> NDArray[np.float64]:
    """Slope of the smoothed map at each level by central differences over ``width`` to either side."""
    ends = np.clip(levels - width, 0.0, 1.0), np.clip(levels + width, 0.0, 1.0)
    return np.asarray((tails(ends[1]) - tails(ends[0])) / (ends[1] - ends[0]))


def sample_slope(tail: NDArray[np.float64], levels: NDArray[np.float64], *, width: float) -> NDArray[np.float64]:
    """Slope of empirical tails (any number of rows) over evenly spaced levels, by differences over about ``width``."""
    reach = max(1, round(width / float(levels[1] - levels[0])))
    index = np.arange(levels.size)
    ends = np.maximum(index - reach, 0), np.minimum(index + reach, levels.size - 1)
    return np.asarray((tail[..., ends[1]] - tail[..., ends[0]]) / (levels[ends[1]] - levels[ends[0]]))
