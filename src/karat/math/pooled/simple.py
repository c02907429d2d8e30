"""The simple estimators: each system from its own draws alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat import _check

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean of labels, its variance, the number of labels, and how they were drawn."""

    value: float
    variance: float
    n_labels: int
    replacement: bool


def simple_precision(labels: ArrayLike, *, n_items: int | None = None) -> Mean:
    """Precision of one system from labels drawn by its own law.

    Draws are taken to be with replacement unless ``n_items`` is given: then they are distinct items drawn
    uniformly from that many, and the variance carries the factor ``1 - n/N``.

    Examples
    --------
    >>> simple_precision([1, 1, 0, 1]).value
    0.75
    >>> simple_precision([1, 1, 0, 1], n_items=4).variance
    0.0
    """
    drawn = _check.binary_labels("labels", labels).astype(np.float64)
    if drawn.size < 2:
        raise _check.refuse("labels", "at least two labels", drawn.size)
    variance = float(drawn.var(ddof=1)) / drawn.size
    if n_items is not None:
        variance *= 1.0 - drawn.size / _check.whole("n_items", n_items, least=drawn.size)
    return Mean(value=float(drawn.mean()), variance=variance, n_labels=drawn.size, replacement=n_items is None)


def simple_recall(found: ArrayLike) -> Mean:
    """Recall of one system: the share of exhaustively found true relations that it predicts.

    Examples
    --------
    >>> simple_recall([1, 0, 1, 0]).value
    0.5
    """
    return simple_precision(found)


def simple_f1(precision: Mean, recall: Mean) -> tuple[float, float]:
    """F1 and its variance by the delta method; the two samples are independent.

    Examples
    --------
    >>> simple_f1(simple_precision([1, 0]), simple_recall([1, 0]))
    (0.5, 0.125)
    """
    p, r = precision.value, recall.value
    if p + r <= 0.0:
        return 0.0, 0.0
    by_precision, by_recall = 2.0 * r**2 / (p + r) ** 2, 2.0 * p**2 / (p + r) ** 2
    return 2.0 * p * r / (p + r), by_precision**2 * precision.variance + by_recall**2 * recall.variance
