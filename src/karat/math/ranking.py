"""Exact curves and metrics of a ranking whose every label is known (Zhu 2004; PAULA section 2).

Two conventions for tied scores: "threshold" keeps tied items together, as a cut by score does (scikit-learn's numbers);
"random" is the expectation over all orders of tied items.
"""

from __future__ import annotations

import itertools
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from karat.errors import InvalidInput
from karat.math.path import Floats, Ranks, thin

Ties = Literal["threshold", "random"]


class Ranking(NamedTuple):
    """One row a distinct score, best first, after a leading row of zeros."""

    scores: Floats
    """The distinct scores; the leading row has infinity."""
    ranks: Ranks
    """How many items score at least this."""
    hits: Ranks
    """How many of them are positive."""

    @property
    def n_items(self) -> int:
        return int(self.ranks[-1])

    @property
    def n_positives(self) -> int:
        return int(self.hits[-1])

    @property
    def base_rate(self) -> float:
        return self.n_positives / self.n_items


def rank_items(labels: NDArray[np.int8], scores: Floats) -> Ranking:
    """Sort by score and count positives at each distinct score.

    Examples
    --------
    >>> rank_items(np.array([1, 0, 1], dtype=np.int8), np.array([0.9, 0.5, 0.5])).hits
    array([0, 1, 2])
    """
    order = np.argsort(-scores)
    ordered = scores[order]
    ends = np.r_[np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1]
    hits = np.cumsum(labels[order], dtype=np.int64)[ends]
    return Ranking(np.r_[np.inf, ordered[ends]], np.r_[0, ends + 1].astype(np.int64), np.r_[0, hits].astype(np.int64))


def require_positives(ranking: Ranking, metric: str) -> None:
    if ranking.n_positives == 0:
        raise InvalidInput(f"{metric} is undefined without a positive label; all {ranking.n_items:,} labels are 0.")


def require_negatives(ranking: Ranking, metric: str) -> None:
    if ranking.n_positives == ranking.n_items:
        raise InvalidInput(f"{metric} is undefined without a negative label; all {ranking.n_items:,} labels are 1.")


def average_precision(ranking: Ranking, *, ties: Ties = "threshold") -> float:
    """Return AP, the sum over ranks of precision times the gain in recall.

    Examples
    --------
    >>> labels = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 0], dtype=np.int8)  # Zhu's algorithm A
    >>> round(average_precision(rank_items(labels, -np.arange(10.0))), 6)
    0.916667
    """
    require_positives(ranking, "average precision")
    before, positives = ranking.hits[:-1], np.diff(ranking.hits)
    if ties == "threshold":
        return float(np.sum(positives * (ranking.hits[1:] / ranking.ranks[1:])) / ranking.n_positives)
    # In a tied group after r0 items, of n items with t hits, the j-th is a hit with probability t/n and then has
    # (j-1)(t-1)/(n-1) hits before it in the group on average: sum (t/n) (before + 1 + (j-1) slope) / (r0 + j).
    start, size = ranking.ranks[:-1].astype(np.float64), np.diff(ranking.ranks)
    slope = (positives - 1) / np.maximum(size - 1, 1)
    harmonic = digamma(start + size + 1) - digamma(start + 1)
    inside = np.where(
        size == 1, (before + 1) / (start + 1), slope * size + (before + 1 - slope - slope * start) * harmonic
    )
    return float(np.sum(positives / size * inside) / ranking.n_positives)


def roc_auc(ranking: Ranking) -> float:
    """Return the chance that a positive outranks a negative, ties counting half (the same in both conventions)."""
    require_positives(ranking, "ROC AUC")
    require_negatives(ranking, "ROC AUC")
    misses = np.diff(ranking.ranks) - np.diff(ranking.hits)
    middle = (ranking.hits[:-1] + ranking.hits[1:]) / 2
    n_negatives = ranking.n_items - ranking.n_positives
    return float(np.sum(misses * middle) / n_negatives / ranking.n_positives)


