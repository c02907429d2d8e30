"""Curve: bounds on the yield of every rank, and everything that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat import _check, showing
from karat.math import areas, derive, regions
from karat.math.path import Floats, Ranks, bounds_at, make_consistent
from karat.results import Assumption, Guarantee, Interval, Tabular, freeze, html_block

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

    from karat.math.derive import AtRank, Range

Positives = int | tuple[int, int] | None
"""How many positives the whole universe holds: known, bounded, or (None) those in the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve(Tabular):
    """Simultaneous bounds on the number of positives among the first r items, for every r.

    Bounds are kept at knots and extended to every rank by ``Y(r+1) - Y(r)`` being 0 or 1. Metrics derived from them
    hold whenever the bounds do.
    """

    method: str
    n_items: int
    n_labels: int
    ranks: Ranks
    yield_low: Floats
    yield_high: Floats
    yield_estimate: Floats
    confidence_level: float
    guarantee: Guarantee
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    claimed_factor: float | None = None
    """Within which factor of the truth the method's paper promises its estimate to be, if it does."""
    worst_over_target: float | None = None
    """Largest half-width over the half-width asked for, where the method was given a target; at most 1: met."""
    steps: Mapping[str, Floats] = field(default_factory=dict)
    """The paper's step curves by name: precision at each knot, held until the next."""
    simultaneous: bool = True
    labelled_until: int | None = None
    """The last rank that the labels speak of; None for the end of the list. Nothing is estimated below."""
    asked_at: int | None = None
    """The one rank that the method was asked about, if it was one: nothing is estimated elsewhere."""
    crossed: bool = field(init=False)
    """Whether no list of labels fits the bounds: the labels contradict the assumptions. They are then left as found."""

    def __post_init__(self) -> None:
        low, high = make_consistent(self.ranks, self.yield_low, self.yield_high)
        crossed = bool(np.any(low > high))
        if crossed:
            low, high, estimate = self.yield_low, self.yield_high, self.yield_estimate
        else:
            estimate = np.clip(self.yield_estimate, low, high)
        frozen = {"ranks": self.ranks, "yield_low": low, "yield_high": high, "yield_estimate": estimate}
        for name, value in frozen.items():
            object.__setattr__(self, name, freeze(value))
        object.__setattr__(self, "crossed", crossed)

    @property
    def reach(self) -> int:
        """The last rank that the labels speak of."""
        return self.n_items if self.labelled_until is None else self.labelled_until

    @property
    def main_rank(self) -> int:
        """The rank that sums the curve up: the one asked about, the last that the labels speak of, or the end."""
        return self.asked_at or self.reach or self.n_items

    @property
    def is_whole(self) -> bool:
        """Whether the labels speak of every rank of the list."""
        return self.reach == self.n_items and self.asked_at is None

    @property
    def exact_until(self) -> int:
        """The rank up to which every item is labelled, so that the numbers are exact whatever is assumed."""
        known = (self.ranks == np.arange(len(self.ranks))) & (self.yield_low == self.yield_high)
        return int(np.argmin(known)) - 1 if not known.all() else len(known) - 1

    @property
    def contradicted(self) -> tuple[Assumption, ...]:
        """The assumptions that the labels contradict."""
        return tuple(assumption for assumption in self.assumptions if assumption.verdict == "contradicted")

    # --- at a rank

    def yields(self, ranks: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return estimate, low and high of the number of positives among the first r items, for each rank."""
        at = self._ranks(ranks)
        low, high = bounds_at(self.ranks, self.yield_low, self.yield_high, at=at)
        return np.interp(at, self.ranks, self.yield_estimate), low, high

    def precision(self, ranks: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return estimate, low and high of the precision of the first r items, for each rank."""
        at = self._ranks(ranks)
        estimate, low, high = self.yields(at)
        return estimate / at, low / at, high / at

    def step(self, name: str, ranks: ArrayLike) -> Floats:
        """Return one of the paper's step curves (an estimate of precision) at any ranks."""
        values = self.steps[_check.one_of("name", name, self.steps)]
        return values[np.searchsorted(self.ranks, self._ranks(ranks), side="right") - 1]

    def at(self, rank: int) -> Interval:
        """Return the precision of the first ``rank`` items (Prec@k)."""
        rank = self._rank(rank)
        estimate, low, high = (float(values[0]) for values in self.precision([rank]))
        return self._interval(f"precision at {rank:,}", estimate, low, high, estimated=self._estimates(rank))

    def gain_at(self, rank: int) -> Interval:
        """Return the number of positives among the first ``rank`` items (yield, Gain@k)."""
        rank = self._rank(rank)
        estimate, low, high = (float(values[0]) for values in self.yields([rank]))
        return self._interval(f"yield at {rank:,}", estimate, low, high, estimated=self._estimates(rank))

    def recall_at(self, rank: int, *, positives: Positives = None) -> Interval:
        """Return recall (sensitivity, true positive rate) among ``positives``, or inside the list."""
        bounds = self._positives(positives)
        return self._derived("recall", rank, lambda known: derive.recall(known, positives=bounds), bounds)

    def f1_at(self, rank: int, *, positives: Positives = None, beta: float = 1.0) -> Interval:
        bounds = self._positives(positives)
        beta = _check.number("beta", beta, above=0)
        name = "F1" if beta == 1 else f"F{beta:g}"
        return self._derived(name, rank, lambda known: derive.f_beta(known, beta=beta, positives=bounds), bounds)

    def false_positive_rate_at(self, rank: int) -> Interval:
        return self._derived("false positive rate", rank, derive.false_positive_rate)

    def specificity_at(self, rank: int) -> Interval:
        return self._derived("specificity", rank, derive.specificity)

    def accuracy_at(self, rank: int) -> Interval:
        return self._derived("accuracy", rank, derive.accuracy)

    def lift_at(self, rank: int) -> Interval:
        interval = self._derived("lift", rank, derive.lift)
        return replace(interval, high=self.n_items / rank) if self.crossed else interval

    # --- as bands: each holds at all abscissae at once, on the same event as the bounds

    def precision_at_recall(self, recall: ArrayLike) -> tuple[Floats, Floats]:
        """Return low and high of the PR curve at levels of recall inside the list."""
        at = self._shares("recall", recall)
        if self.crossed:
            return np.zeros_like(at), np.ones_like(at)
        return regions.precision_at_recall(self.ranks, self.yield_low, self.yield_high, recall=at)

    def recall_at_false_positive_rate(self, rate: ArrayLike) -> tuple[Floats, Floats]:
        """Return low and high of the ROC curve at levels of the false positive rate."""
        at = self._shares("rate", rate)
        if self.crossed:
            return np.zeros_like(at), np.ones_like(at)
        return regions.recall_at_false_positive_rate(self.ranks, self.yield_low, self.yield_high, rate=at)

    # --- of the whole list

    def total_positives(self) -> Interval:
        return replace(self.gain_at(self.n_items), name="positives in the list")

    def average_precision(self) -> Interval:
        estimate = areas.estimated_average_precision(self.ranks, self.yield_estimate)
        return self._area("average precision", estimate, areas.average_precision_range)

    def roc_auc(self) -> Interval:
        estimate = areas.estimated_roc_auc(self.ranks, self.yield_estimate)
        return self._area("ROC AUC", estimate, areas.roc_auc_range)

    def cutoff(
        self, *, precision: float | None = None, recall: float | None = None, positives: Positives = None
    ) -> int | None:
        """Return the largest rank with precision, or the smallest with recall, certainly at least the target.

        None when no rank is certain.
        """
        if (precision is None) == (recall is None):
            raise _check.refuse("precision", "given, or 'recall', but not both", (precision, recall))
        if precision is not None:
            target = _check.number("precision", precision, above=0, most=1)
            doubtful = self.crossed or self.contradicted
            usable = slice(self.exact_until + 1) if doubtful else slice(None)
            return derive.largest_cutoff(self.ranks[usable], self.yield_low[usable], target=target) or None
        if self.crossed or self.contradicted:
            return None
        target = _check.number("recall", recall or 0.0, above=0, most=1)
        bounds = self._positives(positives)
        return derive.smallest_cutoff(self.ranks, self.yield_low, self.yield_high, target=target, positives=bounds)

    # --- shown

    def plot(self, kind: str = "precision", *, ax: Axes | None = None, truth: NDArray[Any] | None = None) -> Axes:
        """Draw the curve: "precision", "precision-yield", "pr", "roc" or "hits", with the truth if it is known."""
        from karat import plotting  # noqa: PLC0415

        title = self.headline() if ax is None else ""
        band = showing.band(self, _check.one_of("kind", kind, plotting.KINDS))
        return plotting.draw_curve(self.points(2000), kind, band=band, ax=ax, truth=truth, title=title)

    def points(self, most: int = 500) -> dict[str, NDArray[Any]]:
        """Return the curve at a spread of ranks: precision, yield, recall and false positive rate with bounds.

        Where no labels stand behind an estimate it is NaN (null in other tables than NumPy's and pandas').
        """
        return showing.tabulate(self, most)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values."""
        return showing.document(self)

    def summary(self) -> list[Interval]:
        """Return the numbers of the whole list, or those of the one rank that was asked about."""
        if self.asked_at is not None:
            return [self.at(self.asked_at), self.gain_at(self.asked_at)]
        return [self.at(self.n_items), self.total_positives(), self.average_precision(), self.roc_auc()]

    def headline(self) -> str:
        """Say the answer in one sentence."""
        return showing.headline(self)

    def __str__(self) -> str:
        return showing.text(self)

    def _repr_html_(self) -> str:
        return html_block(str(self))

    # --- inside

    def _ranks(self, ranks: ArrayLike) -> Ranks:
        at = np.atleast_1d(np.asarray(ranks))
        if at.dtype.kind not in "iu" or at.ndim != 1 or at.size == 0 or at.min() < 1 or at.max() > self.n_items:
            raise _check.refuse("rank", f"a whole number from 1 to {self.n_items:,}", ranks)
        return at.astype(np.int64)

    def _rank(self, rank: int) -> int:
        if np.ndim(rank) != 0:
            raise _check.refuse("rank", f"a whole number from 1 to {self.n_items:,}", rank)
        return int(self._ranks(rank)[0])

    def _shares(self, name: str, values: ArrayLike) -> Floats:
        at = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if not np.all((at >= 0) & (at <= 1)):
            raise _check.refuse(name, "between 0 and 1", values)
        return at

    def _positives(self, positives: Positives) -> tuple[float, float] | None:
        if positives is None:
            return None
        pair = positives if isinstance(positives, tuple) else (positives, positives)
        if len(pair) != 2:
            raise _check.refuse("positives", "a number or a pair (least, most)", positives)
        low, high = pair
        least = _check.whole("positives", low, least=1)
        most = _check.whole("positives", high, least=least)
        if not self.crossed and most < self.yield_low[-1]:
            raise _check.refuse(
                "positives", f"at least the {self.yield_low[-1]:,.0f} that the list certainly holds", positives
            )
        return float(least), float(most)

    def known_at(self, ranks: Ranks, positives: tuple[float, float] | None = None) -> AtRank:
        """Return what the bounds say at some ranks, as the functions of `karat.math.derive` take it."""
        high = self.yield_high if positives is None else np.minimum(self.yield_high, positives[1])
        low_at, high_at = bounds_at(self.ranks, self.yield_low, high, at=ranks)
        return derive.AtRank(ranks, low_at, high_at, float(self.yield_low[-1]), float(high[-1]), self.n_items)

    def _estimates(self, rank: int) -> bool:
        """Return whether labels stand behind the estimate at a rank."""
        return rank <= self.reach and self.asked_at in {None, rank}

    def _interval(self, name: str, estimate: float, low: float, high: float, *, estimated: bool = True) -> Interval:
        return Interval(
            name=name,
            estimate=estimate,
            low=low,
            high=high,
            confidence_level=self.confidence_level,
            guarantee=self.guarantee,
            simultaneous=self.simultaneous,
            method=self.method,
            n_labels=self.n_labels,
            estimated=estimated,
        )

    def _vacuous(self, name: str, estimate: float) -> Interval:
        note = "nothing is certified: the bounds cross, so the labels contradict the method's assumptions"
        return replace(self._interval(name, estimate, 0.0, 1.0, estimated=self.is_whole), note=note)

    def _derived(
        self, name: str, rank: int, metric: Callable[[AtRank], Range], positives: tuple[float, float] | None = None
    ) -> Interval:
        rank = self._rank(rank)
        full_name, ranks = f"{name} at {rank:,}", np.array([rank])
        y, total = np.interp(ranks, self.ranks, self.yield_estimate), float(self.yield_estimate[-1])
        plugged = metric(derive.AtRank(ranks, y, y, total, total, self.n_items))
        estimate = float(plugged.low[0] + plugged.high[0]) / 2
        if self.crossed:
            return self._vacuous(full_name, estimate)
        bounds = metric(self.known_at(ranks, positives))
        low, high = float(bounds.low[0]), float(bounds.high[0])
        estimated = self._estimates(rank) and (self.is_whole or positives is not None)
        return self._interval(full_name, min(max(estimate, low), high), low, high, estimated=estimated)

    def _area(
        self, name: str, estimate: float, bound: Callable[[Ranks, Floats, Floats], tuple[float, float]]
    ) -> Interval:
        if self.crossed:
            return self._vacuous(name, estimate)
        low, high = bound(self.ranks, self.yield_low, self.yield_high)
        return self._interval(name, min(max(estimate, low), high), low, high, estimated=self.is_whole)
