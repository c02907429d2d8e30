"""Keys: arithmetic on a score that keeps its order, so that few distinct keys split a list into consecutive bins.

Each key is written once, with operators only, and evaluated on numpy arrays, on columns of a table library and on SQL.
All are non-decreasing in the score because every single step is: IEEE subtraction of a constant, multiplication by a
positive constant, floor, and rounding to fewer bits never swap two numbers. They may merge scores, never reverse them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from karat.engines.base import HASH_BITS, hash_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.math.path import Floats

COARSE_BITS = 16
MOST_SUB_BINS = 2**16
"""How many bins a finer look gives in all, about: counting more would cost more than the rows that it spares."""

_DOUBLE_BITS = 53


class Key(Protocol):
    """Splits scores (or, in a tie, hashes of ids) into ordered bins."""

    whole: ClassVar[bool]
    """Whether its values are whole numbers."""
    of_ties: ClassVar[bool]
    """Whether it looks at the id, not at the score."""

    @property
    def bits(self) -> int:
        """About how many bits its values have."""
        ...

    def of(self, score: Any, number: Any, *, whole: Callable[[Any], Any]) -> Any:
        """Return the key; ``whole`` turns a number into the integer below it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearKey:
    """Equal steps from the lowest to the highest score: ``floor((score * unit - low) * scale)``.

    ``unit`` is a power of two, 1 unless the scores are so large or so small that the steps would over- or underflow.
    A key of twice the scale halves each step exactly, because a product with a power of two is not rounded.
    """

    whole: ClassVar[bool] = True
    of_ties: ClassVar[bool] = False
    unit: float
    low: float
    scale: float
    bits: int

    @classmethod
    def between(cls, lowest: float, highest: float, *, bits: int = COARSE_BITS) -> LinearKey:
        """Return the key with 2^bits steps; the highest score has the last one to itself.

        Examples
        --------
        >>> LinearKey.between(0.0, 1.0).of(np.array([0.0, 0.5, 1.0]), None, whole=whole_numbers)
        array([    0, 32767, 65535])
        """
        largest = max(abs(lowest), abs(highest))
        unit = 1.0 if largest == 0 or 1e-200 < largest < 1e200 else math.ldexp(1.0, min(-math.frexp(largest)[1], 1000))
        low = lowest * unit
        width = highest * unit - low
        return cls(unit=unit, low=low, scale=(2**bits - 1) / width if width > 0 else 0.0, bits=bits)

    def of(self, score: Any, number: Any, *, whole: Callable[[Any], Any]) -> Any:  # noqa: ARG002
        scaled = score if self.unit == 1.0 else score * self.unit
        return whole((scaled - self.low) * self.scale)

    def finer(self, bits: int) -> LinearKey:
        """Return the key that cuts each step of this one into 2^bits."""
        return LinearKey(unit=self.unit, low=self.low, scale=self.scale * 2**bits, bits=self.bits + bits)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedKey:
    """The score rounded to a few bits of its mantissa, whatever its size (Veltkamp's splitting).

    ``s * c - (s * c - s)`` with ``c = 2^(53 - bits) + 1`` is s rounded to the nearest number of that many bits (Boldo
    2006), and rounding to nearest keeps the order. ``unit`` keeps ``s * c`` from overflowing.
    """

    whole: ClassVar[bool] = False
    of_ties: ClassVar[bool] = False
    unit: float
    bits: int

    @classmethod
    def below(cls, largest: float, *, bits: int) -> RoundedKey:
        return cls(unit=1.0 if largest < 1e280 else 2.0**-100, bits=bits)

    def of(self, score: Any, number: Any, *, whole: Callable[[Any], Any]) -> Any:  # noqa: ARG002
        scaled = score if self.unit == 1.0 else score * self.unit
        factor = 2.0 ** (_DOUBLE_BITS - self.bits) + 1
        return scaled * factor - (scaled * factor - scaled)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreKey:
    """The score itself: what is still together has equal scores."""

    whole: ClassVar[bool] = False
    of_ties: ClassVar[bool] = False
    bits: int = 64

    def of(self, score: Any, number: Any, *, whole: Callable[[Any], Any]) -> Any:  # noqa: ARG002
        return score * 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TieKey:
    """The leading bits of the seeded hash of the id, which orders equal scores.

    The coarse step of the score stands before them, so that one value belongs to (nearly always) one score.
    """

    whole: ClassVar[bool] = True
    of_ties: ClassVar[bool] = True
    step: LinearKey
    seed: int
    hash_bits: int

    @property
    def bits(self) -> int:
        return self.step.bits + self.hash_bits

    def of(self, score: Any, number: Any, *, whole: Callable[[Any], Any]) -> Any:
        hashed = hash_numbers(number, seed=self.seed)
        leading = hashed if self.hash_bits == HASH_BITS else hashed // 2 ** (HASH_BITS - self.hash_bits)
        return self.step.of(score, number, whole=whole) * 2**self.hash_bits + leading


def next_key(key: Key, *, step: LinearKey, tied: bool, n_bins: int, seed: int, largest: float) -> Key | None:
    """Return a key that can split bins which this one left too full; None if nothing can.

    ``step`` is the key that the bins were counted by first.
    """
    more = max(MOST_SUB_BINS // max(n_bins, 1), 16).bit_length() - 1
    if isinstance(key, TieKey) and key.hash_bits == HASH_BITS:
        return None
    if tied:
        known = key.hash_bits if isinstance(key, TieKey) else 0
        return TieKey(step=step, seed=seed, hash_bits=min(known + more, HASH_BITS))
    if isinstance(key, LinearKey) and key.bits == COARSE_BITS:
        return key.finer(min(more, COARSE_BITS))
    if isinstance(key, LinearKey):  # equal steps did not help: some scores are far larger than most
        return RoundedKey.below(largest, bits=12)
    if isinstance(key, RoundedKey) and key.bits + more < _DOUBLE_BITS:
        return RoundedKey.below(largest, bits=key.bits + more)
    return ScoreKey()


def whole_numbers(values: Floats) -> Any:
    """Return the integers below numpy values."""
    return np.floor(values).astype(np.int64)
