"""The engine for what does not fit into memory: ranks to items in a few scans, without a sort.

1. One scan counts the items in 65,536 equal steps of score. The counts, from the best step down, say which ranks stand
   in which bin.
2. Bins that hold wanted ranks and too many rows (ties, clustered scores, or simply billions of items) are counted
   again with finer keys: smaller steps, then fewer bits rounded away, then the score itself, and among equal scores the
   hash of the id.
3. One scan fetches the rows of the bins that hold wanted ranks; they are put in order here.

Bins and rows stay in memory, so that a rank near an earlier one costs nothing. From the second fetch on, rows below
the wanted ones are fetched along, twice as many each time: a design that walks down the list needs few scans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from karat import _check
from karat.engines.base import (
    Fingerprint,
    Items,
    check_thresholds,
    number_texts,
    order_rows,
    require_ranks,
)
from karat.engines.bins import Bins, Branch, Histogram, Where, changed_meanwhile
from karat.engines.keys import COARSE_BITS, Key, LinearKey, TieKey, next_key, whole_numbers
from karat.errors import InvalidData, InvalidInput
from karat.math.path import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from karat.draws import Id
    from karat.math.path import Ranks

FETCHED_ROWS = 2_000_000
"""Bins are split until those that hold the wanted ranks have about this many rows."""
LOOK_AHEAD_ROWS = 4_000_000
CACHED_ROWS = 8_000_000


class Rows(NamedTuple):
    """Rows in no order; ids are int64 or texts, and a place tells the scanner where to find the row again."""

    scores: Floats
    ids: NDArray[Any]
    places: NDArray[Any]


class Scanner(Protocol):
    """Reads a resource from one end to the other."""

    name: str

    def describe(self) -> dict[str, Any]: ...

    def extent(self) -> tuple[float, float]:
        """Return the lowest and the highest score; refuse scores that are missing or not finite."""
        ...

    def count(self, key: LinearKey) -> NDArray[np.int64]:
        """Return how many rows have each key, from 0 on; refuse scores that are missing or not finite."""
        ...

    def histogram(self, where: Where, keys: Sequence[Key]) -> Histogram: ...

    def fetch(self, where: Where) -> Rows: ...

    def payload(self, places: NDArray[Any]) -> list[dict[str, Any]]:
        """Return the columns besides id and score, in the order of the places."""
        ...

    def count_from(self, scores: Floats, *, above: bool) -> NDArray[np.int64]:
        """Return how many rows score at least (or, if not ``above``, at most) each of these."""
        ...


class _Block(NamedTuple):
    """Fetched rows by rank."""

    ranks: Ranks
    rows: Rows


class ScannedEngine:
    """Ranks what a scanner reads; ``fetched_rows`` says how many rows it may fetch before it looks closer first."""

    def __init__(
        self, scanner: Scanner, *, seed: int = 0, higher_is_better: bool = True, fetched_rows: int = FETCHED_ROWS
    ) -> None:
        self.scanner = scanner
        self._fetched_rows = fetched_rows
        self.seed = _check.whole("seed", seed)
        self._higher = higher_is_better
        lowest, highest = scanner.extent()
        self._largest = max(abs(lowest), abs(highest))
        self._step = LinearKey.between(lowest, highest, bits=COARSE_BITS)
        counts = scanner.count(self._step)
        self._fingerprint = Fingerprint.of_counts(counts, lowest=lowest, highest=highest)
        self.n_items = self._fingerprint.n_items
        values = np.flatnonzero(counts)
        end = lowest if lowest == highest else np.nan
        self._bins = Bins.in_order(
            Histogram(values.astype(np.float64), counts[values], np.full(len(values), end), np.full(len(values), end)),
            Branch(key=self._step),
            higher_is_better=higher_is_better,
        )
        self._blocks: list[_Block] = []
        self._n_fetches = 0

    def describe(self) -> dict[str, Any]:
        return {
            **self.scanner.describe(),
            "higher_is_better": self._higher,
            "fingerprint": self._fingerprint.to_dict(),
        }

    def ids_at(self, ranks: Ranks) -> list[Id]:
        ids: list[Id] = self._rows_at(ranks).ids.tolist()
        return ids

    def items_at(self, ranks: Ranks) -> Items:
        rows = self._rows_at(ranks)
        return Items(ranks, rows.ids.tolist(), rows.scores, self.scanner.payload(rows.places) if len(ranks) else [])

    def scores_at(self, ranks: Ranks) -> Floats:
        return self._rows_at(ranks).scores

    def classes(self, column: str) -> NDArray[np.uint8]:
        raise InvalidInput(
            f"'proxy' needs the whole list in rank order; got {column!r} of a resource that is only scanned. "
            "Open it with engine='memory' if it fits."
        )

    def segments(self, column: str) -> tuple[NDArray[np.int64], list[str]]:
        raise InvalidInput(
            f"Segments need the whole list in rank order; got {column!r} of a resource that is only scanned. "
            "Open it with engine='memory' if it fits."
        )

    def ranks_of(self, scores: ArrayLike) -> Ranks:
        return self.scanner.count_from(check_thresholds(scores), above=self._higher)

    # --- inside

    def _rows_at(self, ranks: Ranks) -> Rows:
        ranks = np.asarray(ranks, dtype=np.int64)
        require_ranks(ranks, self.n_items)
        wanted = np.unique(ranks)
        missing = wanted[~self._is_cached(wanted)]
        if missing.size:
            self._fetch(missing)
        found = self._take(wanted)
        self._forget_oldest()
        _refuse_doubles(found.ids, self.scanner.name)
        back = np.searchsorted(wanted, ranks)
        return Rows(*(column[back] for column in found))

    def _is_cached(self, ranks: Ranks) -> NDArray[np.bool_]:
        cached = np.zeros(len(ranks), dtype=bool)
        for block in self._blocks:
            cached |= _positions(block.ranks, ranks) >= 0
        return cached

    def _take(self, wanted: Ranks) -> Rows:
        parts: list[tuple[NDArray[np.intp], Rows]] = []
        open_ = np.ones(len(wanted), dtype=bool)
        for block in reversed(self._blocks):
            positions = _positions(block.ranks, wanted)
            here = np.flatnonzero((positions >= 0) & open_)
            open_[here] = False
            parts.append((here, Rows(*(column[positions[here]] for column in block.rows))))
        if not parts:
            return Rows(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        back = np.argsort(np.concatenate([here for here, _ in parts]))
        return Rows(*(np.concatenate([rows[i] for _, rows in parts])[back] for i in range(3)))

    def _forget_oldest(self) -> None:
        while len(self._blocks) > 1 and sum(len(block.ranks) for block in self._blocks) > CACHED_ROWS:
            self._blocks.pop(0)

    def _fetch(self, ranks: Ranks) -> None:
        self._split(ranks)
        wanted = self._bins.holding(ranks)
        if self._n_fetches:
            wanted = self._look_ahead(wanted, min(2**16 * 2**self._n_fetches, LOOK_AHEAD_ROWS))
        self._n_fetches += 1
        for number in np.unique(self._bins.branch[wanted]):
            self._fetch_bins(wanted[self._bins.branch[wanted] == number])

    def _split(self, ranks: Ranks) -> None:
        """Split bins that hold wanted ranks until few enough rows are left to fetch, or nothing splits them."""
        done: set[int] = set()  # starts of bins that no key can split
        while True:
            bins = self._bins
            wanted = bins.holding(ranks)
            counts = bins.counts[wanted]
            if counts.sum() <= max(self._fetched_rows, 4 * len(ranks)):
                return
            full = counts > max(self._fetched_rows / len(wanted), 1)
            heavy = wanted[full & ~np.isin(bins.starts[wanted], list(done))]
            if not heavy.size:
                return
            unseen = heavy[np.isnan(bins.lowest[heavy])]
            if bins.counts[unseen].sum() > self.n_items / 4:  # much in few bins: perhaps equal scores
                self._look_for_ties(unseen)
                continue
            tied = bins.lowest[heavy] == bins.highest[heavy]
            number, is_tied = int(bins.branch[heavy[0]]), bool(tied[0])
            same = heavy[(bins.branch[heavy] == number) & (tied == is_tied)]
            parent = bins.branches[number]
            key = next_key(
                parent.key, step=self._step, tied=is_tied, n_bins=len(same), seed=self.seed, largest=self._largest
            )
            if key is None:
                done.update(bins.starts[same].tolist())
                continue
            branch = Branch(key=key, parent=parent, split=bins.values[same])
            found = self.scanner.histogram(parent.where(bins.values[same]), branch.path())
            self._bins = bins.replaced(same, found, branch, higher_is_better=self._higher, name=self.scanner.name)

    def _look_for_ties(self, unseen: NDArray[np.intp]) -> None:
        """Find the lowest and the highest score of coarse bins."""
        branch = self._bins.branches[0]
        found = self.scanner.histogram(branch.where(self._bins.values[unseen]), branch.path())
        self._bins = self._bins.with_ends(unseen, found, name=self.scanner.name)

    def _look_ahead(self, wanted: NDArray[np.intp], n_rows: int) -> NDArray[np.intp]:
        """Add the bins that follow the last wanted one, up to a number of rows."""
        first = int(wanted[-1]) + 1
        inside = np.cumsum(self._bins.counts[first : first + n_rows]) <= n_rows
        ahead = np.arange(first, first + int(inside.sum()))
        new = ahead[~self._is_cached(self._bins.starts[ahead] + 1)]
        return np.concatenate([wanted, new])

    def _fetch_bins(self, wanted: NDArray[np.intp]) -> None:
        """Fetch the rows of bins of one branch, put them in order and remember them by rank."""
        bins = self._bins
        branch = bins.branches[int(bins.branch[wanted[0]])]
        rows = self.scanner.fetch(branch.where(bins.values[wanted]))
        if branch.parent is not None:  # keys of several levels together may let rows of other bins through
            rows = Rows(*(column[self._belong(rows, wanted, branch.key)] for column in rows))
        order = order_rows(rows.scores if self._higher else -rows.scores, rows.ids, seed=self.seed)
        starts, counts = bins.starts[wanted], bins.counts[wanted]
        if len(order) != counts.sum():
            raise changed_meanwhile(self.scanner.name)
        offsets = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        ranks = np.repeat(starts, counts) + offsets + 1
        self._blocks.append(_Block(ranks, Rows(*(column[order] for column in rows))))

    def _belong(self, rows: Rows, wanted: NDArray[np.intp], key: Key) -> NDArray[np.bool_]:
        """Say which rows lie inside one of the bins."""
        if not isinstance(key, TieKey):
            return self._bins.contain(wanted, rows.scores)
        numbers = number_texts(rows.ids.tolist()) if rows.ids.dtype == object else rows.ids
        ties: NDArray[np.int64] = key.of(rows.scores, numbers, whole=whole_numbers)
        return self._bins.contain(wanted, rows.scores, ties=ties)


def _positions(ranks: Ranks, wanted: Ranks) -> NDArray[np.int64]:
    """Return where wanted ranks stand in sorted ones, -1 where they do not."""
    place = np.searchsorted(ranks, wanted).clip(0, len(ranks) - 1)
    return np.where(ranks[place] == wanted, place, -1)


def _refuse_doubles(ids: NDArray[Any], name: str) -> None:
    texts = ids.tolist()
    if len(set(texts)) == len(texts):
        return
    seen: set[Any] = set()
    for text in texts:
        if text in seen:
            raise InvalidData(f"{name}: expected ids that differ; got {text!r} twice among the drawn items.")
        seen.add(text)
