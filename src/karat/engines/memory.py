"""The engine for what fits into memory, and the oracle for all others: it simply sorts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from karat import _check
from karat.engines.base import Fingerprint, Items, check_thresholds, hash_ids, require_ranks
from karat.engines.keys import LinearKey, whole_numbers
from karat.math.proxy import make_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from karat.draws import Id
    from karat.math.path import Floats, Ranks


class Table(Protocol):
    """What the engine needs of a table: `FileTable` and `FrameTable` have it."""

    name: str
    columns: list[str]
    n_rows: int

    @property
    def paths(self) -> Sequence[str]: ...
    def require(self, column: str) -> None: ...
    def numbers(self, column: str) -> NDArray[np.float64]: ...
    def texts(self, column: str) -> list[Any]: ...
    def id_numbers(self, column: str | None) -> tuple[NDArray[np.int64], bool]: ...
    def rows(self, positions: NDArray[np.int64], columns: Sequence[str] | None = None) -> list[dict[str, Any]]: ...


class MemoryEngine:
    """Ranks a table by one column."""

    def __init__(
        self,
        table: Table,
        *,
        score: str,
        id: str | None = None,
        seed: int = 0,
        higher_is_better: bool = True,
    ) -> None:
        self.table = table
        self.seed = _check.whole("seed", seed)
        self._score, self._id, self._higher = score, id, higher_is_better
        if id is not None:
            table.require(id)
        self._scores = table.numbers(score)
        numbers, self._ids_are_whole = table.id_numbers(id)
        self._numbers = numbers
        self._texts: list[Any] | None = None
        self.n_items = table.n_rows
        ranked = self._scores if higher_is_better else -self._scores
        self._positions = order_items(ranked, numbers, seed=self.seed)
        if not self._ids_are_whole:
            self._separate_collisions(ranked)

    @property
    def positions(self) -> NDArray[np.int64]:
        """The row of each rank: the first row is 0, the first rank stands first."""
        return self._positions

    def describe(self) -> dict[str, Any]:
        return {
            "source": list(self.table.paths),
            "score": self._score,
            "id": self._id,
            "higher_is_better": self._higher,
            "fingerprint": self._fingerprint.to_dict(),
        }

    @cached_property
    def _fingerprint(self) -> Fingerprint:
        lowest, highest = float(self._scores.min()), float(self._scores.max())
        key = LinearKey.between(lowest, highest)
        counts = np.bincount(key.of(self._scores, None, whole=whole_numbers), minlength=2**key.bits)
        return Fingerprint.of_counts(counts, lowest=lowest, highest=highest)

    def ids_at(self, ranks: Ranks) -> list[Id]:
        require_ranks(ranks, self.n_items)
        positions = self._positions[ranks - 1]
        if self._ids_are_whole:
            return [int(number) for number in self._numbers[positions]]
        if self._texts is None:
            self._texts = self.table.texts(str(self._id))
        return [str(self._texts[position]) for position in positions]

    def items_at(self, ranks: Ranks) -> Items:
        require_ranks(ranks, self.n_items)
        positions = self._positions[ranks - 1]
        others = [name for name in self.table.columns if name not in {self._score, self._id}]
        payload = self.table.rows(positions, others) if others else [{} for _ in ranks]
        return Items(ranks, self.ids_at(ranks), self._scores[positions], payload)

    def scores_at(self, ranks: Ranks) -> Floats:
        return self._scores[self._positions[ranks - 1]]

    def ranks_of(self, scores: ArrayLike) -> Ranks:
        sign = -1 if self._higher else 1
        best_first = sign * self._scores[self._positions]
        return np.searchsorted(best_first, sign * check_thresholds(scores), side="right").astype(np.int64)

    def classes(self, column: str) -> NDArray[np.uint8]:
        """Return a proxy column as one small class an item, in rank order."""
        return make_classes(self.table.numbers(column))[self._positions]

    def segments(self, column: str) -> tuple[NDArray[np.int64], list[str]]:
        """Return the segment of each item by number, in rank order, and the names of the segments."""
        self.table.require(column)
        found: dict[str, int] = {}  # an array of texts would give every row the width of the longest
        texts = ("" if text is None else str(text) for text in self.table.texts(column))
        codes = np.fromiter((found.setdefault(text, len(found)) for text in texts), np.int64, count=self.n_items)
        names = sorted(found)
        places = np.empty(len(names), dtype=np.int64)
        places[[found[name] for name in names]] = np.arange(len(names))
        return places[codes[self._positions]], names

    def _separate_collisions(self, scores: Floats) -> None:
        """Put text ids with the same score and the same hash into their own order."""
        order = self._positions
        hashes = hash_ids(self._numbers[order], seed=self.seed)
        same = (scores[order][1:] == scores[order][:-1]) & (hashes[1:] == hashes[:-1])
        edges = np.flatnonzero(np.diff(np.r_[False, same, False]))
        for start, last in zip(edges[::2], edges[1::2], strict=True):
            rows = order[start : last + 1]
            texts = [str(row[str(self._id)]).encode() for row in self.table.rows(rows, [str(self._id)])]
            order[start : last + 1] = rows[sorted(range(len(texts)), key=texts.__getitem__)]


def order_items(scores: Floats, numbers: NDArray[np.int64], *, seed: int) -> NDArray[np.int64]:
    """Return the rows by rank: score descending, then the seeded hash, then (for whole-number ids) the id."""
    order = np.argsort(-scores, kind="stable")
    tied = scores[order][1:] == scores[order][:-1]
    if tied.any():
        members = np.flatnonzero(np.r_[tied, False] | np.r_[False, tied])  # places that share their score with another
        rows = order[members]
        hashes = hash_ids(numbers[rows], seed=seed)
        order[members] = rows[np.lexsort((numbers[rows], hashes, -scores[rows]))]
    return order
