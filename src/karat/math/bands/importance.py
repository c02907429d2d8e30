"""Importance sampling of the base rate: weights, and how many replicates they are worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def importance_weights(
    n_positives: NDArray[np.int64], *, n_items: int, positive_rate: float, resampling_rate: float
) -> NDArray[np.float64]:
    """Likelihood ratio of each replicate's number of positives, scaled to sum to 1.

    The factor is ``(p / q)^n+ ((1 - p) / (1 - q))^(n - n+)`` with p the sample's rate of positives and q the rate that
    replicates were drawn with. It is formed from logarithms, because it leaves the range of a double at once.

    Examples
    --------
    >>> importance_weights(np.array([1, 2]), n_items=4, positive_rate=0.25, resampling_rate=0.25)
    array([0.5, 0.5])
    """
    log_weight = n_positives * math.log(positive_rate / resampling_rate)
    log_weight = log_weight + (n_items - n_positives) * math.log((1 - positive_rate) / (1 - resampling_rate))
    weights = np.exp(log_weight - log_weight.max())
    return np.asarray(weights / weights.sum())


def effective_sample_size(*, n_items: int, positive_rate: float, resampling_rate: float, n_replicates: int) -> float:
    """Replicates of equal weight that the weighted ones are worth: ``B / E[w^2]``, known before any is drawn.

    ``E[w^2] = (p^2 / q + (1 - p)^2 / (1 - q))^n``, by the binomial theorem.

    Examples
    --------
    >>> effective_sample_size(n_items=1000, positive_rate=0.1, resampling_rate=0.1, n_replicates=2000)
    2000.0
    >>> effective_sample_size(n_items=1000, positive_rate=0.1, resampling_rate=0.5, n_replicates=2000) < 1e-200
    True
    """
    mean_square = positive_rate**2 / resampling_rate + (1 - positive_rate) ** 2 / (1 - resampling_rate)
    return n_replicates * math.exp(-min(n_items * math.log(mean_square), 700.0))


def gentle_rate(*, n_items: int, positive_rate: float) -> float:
    """Rate raised by half a standard deviation of the sample's rate: more positives, nearly no loss of replicates.

    Examples
    --------
    >>> round(gentle_rate(n_items=1000, positive_rate=0.025), 6)
    0.0275
    """
    return min(0.5, positive_rate * (1 + 0.5 / math.sqrt(n_items * positive_rate)))
