"""PAULA (Sabharwal & Sedghi 2017, Algorithm 2): bounds on the yield from windows of labels on a geometric grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.geometric import Grid
    from karat.math.path import Floats, Ranks


def count_labels(grid: Grid) -> int:
    """Return how many labels PAULA buys: g_l and a window for each later grid point.

    Examples
    --------
    >>> from karat.math.geometric import make_grid
    >>> count_labels(make_grid(2_000_000_000))
    48292
    """
    return grid.n_items if grid.labels_all else grid.g_l + grid.window * grid.n_intervals


def ranks_to_label(grid: Grid) -> Ranks:
    """Return the ranks PAULA labels: 1..g_l, then the window that ends at each later grid point."""
    if grid.labels_all:
        return np.arange(1, grid.n_items + 1, dtype=np.int64)
    windows = grid.points[1:, None] - np.arange(grid.window - 1, -1, -1)
    return np.concatenate([np.arange(1, grid.g_l + 1, dtype=np.int64), windows.ravel()])


@dataclass(frozen=True, slots=True, kw_only=True)
class PaulaYields:
    """PAULA's yields at the knots (every rank to g_l, each grid point, the end of the list)."""

    ranks: Ranks
    low: Floats
    high: Floats
    step_low: Floats
    """The paper's lower step curve: precision at each knot, held until the next one."""
    step_high: Floats


def bound_yields(grid: Grid, low_labels: NDArray[np.int8], high_labels: NDArray[np.int8]) -> PaulaYields:
    """Return PAULA's Y- and Y+ from the labels of ``ranks_to_label(grid)``.

    ``low_labels`` and ``high_labels`` differ where an answer is missing or unsure (0 below, 1 above). The paper's step
    curves are estimates within gamma (1 + epsilon); low and high extended by the bracket of `karat.math.path` are
    bounds, both under the paper's assumptions.
    """
    n_top = min(grid.g_l, grid.n_items)
    ranks = np.r_[np.arange(n_top + 1), grid.points[1:]].astype(np.int64)
    low = np.r_[0, np.cumsum(low_labels[:n_top])].astype(np.float64)
    high = np.r_[0, np.cumsum(high_labels[:n_top])].astype(np.float64)
    gaps = np.diff(grid.points)
    if len(gaps):
        low = np.r_[low, low[-1] + np.cumsum(gaps * window_rates(grid, low_labels)[1:])]
        high = np.r_[high, high[-1] + np.cumsum(gaps * window_rates(grid, high_labels)[:-1])]
    steps = [np.r_[0.0, values[1:] / ranks[1:]] for values in (low, high)]
    if ranks[-1] < grid.n_items:  # after the last grid point nothing is known but that each step adds 0 or 1
        rest = grid.n_items - ranks[-1]
        ranks, low, high = np.r_[ranks, grid.n_items], np.r_[low, low[-1]], np.r_[high, high[-1] + rest]
        steps = [np.r_[values, values[-1]] for values in steps]
    return PaulaYields(ranks=ranks, low=low, high=high, step_low=steps[0], step_high=steps[1])


def window_rates(grid: Grid, labels: NDArray[np.int8]) -> Floats:
    """Return the mean label of the window that ends at g_l and at each later grid point."""
    top, rest = labels[: grid.g_l], labels[grid.g_l :]
    first = top[-grid.window :].mean()
    return np.concatenate([[first], rest.reshape(-1, grid.window).mean(axis=1)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """A place where the windows' rate rises by more than noise explains."""

    before: tuple[int, int]
    after: tuple[int, int]
    rate_before: float
    rate_after: float
    p_value: float
    """Adjusted for the number of places looked at."""


def find_rises(grid: Grid, labels: NDArray[np.int8], *, significance: float = 0.05) -> list[Rise]:
    """Return where neighbouring runs of 1, 2, 4, ... windows contradict a falling rate.

    At each grid point and scale the pooled labels before and after it are compared by Fisher's exact test, one-sided,
    with Bonferroni's correction for all comparisons made. Overlapping findings are thinned to the strongest.
    """
    if grid.labels_all or grid.n_intervals < 1:
        return []
    from scipy.stats import hypergeom  # noqa: PLC0415  (a second to import, and only this test needs it)

    hits = np.r_[0, np.cumsum(np.round(window_rates(grid, labels) * grid.window).astype(np.int64))]
    n_windows = len(hits) - 1
    found: list[tuple[float, int, int]] = []
    n_tests, scale = 0, 1
    while 2 * scale <= n_windows:
        middle = np.arange(scale, n_windows - scale + 1)
        before, after = hits[middle] - hits[middle - scale], hits[middle + scale] - hits[middle]
        size = scale * grid.window
        p_values = hypergeom.sf(after - 1, 2 * size, before + after, size)
        found += [(float(p), int(mid), scale) for p, mid in zip(p_values, middle, strict=True)]
        n_tests, scale = n_tests + len(middle), 2 * scale
    significant = sorted(entry for entry in found if entry[0] * n_tests <= significance)
    rises: list[Rise] = []
    taken = np.zeros(n_windows, dtype=bool)
    for p_value, middle_, scale_ in significant:
        span = slice(middle_ - scale_, middle_ + scale_)
        if taken[span].any():
            continue
        taken[span] = True
        starts, ends = grid.points - grid.window + 1, grid.points
        size = scale_ * grid.window
        rises.append(
            Rise(
                before=(int(starts[middle_ - scale_]), int(ends[middle_ - 1])),
                after=(int(starts[middle_]), int(ends[middle_ + scale_ - 1])),
                rate_before=float(hits[middle_] - hits[middle_ - scale_]) / size,
                rate_after=float(hits[middle_ + scale_] - hits[middle_]) / size,
                p_value=min(1.0, p_value * n_tests),
            )
        )
    return sorted(rises, key=lambda rise: rise.before)
