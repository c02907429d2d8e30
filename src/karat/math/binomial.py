"""Exact limits for a probability from a number of successes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special  # not stats, which takes a second to import

from karat import _check

FloatArray = NDArray[np.float64]


def clopper_pearson(
    n_right: ArrayLike, n_total: ArrayLike, *, confidence_level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the Clopper-Pearson interval of a probability, [0, 1] where nothing was tried.

    Each end is wrong with probability at most half of what the confidence level leaves, whatever the probability is.

    Parameters
    ----------
    n_right, n_total
        Successes and trials, numbers or arrays of the same shape.
    confidence_level
        Probability that each interval, taken alone, holds its probability.

    Examples
    --------
    >>> low, high = clopper_pearson([97, 0], [100, 0])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.915, 0.0], [0.994, 1.0])
    """
    tail = (1.0 - _check.fraction("confidence_level", confidence_level)) / 2.0
    right, total = np.broadcast_arrays(np.asarray(n_right, np.float64), np.asarray(n_total, np.float64))
    bad = ~((right >= 0) & (right <= total) & np.isfinite(total))
    if np.any(bad):
        found = (right[bad][0].item(), total[bad][0].item())
        raise _check.refuse("n_right", "between 0 and 'n_total'", f"{found[0]:g} of {found[1]:g}")
    # The clipped shapes only keep scipy from computing what the ends 0 and 1 replace.
    low = np.where(right > 0, special.betaincinv(np.maximum(right, 0.5), total - right + 1.0, tail), 0.0)
    high = np.where(right < total, special.betainccinv(right + 1.0, np.maximum(total - right, 0.5), tail), 1.0)
    return low, high
