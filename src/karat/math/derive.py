"""From bounds on the yield to bounds on everything at a rank, and to certain cut-offs.

Arguments: ``low <= Y(r) <= high`` at a rank, ``total_low <= Y(N) <= total_high``, all made consistent
(`karat.math.path.make_consistent`). Each range is exact: its ends are reached by some list of labels inside the bounds.
Lists for which a metric is undefined (0/0) are left out; where that leaves none, the answer is [0, 1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat.math.path import FUZZ, Floats, Ranks, bounds_at


class Range(NamedTuple):
    low: Floats
    high: Floats


class AtRank(NamedTuple):
    """What is known at some ranks of a list: arrays of one length, and the list's size."""

    rank: Ranks
    low: Floats
    high: Floats
    total_low: float
    total_high: float
    n_items: int

    @property
    def total_most(self) -> Floats:
        """The most positives the list can have if Y(r) is at its lower bound."""
        return np.minimum(self.total_high, self.low + self.n_items - self.rank)

    @property
    def total_least(self) -> Floats:
        """The fewest positives the list can have if Y(r) is at its upper bound."""
        return np.maximum(self.total_low, self.high)

    def negatives(self) -> AtRank:
        """Return the same knowledge about the items labelled 0."""
        return AtRank(
            self.rank,
            self.rank - self.high,
            self.rank - self.low,
            self.n_items - self.total_high,
            self.n_items - self.total_low,
            self.n_items,
        )


def precision(known: AtRank) -> Range:
    return Range(known.low / known.rank, known.high / known.rank)


def recall(known: AtRank, *, positives: tuple[float, float] | None = None) -> Range:
    """Return recall inside the list, or among a known or bounded number of positives in the whole universe."""
    most, least = _universe(known, positives)
    none_found = np.where(known.high > 0, 1.0, 0.0)  # Y = 0 is undefined here, so the least defined recall is 1/1
    none_possible = np.where(most > 0, 0.0, 1.0)
    return Range(_divide(known.low, most, none_found), _divide(known.high, least, none_possible))


def false_positive_rate(known: AtRank) -> Range:
    return recall(known.negatives())


def specificity(known: AtRank) -> Range:
    rate = false_positive_rate(known)
    return Range(1 - rate.high, 1 - rate.low)


def f_beta(known: AtRank, *, beta: float = 1.0, positives: tuple[float, float] | None = None) -> Range:
    """Return F-beta = (1 + beta^2) Y / (r + beta^2 U), which grows with Y whatever the total does."""
    most, least = _universe(known, positives)
    weight = beta**2
    return Range(
        (1 + weight) * known.low / (known.rank + weight * most),
        (1 + weight) * known.high / (known.rank + weight * least),
    )


def accuracy(known: AtRank) -> Range:
    """Return the share of items on the right side of the cut."""
    rest = known.n_items - known.rank
    return Range(
        (rest + 2 * known.low - known.total_most) / known.n_items,
        (rest + 2 * known.high - known.total_least) / known.n_items,
    )


def lift(known: AtRank) -> Range:
    """Return precision at the rank over the base rate."""
    scale = known.n_items / known.rank
    inside = recall(known)
    return Range(inside.low * scale, inside.high * scale)


def _universe(known: AtRank, positives: tuple[float, float] | None) -> tuple[Floats, Floats]:
    if positives is None:
        return known.total_most, known.total_least
    return np.full_like(known.low, positives[1]), np.maximum(known.total_least, positives[0])


def _divide(part: Floats, whole: Floats, if_undefined: Floats) -> Floats:
    safe = np.where(whole > 0, whole, 1)
    return np.where(whole > 0, part / safe, if_undefined)


def largest_cutoff(ranks: Ranks, low: Floats, *, target: float) -> int:
    """Return the largest rank whose precision is certainly at least ``target``; 0 if there is none.

    Between knots j < k the lower bound stays at low_j until b = k - (low_k - low_j), then climbs to low_k.

    Examples
    --------
    >>> largest_cutoff(np.array([0, 10, 20]), np.array([0.0, 9.0, 12.0]), target=0.75)
    12
    """
    need = target - FUZZ
    start, end = ranks[:-1], ranks[1:]
    flat_until = end - (low[1:] - low[:-1])
    at_end = low[1:] >= need * end
    on_flat = np.minimum(np.floor(low[:-1] / need), flat_until)
    best = np.where(at_end, end, np.where(on_flat > start, on_flat, 0))
    return int(best.max(initial=0))


def smallest_cutoff(
    ranks: Ranks, low: Floats, high: Floats, *, target: float, positives: tuple[float, float] | None = None
) -> int | None:
    """Return the smallest rank whose recall is certainly at least ``target``; None if no rank is certain.

    The lower bound of recall grows with the rank, so a bisection finds it.
    """
    n_items = int(ranks[-1])

    def certain(rank: int) -> bool:
        at = np.array([rank])
        known = AtRank(at, *bounds_at(ranks, low, high, at=at), float(low[-1]), float(high[-1]), n_items)
        return bool(recall(known, positives=positives).low[0] >= target - FUZZ)

    if not certain(n_items):
        return None
    below, above = 0, n_items
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if certain(middle) else (middle, above)
    return above
