"""Metrics under the names that scikit-learn uses: exact from full labels, as intervals from a labelled sample.

Arguments come in scikit-learn's order, ``y_true`` and ``y_score``. Numbers agree with scikit-learn's to 1e-12; with
``ties="random"`` tied scores count in the mean over their orders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from karat import _check
from karat.bands.single import from_estimator, pr_band, roc_band
from karat.exact_curve import ExactCurve, exact

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from karat.bands.result import Band, Interval
    from karat.math.ranking import Ties

__all__ = [
    "average_precision_interval",
    "average_precision_score",
    "from_estimator",
    "from_predictions",
    "ndcg_score",
    "precision_at_k",
    "precision_recall_curve",
    "recall_at_k",
    "roc_auc_interval",
    "roc_auc_score",
    "roc_curve",
]


class Points(NamedTuple):
    """A curve as scikit-learn returns it: two coordinates and the thresholds."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    thresholds: NDArray[np.float64]


def average_precision_score(y_true: ArrayLike, y_score: ArrayLike, *, ties: Ties = "threshold") -> float:
    """Return the average precision.

    Examples
    --------
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    return _curve(y_true, y_score, ties=ties).average_precision()


def roc_auc_score(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Return the area under the ROC curve.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return _curve(y_true, y_score).roc_auc()


def ndcg_score(y_true: ArrayLike, y_score: ArrayLike, *, k: int | None = None) -> float:
    """Return nDCG of binary labels, of the first ``k`` items if given."""
    return _curve(y_true, y_score).ndcg(k)


def precision_at_k(y_true: ArrayLike, y_score: ArrayLike, *, k: int, ties: Ties = "random") -> float:
    """Return the precision of the first ``k`` items.

    Examples
    --------
    >>> precision_at_k([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], k=2)
    0.5
    """
    return _at(y_true, y_score, "precision", k=k, ties=ties)


def recall_at_k(y_true: ArrayLike, y_score: ArrayLike, *, k: int, ties: Ties = "random") -> float:
    """Return the recall of the first ``k`` items."""
    return _at(y_true, y_score, "recall", k=k, ties=ties)


def precision_recall_curve(y_true: ArrayLike, y_score: ArrayLike) -> Points:
    """Return precision, recall and thresholds, from the lowest threshold to the highest and then (1, 0).

    Examples
    --------
    >>> precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).first.round(3).tolist()
    [0.5, 0.667, 0.5, 1.0, 1.0]
    """
    points = _curve(y_true, y_score).points()
    precision, recall = (np.r_[points[name][::-1], end] for name, end in (("precision", 1.0), ("recall", 0.0)))
    return Points(precision, recall, points["threshold"][::-1])


def roc_curve(y_true: ArrayLike, y_score: ArrayLike) -> Points:
    """Return false and true positive rates and thresholds, from (0, 0) on, at every distinct score."""
    points = _curve(y_true, y_score).points()
    false, true = (np.r_[0.0, points[name]] for name in ("false_positive_rate", "recall"))
    return Points(false, true, np.r_[np.inf, points["threshold"]])


def average_precision_interval(y_true: ArrayLike, y_score: ArrayLike, **options: Any) -> Interval:
    """Return the average precision of the population that a labelled sample was drawn from; options of `pr_band`."""
    return pr_band(y_true, y_score, **options).scalars["average_precision"]


def roc_auc_interval(y_true: ArrayLike, y_score: ArrayLike, **options: Any) -> Interval:
    """Return the ROC AUC of the population that a labelled sample was drawn from; options of `roc_band`."""
    return roc_band(y_true, y_score, **options).scalars["roc_auc"]


def from_predictions(y_true: ArrayLike, y_score: ArrayLike, *, curve: str = "pr", **options: Any) -> Band:
    """Return the band of a PR or ROC curve; `Band.plot` draws it."""
    _check.one_of("curve", curve, ("pr", "roc"))
    return (pr_band if curve == "pr" else roc_band)(y_true, y_score, **options)


def _curve(y_true: ArrayLike, y_score: ArrayLike, *, ties: Ties = "threshold") -> ExactCurve:
    return exact(y_true, y_score, ties=ties)


def _at(y_true: ArrayLike, y_score: ArrayLike, name: str, *, k: int, ties: Ties) -> float:
    value = _curve(y_true, y_score, ties=ties).at(k)[name]
    if value is None:
        raise _check.refuse("y_true", f"such that {name} is defined: with a positive", "none")
    return value
