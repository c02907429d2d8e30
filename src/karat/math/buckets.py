"""Exact AP, ROC AUC and curve of more labelled items than one would like to sort.

Items are thrown into buckets of neighbouring scores, positives from the left end of a bucket, negatives from the right
one. Inside a bucket only the positives are sorted; each negative finds its place among them by bisection. Everything
that AP, AUC, DCG and the best F1 need is a sum or a maximum over the distinct scores of positives, so buckets are
worked off one after the other, best scores first, knowing only how many items and positives came before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from karat.math.path import Floats, Ranks
from karat.math.ranking import Ranking, rank_items

STEPS_A_POSITIVE = 8
N_SUMS = 4
_AP, _AP_RANDOM, _WRONG_PAIRS, _DCG = range(N_SUMS)


class Slab(NamedTuple):
    """Buckets of consecutive scores, best first: where each starts and where its negatives start."""

    items: Floats
    starts: NDArray[np.int64]
    """One more than there are buckets."""
    negatives: NDArray[np.int64]


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


def empty_slab(counts: NDArray[np.int64]) -> tuple[Slab, NDArray[np.int64], NDArray[np.int64]]:
    """Return room for this many items a bucket, and the two ends at which each bucket fills up."""
    starts = np.r_[0, np.cumsum(counts)].astype(np.int64)
    left, right = starts[:-1].copy(), starts[1:].copy()
    return Slab(np.empty(starts[-1]), starts, left), left, right


@njit(cache=True)
def fill(
    items: Floats,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    scores: Floats,
    labels: NDArray[np.uint8],
    bucket_of: NDArray[np.int64],
    unit: float,
    low: float,
    scale: float,
    first: int,
) -> bool:
    """Throw items into their buckets; False if one has no room left (the counts were of other data).

    ``(score * unit - low) * scale`` is the key of the bucket, counted from ``first``.
    """
    for place in range(len(scores)):
        score = scores[place]
        key = int((score * unit - low) * scale) - first  # not negative, so this is the integer below
        if key < 0 or key >= len(bucket_of):
            return False
        bucket = bucket_of[key]
        if left[bucket] >= right[bucket]:
            return False
        if labels[place]:
            items[left[bucket]] = score
            left[bucket] += 1
        else:
            right[bucket] -= 1
            items[right[bucket]] = score
    return True


def add_up(slab: Slab, *, items_before: int, positives_before: int, n_positives: int, higher_is_better: bool) -> Totals:
    """Work off the buckets of a slab."""
    for begin, middle in zip(slab.starts[:-1].tolist(), slab.negatives.tolist(), strict=True):
        slab.items[begin:middle].sort()  # numpy's sort is four times as fast as a compiled one of ours
    n_buckets = len(slab.starts) - 1
    sums = np.zeros((n_buckets, N_SUMS))
    scores, ranks = np.zeros((n_buckets, 3)), np.zeros((n_buckets, 3), dtype=np.int64)
    hits, best = np.zeros((n_buckets, 3), dtype=np.int64), np.array([-1.0, 0.0, 0.0])
    _add_up(
        slab.items, slab.starts, slab.negatives, items_before, positives_before, n_positives, higher_is_better,
        sums, scores, ranks, hits, best,
    )  # fmt: skip
    return Totals(sums, scores, ranks, hits, (float(best[0]), float(best[1]), int(best[2])))


@njit(cache=True)
def _add_up(  # noqa: PLR0915
    items: Floats,
    starts: NDArray[np.int64],
    negatives: NDArray[np.int64],
    rank: int,
    found: int,
    n_positives: int,
    higher_is_better: bool,  # noqa: FBT001
    sums: Floats,
    scores: Floats,
    ranks: Ranks,
    hits: Ranks,
    best: Floats,
) -> None:
    most = 0
    for bucket in range(len(starts) - 1):
        most = max(most, negatives[bucket] - starts[bucket])
    distinct, count = np.empty(most), np.empty(most, dtype=np.int64)
    # Negatives between two positives' scores (gap[i] below distinct[i]) and with the same score as one.
    gap, same = np.empty(most + 1, dtype=np.int64), np.empty(most, dtype=np.int64)
    table = np.empty(STEPS_A_POSITIVE * most + 2, dtype=np.int64)
    for bucket in range(len(starts) - 1):
        begin, middle, end = starts[bucket], negatives[bucket], starts[bucket + 1]
        n_here = middle - begin
        base = rank
        rank += end - begin
        if n_here == 0:
            continue
        positives = items[begin:middle]  # already sorted
        n_distinct = 0
        for place in range(n_here):
            if place == 0 or positives[place] != positives[place - 1]:
                distinct[n_distinct], count[n_distinct], same[n_distinct], gap[n_distinct] = positives[place], 0, 0, 0
                n_distinct += 1
            count[n_distinct - 1] += 1
        gap[n_distinct] = 0
        _place_negatives(items[middle:end], distinct[:n_distinct], table, gap, same)
        lowest, highest = np.inf, -np.inf
        position = base
        for step in range(n_distinct):
            group = n_distinct - 1 - step if higher_is_better else step
            position += gap[group + 1] if higher_is_better else gap[group]
            n_right, size = count[group], count[group] + same[group]
            before, first = found, position
            found += n_right
            position += size
            sums[bucket, _AP] += n_right * (found / position)
            if size == 1:
                sums[bucket, _AP_RANDOM] += found / position
                sums[bucket, _DCG] += 1.0 / np.log2(position + 1.0)
            else:  # as in karat.math.ranking.average_precision
                harmonic, discount = 0.0, 0.0
                for place in range(first + 1, position + 1):
                    harmonic += 1.0 / place
                    discount += 1.0 / np.log2(place + 1.0)
                slope = (n_right - 1) / (size - 1)
                inside = slope * size + (before + 1 - slope - slope * first) * harmonic
                sums[bucket, _AP_RANDOM] += n_right / size * inside
                sums[bucket, _DCG] += n_right / size * discount
            # The negatives that outrank these positives; those with their score count half.
            sums[bucket, _WRONG_PAIRS] += n_right * ((first - before) + same[group] / 2.0)
            precision, f1 = found / position, 2.0 * found / (position + n_positives)
            if f1 > best[0]:
                best[0], best[1], best[2] = f1, distinct[group], position
            if first > 0 and before / first < lowest:  # precision is lowest just before a positive
                lowest = before / first
                just_better = np.nextafter(distinct[group], np.inf if higher_is_better else -np.inf)
                scores[bucket, 0], ranks[bucket, 0], hits[bucket, 0] = just_better, first, before
            if precision > highest:
                highest = precision
                scores[bucket, 1], ranks[bucket, 1], hits[bucket, 1] = distinct[group], position, found
            scores[bucket, 2], ranks[bucket, 2], hits[bucket, 2] = distinct[group], position, found


@njit(cache=True)
def _place_negatives(
    scores: Floats, distinct: Floats, table: NDArray[np.int64], gap: NDArray[np.int64], same: NDArray[np.int64]
) -> None:
    """Count for each score where it falls among the distinct ones of positives.

    Equal steps between the lowest and the highest positive say between which few positives to bisect: in most steps
    there is none, and then there is nothing to compare.
    """
    n_distinct = len(distinct)
    low, high = distinct[0], distinct[-1]
    n_steps = STEPS_A_POSITIVE * n_distinct
    scale = (n_steps - 1) / (high - low) if high > low else 0.0
    if scale == 0.0 or not np.isfinite(scale):  # too close together or too far apart: bisect all of them
        scale, n_steps = 0.0, 1
    step = 0
    for place in range(n_distinct):  # table[i]: the first positive at step i or beyond
        own = int((distinct[place] - low) * scale)
        while step <= own:
            table[step] = place
            step += 1
    while step <= n_steps:
        table[step] = n_distinct
        step += 1
    for score in scores:
        if score < low:
            gap[0] += 1
            continue
        if score > high:
            gap[n_distinct] += 1
            continue
        own = int((score - low) * scale)
        start, length = table[own], table[own + 1] - table[own]
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


def rank_bucket(
    slab: Slab, bucket: int, *, items_before: int, positives_before: int, higher_is_better: bool
) -> Ranking:
    """Return the exact ranking of one bucket, with what came before it counted in."""
    begin, middle, end = slab.starts[bucket], slab.negatives[bucket], slab.starts[bucket + 1]
    labels = (np.arange(begin, end) < middle).astype(np.int8)
    scores = slab.items[begin:end]
    found = rank_items(labels, scores if higher_is_better else -scores)
    return Ranking(found.scores, found.ranks + items_before, found.hits + positives_before)
