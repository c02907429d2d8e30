"""How good is each segment? Precision by predicate, language or source, from labels drawn for the whole list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.designs import catalogue
from karat.math.sampled import Answers, Groups, bound_totals
from karat.results import Guarantee, Interval, Tabular, freeze, html_block, or_null
from karat.showing import range_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from karat.draws import Draw, Labels
    from karat.engines.base import Engine
    from karat.math.path import Floats, Ranks

MOST_SEGMENTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices(Tabular):
    """The precision of every segment, with bounds that all hold at once; the largest segments first."""

    by: str
    names: tuple[str, ...]
    n_items: Ranks
    """Items of each segment, among the first ``rank``."""
    n_labels: Ranks
    estimate: Floats
    low: Floats
    high: Floats
    rank: int
    confidence_level: float
    method: str
    notes: tuple[str, ...] = ()
    guarantee: Guarantee = "finite-sample"
    simultaneous: bool = True

    def __post_init__(self) -> None:
        for name in ("n_items", "n_labels", "estimate", "low", "high"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.names)

    def at(self, name: str) -> Interval:
        """Return the precision of one segment."""
        place = self.names.index(_check.one_of("name", name, self.names))
        return Interval(
            name=f"precision of {self.by} = {name}",
            estimate=float(self.estimate[place]),
            low=float(self.low[place]),
            high=float(self.high[place]),
            estimated=bool(self._is_known[place]),
            confidence_level=self.confidence_level,
            guarantee=self.guarantee,
            simultaneous=self.simultaneous,
            method=self.method,
            n_labels=int(self.n_labels[place]),
        )

    def points(self) -> dict[str, NDArray[Any]]:
        """Return a row a segment, by column; that of the names is "segment" where ``by`` is the name of another.

        The estimate of a segment of which nothing is known is NaN.
        """
        numbers: dict[str, NDArray[Any]] = {
            "n_items": self.n_items,
            "n_labels": self.n_labels,
            "precision": np.where(self._is_known, self.estimate, np.nan),
            "precision_low": self.low,
            "precision_high": self.high,
        }
        return {"segment" if self.by in numbers else self.by: np.array(self.names), **numbers}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values."""
        columns = self.points()
        rows = [
            dict(zip(columns, row, strict=True)) for row in zip(*(or_null(c) for c in columns.values()), strict=True)
        ]
        return {
            "by": self.by,
            "rank": self.rank,
            "method": self.method,
            "confidence_level": self.confidence_level,
            "guarantee": self.guarantee,
            "simultaneous": self.simultaneous,
            "notes": list(self.notes),
            "segments": rows,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a forest plot: an interval a segment, the largest on top."""
        from karat import plotting  # noqa: PLC0415

        whole = float(np.sum(self.estimate * self.n_items) / max(self.n_items.sum(), 1))
        title = "" if ax is not None else f"Precision by {self.by}; all intervals hold at once at {self._level}"
        labels = [f"{name} ({count:,})" for name, count in zip(self.names, self.n_items.tolist(), strict=True)]
        return plotting.draw_forest(
            labels, self.estimate, self.low, self.high, line=whole, ax=ax, title=title, shown=self._is_known
        )

    @property
    def _is_known(self) -> NDArray[np.bool_]:
        """Which segments are bounded by more than 0 and 1."""
        return (self.low > 0) | (self.high < 1)

    @property
    def _level(self) -> str:
        return f"{self.confidence_level:.0%} confidence"

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [
            f"Precision by {self.by} among the top {self.rank:,}; all {len(self)} intervals hold at once, {self._level}"
        ]
        for place, name in enumerate(self.names):
            interval = range_text(self.at(name))
            lines.append(f"{name:<{width}}  {interval}  {self.n_items[place]:,} items, {self.n_labels[place]:,} labels")
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        return html_block(str(self))


def slice_precision(
    engine: Engine,
    draw: Draw,
    labels: Labels,
    *,
    by: str,
    rank: int | None = None,
    confidence_level: float | None = None,
) -> Slices:
    """Bound the precision of every segment of the first ``rank`` items, from labels drawn for the whole list.

    Without ``rank``, as far as the draw goes. The number of segments is accounted for: with probability
    ``confidence_level`` all bounds hold. It is that of the draw unless said otherwise.

    Examples
    --------
    >>> import pandas, karat
    >>> facts = pandas.DataFrame({"score": range(40), "source": ["web", "book"] * 20, "right": [1, 1, 0, 1] * 10})
    >>> study = karat.Study(karat.open(facts, score="score"), karat.Point(labels=40))
    >>> study.tell({id: facts["right"][id - 1] for id in study.ask().ids})
    >>> print(study.slices("source"))
    Precision by source among the top 40; all 2 intervals hold at once, 95% confidence
    book  1.000 [1.000, 1.000]  20 items, 20 labels
    web   0.500 [0.500, 0.500]  20 items, 20 labels
    """
    method = catalogue.make_method(draw.method, **draw.parameters)
    cut = method.goes_to(draw.n_items) if rank is None else _check.whole("rank", rank, least=1, most=draw.n_items)
    level = draw.parameters.get("confidence_level", 0.95) if confidence_level is None else confidence_level
    level = _check.fraction("confidence_level", level)
    codes, names = engine.segments(by)
    kept = np.unique(codes[:cut])
    if len(kept) > MOST_SEGMENTS:
        raise _check.refuse("by", f"a column with at most {MOST_SEGMENTS:,} values", f"{len(kept):,} in {by!r}")
    places = np.full(len(names), -1, dtype=np.int64)
    places[kept] = np.arange(len(kept))
    own = np.where(np.arange(len(codes)) < cut, places[codes], -1)
    groups = Groups(own, len(kept))
    sample = method.sample(draw)
    low, high = labels.bounds(sample.sampled.ranks)
    delta = (1 - level) * sample.delta_share / len(kept)
    sizes = groups.sizes()
    totals = bound_totals(Answers(sample.sampled, low, high, groups), sizes=sizes, delta=delta)
    order = np.argsort(-sizes, kind="stable")
    return Slices(
        by=by,
        names=tuple(names[kept[place]] or "(empty)" for place in order),
        n_items=sizes[order],
        n_labels=totals.n_labels[order],
        estimate=(totals.estimate / sizes)[order],
        low=(totals.low / sizes)[order],
        high=(totals.high / sizes)[order],
        rank=cut,
        confidence_level=level,
        method=draw.method,
        notes=sample.notes,
    )
