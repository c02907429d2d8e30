"""Average precision and the area under the ROC curve: exact values, DeLong's variance, intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray


def average_precision(ordered: NDArray[np.bool_]) -> float:
    """Mean over the positives of the precision at their rank.

    Examples
    --------
    >>> round(average_precision(np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 0], dtype=bool)), 6)
    0.916667
    """
    places = np.flatnonzero(ordered)
    return float(np.mean(np.arange(1, places.size + 1) / (places + 1)))


def placements(labels: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Share of negatives below each positive, and of positives above each negative; ties count half."""
    positives, negatives = scores[labels], scores[~labels]
    return _share_below(positives, negatives), 1 - _share_below(negatives, positives)


def delong(labels: NDArray[np.bool_], *scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """ROC AUC of each score on the same items, and the covariance matrix of DeLong, DeLong and Clarke-Pearson (1988).

    Examples
    --------
    >>> labels = np.array([True, True, False, False])
    >>> area, covariance = delong(labels, np.array([4.0, 2.0, 3.0, 1.0]))
    >>> area, covariance
    (array([0.75]), array([[0.125]]))
    """
    pairs = [placements(labels, values) for values in scores]
    of_positives = np.array([pair[0] for pair in pairs])
    of_negatives = np.array([pair[1] for pair in pairs])
    return of_positives.mean(axis=1), _covariance_of_mean(of_positives) + _covariance_of_mean(of_negatives)


def logit_interval(estimate: float, deviation: float, *, confidence_level: float) -> tuple[float, float]:
    """Interval that is normal on the logit scale, for an estimate in (0, 1) and the deviation of its logit.

    Examples
    --------
    >>> low, high = logit_interval(0.5, 0.5, confidence_level=0.95)
    >>> round(low, 3), round(high, 3)
    (0.273, 0.727)
    """
    reach = float(ndtri((1 + confidence_level) / 2)) * deviation
    centre = float(logit(estimate))
    return float(expit(centre - reach)), float(expit(centre + reach))


def auc_interval(
    labels: NDArray[np.bool_],
    scores: NDArray[np.float64],
    *,
    replicates: NDArray[np.float64] | None,
    confidence_level: float,
) -> tuple[float, float, float]:
    """ROC AUC with an interval on the logit scale: DeLong's deviation, or the replicates' where that is larger.

    With few items of a class DeLong's deviation misses what the sample has not seen; replicates from a law with
    pseudo-items of the smaller class (`needs_replicates`) put it back.

    Parameters
    ----------
    labels, scores : the sample
    replicates : smoothed replicates of the area; None for DeLong alone
    confidence_level : of the interval

    Returns
    -------
    estimate, low, high
    """
    areas, covariance = delong(labels, scores)
    area = float(areas[0])
    n_pairs = int(labels.sum()) * int((~labels).sum())
    # The logit of an area of 0 or 1 is infinite: half a pair the other way keeps it finite.
    inside = min(max(area, 0.5 / n_pairs), 1 - 0.5 / n_pairs)
    deviation = math.sqrt(max(float(covariance[0, 0]), 0.0)) / (inside * (1 - inside))
    if replicates is not None:
        deviation = max(deviation, logit_deviation(replicates))
    low, high = logit_interval(inside, deviation, confidence_level=confidence_level)
    return area, min(low, area), max(high, area)


def needs_replicates(n_smaller: int) -> bool:
    """Whether the smaller class is too small for DeLong's deviation alone."""
    return n_smaller < 200


def average_precision_interval(
    estimate: float, replicates: NDArray[np.float64], *, n_items: int, confidence_level: float
) -> tuple[float, float]:
    """Interval for average precision: the outer of the replicates' percentiles and a logit-normal at the estimate.

    Percentiles alone sit too low where precision is nearly 1, because a kernel always mixes the classes a little; the
    logit-normal alone is too narrow for few positives. Either by itself undercovers somewhere.
    """
    # Half an item from 0 and 1: a perfect replicate must not send the deviation to infinity.
    edge = 0.5 / n_items
    inside = min(max(estimate, edge), 1 - edge)
    deviation = logit_deviation(replicates, edge=edge)
    ends = (
        percentile_interval(replicates, confidence_level=confidence_level),
        logit_interval(inside, deviation, confidence_level=confidence_level),
    )
    return min(estimate, *(low for low, _ in ends)), max(estimate, *(high for _, high in ends))


def logit_deviation(replicates: NDArray[np.float64], *, edge: float = 1e-4) -> float:
    """Return the standard deviation of the replicates' logits, kept ``edge`` away from 0 and 1."""
    return float(np.std(logit(np.clip(replicates, edge, 1 - edge)), ddof=1))


def percentile_interval(replicates: NDArray[np.float64], *, confidence_level: float) -> tuple[float, float]:
    """Equal-tailed percentiles of the replicates."""
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return float(low), float(high)


def _share_below(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    ordered, order = np.sort(others), np.argsort(values)
    ascending = values[order]  # several times faster to look up than values in any order
    twice = np.searchsorted(ordered, ascending, side="left") + np.searchsorted(ordered, ascending, side="right")
    shares = np.empty(len(values))
    shares[order] = twice / (2 * ordered.size)
    return shares


def _covariance_of_mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    n_values = rows.shape[1]
    if n_values < 2:
        return np.zeros((len(rows), len(rows)))
    return np.asarray(np.atleast_2d(np.cov(rows)) / n_values)
