"""What a band says about single numbers: precision at a recall, recall at a precision, best F1, F1 at a threshold.

A band that holds for the whole curve answers every such question at once, for floors chosen after looking at it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.math.binomial import clopper_pearson

if TYPE_CHECKING:
    from numpy.typing import NDArray


def precision_at_recall(levels: NDArray[np.float64], precision: NDArray[np.float64], *, floor: float) -> float:
    """Highest precision among levels with recall of at least ``floor``; 0 if there is none.

    Examples
    --------
    >>> precision_at_recall(np.array([0.2, 0.5, 0.8]), np.array([0.9, 0.6, 0.7]), floor=0.5)
    0.7
    """
    inside = levels >= floor - 1e-12
    return float(precision[inside].max()) if inside.any() else 0.0


def recall_at_precision(levels: NDArray[np.float64], precision: NDArray[np.float64], *, floor: float) -> float:
    """Highest recall whose precision is at least ``floor``; 0 if there is none.

    Examples
    --------
    >>> recall_at_precision(np.array([0.2, 0.5, 0.8]), np.array([0.9, 0.6, 0.7]), floor=0.65)
    0.8
    """
    reached = precision >= floor - 1e-12
    return float(levels[reached].max()) if reached.any() else 0.0


def best_f1(levels: NDArray[np.float64], precision: NDArray[np.float64]) -> float:
    """Largest harmonic mean of precision and recall over the levels."""
    return float(np.max(2 * precision * levels / (precision + levels)))


def best_f1_interval(
    estimate: float, replicates: NDArray[np.float64], *, best_of_law: float, confidence_level: float
) -> tuple[float, float]:
    """Interval for the best F1: percentiles of the replicates' best, the lower end moved down by their bias.

    The largest of many noisy values exceeds the largest of their means; by how much is seen in the replicates, whose
    law has a known best.
    """
    tail = (1 - confidence_level) / 2
    low, high = (float(end) for end in np.quantile(replicates, [tail, 1 - tail]))
    optimism = max(float(np.mean(replicates)) - best_of_law, 0.0)
    return max(min(low - optimism, estimate), 0.0), max(high, estimate)


def ceiling_beyond(high: float, *, last_level: float, level: float = 1.0) -> float:
    """Upper bound for the precision at ``level`` from that at a smaller recall ``last_level``.

    The odds of precision are ``p beta / ((1 - p) alpha(beta))`` and alpha never falls, so the odds at a larger recall
    are at most those at the smaller one times the ratio of the recalls.

    Examples
    --------
    >>> ceiling_beyond(0.5, last_level=0.5)
    0.6666666666666666
    """
    ratio = level / last_level
    return high * ratio / (high * ratio + 1 - high)


def f1_interval(
    *, n_true_positives: int, n_false_positives: int, n_false_negatives: int, confidence_level: float
) -> tuple[float, float, float]:
    """F1 at a threshold fixed beforehand, with an exact interval.

    Given how many items are predicted or truly positive, the number that are both is binomial with probability
    ``J = TP / (TP + FP + FN)`` of the population, and ``F1 = 2 J / (1 + J)`` rises with J: the ends of Clopper and
    Pearson's interval for J give those for F1.

    Examples
    --------
    >>> estimate, low, high = f1_interval(
    ...     n_true_positives=40, n_false_positives=10, n_false_negatives=10, confidence_level=0.95)
    >>> round(estimate, 3), round(low, 3), round(high, 3)
    (0.8, 0.695, 0.878)
    """
    union = n_true_positives + n_false_positives + n_false_negatives
    if union == 0:
        return 0.0, 0.0, 1.0
    low, high = map(float, clopper_pearson(n_true_positives, union, confidence_level=confidence_level))
    share = n_true_positives / union
    return 2 * share / (1 + share), 2 * low / (1 + low), 2 * high / (1 + high)
