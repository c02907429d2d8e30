"""Totals of any groups of items from labels that were drawn for something else, with bounds that hold.

A draw stands for a stretch of the ranking: a cell of certify, or a stratum that several draws share. Given the draws
before it, item i of the stretch is drawn with probability q_i. For a group G write u for "in G and right", and let g be
any guess of the group's rate made from earlier draws. With ``w = 1/q`` and c draws to the stretch,

    E[1 ± theta/c w (u - g [in G])] = 1 ± theta/c (U - g n) <= exp(±theta/c (U - g n)),

U being the group's right items in the stretch and n its size there. So ``exp(A ∓ theta Y)``, with A the sum of
``ln(1 ± theta/c w (u - g)) ± theta/c g n``, has mean at most 1 for the group's total Y, and so has its average over
thetas fixed beforehand: by Markov's inequality Y lies between the two roots. Items that were labelled for certain are
counted as they are; items that no draw stands for count 0 below and 1 above.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.math.certify.bets import make_bets
from karat.math.certify.martingale import LARGEST_LOSS, reaching_yield, union_start

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]

_NARROWEST, _WIDEST = 0.004, 0.5
"""Half-widths, as shares of a group, for which the bets are sharp."""
_FADING = 0.99
"""A label counts this much less in the guess with each later one of its group."""
_SHARES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
"""How two samples may share a bet; an average over fixed shares needs no choice."""


class Sampled(NamedTuple):
    """What was drawn: a row a draw, in an order in which no row was influenced by a later one."""

    ranks: Ranks
    starts: Ranks
    """The stretch that the draw stands for: ranks start+1..end. Stretches are equal or disjoint."""
    ends: Ranks
    copies: Ranks
    """How many draws share the stretch."""
    weights: Floats
    """One over the probability with which the item was drawn."""
    heaviest: Floats
    """The largest weight in the stretch."""

    @staticmethod
    def uniform(ranks: Ranks, starts: Ranks, ends: Ranks, copies: Ranks) -> Sampled:
        """Return draws that were uniform in their stretches."""
        size = (ends - starts).astype(np.float64)
        return Sampled(ranks, starts, ends, copies, size, size)

    @staticmethod
    def certain(ranks: Ranks) -> Sampled:
        """Return items that were labelled without any chance."""
        return Sampled.uniform(ranks, ranks - 1, ranks, np.ones_like(ranks))

    @staticmethod
    def shared(ranks: Ranks, *, start: int, end: int) -> Sampled:
        """Return independent uniform draws from one stretch."""
        count = np.full(len(ranks), len(ranks), dtype=np.int64)
        return Sampled.uniform(ranks, np.full(len(ranks), start), np.full(len(ranks), end), count)

    def joined(self, other: Sampled) -> Sampled:
        return Sampled(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


class Groups(NamedTuple):
    """Which items belong to which group.

    ``codes`` has a number an item in the order of the sample's ranking: with ``nested`` it is in all groups from its
    code on (the first r items of another ranking), otherwise in the group of its code alone; -1 is in none.
    """

    codes: NDArray[np.int64]
    n_groups: int
    nested: bool = False

    def sizes(self) -> Ranks:
        counts = np.bincount(self.codes[self.codes >= 0], minlength=self.n_groups)
        return np.cumsum(counts) if self.nested else counts

    def holds(self, codes: NDArray[np.int64], group: int) -> NDArray[np.bool_]:
        return (codes >= 0) & (codes <= group) if self.nested else codes == group


class Totals(NamedTuple):
    """Right items of each group."""

    sizes: Ranks
    n_labels: Ranks
    """Sure labels on its items."""
    estimate: Floats
    low: Floats
    high: Floats


class Answers(NamedTuple):
    """A sample with its labels, and the groups' codes in its own ranking."""

    sampled: Sampled
    low: NDArray[np.int8]
    """Labels of the rows: unsure and missing ones 0 here,"""
    high: NDArray[np.int8]
    """and 1 here."""
    groups: Groups


