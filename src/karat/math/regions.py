"""Bands for PR and ROC curves from bounds on the yield: every point of every possible curve lies inside.

A list of labels inside the bounds has some total T and, at recall beta, some yield y = beta T. The lower bound says at
which rank y is reached at the latest, the upper one at which it is reached at the earliest; y/rank is the precision.
"""

from __future__ import annotations

import numpy as np

from karat.math.path import Floats, Ranks


def precision_at_recall(ranks: Ranks, low: Floats, high: Floats, *, recall: Floats) -> tuple[Floats, Floats]:
    """Return the least and the most precision that any curve inside consistent bounds can have at each recall.

    Between knots y / latest(y) and y / earliest(y) grow with y, so only knots and the ends of the range of y matter.

    Examples
    --------
    >>> knots, yields = np.array([0, 1, 2, 3, 4]), np.array([0.0, 1, 1, 2, 2])
    >>> low, high = precision_at_recall(knots, yields, yields, recall=np.array([0.5, 1.0]))
    >>> low.tolist(), high.tolist()  # one right item among the first one or two; two among the first three or four
    ([0.5, 0.5], [1.0, 0.666...])
    """
    total_low, total_high = max(float(low[-1]), 1.0), float(high[-1])
    if total_high < 1:
        return np.zeros_like(recall), np.ones_like(recall)
    first = np.maximum(np.floor(recall * total_low + 1e-9), 1)
    last = np.maximum(np.ceil(recall * total_high - 1e-9), 1)
    knots_low, knots_high = np.unique(low[low >= 1]), np.unique(high[high >= 1])
    worst = knots_low / _latest(ranks, low, knots_low)
    best = knots_high / _earliest(ranks, high, knots_high)
    bottom = first / _latest(ranks, low, first)
    top = last / _earliest(ranks, high, np.minimum(last, total_high))
    for place, (a, b) in enumerate(zip(first, last, strict=True)):
        inside = slice(*np.searchsorted(knots_low, [a, b + 1]))
        bottom[place] = min(bottom[place], worst[inside].min(initial=1.0))
        inside = slice(*np.searchsorted(knots_high, [a, b + 1]))
        top[place] = max(top[place], best[inside].max(initial=0.0))
    return bottom, np.minimum(top, 1.0)


def precision_at_yield(ranks: Ranks, low: Floats, high: Floats, *, hits: Floats) -> tuple[Floats, Floats]:
    """Return the least and the most precision with which so many hits (whole numbers from 1 on) can be found.

    Numbers beyond the bounds' last are read as the last.
    """
    at_most = np.minimum(hits, high[-1])
    return hits / np.maximum(_latest(ranks, low, hits), 1), np.minimum(hits / _earliest(ranks, high, at_most), 1.0)


def recall_at_false_positive_rate(ranks: Ranks, low: Floats, high: Floats, *, rate: Floats) -> tuple[Floats, Floats]:
    """Return the least and the most true positive rate that any curve inside the bounds can have at each rate.

    With z = rate (N - T) wrong items kept, more positives in the list mean fewer z and a smaller share: the least is at
    the largest total, the most at the smallest.
    """
    n_items = float(ranks[-1])
    total_low, total_high = max(float(low[-1]), 1.0), float(high[-1])
    if total_high < 1 or float(low[-1]) >= n_items:
        return np.zeros_like(rate), np.ones_like(rate)
    fewest = np.floor(rate * (n_items - total_high) + 1e-9)
    most = np.ceil(rate * (n_items - total_low) - 1e-9)
    # the first rank with `fewest` misses on the lower path, and the last rank with `most` misses on the upper one
    least_hits = _earliest(ranks, ranks - low, fewest) - fewest
    most_hits = _latest(ranks, ranks - high, most) - most
    return np.clip(least_hits / total_high, 0, 1), np.clip(most_hits / total_low, 0, 1)


def _earliest(ranks: Ranks, count: Floats, wanted: Floats) -> Floats:
    """Return the first rank at which a count that grows as early as it may (from knot to knot) reaches a number."""
    right = np.clip(np.searchsorted(count, wanted, side="left"), 1, len(count) - 1)
    reached = ranks[right - 1] + (wanted - count[right - 1])
    return np.where(wanted <= 0, 0.0, np.minimum(reached, ranks[right]))


def _latest(ranks: Ranks, count: Floats, wanted: Floats) -> Floats:
    """Return the last rank at which a count that grows as late as it may is still at most a number."""
    right = np.searchsorted(count, wanted, side="right")
    inside = np.minimum(right, len(count) - 1)
    return np.where(right >= len(count), float(ranks[-1]), ranks[inside] - (count[inside] - wanted))
