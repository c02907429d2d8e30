"""Exact metrics of a labelled resource of any size: buckets instead of a sort, slabs instead of all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from karat import _check
from karat.engines.bins import changed_meanwhile
from karat.engines.frames import FrameLabels
from karat.engines.keys import LinearKey
from karat.engines.sql import SqlLabels
from karat.exact_curve import LabelledCurve, curve_points, cut_metrics
from karat.formats.scans import ScannedFiles
from karat.math import buckets, ranking
from karat.math.ranking import Ranking
from karat.resources import find_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from karat.engines.base import Watch
    from karat.math.path import Floats, Ranks
    from karat.math.ranking import Ties

MEMORY_ROWS = 2**27
"""Scores held at once: 1 GB."""
BUCKET_BITS = 12
"""4,096 buckets: few enough to fill side by side in the cache."""
N_BLOCKS = 50
"""Stretches in which the shape of the curve is looked at, as in `karat.math.ranking`."""


class LabelScanner(Protocol):
    """Reads scores and labels from one end to the other."""

    name: str
    n_rows: int
    """Known once the extent is."""

    def extent(self) -> tuple[float, float]: ...
    def count(self, key: LinearKey) -> NDArray[np.int64]: ...
    def count_positives(self) -> int: ...
    def read(self, key: LinearKey, first: int, last: int) -> Iterator[tuple[Floats, NDArray[np.uint8]]]: ...

    def refuse_bad_scores(self) -> None:
        """Raise if a score is no finite number, naming the first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCurve(LabelledCurve):
    """A fully labelled ranking, measured without holding it: the face of `ExactCurve`, the same numbers."""

    n_items: int
    n_positives: int
    ties: Ties
    sums: Mapping[str, float]
    best: tuple[float, float, int]
    scores: Floats
    """Points of the curve, those of extreme precision in each of 4,096 steps of score among them."""
    ranks: Ranks
    hits: Ranks
    blocks: Ranking
    """Positives at the ends of equal stretches of the list."""
    cuts: Mapping[int, tuple[float, float]]
    """Items kept and positives among them at the ranks that were asked for."""

    @property
    def base_rate(self) -> float:
        return self.n_positives / self.n_items

    def average_precision(self) -> float:
        ranking.require_positives(self.blocks, "average precision")
        return self.sums["average_precision" if self.ties == "threshold" else "average_precision_random"]

    def roc_auc(self) -> float:
        ranking.require_positives(self.blocks, "ROC AUC")
        ranking.require_negatives(self.blocks, "ROC AUC")
        return self.sums["roc_auc"]

    def best_f1(self) -> dict[str, float]:
        """Return the best F1 with its threshold and rank."""
        ranking.require_positives(self.blocks, "F1")
        f1, threshold, rank = self.best
        return {"f1": f1, "threshold": threshold, "rank": rank}

    def at(self, rank: int, *, positives: int | None = None, beta: float = 1.0) -> dict[str, float | None]:
        """Return everything at a cut after ``rank`` items; the rank must have been asked for when measuring."""
        if rank not in self.cuts:
            raise _check.refuse("rank", "one that was given as 'at' when the resource was read", rank)
        total = self.n_positives if positives is None else _check.whole("positives", positives, least=self.n_positives)
        kept, hits = self.cuts[rank]
        return cut_metrics(kept, hits, n_items=self.n_items, n_positives=self.n_positives, total=total, beta=beta)

    def points(self, most: int | None = None) -> dict[str, NDArray[Any]]:
        """Return points of the curve, or about ``most`` of them with those of extreme precision."""
        keep = slice(None) if most is None else ranking.thin_curve(self.ranks, self.hits, most=most)
        return curve_points(
            self.scores[keep], self.ranks[keep], self.hits[keep], n_items=self.n_items, n_positives=self.n_positives
        )

    def summary(self, at: Sequence[int] = ()) -> dict[str, Any]:
        """Return all single numbers; None where one is undefined."""
        has_both = 0 < self.n_positives < self.n_items
        ideal = ranking.discount_until(self.n_positives)
        return {
            "n_items": self.n_items,
            "n_positives": self.n_positives,
            "base_rate": self.base_rate,
            "ties": self.ties,
            "n_distinct_scores": None,
            "average_precision": self.average_precision() if self.n_positives else None,
            "roc_auc": self.roc_auc() if has_both else None,
            "best_f1": self.best_f1() if self.n_positives else None,
            "dcg": self.sums["dcg"],
            "ndcg": self.sums["dcg"] / ideal if self.n_positives else None,
            "recall_concave_until": ranking.concave_until(self.blocks),
            "precision_falls_until": ranking.precision_falls_until(self.blocks),
            "at": [self.at(rank) for rank in at],
        }


