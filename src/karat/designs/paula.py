"""PAULA: windows of labels on a geometric grid, with bounds under monotonicity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from karat.curves import Curve
from karat.designs.base import FixedMethod, Layout, Sample, unanswered_note
from karat.errors import InvalidData
from karat.math import paula
from karat.math.geometric import DEFAULT_EPSILON, DEFAULT_WINDOW, Grid, make_grid
from karat.math.path import make_consistent
from karat.math.sampled import Sampled
from karat.results import Assumption

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.draws import Draw, Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Paula(FixedMethod):
    """PAULA of Sabharwal & Sedghi (2017).

    Parameters
    ----------
    epsilon
        Ratio of the grid, in (0, 1]; the promised factor is about (1 + epsilon)^2.
    window
        Labels at each grid point.
    stable_after
        The rank before which everything is labelled; at least (window + 2) / epsilon.

    Examples
    --------
    >>> Paula().plan(217_077)["labels"]
    17392
    """

    name: ClassVar[str] = "paula"
    epsilon: float = DEFAULT_EPSILON
    window: int = DEFAULT_WINDOW
    stable_after: int | None = None

    def __post_init__(self) -> None:
        self.grid(1)

    def grid(self, n_items: int) -> Grid:
        return make_grid(n_items, epsilon=self.epsilon, window=self.window, stable_after=self.stable_after)

    def plan(self, n_items: int) -> dict[str, Any]:
        grid = self.grid(n_items)
        return {
            "labels": paula.count_labels(grid),
            "epsilon": grid.epsilon,
            "window": grid.window,
            "r_tilde": grid.r_tilde,
            "l": grid.l,
            "g_l": grid.g_l,
            "m": grid.m,
            "L": grid.L,
            "gamma": grid.gamma,
            "factor": 1.0 if grid.labels_all else grid.factor,
        }

    def sample(self, draw: Draw) -> Sample:
        note = "PAULA draws nothing at random: beyond its labels nothing is known about any group."
        return Sample(Sampled.certain(draw.ranks), notes=() if self.grid(draw.n_items).labels_all else (note,))

    def lay_out(self, n_items: int, rng: np.random.Generator) -> Layout:  # noqa: ARG002
        return Layout(paula.ranks_to_label(self.grid(n_items)), {})

    def estimate(self, draw: Draw, labels: Labels) -> Curve:
        grid = self.grid(draw.n_items)
        if not np.array_equal(draw.ranks, paula.ranks_to_label(grid)):
            raise InvalidData("The draw does not hold the ranks that PAULA labels.")
        low_labels, high_labels = labels.bounds(draw.ranks)
        yields = paula.bound_yields(grid, low_labels, high_labels)
        complete = bool(np.array_equal(low_labels, high_labels))
        exact = grid.labels_all and complete
        return Curve(
            method=self.name,
            n_items=draw.n_items,
            n_labels=labels.n_sure,
            ranks=yields.ranks,
            yield_low=yields.low,
            yield_high=yields.high,
            yield_estimate=(yields.low + yields.high) / 2,
            confidence_level=1.0,
            guarantee="exact" if exact else "deterministic under assumptions",
            assumptions=() if grid.labels_all else _assumptions(grid, yields, low_labels, complete=complete),
            notes=unanswered_note(draw, labels),
            claimed_factor=1.0 if exact else grid.factor if grid.has_comparable_ranks else None,
            steps={"lower": yields.step_low, "upper": yields.step_high},
        )


def _assumptions(
    grid: Grid, yields: paula.PaulaYields, low_labels: NDArray[np.int8], *, complete: bool
) -> tuple[Assumption, ...]:
    low, high = make_consistent(yields.ranks, yields.low, yields.high)
    first_crossing = np.flatnonzero(low > high)
    top, top_window = low_labels[: grid.g_l].mean(), paula.window_rates(grid, low_labels)[0]
    start_holds = bool(top >= top_window)
    rises = paula.find_rises(grid, low_labels) if complete else []
    rise_words = "; ".join(
        f"from {rise.rate_before:.2f} (ranks {rise.before[0]:,}-{rise.before[1]:,}) to {rise.rate_after:.2f} "
        f"(ranks {rise.after[0]:,}-{rise.after[1]:,}), p = {rise.p_value:.1g}"
        for rise in rises
    )
    return (
        Assumption(
            statement="Precision falls along the grid: each window's rate bounds the stretch before it from below and "
            "the one after it from above (A.1 and A.2 on the grid)",
            verdict="contradicted" if rises else "not testable",
            finding=f"The rate rises by more than noise explains: {rise_words}."
            if rises
            else (
                "No rise of the windows' rate beyond noise was found; labels between the windows were not bought."
                if complete
                else "Not looked at before all labels are in."
            ),
        ),
        Assumption(
            statement=f"The first {grid.g_l:,} items are at least as good as their last {grid.window}",
            verdict=("held" if start_holds else "contradicted") if complete else "not testable",
            finding=f"Their precision is {top:.3f}, that of their last {grid.window} is {top_window:.3f}.",
        ),
        Assumption(
            statement="The lower bound stays below the upper one",
            verdict="contradicted" if first_crossing.size else "held",
            finding=f"Lower and upper bound cross at rank {yields.ranks[first_crossing[0]]:,}."
            if first_crossing.size
            else "Lower and upper bound never cross.",
        ),
    )
