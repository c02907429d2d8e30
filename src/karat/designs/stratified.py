"""Log-stratified sampling: s reused draws for every grid point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from karat import _check
from karat.curves import Curve
from karat.designs.base import FixedMethod, Layout, Sample, shuffled, unanswered_note
from karat.math import stratified
from karat.math.geometric import DEFAULT_EPSILON, DEFAULT_WINDOW, Grid, make_grid
from karat.math.sampled import Sampled

if TYPE_CHECKING:
    from karat.draws import Draw, Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratified(FixedMethod):
    """Logarithmic stratified sampling of Sabharwal & Sedghi (2017), Algorithm 1.

    Parameters
    ----------
    precision
        A lower bound on the precision at every grid point: the promised factor rests on it, the bounds do not.

    Examples
    --------
    >>> Stratified(precision=0.5).plan(10_000_000)["labels"]
    62365
    """

    name: ClassVar[str] = "stratified"
    epsilon: float = DEFAULT_EPSILON
    window: int = DEFAULT_WINDOW
    stable_after: int | None = None
    precision: float = 0.5
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        self.grid(1)
        _check.number("precision", self.precision, least=1e-6, most=1)
        _check.fraction("confidence_level", self.confidence_level)

    def grid(self, n_items: int) -> Grid:
        return make_grid(n_items, epsilon=self.epsilon, window=self.window, stable_after=self.stable_after)

    def _draws_per_point(self, grid: Grid) -> float:
        return stratified.draws_per_point(grid, least_precision=self.precision, confidence_level=self.confidence_level)

    def plan(self, n_items: int) -> dict[str, Any]:
        grid = self.grid(n_items)
        expected = stratified.expected_labels(
            grid, least_precision=self.precision, confidence_level=self.confidence_level
        )
        return {
            "labels": round(min(expected, n_items)),
            "draws_per_point": math.ceil(self._draws_per_point(grid)),
            "g_l": grid.g_l,
            "factor": 1.0 if grid.labels_all else grid.factor,
        }

    def sample(self, draw: Draw) -> Sample:
        grid = self.grid(draw.n_items)
        sampled = Sampled.certain(np.arange(1, int(grid.points[0]) + 1))
        drawn = draw.column("drawn").astype(np.int64)
        for start, end in pairwise(grid.points.tolist()):  # given their number, uniform in each stratum
            sampled = sampled.joined(
                Sampled.shared(shuffled(drawn[(drawn > start) & (drawn <= end)], draw), start=start, end=end)
            )
        return Sample(sampled)

    def lay_out(self, n_items: int, rng: np.random.Generator) -> Layout:
        grid = self.grid(n_items)
        draws = stratified.draw(grid, n_draws=math.ceil(self._draws_per_point(grid)), rng=rng)
        outside = draws.ranks[draws.ranks > grid.points[0]]
        ranks = np.unique(np.r_[np.arange(1, grid.points[0] + 1), outside])
        return Layout(ranks, {"drawn": draws.ranks, "first": draws.first, "last": draws.last})

    def estimate(self, draw: Draw, labels: Labels) -> Curve:
        grid = self.grid(draw.n_items)
        n_top = int(grid.points[0])
        top_low, top_high = labels.bounds(np.arange(1, n_top + 1))
        low, high = np.r_[0.0, np.cumsum(top_low)], np.r_[0.0, np.cumsum(top_high)]
        ranks, estimate = np.arange(n_top + 1), (low + high) / 2
        exact = grid.labels_all and bool(np.array_equal(top_low, top_high))
        smallest = 1.0
        if grid.n_intervals:
            draws = stratified.StratifiedDraws(*(draw.column(name) for name in ("drawn", "first", "last")))
            means = [stratified.sample_means(grid, draws, side)[1:] for side in labels.bounds(draws.ranks)]
            ranks, points = np.r_[ranks, grid.points[1:]], grid.points[1:]
            # Hoeffding gives |q - p| <= (gamma - 1) pmin whatever p is; q / gamma and q gamma follow from it only
            # where q >= pmin, so the wider of the two is taken on each side and nothing has to be assumed.
            margin = (grid.gamma - 1) * self.precision
            low = np.r_[low, np.maximum(np.minimum(means[0] / grid.gamma, means[0] - margin), 0) * points]
            high = np.r_[high, np.minimum(np.maximum(means[1] * grid.gamma, means[1] + margin), 1) * points]
            estimate = np.r_[estimate, (means[0] + means[1]) / 2 * points]
            smallest = float(means[1].min())
        step = np.r_[0.0, estimate[1:] / ranks[1:]]
        if ranks[-1] < draw.n_items:
            rest = draw.n_items - ranks[-1]
            ranks = np.r_[ranks, draw.n_items]
            low, high, step = np.r_[low, low[-1]], np.r_[high, high[-1] + rest], np.r_[step, step[-1]]
            estimate = np.r_[estimate, estimate[-1] / ranks[-2] * draw.n_items]
        return Curve(
            method=self.name,
            n_items=draw.n_items,
            n_labels=labels.n_sure,
            ranks=ranks,
            yield_low=low,
            yield_high=high,
            yield_estimate=estimate,
            confidence_level=1.0 if exact else self.confidence_level,
            guarantee="exact" if exact else "finite-sample",
            notes=unanswered_note(draw, labels) + self._factor_note(grid, smallest),
            claimed_factor=1.0 if exact else grid.factor,
            steps={"estimate": step},
        )

    def _factor_note(self, grid: Grid, smallest: float) -> tuple[str, ...]:
        if grid.labels_all or smallest >= self.precision:
            return ()
        note = (
            f"The labels were planned for a precision of at least {self.precision:g}; the smallest estimate is "
            f"{smallest:.3f}, so the bounds hold but may be wider than the factor {grid.factor:.3f}."
        )
        return (note,)
