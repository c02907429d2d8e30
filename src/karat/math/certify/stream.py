"""Random numbers by counter: each is a function of (seed, look, place, purpose), so nothing is drawn twice.

Batching, resuming and stopping therefore never change a draw, and two looks never share a stream.
"""

from __future__ import annotations

import numpy as np
from numba import njit

PURPOSE_PILOT = 1
PURPOSE_DRAW = 2
PURPOSE_SPLIT = 3
PURPOSE_LABEL = 4

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_MIX = np.uint64(0x94D049BB133111EB)


@njit(cache=True)
def _scramble(word: np.uint64) -> np.uint64:
    """One step of splitmix64 (Steele, Lea and Flood 2014): a bijection of 64-bit words that mixes all bits."""
    word = word + _GOLDEN
    word = (word ^ (word >> np.uint64(30))) * _FIRST_MIX
    word = (word ^ (word >> np.uint64(27))) * _SECOND_MIX
    return word ^ (word >> np.uint64(31))


@njit(cache=True)
def uniform(seed: int, look: int, place: int, purpose: int) -> float:
    """Return the number in [0, 1) that belongs to this seed, look, place and purpose."""
    word = _scramble(np.uint64(seed))
    word = _scramble(word ^ np.uint64(look * 16 + purpose))
    word = _scramble(word ^ np.uint64(place))
    return float(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)