def hits_at(ranking: Ranking, ranks: Ranks, *, ties: Ties = "threshold") -> tuple[Floats, Floats]:
    """Return (items kept, positives among them) for cuts at given ranks.

    "threshold" widens a cut inside a tied group to the whole group, as a cut by score would; "random" keeps exactly
    that many items and gives the expected positives.
    """
    group = np.searchsorted(ranking.ranks, ranks)
    if ties == "threshold":
        return ranking.ranks[group].astype(np.float64), ranking.hits[group].astype(np.float64)
    return ranks.astype(np.float64), np.interp(ranks, ranking.ranks, ranking.hits)


def best_f1(ranking: Ranking) -> tuple[float, float, int]:
    """Return the best F1 over all thresholds, its threshold, and how many items it keeps."""
    require_positives(ranking, "F1")
    f1 = 2 * ranking.hits[1:] / (ranking.ranks[1:] + ranking.n_positives)
    best = int(np.argmax(f1)) + 1
    return float(f1[best - 1]), float(ranking.scores[best]), int(ranking.ranks[best])


def discounted_gain(ranking: Ranking, *, top: int | None = None) -> float:
    """Return DCG with gains 0 and 1, tied items sharing their places evenly."""
    last = ranking.n_items if top is None else min(top, ranking.n_items)
    discount = np.r_[0.0, np.cumsum(1 / np.log2(np.arange(2, last + 2)))]
    rate = np.diff(ranking.hits) / np.diff(ranking.ranks)
    places = discount[np.minimum(ranking.ranks, last)]
    return float(np.sum(rate * np.diff(places)))


def normalised_discounted_gain(ranking: Ranking, *, top: int | None = None) -> float:
    """Return DCG over the DCG of a perfect order."""
    require_positives(ranking, "nDCG")
    last = ranking.n_items if top is None else min(top, ranking.n_items)
    return discounted_gain(ranking, top=top) / discount_until(min(ranking.n_positives, last))


def discount_until(rank: int) -> float:
    """Return the DCG of so many positives at the top: the sum of 1 / log2(i + 1)."""
    most = 2**22  # at a time
    pieces = [np.arange(start, min(start + most, rank)) for start in range(0, rank, most)]
    return float(sum(np.sum(1 / np.log2(piece + 2.0)) for piece in pieces))


def thin_curve(ranks: Ranks, hits: Ranks, *, most: int) -> NDArray[np.intp]:
    """Return at most about ``most`` points of a curve, those of extreme precision in each stretch among them.

    Examples
    --------
    >>> ranks = np.arange(1, 10_001)
    >>> hits = np.minimum(ranks, 5_000)
    >>> hits[6_999] -= 4_000  # one point far below its neighbours
    >>> 6_999 in thin_curve(ranks, hits, most=100)
    True
    """
    if len(ranks) <= most:
        return np.arange(len(ranks))
    ends = thin(ranks, most=max(most // 3, 2))
    precision = hits / np.maximum(ranks, 1)
    kept = [ends]
    for first, last in itertools.pairwise(ends.tolist()):
        stretch = precision[first : last + 1]
        kept.append(first + np.array([np.argmin(stretch), np.argmax(stretch)]))
    return np.unique(np.concatenate(kept))


def concave_until(ranking: Ranking, *, n_blocks: int = 50) -> int:
    """Return the rank until which the recall curve, measured in blocks, is concave.

    Zhu's Lemma 3: where recall is concave on all of [0, t], precision does not rise on [0, t]. The hit rate of each
    block of N / n_blocks items is compared with the block before; the first rise ends the concave part.
    """
    edges = np.unique(np.linspace(0, ranking.n_items, n_blocks + 1).astype(np.int64))
    rates = np.diff(np.interp(edges, ranking.ranks, ranking.hits)) / np.diff(edges)
    rises = np.flatnonzero(np.diff(rates) > 1e-12)
    return int(edges[rises[0] + 1]) if rises.size else ranking.n_items


def precision_falls_until(ranking: Ranking, *, n_blocks: int = 50) -> int:
    """Return the rank until which precision, measured at the ends of blocks, does not rise."""
    edges = np.unique(np.linspace(0, ranking.n_items, n_blocks + 1).astype(np.int64))[1:]
    precision = np.interp(edges, ranking.ranks, ranking.hits) / edges
    rises = np.flatnonzero(np.diff(precision) > 1e-12)
    return int(edges[rises[0]]) if rises.size else ranking.n_items
