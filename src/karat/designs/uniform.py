"""Uniform sampling: everything at the top, uniform draws from the whole list, Hoeffding's bound at every rank."""

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
class Uniform(FixedMethod):
    """The sampling baseline of Sabharwal & Sedghi (2017), section 3.

    Parameters
    ----------
    alpha
        The wanted factor is 1 + alpha.
    precision
        The precision that the number of labels is planned for; bounds hold whatever it is.
    labels
        Buy this many labels instead of planning them.

    Examples
    --------
    >>> Uniform(alpha=0.08, precision=0.7).plan(217_077)["labels"]
    47031
    """

    name: ClassVar[str] = "uniform"
    alpha: float = 0.08
    precision: float = 0.7
    confidence_level: float = 0.95
    labels: int | None = None

    def __post_init__(self) -> None:
        _check.number("alpha", self.alpha, least=1e-6, most=1e6)
        _check.number("precision", self.precision, least=1e-6, most=1)
        _check.fraction("confidence_level", self.confidence_level)
        if self.labels is not None:
            _check.whole("labels", self.labels, least=2)

    def plan(self, n_items: int) -> dict[str, Any]:
        n_items = _check.whole("n_items", n_items, least=1)
        total = self._total(n_items)
        return {
            "labels": total,
            "exhaustive": n_items if total == n_items else total // 2,
            "draws": 0 if total == n_items else total - total // 2,
            "factor": 1.0 if total == n_items else None if self.labels is not None else 1 + self.alpha,
        }

    def _total(self, n_items: int) -> int:
        planned = self.labels or round(
            uniform.total_labels(
                n_items, alpha=self.alpha, precision=self.precision, confidence_level=self.confidence_level
            )
        )
        return min(planned, n_items)

    def sample(self, draw: Draw) -> Sample:
        n_top = int(self.plan(draw.n_items)["exhaustive"])
        drawn = draw.column("drawn").astype(np.int64)
        below = shuffled(drawn[drawn > n_top], draw)  # given their number, uniform below the top
        rest = Sampled.shared(below, start=n_top, end=draw.n_items)
        return Sample(Sampled.certain(np.arange(1, n_top + 1)).joined(rest))

    def lay_out(self, n_items: int, rng: np.random.Generator) -> Layout:
        plan = self.plan(n_items)
        drawn = np.sort(rng.integers(1, n_items + 1, size=plan["draws"]))
        ranks = np.unique(np.r_[np.arange(1, plan["exhaustive"] + 1), drawn])
        return Layout(ranks, {"drawn": drawn})

    def estimate(self, draw: Draw, labels: Labels) -> Curve:
        n_top = int(self.plan(draw.n_items)["exhaustive"])
        top_low, top_high = labels.bounds(np.arange(1, n_top + 1))
        ranks = np.arange(n_top + 1)
        low, high = np.r_[0.0, np.cumsum(top_low)], np.r_[0.0, np.cumsum(top_high)]
        estimate = (low + high) / 2
        exact = n_top == draw.n_items and bool(np.array_equal(top_low, top_high))
        drawn = draw.column("drawn").astype(np.int64)
        if len(drawn):
            sampled = uniform.bound_yields(
                drawn,
                *labels.bounds(drawn),
                n_items=draw.n_items,
                confidence_level=self.confidence_level,
                n_ranks=draw.n_items,
            )
            beyond = sampled.ranks > n_top
            ranks = np.r_[ranks, sampled.ranks[beyond]]
            low, high = np.r_[low, sampled.low[beyond]], np.r_[high, sampled.high[beyond]]
            estimate = np.r_[estimate, sampled.estimate[beyond]]
        if ranks[-1] < draw.n_items:
            rest = draw.n_items - ranks[-1]
            ranks = np.r_[ranks, draw.n_items]
            low, high = np.r_[low, low[-1]], np.r_[high, high[-1] + rest]
            estimate = np.r_[estimate, estimate[-1] / max(ranks[-2], 1) * draw.n_items]
        return Curve(
            method=self.name,
            n_items=draw.n_items,
            n_labels=labels.n_sure,
            ranks=ranks.astype(np.int64),
            yield_low=low,
            yield_high=high,
            yield_estimate=estimate,
            confidence_level=1.0 if exact else self.confidence_level,
            guarantee="exact" if exact else "finite-sample",
            notes=unanswered_note(draw, labels) + (() if exact else self._factor_note(estimate[-1] / draw.n_items)),
            claimed_factor=1.0 if exact else None if self.labels is not None else 1 + self.alpha,
        )

    def _factor_note(self, found: float) -> tuple[str, ...]:
        if found >= self.precision or self.labels is not None:
            return ()
        note = (
            f"The labels were planned for a precision of {self.precision:g}; the list is estimated at {found:.3f}, so "
            f"the bounds hold but may be wider than the factor {1 + self.alpha:g}."
        )
        return (note,)
