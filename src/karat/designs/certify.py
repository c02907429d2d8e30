"""certify: one drawn item a cell, top down, with bounds that hold at every rank whatever the labels look like."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from karat import _check
from karat.curves import Curve
from karat.designs.base import Sample, require_asked, require_same_method
from karat.designs.certifying import CertifyDesign, cells_of
from karat.designs.wrong_labels import errors_assumption
from karat.draws import Draw, Labels
from karat.math.certify.cells import Cells, class_weight
from karat.math.certify.forecast import budgets_buy, labels_needed
from karat.math.certify.judge import worst_share
from karat.math.certify.noise import LabelErrors
from karat.math.certify.settings import Settings
from karat.math.certify.simulate import simulate_pass
from karat.math.certify.walk import Walk
from karat.math.sampled import Sampled
from karat.results import Assumption

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from karat.designs.base import Identify, Proxy
    from karat.math.certify.bounds import Bounds

TARGETS = ("either", "relative", "absolute")
_PLAN_RUNS = 5
_GOLD_SHARE = 0.1
"""Of what the confidence level leaves, the part spent on learning error rates from gold items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certify:
    """Bounds for the whole curve with no assumption, from few labels.

    Parameters
    ----------
    confidence_level
        Probability that all bounds hold at once, at every rank.
    target
        How tight: what the bounds leave to either side of their middle is at most ``relative`` (a share of the right
        items), at most ``absolute`` (in precision), or "either" of them.
    from_rank
        The tightness counts from this rank on; the bounds hold everywhere.
    top
        Only this many items matter; nothing below is labelled.
    budget
        Buy at most this many labels and be as tight as they allow.
    looks
        Label in so many rounds, each finer, and stop after any of them.
    side
        "both", or "lower" / "upper" for one bound only, which needs fewer labels.
    lean
        A few percent fewer labels, at the risk of missing the tightness (never the bounds) a little more often.
    pilot, pending
        Labels for planning (none where labels can be wrong); how many answers are usually out at once.
    sensitivity, specificity
        If labels can be wrong: the chance that a right item is labelled right, and a wrong one wrong; a number or a
        range. The curve then speaks about the truth.
    gold_positives, gold_negatives
        Instead: of how many gold items (labelled right, in all) these chances are to be learnt.

    Examples
    --------
    >>> design = Certify(budget=60).begin(5000, seed=1)
    >>> while len(ranks := design.ask()):
    ...     design.tell(Labels.from_pairs(ranks, ranks % 10 != 0))
    >>> design.curve().n_labels <= 60
    True
    """

    name: ClassVar[str] = "certify"
    confidence_level: float = 0.95
    target: str = "either"
    relative: float = 0.08
    absolute: float = 0.02
    from_rank: int = 1000
    top: int | None = None
    budget: int | None = None
    looks: int = 1
    side: str = "both"
    lean: bool = False
    pilot: int | None = None
    pending: int = 0
    sensitivity: float | tuple[float, float] | None = None
    specificity: float | tuple[float, float] | None = None
    gold_positives: tuple[int, int] | None = None
    gold_negatives: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name in ("sensitivity", "specificity", "gold_positives", "gold_negatives"):
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
        if self.budget is not None:
            _check.whole("budget", self.budget, least=1)
        self.settings()

    def settings(self) -> Settings:
        """Return what the mathematics takes."""
        _check.one_of("target", self.target, TARGETS)
        errors = self._label_errors()
        if errors is not None and self.pilot:
            raise _check.refuse("pilot", "left out where labels can be wrong", self.pilot)
        return Settings(
            confidence_level=self.confidence_level,
            relative=0.0 if self.target == "absolute" else self.relative,
            absolute=0.0 if self.target == "relative" else self.absolute,
            from_rank=self.from_rank,
            top=self.top,
            budget=self.budget,
            looks=self.looks,
            side=self.side,
            lean=self.lean,
            pilot=self.pilot if errors is None else 0,  # a noisy label may not serve both planning and the bounds
            pending=self.pending,
            label_errors=errors,
        )

    def _label_errors(self) -> LabelErrors | None:
        for one, other in (("sensitivity", "specificity"), ("gold_positives", "gold_negatives")):
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                raise _check.refuse(one, f"given together with '{other}'", getattr(self, one))
        if self.gold_positives is not None and self.gold_negatives is not None:
            if self.sensitivity is not None:
                raise _check.refuse("gold_positives", "left out where 'sensitivity' is given", self.gold_positives)
            delta = _GOLD_SHARE * (1 - _check.fraction("confidence_level", self.confidence_level))
            return LabelErrors.from_gold(self.gold_positives, self.gold_negatives, delta=delta, side=self.side)
        if self.sensitivity is None or self.specificity is None:
            return None
        return LabelErrors(sensitivity=_as_range(self.sensitivity), specificity=_as_range(self.specificity))

    def plan(
        self,
        n_items: int,
        *,
        rates: Mapping[int, float] | None = None,
        budgets: Sequence[int] = (300, 1000, 3000),
        runs: int = _PLAN_RUNS,
    ) -> dict[str, Any]:
        """Simulate how many labels are needed and how tight budgets get if precision by rank is as ``rates`` say.

        Parameters
        ----------
        rates
            Chance of a right item at some ranks, interpolated in between (None: like a knowledge base, falling from .85
            by .03 with each factor e of the rank).
        budgets
            Label counts whose tightness is wanted.
        runs
            How many simulations the numbers are means of.

        Examples
        --------
        >>> planned = Certify().plan(20_000, rates={1: 0.9, 20_000: 0.5}, budgets=[300])
        >>> 500 < planned["labels"] < 3000, planned["budgets"][0]["half_width_relative"] > 0.08
        (True, True)
        """
        n_items = _check.whole("n_items", n_items, least=1)
        assumed = _falling_rates(n_items) if rates is None else {int(rank): float(r) for rank, r in rates.items()}
        ranks, chances = (np.array(column) for column in zip(*sorted(assumed.items()), strict=True))
        settings = self.settings()
        needed = labels_needed(ranks, chances, settings=settings, n_items=n_items, n_runs=runs)
        rows = [row for row in budgets if row < n_items] if self.budget is None else []
        bought = budgets_buy(ranks, chances, settings=settings, n_items=n_items, budgets=rows, n_runs=runs)
        return {
            "labels": round(needed.mean),
            "labels_low": round(needed.low),
            "labels_high": round(needed.high),
            "target_met": needed.share_met,
            "target": self._target_in_words(),
            "assumed_rates": {str(rank): round(float(chance), 4) for rank, chance in zip(ranks, chances, strict=True)},
            "budgets": [
                {
                    "labels": row.budget,
                    "worst_over_target": row.worst_share,
                    "half_width_relative": row.worst_share * settings.relative,
                    "half_width_absolute": row.worst_share * settings.absolute,
                }
                for row in bought
            ],
        }

    def _target_in_words(self) -> str:
        relative, absolute = f"{self.relative:.0%}", f"{self.absolute:g} of precision"
        wish = {"relative": relative, "absolute": absolute, "either": f"{relative} or {absolute}"}[self.target]
        return f"at most {wish} to either side of the middle, from rank {self.from_rank:,} on"

    def goes_to(self, n_items: int) -> int:
        """Return the last rank that the method speaks of in a list of n_items."""
        return min(self.top or n_items, n_items)

    def begin(
        self,
        n_items: int,
        *,
        seed: int = 0,
        resource: Mapping[str, Any] | None = None,
        identify: Identify | None = None,
        proxy: Proxy | None = None,
    ) -> CertifyDesign:
        walk = Walk(self.settings(), n_items=n_items, seed=seed, proxy=proxy)
        draw = Draw(method=self.name, parameters=asdict(self), seed=walk.seed, n_items=walk.n_items, resource=resource)
        return CertifyDesign(self, walk, draw, Labels.none(), identify)

    def resume(
        self, draw: Draw, labels: Labels, *, identify: Identify | None = None, proxy: Proxy | None = None
    ) -> CertifyDesign:
        require_same_method(self, draw)
        require_asked(draw, labels)
        cells = Cells.joined([cells_of(batch.columns) for batch in draw.batches]) if draw.batches else Cells.none()
        walk = Walk.resume(
            self.settings(),
            n_items=draw.n_items,
            seed=draw.seed,
            cells=cells,
            ranks=labels.ranks,
            values=labels.values,
            proxy=proxy,
        )
        return CertifyDesign(self, walk, draw, labels, identify)

    def sample(self, draw: Draw) -> Sample:
        settings = self.settings()
        if settings.label_errors is not None:
            raise _check.refuse(
                "draw", "one without error rates: groups are bounded for labels as given", "error rates"
            )
        cells = Cells.joined([cells_of(batch.columns) for batch in draw.batches]) if draw.batches else Cells.none()
        last_rank = self.goes_to(draw.n_items)
        n_looks = max(int(cells.look.max(initial=0)), 1)
        complete = [
            look for look in range(1, n_looks + 1) if cells.ends[cells.look == look].max(initial=0) >= last_rank
        ]
        look = complete[-1] if complete else 1
        own = cells.part(cells.look == look)
        share = settings.look_delta(look) / settings.delta
        return Sample(sampled_cells(own), delta_share=share)

    def replay(self, labels: NDArray[np.int8], *, seed: int, proxy: Proxy | None = None) -> tuple[Curve, int]:
        done = simulate_pass(self._as_seen(labels, seed), self.settings(), seed=seed, proxy=proxy)
        return self.curve_of(done.bounds, len(labels), done.n_labels, ()), done.n_labels

    def _as_seen(self, truth: NDArray[np.int8], seed: int) -> NDArray[np.int8]:
        """Return labels with the errors that the settings speak of."""
        errors = self._label_errors()
        if errors is None:
            return truth
        rng = np.random.default_rng([seed, 1])
        right = np.where(truth == 1, np.mean(errors.sensitivity), np.mean(errors.specificity))
        return np.where(rng.random(len(truth)) < right, truth, 1 - truth).astype(np.int8)

    def curve_of(
        self, bounds: Bounds, n_items: int, n_labels: int, notes: tuple[str, ...], *, labelled_until: int | None = None
    ) -> Curve:
        """Return the curve of bounds; the labels speak of all that matters unless said otherwise."""
        every_rank = len(bounds.knots) == n_items + 1 and bool(np.all(np.abs(bounds.high - bounds.low) < 1e-9))
        exact = every_rank and self._label_errors() is None
        return Curve(
            method=self.name,
            n_items=n_items,
            n_labels=n_labels,
            ranks=bounds.knots,
            yield_low=bounds.low,
            yield_high=bounds.high,
            yield_estimate=bounds.estimate,
            confidence_level=self.confidence_level,
            guarantee="exact" if exact else "finite-sample",
            assumptions=self._assumptions(),
            notes=notes,
            worst_over_target=worst_share(bounds, self.settings()),
            labelled_until=self.goes_to(n_items) if labelled_until is None else labelled_until,
        )

    def _assumptions(self) -> tuple[Assumption, ...]:
        errors = self._label_errors()
        if errors is None:
            as_given = "No error rates were given: the curve speaks about the labels as given."
            return (Assumption(statement="The labels are right", verdict="not testable", finding=as_given),)
        of_gold = "Learnt from gold items, which must be like the items labelled."
        return (errors_assumption(errors, of_gold if self.gold_positives else "Taken as given."),)


def sampled_cells(cells: Cells) -> Sampled:
    """Return the cells of one look as draws; the heaviest item of a cell is one of its rarest drawn class."""
    starts = np.concatenate([[0], cells.ends[:-1]]).astype(np.int64)[: len(cells)]
    classes = range(cells.counts.shape[1])
    pull = np.array([[class_weight(tilt, klass) for klass in classes] for tilt in cells.tilt.tolist()])
    pull = pull.reshape(len(cells), -1)
    total = np.sum(pull * cells.counts, axis=1)
    heaviest = total / np.min(np.where(cells.counts > 0, pull, np.inf), axis=1, initial=np.inf)
    once = np.ones(len(cells), dtype=np.int64)
    return Sampled(cells.ranks, starts, cells.ends, once, 1 / cells.probabilities, heaviest)


def _falling_rates(n_items: int) -> dict[int, float]:
    ranks = np.unique(np.geomspace(1, n_items, 30).astype(np.int64))
    return {int(rank): float(max(0.85 - 0.03 * np.log1p(rank / 100), 0.02)) for rank in ranks}


def _as_range(value: float | tuple[float, float]) -> tuple[float, float]:
    return value if isinstance(value, tuple) else (value, value)
