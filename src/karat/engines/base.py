"""What an engine can do, and the order of items that all engines share.

Order: score descending, then a seeded hash of the id (so that ties are broken in a way that has nothing to do with the
labels), then the id itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.draws import Id
    from karat.math.path import Floats, Ranks

_PRIME = 2**31 - 1
_FACTOR = 48271


class Items(NamedTuple):
    """Items at some ranks."""

    ranks: Ranks
    ids: list[Id]
    scores: Floats
    payload: list[dict[str, Any]]
    """The other columns of each item."""


class Engine(Protocol):
    """A ranked resource."""

    n_items: int
    seed: int

    def describe(self) -> dict[str, Any]:
        """Return where the items are and what they look like, for the head of a draw."""
        ...

    def ids_at(self, ranks: Ranks) -> list[Id]: ...

    def items_at(self, ranks: Ranks) -> Items: ...

    def classes(self, column: str) -> NDArray[np.uint8]:
        """Return a proxy column as one small class an item, in rank order."""
        ...


def hash_ids(numbers: NDArray[np.int64], *, seed: int) -> NDArray[np.int64]:
    """Return a seeded hash in [0, 2^31 - 1) of whole-number ids, in arithmetic that every engine can do."""
    words = np.random.SeedSequence(seed).generate_state(2)
    multiplier, shift = int(words[0]) % (_PRIME - 1) + 1, int(words[1]) % _PRIME
    mixed: NDArray[np.int64] = (np.mod(numbers, _PRIME) * multiplier + shift) % _PRIME
    hashed: NDArray[np.int64] = ((mixed * mixed) % _PRIME * _FACTOR + mixed) % _PRIME
    return hashed