def measure(
    source: Any,
    *,
    score: str,
    label: str,
    ties: Ties = "threshold",
    higher_is_better: bool = True,
    at: Sequence[int] = (),
    memory_rows: int = MEMORY_ROWS,
    memory_limit: str | None = None,
    spill_directory: str | Path | None = None,
    watch: Watch | None = None,
) -> MeasuredCurve:
    """Measure a resource whose labels are all known and which may be larger than memory.

    Parameters
    ----------
    source
        Files by name, glob or list, or a table (pandas, Polars, PyArrow, PySpark, Ibis, DuckDB).
    score, label
        The columns to rank by and with 1 (right) or 0 (wrong).
    at
        Ranks whose metrics will be asked for.
    memory_rows
        How many scores to hold at once (8 bytes each); a larger resource is read several times, a slab of scores each.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame({"score": range(10, 0, -1), "label": [1, 0, 0, 1, 0, 0, 0, 1, 0, 0]})
    >>> measure(table, score="score", label="label").average_precision()
    0.625
    """
    _check.one_of("ties", ties, ("threshold", "random"))
    memory_rows = _check.whole("memory_rows", memory_rows, least=1, most=2**31 - 1)
    paths = find_paths(source)
    scanner: LabelScanner
    if paths is None:
        scanner = FrameLabels(source, score=score, label=label, watch=watch)
    else:
        table = ScannedFiles(paths, memory_limit=memory_limit, spill_directory=spill_directory, watch=watch)
        scanner = SqlLabels(table, score=score, label=label)
    return _measure(scanner, ties=ties, higher_is_better=higher_is_better, at=at, memory_rows=memory_rows)


def _measure(
    scanner: LabelScanner, *, ties: Ties, higher_is_better: bool, at: Sequence[int], memory_rows: int
) -> MeasuredCurve:
    lowest, highest = scanner.extent()
    key = LinearKey.between(lowest, highest, bits=BUCKET_BITS)
    n_items = scanner.n_rows
    cuts = [_check.whole("rank", rank, least=1, most=n_items) for rank in at]
    edges = np.unique(np.linspace(0, n_items, N_BLOCKS + 1).astype(np.int64))[1:]
    marks = np.unique(np.r_[edges, np.array(cuts, dtype=np.int64)])
    slabs = list(_slabs(scanner, key, memory_rows, higher_is_better=higher_is_better))
    n_positives = scanner.count_positives() if len(slabs) > 1 else None
    found: list[buckets.Totals] = []
    rankings: dict[int, Ranking] = {}
    items_before = positives_before = 0
    for slab in slabs:
        store = _read_slab(scanner, key, slab, higher_is_better=higher_is_better)
        starts = items_before + np.r_[0, np.cumsum(store.counts.sum(axis=1))]
        hits = positives_before + np.r_[0, np.cumsum(store.counts[:, 1])]
        found.append(
            buckets.add_up(store, items_before=items_before, positives_before=positives_before,
                           n_positives=int(hits[-1]) if n_positives is None else n_positives)
        )  # fmt: skip
        for mark in marks[(marks > starts[0]) & (marks <= starts[-1])]:
            bucket = int(np.searchsorted(starts, mark)) - 1
            rankings[int(mark)] = buckets.rank_bucket(
                store, bucket, items_before=int(starts[bucket]), positives_before=int(hits[bucket])
            )
        items_before, positives_before = int(starts[-1]), int(hits[-1])
    exact_hits = {
        mark: float(ranking.hits_at(own, np.array([mark]), ties="random")[1][0]) for mark, own in rankings.items()
    }
    kept = {
        rank: tuple(float(values[0]) for values in ranking.hits_at(rankings[rank], np.array([rank]), ties=ties))
        for rank in cuts
    }
    return MeasuredCurve(
        n_items=n_items,
        n_positives=positives_before,
        ties=ties,
        sums=_divide(np.concatenate([totals.sums for totals in found]), n_items, positives_before),
        best=max((totals.best for totals in found), key=lambda best: (best[0], -best[2])),
        **_points(found, n_items=n_items, n_positives=positives_before, last=lowest if higher_is_better else highest),
        blocks=Ranking(
            np.zeros(len(edges) + 1), np.r_[0, edges], np.array([0, *(exact_hits[int(edge)] for edge in edges)])
        ),
        cuts=kept,  # type: ignore[arg-type]
    )


