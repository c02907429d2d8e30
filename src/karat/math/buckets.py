"""Exact AP, ROC AUC and curve of more labelled items than one would like to sort.

Items are thrown into buckets of neighbouring scores, positives and negatives apart. Nothing is counted beforehand: a
bucket is a list of small blocks, taken from a common store as it fills up. Inside a bucket only the positives are
sorted; each negative finds its place among them by bisection. Everything that AP, AUC, DCG and the best F1 need is a
sum or a maximum over the distinct scores of positives, so buckets are worked off one after the other, best scores
first, knowing only how many items and positives came before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from mmap import ACCESS_COPY, mmap
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from karat.math.path import Floats, Ranks
from karat.math.ranking import Ranking, rank_items

BLOCK = 512
"""Items a block: a page of memory."""
STEPS_A_POSITIVE = 8
N_SUMS = 4
_SLACK = 1.0 + 2.0**-50
_AP, _AP_RANDOM, _WRONG_PAIRS, _DCG = range(N_SUMS)


class Totals(NamedTuple):
    """What the buckets add up to, one row a bucket."""

    sums: Floats
    """For AP with ties together, AP over random orders, pairs in the wrong order (1 - AUC), and DCG."""
    scores: Floats
    """Of three points a bucket (lowest and highest precision, and the last one): score, rank, positives so far.

    All 0 in a bucket without positives.
    """
    ranks: Ranks
    hits: Ranks
    best: tuple[float, float, int]
    """Best F1, its threshold and rank."""


@dataclass(slots=True, kw_only=True)
class Store:
    """Room for items in blocks; slot ``2 * key`` takes the negatives of a bucket, the next one its positives."""

    items: Floats
    cursor: NDArray[np.int64]
    """Where the next item of a slot goes; at the end of a block a new one is taken."""
    owner: NDArray[np.int64]
    """The slot of each block."""
    n_used: NDArray[np.int64]
    """How many blocks are taken, in an array of one."""
    higher_is_better: bool
    blocks: NDArray[np.int64] = field(init=False)
    """Once sealed: the blocks, slot by slot; those of a slot begin at ``starts``."""
    starts: NDArray[np.int64] = field(init=False)
    counts: NDArray[np.int64] = field(init=False)
    """Once sealed: one row a bucket, best first, with its negatives and its positives."""

    @classmethod
    def empty(cls, n_items: int, n_buckets: int, *, higher_is_better: bool) -> Store:
        n_blocks = -(-n_items // BLOCK) + 2 * n_buckets  # at worst every slot has one block that is all but empty
        return cls(
            items=_plain_room(n_blocks * BLOCK),
            cursor=np.zeros(2 * n_buckets, dtype=np.int64),
            owner=np.empty(n_blocks, dtype=np.int64),
            n_used=np.zeros(1, dtype=np.int64),
            higher_is_better=higher_is_better,
        )

    def seal(self) -> None:
        """Sort the blocks by slot and count the items."""
        owner = self.owner[: self.n_used[0]]
        self.blocks = np.argsort(owner, kind="stable")
        n_blocks = np.bincount(owner, minlength=len(self.cursor))
        self.starts = np.r_[0, np.cumsum(n_blocks)]
        in_last = np.where(n_blocks > 0, (self.cursor - 1) % BLOCK + 1, 0)
        by_slot = np.maximum(n_blocks - 1, 0) * BLOCK + in_last
        self.counts = by_slot.reshape(-1, 2)[:: -1 if self.higher_is_better else 1]

    def take(self, bucket: int, *, positives: bool, room: Floats) -> Floats:
        """Return the items of a bucket, best one first, copied into the beginning of some room."""
        key = len(self.counts) - 1 - bucket if self.higher_is_better else bucket
        slot = 2 * key + positives
        own = self.blocks[self.starts[slot] : self.starts[slot + 1]]
        items = room[: self.counts[bucket, int(positives)]]
        _copy_blocks(self.items, own, items)
        return items


def _plain_room(n_items: int) -> Floats:
    """Return room in ordinary pages: numpy asks for huge ones, which many systems are slow to find for a first use."""
    return np.frombuffer(mmap(-1, 8 * n_items, access=ACCESS_COPY), dtype=np.float64)


@njit(cache=True)
def _copy_blocks(items: Floats, blocks: NDArray[np.int64], room: Floats) -> None:
    for place in range(len(blocks)):
        begin = blocks[place] * BLOCK
        size = min(BLOCK, len(room) - place * BLOCK)
        room[place * BLOCK : place * BLOCK + size] = items[begin : begin + size]


@njit(cache=True)
def fill(
    items: Floats,
    cursor: NDArray[np.int64],
    owner: NDArray[np.int64],
    n_used: NDArray[np.int64],
    scores: Floats,
    labels: NDArray[np.uint8],
    unit: float,
    low: float,
    scale: float,
    first: int,
) -> bool:
    """Throw items into their buckets; False at one that has no bucket (or is no number), or for which no room is left.

    ``(score * unit - low) * scale`` is the key of the bucket, counted from ``first``; labels are 0 or 1.
    """
    end = len(cursor) >> 1
    for place in range(len(scores)):
        score = scores[place]
        exact = (score * unit - low) * scale - first
        if not 0.0 <= exact < end:  # also if it is not a number
            return False
        slot = 2 * int(exact) + labels[place]  # not negative, so this is the integer below
        at = cursor[slot]
        if at % BLOCK == 0:
            block = n_used[0]
            if block == len(owner):
                return False
            n_used[0] += 1
            owner[block] = slot
            at = block * BLOCK
        items[at] = score
        cursor[slot] = at + 1
    return True


class _Room(NamedTuple):
    """Working memory for the largest bucket."""

    distinct: Floats
    size: NDArray[np.int64]
    gap: NDArray[np.int64]
    """Negatives between two positives' scores: gap[i] of them below distinct[i]."""
    same: NDArray[np.int64]
    """Negatives with the same score as a positive."""
    table: NDArray[np.int32]
    """Positives before each step."""
    in_step: NDArray[np.int32]
    """Negatives before each step."""
    close: Floats
    """Negatives whose step holds a positive."""

    @classmethod
    def for_most(cls, *, negatives: int, positives: int) -> _Room:
        size, gap, same = (np.empty(room, dtype=np.int64) for room in (positives, positives + 1, positives))
        table, in_step = np.empty((2, STEPS_A_POSITIVE * positives + 2), dtype=np.int32)
        return cls(np.empty(positives), size, gap, same, table, in_step, np.empty(negatives + 1))


