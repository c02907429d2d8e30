"""A whole walk against labels that are known, or made up from rates: for simulations and forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.certify.bounds import Bounds, intersect
from karat.math.certify.cells import Cells
from karat.math.certify.course import NO_PARENTS, make_course, pilot_forecast
from karat.math.certify.judge import look_bounds, worst_share
from karat.math.certify.layout import Parents
from karat.math.certify.steps import Labels, label_at, run_pass
from karat.math.certify.walk import Walk
from karat.math.path import bounds_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from karat.math.certify.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCurve:
    """Labels that are 1 with a rate that depends on the rank: independent, and fixed by the seed.

    Rates are interpolated in ln(rank). No array is as long as the list.

    Examples
    --------
    >>> curve = RateCurve(ranks=np.array([1, 1000]), rates=np.array([1.0, 0.5]), seed=3)
    >>> curve.labels_at(np.array([1, 2, 1000, 10**9])).tolist()
    [1, 1, 1, 1]
    """

    ranks: NDArray[np.int64]
    rates: NDArray[np.float64]
    seed: int = 0

    def __post_init__(self) -> None:
        _check.same_length("ranks", len(self.ranks), "rates", len(self.rates))
        if len(self.ranks) == 0 or np.any(np.diff(self.ranks) <= 0) or self.ranks[0] < 1:
            raise _check.refuse("ranks", "increasing ranks from 1 on", self.ranks)
        if not np.all((np.asarray(self.rates) >= 0.0) & (np.asarray(self.rates) <= 1.0)):
            raise _check.refuse("rates", "between 0 and 1", self.rates)
        _check.whole("seed", self.seed)

    def as_labels(self) -> Labels:
        """Return the curve as the kernels read it."""
        log_ranks = np.log(np.asarray(self.ranks, np.float64))
        return Labels(np.empty(0, np.int8), log_ranks, np.asarray(self.rates, np.float64), self.seed)

    def labels_at(self, ranks: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the labels of some ranks."""
        labels = self.as_labels()
        return np.array([label_at(labels, int(rank)) for rank in ranks], np.int8)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPass:
    """What a walk against known labels asked for and found."""

    cells: Cells
    bounds: Bounds
    n_labels: int
    worst_share: float

    @property
    def target_met(self) -> bool:
        """Whether every judged rank came out as tight as asked for."""
        return self.worst_share <= 1.0

    def covers(self, yields: NDArray[np.int64]) -> bool:
        """Say whether the bounds hold at every rank, given the true yield at ranks 1, 2, ..."""
        knots, low, high, _ = self.bounds
        low, high = bounds_at(knots, low, high, at=np.arange(1, len(yields) + 1))
        return bool(np.all((low <= yields + 1e-6) & (yields <= high + 1e-6)))


def simulate_pass(
    labels: ArrayLike | RateCurve | Callable[[NDArray[np.int64]], ArrayLike],
    settings: Settings,
    *,
    seed: int,
    n_items: int | None = None,
    proxy: ArrayLike | None = None,
) -> SimulatedPass:
    """Run a whole walk, every answer given at once.

    Parameters
    ----------
    labels
        0 and 1 in rank order; or a `RateCurve`; or a function from ranks to labels (1, 0 or -1), asked only for
        the ranks drawn. The last two need ``n_items`` and no memory that grows with it.
    settings
        What is wanted.
    seed
        Decides every draw.
    n_items
        Length of the list, unless ``labels`` shows it.
    proxy
        As for `Walk`.

    Examples
    --------
    >>> from karat.math.certify.settings import Settings
    >>> labels = np.arange(5000) % 10 != 0
    >>> result = simulate_pass(labels, Settings(), seed=1)
    >>> result.covers(np.cumsum(labels)), result.target_met, result.n_labels < 1200
    (True, True, True)
    """
    if isinstance(labels, RateCurve):
        source = labels.as_labels()
    elif callable(labels):
        return _simulate_by_asking(labels, settings, seed=seed, n_items=_needed(n_items), proxy=proxy)
    else:
        known = _check.binary_labels("labels", labels)
        n_items = len(known)
        source = Labels(known, np.empty(0), np.empty(0), 0)
    walk = Walk(settings, n_items=_needed(n_items), seed=seed, proxy=proxy)
    return _run(walk, source)


def _needed(n_items: int | None) -> int:
    if n_items is None:
        raise _check.refuse("n_items", "given when 'labels' is not an array", n_items)
    return n_items


def _run(walk: Walk, source: Labels) -> SimulatedPass:
    """Run the looks of a fresh walk through the compiled loop."""
    settings, n_items = walk.settings, walk.n_items
    pilot = walk.ask() if walk.n_pilot else Cells.none()
    answers = np.array([label_at(source, int(rank)) for rank in pilot.ranks], np.int8)
    forecast = pilot_forecast(settings, pilot.ranks, answers, n_items=n_items)
    batches = [pilot] if len(pilot) else []
    parents = NO_PARENTS
    bounds: Bounds | None = None
    for look in range(1, settings.looks + 1):
        course = make_course(
            settings,
            look=look,
            n_items=n_items,
            seed=walk.seed,
            forecast=forecast,
            n_pilot=len(pilot),
            parents=parents,
            proxy=walk.proxy,
            n_classes=walk.n_classes,
        )
        done = run_pass(course, source)
        batch = done.batch
        known = np.isin(batch.ranks, pilot.ranks) & (settings.label_errors is None)
        batches.append(
            Cells(
                ends=batch.ends,
                ranks=batch.ranks,
                probabilities=batch.probabilities,
                look=np.full(len(batch.ends), look),
                tilt=batch.tilt,
                new=batch.new & ~known,
                classes=batch.classes,
                counts=batch.counts,
            )
        )
        parents = Parents(batch.ends, batch.ranks, batch.tilt)
        latest = look_bounds(batch.ends, done.low, done.high, done.estimate, settings=settings, n_items=n_items)
        bounds = latest if bounds is None else intersect(bounds, latest)
        if look < settings.looks and worst_share(bounds, settings) <= 1.0:
            break
    assert bounds is not None  # noqa: S101
    cells = Cells.joined(batches) if batches else Cells.none()
    return SimulatedPass(
        cells=cells, bounds=bounds, n_labels=int(cells.new.sum()), worst_share=worst_share(bounds, settings)
    )


def _simulate_by_asking(
    labels: Callable[[NDArray[np.int64]], ArrayLike],
    settings: Settings,
    *,
    seed: int,
    n_items: int,
    proxy: ArrayLike | None,
) -> SimulatedPass:
    """Run the walk batch by batch."""
    walk = Walk(settings, n_items=n_items, seed=seed, proxy=proxy)
    while not walk.done:
        cells = walk.ask()
        asked = cells.ranks[cells.new]
        walk.tell(asked, labels(asked))
    return SimulatedPass(cells=walk.cells, bounds=walk.bounds(), n_labels=walk.n_labels, worst_share=walk.worst_share)