class Slab(NamedTuple):
    """Keys from first to last, and how many rows have them."""

    first: int
    last: int
    n_rows: int


def _slabs(scanner: LabelScanner, key: LinearKey, memory_rows: int, *, higher_is_better: bool) -> Iterator[Slab]:
    """Yield ranges of keys, best first, that hold at most so many rows each (or are a single key)."""
    n_keys = 2**key.bits
    if scanner.n_rows <= memory_rows:
        yield Slab(0, n_keys - 1, scanner.n_rows)
        return
    keys = np.arange(n_keys)[:: -1 if higher_is_better else 1]
    ends = np.cumsum(scanner.count(key)[keys])
    if ends[-1] != scanner.n_rows:
        raise changed_meanwhile(scanner.name)
    start, done = 0, 0
    while start < n_keys:
        stop = max(int(np.searchsorted(ends, done + memory_rows, side="right")), start + 1)
        piece = keys[start:stop]
        yield Slab(int(piece.min()), int(piece.max()), int(ends[stop - 1]) - done)
        start, done = stop, int(ends[stop - 1])


def _read_slab(scanner: LabelScanner, key: LinearKey, slab: Slab, *, higher_is_better: bool) -> buckets.Store:
    store = buckets.Store.empty(slab.n_rows, slab.last - slab.first + 1, higher_is_better=higher_is_better)
    room = (store.items, store.cursor, store.owner, store.n_used)
    place = (key.unit, key.low, key.scale, slab.first)
    for scores, labels in scanner.read(key, slab.first, slab.last):
        if not buckets.fill(*room, scores, labels, *place):
            scanner.refuse_bad_scores()
            raise changed_meanwhile(scanner.name)
    store.seal()
    if store.counts.sum() != slab.n_rows:
        raise changed_meanwhile(scanner.name)
    return store


def _divide(sums: Floats, n_items: int, n_positives: int) -> dict[str, float]:
    precision, at_random, wrong_pairs, discounted = sums.sum(axis=0)
    positives, pairs = max(n_positives, 1), max(n_positives * (n_items - n_positives), 1)
    return {
        "average_precision": float(precision / positives),
        "average_precision_random": float(at_random / positives),
        "roc_auc": float(1 - wrong_pairs / pairs),
        "dcg": float(discounted),
    }


def _points(found: Sequence[buckets.Totals], *, n_items: int, n_positives: int, last: float) -> dict[str, Any]:
    scores = np.concatenate([*(totals.scores.ravel() for totals in found), [last]])
    ranks = np.concatenate([*(totals.ranks.ravel() for totals in found), [n_items]])
    hits = np.concatenate([*(totals.hits.ravel() for totals in found), [n_positives]])
    order = np.argsort(ranks, kind="stable")
    distinct = order[np.diff(ranks[order], prepend=0) > 0]
    return {"scores": scores[distinct], "ranks": ranks[distinct], "hits": hits[distinct]}
