"""One rank only: uniform draws above it and Hoeffding's interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from karat import _check
from karat.curves import Curve
from karat.designs.base import FixedMethod, Layout, Sample, shuffled, unanswered_note
from karat.math import uniform
from karat.math.sampled import Sampled

if TYPE_CHECKING:
    from karat.draws import Draw, Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(FixedMethod):
    """The precision of the first ``rank`` items from uniform draws among them (PAULA paper, section 2.1).

    Parameters
    ----------
    rank
        The rank in question; the whole list if None.
    epsilon, precision
        Plan draws for a factor 1 + epsilon at this precision, eq. (2), unless ``labels`` says how many.

    Examples
    --------
    >>> Point(rank=10_000, labels=2000).plan(217_077)["half_width"]
    0.030368...
    """

    name: ClassVar[str] = "point"
    rank: int | None = None
    epsilon: float = 0.05
    precision: float = 0.7
    confidence_level: float = 0.95
    labels: int | None = None

    def __post_init__(self) -> None:
        if self.rank is not None:
            _check.whole("rank", self.rank, least=1)
        _check.number("epsilon", self.epsilon, least=1e-6, most=1e6)
        _check.number("precision", self.precision, least=1e-6, most=1)
        _check.fraction("confidence_level", self.confidence_level)
        if self.labels is not None:
            _check.whole("labels", self.labels, least=1)

    def plan(self, n_items: int) -> dict[str, Any]:
        n_items = _check.whole("n_items", n_items, least=1)
        rank = self.goes_to(n_items)
        if self.rank is not None and self.rank > n_items:
            raise _check.refuse("rank", f"at most the {n_items:,} items of the list", self.rank)
        draws = self.labels or uniform.labels_for_point(
            epsilon=self.epsilon, precision=self.precision, confidence_level=self.confidence_level
        )
        whole = draws >= rank
        half = uniform.half_width(np.array([draws]), confidence_level=self.confidence_level)
        return {
            "labels": min(draws, rank),
            "rank": rank,
            "half_width": 0.0 if whole else float(half[0]),
            "exhaustive": whole,
        }

    def goes_to(self, n_items: int) -> int:
        return min(self.rank or n_items, n_items)

    def sample(self, draw: Draw) -> Sample:
        plan, drawn = self.plan(draw.n_items), draw.column("drawn").astype(np.int64)
        if plan["exhaustive"]:
            return Sample(Sampled.certain(drawn))
        return Sample(Sampled.shared(shuffled(drawn, draw), start=0, end=plan["rank"]))

    def lay_out(self, n_items: int, rng: np.random.Generator) -> Layout:
        plan = self.plan(n_items)
        if plan["exhaustive"]:
            every = np.arange(1, plan["rank"] + 1)
            return Layout(every, {"drawn": every})
        drawn = np.sort(rng.integers(1, plan["rank"] + 1, size=plan["labels"]))
        return Layout(np.unique(drawn), {"drawn": drawn})

    def estimate(self, draw: Draw, labels: Labels) -> Curve:
        plan = self.plan(draw.n_items)
        rank, drawn = plan["rank"], draw.column("drawn")
        below, above = (float(side.mean()) for side in labels.bounds(drawn))
        half = plan["half_width"]
        low, high = max(below - half, 0.0) * rank, min(above + half, 1.0) * rank
        middle = (below + above) / 2
        exact = plan["exhaustive"] and rank == draw.n_items and below == above
        ranks = np.unique(np.array([0, rank, draw.n_items], dtype=np.int64))
        rest = draw.n_items - rank
        return Curve(
            method=self.name,
            n_items=draw.n_items,
            n_labels=labels.n_sure,
            ranks=ranks,
            yield_low=np.array([0, low, low])[: len(ranks)],
            yield_high=np.array([0, high, high + rest])[: len(ranks)],
            yield_estimate=np.array([0, middle * rank, middle * draw.n_items])[: len(ranks)],
            confidence_level=1.0 if plan["exhaustive"] else self.confidence_level,
            guarantee="exact" if exact else "finite-sample",
            notes=(f"Only rank {rank:,} was asked about.", *unanswered_note(draw, labels)),
            labelled_until=rank,
            asked_at=rank,
        )
