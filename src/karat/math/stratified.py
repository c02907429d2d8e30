"""Log-stratified sampling (Sabharwal & Sedghi 2017, Algorithm 1): s draws for every grid point, most of them reused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.geometric import Grid
    from karat.math.path import Floats, Ranks


def draws_per_point(grid: Grid, *, least_precision: float, confidence_level: float) -> float:
    """Return s of Theorem 2 (not rounded): draws that bring each grid point within gamma with union confidence."""
    if grid.labels_all or grid.n_intervals < 1:
        return 0.0
    share = (1 - confidence_level) / 2
    return math.log(grid.n_intervals / share) / (2 * (grid.gamma - 1) ** 2 * least_precision**2)


def expected_labels(grid: Grid, *, least_precision: float, confidence_level: float) -> float:
    """Return the expected number of labels: all of 1..g_l and the fresh share of s at each later grid point.

    Examples
    --------
    >>> from karat.math.geometric import make_grid
    >>> round(expected_labels(make_grid(10_000_000), least_precision=0.5, confidence_level=0.95))
    62365
    """
    if grid.labels_all:
        return float(grid.n_items)
    s = draws_per_point(grid, least_precision=least_precision, confidence_level=confidence_level)
    return grid.g_l + grid.n_intervals * grid.epsilon / (1 + grid.epsilon) * s


class StratifiedDraws(NamedTuple):
    """One row a draw: its rank, and the first and last grid point (counted from g_l = 0) whose sample it is in."""

    ranks: Ranks
    first: Ranks
    last: Ranks


def draw(grid: Grid, *, n_draws: int, rng: np.random.Generator) -> StratifiedDraws:
    """Run the sampling of Algorithm 1.

    Each of the s slots holds an item that is uniform on 1..g_k; going to g_{k+1} it is kept with probability
    g_k / g_{k+1} and otherwise replaced from the new stratum, which makes it uniform on 1..g_{k+1}.
    """
    current = rng.integers(1, grid.points[0] + 1, size=n_draws)
    since = np.zeros(n_draws, dtype=np.int64)
    closed: list[tuple[Ranks, Ranks, Ranks]] = []
    for k, (old, new) in enumerate(zip(grid.points[:-1], grid.points[1:], strict=True)):
        replaced = rng.random(n_draws) >= old / new
        n_replaced = int(replaced.sum())
        closed.append((current[replaced], since[replaced], np.full(n_replaced, k)))
        current[replaced] = rng.integers(old + 1, new + 1, size=n_replaced)
        since[replaced] = k + 1
    closed.append((current, since, np.full(n_draws, grid.n_intervals)))
    ranks, first, last = (np.concatenate(column).astype(np.int64) for column in zip(*closed, strict=True))
    order = np.lexsort((first, ranks))
    return StratifiedDraws(ranks[order], first[order], last[order])


def sample_means(grid: Grid, draws: StratifiedDraws, labels: NDArray[np.int8]) -> Floats:
    """Return q(g_k), the mean label of the sample of each grid point (labels in the order of the draws)."""
    n_points = len(grid.points)
    change = np.bincount(draws.first, labels, n_points + 1) - np.bincount(draws.last + 1, labels, n_points + 1)
    size = np.bincount(draws.first, minlength=n_points + 1) - np.bincount(draws.last + 1, minlength=n_points + 1)
    return np.cumsum(change)[:n_points] / np.maximum(np.cumsum(size)[:n_points], 1)