def bound_totals(
    answers: Answers,
    more: Answers | None = None,
    *,
    sizes: Ranks,
    delta: float,
    only: NDArray[np.int64] | None = None,
) -> Totals:
    """Return bounds on the right items of every group; each misses with probability at most ``delta``.

    Parameters
    ----------
    answers
        The sample; its draws were made for whatever purpose.
    more
        A second sample, drawn independently of the first; items whose label is sure already belong to no group in it.
    sizes
        How many items each group has, in any ranking or in none.
    only
        Numbers of the groups wanted, if not all.

    Examples
    --------
    >>> ranks = np.arange(1, 101, dtype=np.int64)
    >>> labels = (ranks % 4 > 0).astype(np.int8)
    >>> groups = Groups(codes=(ranks % 2), n_groups=2)
    >>> sample = Answers(Sampled.certain(ranks), labels, labels, groups)
    >>> everything = bound_totals(sample, sizes=groups.sizes(), delta=0.05)
    >>> everything.low.tolist(), everything.high.tolist()
    ([25.0, 50.0], [25.0, 50.0])
    """
    parts = [_Part(one) for one in (answers, more) if one is not None]
    wanted = np.arange(len(sizes)) if only is None else only
    rows = [_bound(parts, group, size=int(sizes[group]), delta=delta) for group in wanted.tolist()]
    estimate, low, high, n_labels = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    return Totals(sizes[wanted], n_labels.astype(np.int64), estimate, low, high)


class _Part:
    """A sample taken apart: what is certain, and the stretches that stand for more than one item."""

    def __init__(self, answers: Answers) -> None:
        sampled, low, high, groups = answers
        certain = sampled.ends - sampled.starts == 1
        self.groups = groups
        self.codes = groups.codes[sampled.ranks - 1]
        self.low, self.high = low, high
        self.certain, self.open = certain, np.flatnonzero(~certain)
        self.ranks = sampled.ranks
        ends, first, self.stretch_of = np.unique(sampled.ends[self.open], return_index=True, return_inverse=True)
        starts = sampled.starts[self.open][first]
        self.counts = _count_members(starts, ends, groups)
        self.copies = sampled.copies[self.open].astype(np.float64)
        self.weights = sampled.weights[self.open]
        self.heaviest = sampled.heaviest[self.open]

    def view(self, group: int) -> _View:
        """Return the rows that bear on a group."""
        members = self.counts[self.stretch_of, group] / self.copies
        rows = np.flatnonzero(members > 0)
        own = self.open[rows]
        inside = self.groups.holds(self.codes[own], group)
        return _View(
            members[rows],
            inside,
            np.where(inside, self.weights[rows] / self.copies[rows], 0.0),
            self.heaviest[rows] / self.copies[rows],
            self.low[own].astype(np.float64),
            self.high[own].astype(np.float64),
        )


class _View(NamedTuple):
    members: Floats
    inside: NDArray[np.bool_]
    weights: Floats
    heaviest: Floats
    low: Floats
    high: Floats

    def guesses(self, labels: Floats) -> Floats:
        """Return the group's rate as the rows before each suggest it."""
        from scipy.signal import lfilter  # noqa: PLC0415  (a second to import, and only slices need it)

        earlier = [
            np.r_[0.0, lfilter([1.0], [1.0, -_FADING], column)[:-1]]
            for column in (self.inside * labels, self.inside.astype(np.float64))
        ]
        rate: Floats = (earlier[0] + 0.5) / (earlier[1] + 1.0)
        return rate

    def lower_wealth(self, thetas: Floats) -> Floats:
        """Return the log-wealth of every bet; open answers count 0, and their guess is the worse of both ends."""
        gains = [self._gain(thetas, self.low, self.guesses(labels), sign=1.0) for labels in (self.low, self.high)]
        total: Floats = np.minimum(*gains).sum(axis=1)
        return total

    def upper_wealth(self, thetas: Floats) -> Floats:
        gains = [self._gain(thetas, self.high, self.guesses(labels), sign=-1.0) for labels in (self.low, self.high)]
        total: Floats = np.minimum(*gains).sum(axis=1)
        return total

    def _gain(self, thetas: Floats, labels: Floats, guess: Floats, *, sign: float) -> Floats:
        limit = LARGEST_LOSS / (thetas[:, None] * self.heaviest)
        clipped = np.minimum(guess, limit) if sign > 0 else np.maximum(guess, 1.0 - limit)
        stake = sign * thetas[:, None] * self.weights
        gain: Floats = np.log1p(stake * (labels - clipped)) + sign * thetas[:, None] * self.members * clipped
        return gain

    def estimate(self) -> float:
        labels = (self.low + self.high) / 2
        guess = self.guesses(labels)
        return float(np.sum(guess * self.members + self.weights * (labels - guess)))


