"""Laying out the next batch of cells, and drawing one item of each.

A cell's bounds, and the law of its draw, depend on labels at smaller ranks only. In a later look the cells of the
look before are split into equal parts: the part that holds the old draw keeps it, the others draw anew. How many
parts is decided without looking at the cell's own draw, so the kept draw follows its law restricted to its part.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from karat.math.certify.cells import class_weight, count_classes, draw_probability
from karat.math.certify.stream import PURPOSE_DRAW, PURPOSE_SPLIT, uniform

IntArray = NDArray[np.int64]

_BATCH_RATIO = 1.004  # a batch covers .4% of the ranks so far
_EXHAUSTIVE_BELOW = 1.34  # smaller cells are not worth drawing from


class Parents(NamedTuple):
    """Cells of the look before (empty in the first look): ends, drawn ranks, tilts."""

    ends: IntArray
    ranks: IntArray
    tilt: IntArray


class Batch(NamedTuple):
    """New cells of a look; ``counts`` has one column a proxy class."""

    ends: IntArray
    ranks: IntArray
    probabilities: NDArray[np.float64]
    tilt: IntArray
    classes: IntArray
    counts: IntArray
    new: NDArray[np.bool_]


@njit(cache=True)
def _draw(
    proxy: NDArray[np.uint8],
    start: int,
    end: int,
    counts: IntArray,
    tilt: int,
    uniform_number: float,
) -> int:
    """Return the rank that a uniform number draws from the cell of ranks start+1..end."""
    if len(proxy) == 0:
        return start + 1 + min(int(uniform_number * (end - start)), end - start - 1)
    total = 0.0
    for klass in range(len(counts)):
        total += counts[klass] * class_weight(tilt, klass)
    left = uniform_number * total
    chosen = -1
    place = 0
    for klass in range(len(counts)):
        if counts[klass] > 0:
            chosen = klass
            weight = class_weight(tilt, klass)
            place = min(int(left / weight), counts[klass] - 1)
            if left < counts[klass] * weight:
                break
            left -= counts[klass] * weight
    for position in range(start, end):
        if proxy[position] == chosen:
            if place == 0:
                return position + 1
            place -= 1
    return end  # not reached: the class has an item in the cell


@njit(cache=True)
def _blocks(
    start: int,
    size: float,
    first_step: int,
    last_rank: int,
    look: int,
    seed: int,
    parents: Parents,
    allowed: int,
    wanted: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the ends of the batch's blocks, into how many cells each is cut, and its place among the parents.

    In the first look a block is a cell; later it is a cell of the look before.
    """
    step = first_step if start == 0 else max(1, math.ceil(start * (_BATCH_RATIO - 1.0)))
    if math.isinf(size):  # one cell for all the rest
        step = last_rank - start
    elif size > step:
        step = int(min(size, max(0.25 * start, float(first_step))))
    step = min(step, last_rank - start)
    if len(parents.ends) == 0:
        n_cells = max(1, min(int(step / size + 0.5), step, allowed))
        ends = start + (np.arange(1, n_cells + 1) * step) // n_cells
        ends = ends[: max(1, min(n_cells, wanted))]
        return ends, np.ones(len(ends), np.int64), np.full(len(ends), -1)
    first = int(np.searchsorted(parents.ends, start, side="right"))
    last = min(int(np.searchsorted(parents.ends, start + step, side="left")) + 1, len(parents.ends))
    parts = np.empty(last - first, np.int64)
    n_new = 0
    n_blocks = 0
    here = start
    while n_blocks < last - first and (n_new < wanted or n_blocks == 0):
        whole = parents.ends[first + n_blocks] - here
        # Rounding at random keeps the mean right and needs no memory of the blocks before.
        wish = int(whole / size + uniform(seed, look, here, PURPOSE_SPLIT))
        parts[n_blocks] = max(1, min(wish, whole, allowed - n_new + 1))
        n_new += parts[n_blocks] - 1
        here = parents.ends[first + n_blocks]
        n_blocks += 1
    return parents.ends[first : first + n_blocks], parts[:n_blocks], first + np.arange(n_blocks)


