"""A new model ranks the same items again: its curve from the labels already bought, and what more would help."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat import _check
from karat.curves import Curve
from karat.designs import catalogue
from karat.designs.certify import Certify, sampled_cells
from karat.math.certify.simulate import simulate_pass
from karat.math.sampled import Answers, Groups, Totals, bound_totals
from karat.results import Assumption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from karat.draws import Draw, Id, Labels
    from karat.engines.base import Engine
    from karat.math.path import Floats, Ranks

N_KNOTS = 60
_FIRST_KNOT = 20
_RUNS = 3
_FORECAST_KNOTS = 10
_INDEPENDENT = Assumption(
    statement="The new ranking does not depend on these labels",
    verdict="not testable",
    finding="A model trained, tuned or selected on the labels, or on which items were drawn, breaks the bounds.",
)


class Bought(NamedTuple):
    """Labels that were bought for a ranking: the ranked resource, the draw and the answers."""

    engine: Engine
    draw: Draw
    labels: Labels


def carry_over(bought: Bought, ranking: Engine, *, more: Bought | None = None) -> Curve:
    """Bound the curve of another ranking of the same items from labels bought for the first.

    Every label counts with the probability with which it was drawn then, however good either model is. The bounds hold
    at all ranks of the new ranking at once, at the confidence level of the draw, if the new ranking depends neither on
    the labels nor on which items were drawn. A model trained, tuned or selected on them breaks the bounds: label items
    that it has not seen instead.

    Parameters
    ----------
    bought
        The first ranking with its draw and labels.
    ranking
        The new ranking. Items that the first did not have are bounded by 0 and 1 each.
    more
        Labels bought in addition, from a draw of the new ranking with another seed.

    Examples
    --------
    >>> import pandas, karat
    >>> facts = pandas.DataFrame({"old": range(60), "new": [n * 7 % 60 for n in range(60)]})
    >>> study = karat.Study(karat.open(facts, score="old"), karat.Point(labels=60))
    >>> study.tell({id: int(id) % 3 > 0 for id in study.ask().ids})
    >>> old = Bought(study.engine, study.draw, study.labels)
    >>> print(carry_over(old, karat.open(facts, score="new")).at(60))
    precision at 60: 0.667 [0.667, 0.667]
    """
    problem = _Problem(bought, ranking, more)
    totals = problem.bound(problem.answers, problem.more)
    n_labels = bought.labels.n_sure + (0 if more is None else more.labels.n_sure)
    return Curve(
        method=f"{bought.draw.method}, carried over",
        n_items=ranking.n_items,
        n_labels=n_labels,
        ranks=np.r_[0, problem.knots],
        yield_low=np.r_[0.0, totals.low],
        yield_high=np.r_[0.0, totals.high],
        yield_estimate=np.r_[0.0, totals.estimate],
        confidence_level=problem.confidence_level,
        guarantee="finite-sample",
        assumptions=(_INDEPENDENT,),
        notes=(*problem.notes, f"Labels of another ranking, carried over; bounds at {len(problem.knots)} ranks."),
        worst_over_target=problem.worst_share(totals),
    )


def labels_to_be_as_tight(bought: Bought, ranking: Engine, *, share: float | None = None) -> int | None:
    """Simulate how many labels of the new ranking would make its carried-over curve as tight as the old one.

    ``share`` is the tightness wanted, as the largest half-width over the target (default: what the first curve reached,
    or 1). 0 if it is as tight already; None if labelling the whole list would not do.
    """
    problem = _Problem(bought, ranking, None)
    if share is None:
        reached = catalogue.resume(bought.draw, bought.labels).curve().worst_over_target
        share = 1.0 if reached is None else max(reached, 1e-6)
    now = problem.bound(problem.answers, None)
    if problem.worst_share(now) <= share:
        return 0
    rates = np.clip(np.diff(np.r_[0.0, now.estimate]) / np.diff(np.r_[0, problem.knots]), 0.01, 0.99)
    counts = np.unique(np.geomspace(50, ranking.n_items, 16).astype(np.int64))
    place = bisect_left(
        counts.tolist(),
        x=True,
        key=lambda count: bool(np.median([problem.forecast(rates, count, run) for run in range(_RUNS)]) <= share),
    )
    return int(counts[place]) if place < len(counts) else None


class _Problem:
    """The first r items of the new ranking, for a spread of r, as nested groups of items of the old one."""

    def __init__(self, bought: Bought, ranking: Engine, more: Bought | None) -> None:
        self.n_items = ranking.n_items
        last = np.geomspace(min(_FIRST_KNOT, self.n_items), self.n_items, N_KNOTS)
        self.knots = np.unique(last.round().astype(np.int64))
        self.method = catalogue.make_method(bought.draw.method, **bought.draw.parameters)
        self.confidence_level = float(bought.draw.parameters.get("confidence_level", 0.95))
        sample = self.method.sample(bought.draw)
        self.notes = sample.notes
        self.delta_share = sample.delta_share
        own = _ranks_in(ranking, bought.engine.ids_at(_all_ranks(bought.engine)))
        low, high = bought.labels.bounds(sample.sampled.ranks)
        self.answers = Answers(sample.sampled, low, high, self._groups(own))
        drawn = own[sample.sampled.ranks - 1]
        self.known = np.unique(drawn[(low == high) & (drawn > 0)])  # new ranks whose label is sure
        self.more = None if more is None else self._second(bought, ranking, more)

    def _groups(self, new_ranks: Ranks) -> Groups:
        codes = np.searchsorted(self.knots, new_ranks)
        return Groups(np.where(new_ranks > 0, codes, -1), len(self.knots), nested=True)

    def _second(self, bought: Bought, ranking: Engine, more: Bought) -> Answers:
        if more.draw.seed == bought.draw.seed:
            raise _check.refuse("more", "drawn with another seed than the labels before", f"seed {more.draw.seed}")
        if more.engine is not ranking and more.engine.ids_at(_all_ranks(more.engine)) != ranking.ids_at(
            _all_ranks(ranking)
        ):
            raise _check.refuse("more", "a draw of the new ranking", "one of another ranking")
        method = catalogue.make_method(more.draw.method, **more.draw.parameters)
        sample = method.sample(more.draw)
        self.delta_share *= sample.delta_share
        self.notes = (*self.notes, *sample.notes)
        low, high = more.labels.bounds(sample.sampled.ranks)
        return Answers(sample.sampled, low, high, self._unknown())

    def _unknown(self) -> Groups:
        """Return the groups without the items whose label is sure."""
        ranks = np.arange(1, self.n_items + 1)
        ranks[self.known - 1] = 0
        return self._groups(ranks)

    def bound(self, answers: Answers, more: Answers | None, *, knots: NDArray[np.int64] | None = None) -> Totals:
        delta = (1 - self.confidence_level) * self.delta_share / len(self.knots)
        if knots is None:
            return bound_totals(answers, more, sizes=self.knots, delta=delta)
        return bound_totals(answers, more, sizes=self.knots, delta=delta, only=knots)

    def worst_share(self, totals: Totals) -> float:
        """Return the largest half-width over the target at the knots from the first judged rank on."""
        settings = (self.method if isinstance(self.method, Certify) else Certify()).settings()
        judged = totals.sizes >= min(settings.from_rank, self.n_items)
        wanted = np.maximum(settings.absolute * totals.sizes, settings.relative * totals.estimate)
        half = (totals.high - totals.low) / 2
        return float(np.max(half[judged] / np.maximum(wanted[judged], 1e-9)))

    def forecast(self, rates: Floats, count: int, run: int) -> float:
        """Return the worst share after so many more labels, if items are right at these rates."""
        rng = np.random.default_rng([count, run])
        chance = np.repeat(rates, np.diff(np.r_[0, self.knots]))
        labels = (rng.random(self.n_items) < chance).astype(np.int8)
        done = simulate_pass(labels, _again(self.method, count).settings(), seed=int(rng.integers(2**31)))
        sampled = sampled_cells(done.cells.part(done.cells.look == 1))
        found = labels[sampled.ranks - 1]
        places = np.unique(np.linspace(0, len(self.knots) - 1, _FORECAST_KNOTS).astype(np.int64))
        more = Answers(sampled, found, found, self._unknown())
        return self.worst_share(self.bound(self.answers, more, knots=places))


def _again(method: object, count: int) -> Certify:
    """Return what the further labels are bought with: the same certify, or the default one."""
    return replace(method if isinstance(method, Certify) else Certify(), budget=count, looks=1)


def _all_ranks(engine: Engine) -> Ranks:
    return np.arange(1, engine.n_items + 1)


def _ranks_in(ranking: Engine, ids: Sequence[Id]) -> Ranks:
    """Return the rank of each id in a ranking, 0 where it is missing."""
    rank_of = {str(id_): rank for rank, id_ in enumerate(ranking.ids_at(_all_ranks(ranking)), start=1)}
    found = np.array([rank_of.get(str(id_), 0) for id_ in ids], dtype=np.int64)
    if not np.any(found):
        raise _check.refuse("ranking", "one of the same items, by id", "no common id")
    return found