def _count_members(starts: Ranks, ends: Ranks, groups: Groups) -> NDArray[np.int64]:
    """Return how many items of each group a stretch holds (stretch x group)."""
    if not len(ends):
        return np.zeros((0, groups.n_groups), dtype=np.int64)
    ranks = np.arange(1, len(groups.codes) + 1)
    place = np.minimum(np.searchsorted(ends, ranks), len(ends) - 1)
    held = (groups.codes >= 0) & (ranks > starts[place]) & (ranks <= ends[place])
    flat = place[held] * groups.n_groups + groups.codes[held]
    counts = np.bincount(flat, minlength=len(ends) * groups.n_groups).reshape(len(ends), groups.n_groups)
    return np.cumsum(counts, axis=1) if groups.nested else counts


class _Seen(NamedTuple):
    """What one sample says for certain about a group, besides its bets."""

    known_low: float
    """Right items among those labelled for certain."""
    known_high: float
    unseen: float
    """Items that no draw stands for and that are not labelled for certain."""
    ones: float
    """Distinct items with a sure label 1, and"""
    zeros: float


def _look_at(part: _Part, group: int, *, size: int) -> _Seen:
    inside = part.groups.holds(part.codes, group)
    known = inside & part.certain
    sure = inside & (part.low == part.high)
    _, first = np.unique(part.ranks[sure], return_index=True)  # an item may have been drawn more than once
    ones = float(part.low[sure][first].sum())
    unseen = size - float(known.sum()) - float(part.counts[:, group].sum())
    return _Seen(float(part.low[known].sum()), float(part.high[known].sum()), unseen, ones, len(first) - ones)


def _bound(parts: list[_Part], group: int, *, size: int, delta: float) -> tuple[float, float, float, float]:
    """Return estimate, low and high of one group's total, and its number of sure labels."""
    views = [part.view(group) for part in parts]
    seen = [_look_at(part, group, size=size) for part in parts]
    before = _Seen(0.0, 0.0, 0.0, 0.0, 0.0)
    if len(parts) == 2:  # for the second sample all that the first made sure is known
        before = seen[0]
        known = before.ones + before.zeros
        second = seen[1]
        seen[1] = second._replace(
            known_low=second.known_low + before.ones,
            known_high=second.known_high + before.ones,
            unseen=second.unseen - known,
        )
    ones = seen[-1].ones + before.ones
    zeros = seen[-1].zeros + before.zeros
    low, high = _roots(views, seen, size=size, delta=delta)
    low, high = max(low, ones), min(high, size - zeros)
    if low > high:  # happens with probability delta at most: only what is seen is left
        low, high = ones, size - zeros
    guess = _pool_estimates(views, seen)
    return min(max(guess, low), high), low, high, ones + zeros


def _roots(views: list[_View], seen: list[_Seen], *, size: int, delta: float) -> tuple[float, float]:
    """Return the roots for the group's total: the bets of several samples are laid together, each with its share."""
    shares = np.ones((1, 1)) if len(views) == 1 else np.stack([_SHARES, 1.0 - _SHARES], axis=1)
    bets = make_bets(max(_NARROWEST * size, 0.5), max(_WIDEST * size, 1.0), delta=delta)
    thetas = np.tile(bets.thetas, len(shares))
    level = bets.level + float(np.log(len(shares)))
    lower, upper = np.zeros(len(thetas)), np.zeros(len(thetas))
    for place, (view, known) in enumerate(zip(views, seen, strict=True)):
        own = np.concatenate([bets.thetas * share for share in shares[:, place]])
        lower += view.lower_wealth(own) + own * known.known_low
        upper += view.upper_wealth(own) - own * (known.known_high + known.unseen)
    return (
        reaching_yield(lower, thetas, level, 1.0, union_start(lower, thetas, level, 1.0)),
        reaching_yield(upper, thetas, level, -1.0, union_start(upper, thetas, level, -1.0)),
    )


def _pool_estimates(views: list[_View], seen: list[_Seen]) -> float:
    """Return the estimates of the samples, each counting by one over the variance its layout suggests."""
    estimates = [
        view.estimate() + (known.known_low + known.known_high + known.unseen) / 2
        for view, known in zip(views, seen, strict=True)
    ]
    spread = [
        float(np.sum(np.maximum(view.heaviest - 1, 0) * view.members)) + known.unseen**2 + 1e-9
        for view, known in zip(views, seen, strict=True)
    ]
    return float(np.average(estimates, weights=1 / np.array(spread)))