@njit(cache=True)
def lay_out(
    start: int,
    size: float,
    first_step: int,
    last_rank: int,
    look: int,
    seed: int,
    tilt: int,
    parents: Parents,
    proxy: NDArray[np.uint8],
    n_classes: int,
    allowed: int,
    wanted: int,
) -> Batch:
    """Lay out the next batch of cells after rank ``start``.

    ``first_step`` is how many ranks the first batch covers. ``allowed`` is how many new labels the budget still
    holds: cells grow to fit it. ``wanted`` is how many new draws the caller can use: the batch stops there.
    """
    if size < _EXHAUSTIVE_BELOW:
        size = 1.0
    block_ends, parts, places = _blocks(start, size, first_step, last_rank, look, seed, parents, allowed, wanted)
    n_cells = parts.sum()
    ends = np.empty(n_cells, np.int64)
    ranks = np.empty(n_cells, np.int64)
    probabilities = np.empty(n_cells, np.float64)
    tilts = np.empty(n_cells, np.int64)
    classes = np.zeros(n_cells, np.int64)
    counts = np.empty((n_cells, n_classes), np.int64)
    new = np.empty(n_cells, np.bool_)
    cell = 0
    block_start = start
    for block in range(len(block_ends)):
        width = block_ends[block] - block_start
        old_rank = 0 if places[block] < 0 else parents.ranks[places[block]]
        for part in range(parts[block]):
            low = block_start + (part * width) // parts[block]
            high = block_start + ((part + 1) * width) // parts[block]
            count_classes(proxy, low, high, counts[cell])
            new[cell] = not low < old_rank <= high
            if new[cell]:
                tilts[cell] = tilt
                ranks[cell] = _draw(proxy, low, high, counts[cell], tilt, uniform(seed, look, low, PURPOSE_DRAW))
            else:
                tilts[cell] = parents.tilt[places[block]]
                ranks[cell] = old_rank
            if len(proxy) > 0:
                classes[cell] = proxy[ranks[cell] - 1]
            probabilities[cell] = draw_probability(counts[cell], tilts[cell], classes[cell])
            ends[cell] = high
            cell += 1
        block_start = block_ends[block]
    return Batch(ends, ranks, probabilities, tilts, classes, counts, new)


@njit(cache=True)
def describe(
    first_start: int, ends: IntArray, ranks: IntArray, tilt: IntArray, proxy: NDArray[np.uint8], n_classes: int
) -> tuple[IntArray, IntArray, NDArray[np.float64]]:
    """Return classes, class counts and draw probabilities of given cells: what a stored draw leaves out."""
    classes = np.zeros(len(ends), np.int64)
    counts = np.empty((len(ends), n_classes), np.int64)
    probabilities = np.empty(len(ends))
    start = first_start
    for cell in range(len(ends)):
        count_classes(proxy, start, ends[cell], counts[cell])
        if len(proxy) > 0:
            classes[cell] = proxy[ranks[cell] - 1]
        probabilities[cell] = draw_probability(counts[cell], tilt[cell], classes[cell])
        start = ends[cell]
    return classes, counts, probabilities


@njit(cache=True)
def first_wrong_draw(
    ends: IntArray,
    ranks: IntArray,
    tilt: IntArray,
    counts: IntArray,
    parents: Parents,
    proxy: NDArray[np.uint8],
    look: int,
    seed: int,
) -> int:
    """Return the first cell whose rank is neither kept from the look before nor drawn by this seed, or -1."""
    start = 0
    for cell in range(len(ends)):
        end = ends[cell]
        place = np.searchsorted(parents.ranks, start + 1)
        if place < len(parents.ranks) and parents.ranks[place] <= end:
            right = parents.ranks[place]
            if parents.tilt[place] != tilt[cell]:
                return cell
        else:
            right = _draw(proxy, start, end, counts[cell], tilt[cell], uniform(seed, look, start, PURPOSE_DRAW))
        if ranks[cell] != right:
            return cell
        start = end
    return -1