def add_up(store: Store, *, items_before: int, positives_before: int, n_positives: int) -> Totals:
    """Work off the buckets of a sealed store."""
    n_buckets = len(store.counts)
    sums = np.zeros((n_buckets, N_SUMS))
    scores, ranks = np.zeros((n_buckets, 3)), np.zeros((n_buckets, 3), dtype=np.int64)
    hits, best = np.zeros((n_buckets, 3), dtype=np.int64), np.array([-1.0, 0.0, 0.0])
    most_wrong, most_right = store.counts.max(axis=0).tolist()
    room = _Room.for_most(negatives=most_wrong, positives=most_right)
    wrong, right = np.empty(most_wrong), np.empty(most_right)
    rank, found = items_before, positives_before
    for bucket, (n_wrong, n_right) in enumerate(store.counts.tolist()):
        if n_right:
            positives = store.take(bucket, positives=True, room=right)
            positives.sort()  # numpy's sort is four times as fast as a compiled one of ours
            negatives = store.take(bucket, positives=False, room=wrong)
            _add_bucket(
                positives, negatives, rank, found, n_positives, store.higher_is_better, *room,
                sums[bucket], scores[bucket], ranks[bucket], hits[bucket], best,
            )  # fmt: skip
        rank, found = rank + n_wrong + n_right, found + n_right
    return Totals(sums, scores, ranks, hits, (float(best[0]), float(best[1]), int(best[2])))


