"""From bounds on the labels as people give them to bounds on the truth, when it is known how often labels are wrong.

Think of every item of the list as carrying the label that people would give it. A curve bounds the count O(r) of
positive ones among the first r. That label is itself a draw: right with a chance in the known intervals. So O(r) lies
near its expectation M(r), at all r at once (`drift`), and M(r) bounds the true count (`true_yield_bounds`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.certify.noise import true_yield_bounds

if TYPE_CHECKING:
    from karat.math.certify.noise import LabelErrors
    from karat.math.path import Floats, Ranks

_RATIO = 1.2  # of the last to the first rank of an epoch


def true_bounds(ranks: Ranks, low: Floats, high: Floats, *, errors: LabelErrors, delta: float) -> tuple[Floats, Floats]:
    """Return bounds on the true yield from those on the yield of the labels as given.

    Parameters
    ----------
    ranks, low, high
        Bounds on the number of items labelled positive among the first r.
    errors
        How often labels are right, as intervals.
    delta
        The probability with which the labels' own scatter may leave these bounds, beyond that with which ``low`` and
        ``high`` or ``errors`` may be wrong.

    Examples
    --------
    >>> from karat.math.certify.noise import LabelErrors
    >>> errors = LabelErrors(sensitivity=(0.95, 0.97), specificity=(0.95, 0.97))
    >>> low, high = true_bounds(np.array([100_000]), np.array([70e3]), np.array([72e3]), errors=errors, delta=0.005)
    >>> int(low[0]), int(high[0])
    (70310, 75341)
    """
    slack = drift(ranks, variance=_largest_variance(errors), delta=delta)
    return true_yield_bounds(ranks, np.maximum(low - slack, 0.0), np.minimum(high + slack, ranks), errors=errors)


def drift(ranks: Ranks, *, variance: float, delta: float) -> Floats:
    """Return how far a sum of independent 0s and 1s may be off its expectation, at all ranks at once.

    In each stretch of ranks up to R (they grow by a fixed factor) Bernstein's inequality for the largest of the partial
    sums: exceeding x has a chance of at most 2 exp(-x^2 / (2 (v R + x / 3))). The stretches share ``delta`` equally.

    Parameters
    ----------
    variance
        The most that one of them has.

    Examples
    --------
    >>> drift(np.array([1000, 100_000]), variance=0.05, delta=0.005).round().tolist()
    [36.0, 322.0]
    """
    _check.fraction("delta", delta)
    _check.number("variance", variance, least=0.0, most=0.25)
    last = int(ranks.max(initial=1))
    n_epochs = math.ceil(math.log(last) / math.log(_RATIO)) + 1
    epoch = np.ceil(np.log(np.maximum(ranks, 1)) / math.log(_RATIO) - 1e-9)
    length = np.minimum(_RATIO**epoch, last)
    share = math.log(2.0 * n_epochs / delta)
    most = share / 3.0 + np.sqrt((share / 3.0) ** 2 + 2.0 * variance * length * share)
    return np.asarray(np.minimum(most, ranks), np.float64)


def _largest_variance(errors: LabelErrors) -> float:
    """Return the most that p (1 - p) can be for the chances in the intervals."""
    nearest = [min(max(0.5, least), most) for least, most in (errors.sensitivity, errors.specificity)]
    return max(chance * (1.0 - chance) for chance in nearest)
