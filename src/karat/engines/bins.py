"""Bins of scores in the order of ranks, split ever finer where it matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from karat.engines.base import HASH_BITS
from karat.engines.keys import COARSE_BITS, Key, TieKey
from karat.errors import InvalidData
from karat.math.path import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.path import Ranks

Where = list[tuple[Key, Floats]]
"""What rows have to satisfy: each key has one of its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A key, and which bins of the key before it were split by it."""

    key: Key
    parent: Branch | None = None
    split: Floats | None = None
    """The parent's key values that were split."""

    def path(self) -> list[Key]:
        """Return all keys that a row has to go through, the coarsest first."""
        if self.parent is None or (self.key.of_ties and self.parent.parent is None):  # a tie key contains the first
            return [self.key]
        return [*self.parent.path(), self.key]

    def where(self, values: Floats) -> Where:
        """Return what the rows of bins with these values satisfy: each key has one of its values."""
        if not self.key.whole and (values == 0).any():  # engines differ in whether -0.0 is among [0.0]
            values = np.r_[values, 0.0, -0.0]
        if self.parent is None or self.split is None:
            return [(self.key, values)]
        return [*self.parent.where(self.split), (self.key, values)]


class Histogram(NamedTuple):
    """Bins: one row each, in no order."""

    values: Floats
    """The last key's value."""
    counts: NDArray[np.int64]
    lowest: Floats
    """Lowest and highest score in the bin."""
    highest: Floats


class Bins(NamedTuple):
    """All bins in the order of ranks."""

    starts: NDArray[np.int64]
    """How many items come before the bin."""
    counts: NDArray[np.int64]
    values: Floats
    lowest: Floats
    highest: Floats
    branch: NDArray[np.int64]
    branches: tuple[Branch, ...]

    @classmethod
    def in_order(cls, found: Histogram, branch: Branch, *, higher_is_better: bool) -> Bins:
        sign = -1 if higher_is_better else 1
        if branch.key.of_ties:
            order = np.lexsort((found.values, sign * found.lowest))
        else:
            order = np.argsort(sign * (found.values if branch.parent is None else found.lowest), kind="stable")
        ordered = Histogram(found.values[order], found.counts[order], found.lowest[order], found.highest[order])
        values, counts, lowest, highest = (
            ordered if branch.parent is None else _merge_zeros(ordered, ties=branch.key.of_ties)
        )
        starts = np.cumsum(counts) - counts
        return cls(starts, counts, values, lowest, highest, np.zeros(len(starts), dtype=np.int64), (branch,))

    def holding(self, ranks: Ranks) -> NDArray[np.intp]:
        """Return the bins in which these ranks stand."""
        return np.unique(np.searchsorted(self.starts, ranks - 1, side="right") - 1)

    def contain(
        self, wanted: NDArray[np.intp], scores: Floats, *, ties: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Say which scores lie between the lowest and highest of one of the bins, and (if given) have its tie key."""
        if ties is None:
            order = np.argsort(self.lowest[wanted])
            lows, highs = self.lowest[wanted][order], self.highest[wanted][order]
            place = np.searchsorted(lows, scores, side="right") - 1
            inside: NDArray[np.bool_] = (place >= 0) & (scores <= highs[place])
            return inside
        tied, group = np.unique(self.lowest[wanted], return_inverse=True)
        place = np.searchsorted(tied, scores).clip(0, len(tied) - 1)
        shift = 2 ** (COARSE_BITS + HASH_BITS)
        allowed = group * shift + self.values[wanted].astype(np.int64)
        belongs: NDArray[np.bool_] = (tied[place] == scores) & np.isin(place * shift + ties, allowed)
        return belongs

    def with_ends(self, coarse: NDArray[np.intp], found: Histogram, *, name: str) -> Bins:
        """Return the bins with the lowest and highest scores of some coarse ones filled in."""
        order, back = np.argsort(found.values), np.argsort(self.values[coarse])
        if not np.array_equal(found.values[order], self.values[coarse][back]):
            raise changed_meanwhile(name)
        lowest, highest = self.lowest.copy(), self.highest.copy()
        lowest[coarse[back]], highest[coarse[back]] = found.lowest[order], found.highest[order]
        return self._replace(lowest=lowest, highest=highest)

    def replaced(
        self, split: NDArray[np.intp], found: Histogram, branch: Branch, *, higher_is_better: bool, name: str
    ) -> Bins:
        """Return the bins with some of them split.

        The split bins, one after the other, and the found ones, one after the other, are the same rows in the same
        order: so the rank at which a found bin starts follows from counting, and each split bin must end where one of
        the found ones does.
        """
        if branch.parent is not None and branch.parent.parent is not None:
            # Keys of several levels together let bins through that were not to be split.
            ties = _tie_values(found, branch) if branch.parent.key.of_ties else None
            ours = self.contain(split, found.lowest, ties=ties)
            found = Histogram(found.values[ours], found.counts[ours], found.lowest[ours], found.highest[ours])
        inner = Bins.in_order(found, branch, higher_is_better=higher_is_better)
        ends = np.cumsum(self.counts[split])
        if not np.isin(ends, inner.starts + inner.counts).all() or ends[-1] != inner.counts.sum():
            raise changed_meanwhile(name)
        parent = np.searchsorted(ends, inner.starts, side="right")
        starts = self.starts[split][parent] + inner.starts - (ends - self.counts[split])[parent]
        keep = np.ones(len(self.starts), dtype=bool)
        keep[split] = False
        number = np.full(len(starts), len(self.branches))
        new = (starts, inner.counts, inner.values, inner.lowest, inner.highest, number)
        order = np.argsort(np.r_[self.starts[keep], starts])
        joined: Any = [np.r_[old[keep], added][order] for old, added in zip(self[:6], new, strict=True)]
        return Bins._make([*joined, (*self.branches, branch)])


def _tie_values(found: Histogram, branch: Branch) -> NDArray[np.int64]:
    """Return the parent's tie key of bins that a finer tie key found."""
    key, parent = branch.key, branch.parent
    assert isinstance(key, TieKey)  # noqa: S101
    assert parent is not None  # noqa: S101
    assert isinstance(parent.key, TieKey)  # noqa: S101
    return found.values.astype(np.int64) >> (key.hash_bits - parent.key.hash_bits)


def _merge_zeros(bins: Histogram, *, ties: bool) -> Histogram:
    """Join neighbouring bins that share a score: 0.0 and -0.0 are equal, and yet may have been grouped apart."""
    values, counts, lowest, highest = bins
    shared = (lowest[1:] <= highest[:-1]) & (lowest[:-1] <= highest[1:])
    if ties:
        shared &= values[1:] == values[:-1]
    first = np.flatnonzero(np.r_[True, ~shared])
    return Histogram(
        values[first],
        np.add.reduceat(counts, first),
        np.minimum.reduceat(lowest, first),
        np.maximum.reduceat(highest, first),
    )


def changed_meanwhile(name: str) -> InvalidData:
    return InvalidData(f"{name} changed while it was being read.")
