"""Cells of the ranking: where each ends, which item was drawn from it, and with what probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNSURE = -1  # answered "unsure": stays so until adjudicated
PENDING = -2  # asked, not yet answered
MOST_CLASSES = 15  # a tilt holds four bits a class
_WEIGHT_FLOOR = 0.4  # no class of a cell is drawn more rarely than this share of the likeliest one
_TILT_STEPS = 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Cells in the order they were laid out, one drawn item each; the pilot's items come first, with look 0.

    Attributes
    ----------
    ends
        Last rank of each cell; a cell begins after the end before it (its look's first cell at rank 1).
        A pilot item belongs to no cell: its end is its own rank.
    ranks
        The rank drawn from the cell.
    probabilities
        With which the cell's law drew that rank; 0 for pilot items, which enter no estimate.
    look
        0 for the pilot, then 1, 2, ...
    tilt
        How the cell's law leans towards proxy classes: four bits a class; 0 is the uniform law.
    new
        Whether the rank is to be labelled now; a later look keeps the draws of the look before it.
    classes
        Proxy class of the drawn item.
    counts
        How many items of the cell have each proxy class, a column a class: with it the bounds can be read from the
        cells alone, without the proxy.
    """

    ends: NDArray[np.int64]
    ranks: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    look: NDArray[np.int64]
    tilt: NDArray[np.int64]
    new: NDArray[np.bool_]
    classes: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name in self.__slots__:
            array = getattr(self, name).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.ends)

    def part(self, chosen: NDArray[np.bool_] | slice) -> Cells:
        """Return some of the cells."""
        return Cells(**{name: getattr(self, name)[chosen] for name in self.__slots__})

    @staticmethod
    def joined(parts: list[Cells]) -> Cells:
        """Return several batches as one."""
        names = Cells.__slots__
        return Cells(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    @staticmethod
    def none() -> Cells:
        """Return no cells."""
        whole = np.empty(0, np.int64)
        return Cells(
            ends=whole,
            ranks=whole,
            probabilities=np.empty(0),
            look=whole,
            tilt=whole,
            new=np.empty(0, np.bool_),
            classes=whole,
            counts=np.empty((0, 1), np.int64),
        )


class Drawn(NamedTuple):
    """What the evaluation needs to know of the cells of one look (columns of equal length, in rank order)."""

    ends: NDArray[np.int64]
    classes: NDArray[np.int64]
    counts: NDArray[np.int64]
    tilt: NDArray[np.int64]


@njit(cache=True)
def class_weight(tilt: int, klass: int) -> float:
    """Return the weight with which a cell's law draws an item of a class (equal weights: uniform)."""
    return _WEIGHT_FLOOR + (1.0 - _WEIGHT_FLOOR) * ((tilt >> (4 * klass)) & 15) / _TILT_STEPS


@njit(cache=True)
def tilt_towards(deviations: NDArray[np.float64]) -> int:
    """Return the tilt whose weights follow the classes' standard deviations, floored; 0 for a single class."""
    if len(deviations) == 1:
        return 0
    largest = deviations.max()
    lowest = 15
    tilt = 0
    for klass in range(len(deviations)):
        share = (deviations[klass] / largest - _WEIGHT_FLOOR) / (1.0 - _WEIGHT_FLOOR)
        step = int(max(share, 0.0) * _TILT_STEPS + 0.5)
        lowest = min(lowest, step)
        tilt |= step << (4 * klass)
    return 0 if lowest == _TILT_STEPS else tilt


@njit(cache=True)
def count_classes(proxy: NDArray[np.uint8], start: int, end: int, counts: NDArray[np.int64]) -> None:
    """Write into ``counts`` how many of the ranks start+1..end have each proxy class."""
    counts[:] = 0
    if len(proxy) == 0:
        counts[0] = end - start
    else:
        for place in range(start, end):
            counts[proxy[place]] += 1


@njit(cache=True)
def draw_probability(counts: NDArray[np.int64], tilt: int, klass: int) -> float:
    """Return the probability with which a cell with these class counts draws one given item of a class."""
    total = 0.0
    for other in range(len(counts)):
        total += counts[other] * class_weight(tilt, other)
    return class_weight(tilt, klass) / total