@njit(cache=True)
def _add_bucket(
    positives: Floats,
    negatives: Floats,
    position: int,
    found: int,
    n_positives: int,
    higher_is_better: bool,  # noqa: FBT001
    distinct: Floats,
    count: NDArray[np.int64],
    gap: NDArray[np.int64],
    same: NDArray[np.int64],
    table: NDArray[np.int32],
    in_step: NDArray[np.int32],
    close: Floats,
    sums: Floats,
    scores: Floats,
    ranks: Ranks,
    hits: Ranks,
    best: Floats,
) -> None:
    """Add up one bucket after ``position`` items with ``found`` positives; its positives are sorted."""
    n_distinct = 0
    for place in range(len(positives)):
        if place == 0 or positives[place] != positives[place - 1]:
            distinct[n_distinct], count[n_distinct], same[n_distinct], gap[n_distinct] = positives[place], 0, 0, 0
            n_distinct += 1
        count[n_distinct - 1] += 1
    gap[n_distinct] = 0
    _place_negatives(negatives, distinct[:n_distinct], gap, same, table, in_step, close)
    lowest, highest = np.inf, -np.inf
    for step in range(n_distinct):
        group = n_distinct - 1 - step if higher_is_better else step
        position += gap[group + 1] if higher_is_better else gap[group]
        n_right, size = count[group], count[group] + same[group]
        before, first = found, position
        found += n_right
        position += size
        precision = found / position
        sums[_AP] += n_right * precision
        if size == 1:
            sums[_AP_RANDOM] += precision
            sums[_DCG] += 1.0 / np.log2(position + 1.0)
        else:  # as in karat.math.ranking.average_precision
            harmonic, discount = 0.0, 0.0
            for place in range(first + 1, position + 1):
                harmonic += 1.0 / place
                discount += 1.0 / np.log2(place + 1.0)
            slope = (n_right - 1) / (size - 1)
            inside = slope * size + (before + 1 - slope - slope * first) * harmonic
            sums[_AP_RANDOM] += n_right / size * inside
            sums[_DCG] += n_right / size * discount
        # The negatives that outrank these positives; those with their score count half.
        sums[_WRONG_PAIRS] += n_right * ((first - before) + same[group] / 2.0)
        # Products tell which quotients need not be computed; _SLACK covers their rounding.
        if 2.0 * found * _SLACK > best[0] * (position + n_positives):
            f1 = 2.0 * found / (position + n_positives)
            if f1 > best[0]:
                best[0], best[1], best[2] = f1, distinct[group], position
        if first > 0 and before <= lowest * first * _SLACK and before / first < lowest:  # lowest just before a positive
            lowest = before / first
            scores[0] = np.nextafter(distinct[group], np.inf if higher_is_better else -np.inf)
            ranks[0], hits[0] = first, before
        if precision > highest:
            highest = precision
            scores[1], ranks[1], hits[1] = distinct[group], position, found
        scores[2], ranks[2], hits[2] = distinct[group], position, found


@njit(cache=True)
def _place_negatives(
    scores: Floats,
    distinct: Floats,
    gap: NDArray[np.int64],
    same: NDArray[np.int64],
    table: NDArray[np.int32],
    in_step: NDArray[np.int32],
    close: Floats,
) -> None:
    """Count for each score where it falls among the distinct ones of positives.

    Equal steps between the lowest and the highest positive: in most of them there is no positive, and then it is enough
    to count. The scores in the others are put aside and bisected between the few positives of their step.
    """
    n_distinct = len(distinct)
    low, high = distinct[0], distinct[-1]
    n_steps = STEPS_A_POSITIVE * n_distinct
    scale = (n_steps - 1) / (high - low) if high > low else 0.0
    if scale == 0.0 or not np.isfinite(scale):  # too close together or too far apart: bisect all of them
        scale, n_steps = 0.0, 1
    table[: n_steps + 1] = 0
    in_step[: n_steps + 1] = 0
    for positive in distinct:
        table[int((positive - low) * scale) + 1] += 1
    for step in range(n_steps):
        table[step + 1] += table[step]
    n_close = 0
    for score in scores:  # no branch here depends on chance: the processor guesses all of them
        if score < low:
            gap[0] += 1
            continue
        if score > high:
            gap[n_distinct] += 1
            continue
        own = int((score - low) * scale)
        in_step[own + 1] += 1
        close[n_close] = score
        n_close += table[own + 1] != table[own]
    for step in range(n_steps):
        in_step[step + 1] += in_step[step]
    before = 0
    for place in range(n_distinct):  # from the step after one positive to the step before the next
        own = int((distinct[place] - low) * scale)
        if own >= before:
            gap[place] += in_step[own] - in_step[before]
        before = own + 1
    _bisect_close(close[:n_close], distinct, gap, same, table, low, scale)


@njit(cache=True)
def _bisect_close(
    scores: Floats,
    distinct: Floats,
    gap: NDArray[np.int64],
    same: NDArray[np.int64],
    table: NDArray[np.int32],
    low: float,
    scale: float,
) -> None:
    for score in scores:
        own = int((score - low) * scale)
        start = table[own]
        length = table[own + 1] - start
        while length > 0:  # the first positive that is not below
            half = length >> 1
            if distinct[start + half] < score:
                start += half + 1
                length -= half + 1
            else:
                length = half
        if distinct[start] == score:
            same[start] += 1
        else:
            gap[start] += 1


def rank_bucket(store: Store, bucket: int, *, items_before: int, positives_before: int) -> Ranking:
    """Return the exact ranking of one bucket, with what came before it counted in."""
    n_wrong, n_right = store.counts[bucket].tolist()
    scores = np.empty(n_wrong + n_right)
    store.take(bucket, positives=True, room=scores[:n_right])
    store.take(bucket, positives=False, room=scores[n_right:])
    labels = (np.arange(len(scores)) < n_right).astype(np.int8)
    found = rank_items(labels, scores if store.higher_is_better else -scores)
    return Ranking(found.scores, found.ranks + items_before, found.hits + positives_before)
