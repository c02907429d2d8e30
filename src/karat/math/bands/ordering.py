"""From labelled scores to an order of labels without ties: all that a curve depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray


def descending_labels(
    labels: NDArray[np.bool_], scores: NDArray[np.float64], *, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], int]:
    """Labels from the best score to the worst, ties in random order, and how many positives were tied.

    Only ties between a positive and a negative can change a curve. Without any, two sorts of single classes and a
    merge do the work of one sort of pairs several times faster, and no random number is drawn.

    Examples
    --------
    >>> labels = np.array([True, False, True, False])
    >>> descending_labels(labels, np.array([0.9, 0.8, 0.7, 0.1]), rng=np.random.default_rng(0))
    (array([ True, False,  True, False]), 0)
    """
    positives = np.sort(scores[labels])[::-1]
    negatives = np.sort(scores[~labels])
    at_or_below = np.searchsorted(negatives, positives, side="right")
    n_tied = int(np.count_nonzero(at_or_below != np.searchsorted(negatives, positives, side="left")))
    if n_tied:
        order = np.lexsort((rng.permutation(scores.size), scores))[::-1]
        return labels[order], n_tied
    ordered = np.zeros(scores.size, dtype=np.bool_)
    ordered[np.arange(positives.size) + negatives.size - at_or_below] = True
    return ordered, 0


def tie_free_ranks(scores: NDArray[np.float64], *, lottery: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ranks from the worst (0) to the best score, ties settled by the lottery numbers.

    Examples
    --------
    >>> tie_free_ranks(np.array([0.5, 0.9, 0.5]), lottery=np.array([2, 0, 1]))
    array([1, 2, 0])
    """
    ranks = np.empty(scores.size, dtype=np.int64)
    ranks[np.lexsort((lottery, scores))] = np.arange(scores.size)
    return ranks


def normal_scores(n_items: int) -> NDArray[np.float64]:
    """Quantiles of the normal law at the ranks, best first: a scale on which no score piles up at an end.

    Examples
    --------
    >>> normal_scores(3).round(3) + 0.0
    array([ 0.967,  0.   , -0.967])
    """
    return -np.asarray(ndtri((np.arange(n_items) + 0.5) / n_items))


def ranks_at(levels: NDArray[np.float64], n_class: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Rank, from the top of its class, of the item at the generalised inverse ``F^-1(1 - level)``.

    ``F^-1(u)`` is the order statistic ``ceil(n u)`` from below, so the rank from above is ``floor(n level) + 1``. The
    small term keeps products such as 100 * 0.29 from falling below the whole number that they mean.
    """
    return np.minimum(np.floor(np.multiply(levels, n_class) + 1e-9).astype(np.int64) + 1, n_class)


def counts_above(
    ordered: NDArray[np.bool_], levels: NDArray[np.float64], *, anchor_is_positive: bool
) -> NDArray[np.int64]:
    """Items of the other class above the anchor class's item at each level (PR anchors on positives, ROC on negatives).

    Examples
    --------
    >>> counts_above(np.array([True, False, True, False]), np.array([0.25, 0.75]), anchor_is_positive=True)
    array([0, 1])
    """
    places = np.flatnonzero(ordered == anchor_is_positive)
    ranks = ranks_at(levels, places.size)
    return places[ranks - 1] - (ranks - 1)


def midpoint_levels(n_levels: int) -> NDArray[np.float64]:
    """Midpoints of ``n_levels`` equal cells of (0, 1), so that a mean over levels is an integral by the midpoint rule.

    Examples
    --------
    >>> midpoint_levels(4)
    array([0.125, 0.375, 0.625, 0.875])
    """
    return (np.arange(n_levels) + 0.5) / n_levels


def precision_curve(
    levels: NDArray[np.float64],
    negatives_above: NDArray[np.int64] | NDArray[np.float64],
    *,
    n_positives: NDArray[np.int64] | int,
) -> NDArray[np.float64]:
    """Precision at each recall level, ``n+ beta / (n+ beta + negatives above)``: eq. (3) of Clemencon and Vayatis."""
    expected_hits = np.multiply(levels, n_positives)
    return np.asarray(expected_hits / (expected_hits + negatives_above))
