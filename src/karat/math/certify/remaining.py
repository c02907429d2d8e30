"""How many more labels a walk under way will ask for: its way from here on, simulated at the rates seen so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.certify.simulate import RateCurve, simulate_pass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.certify.walk import Walk

_SCALE = 0.7  # of the kernel, in ln(rank)
_PSEUDO_WIDTH = 0.05  # of the stretch of ln(rank) in which the overall rate is taken for seen
_GRID = 200


def labels_left(walk: Walk, *, seed: int = 0, n_runs: int = 5) -> int:
    """Return about how many labels are still to come, those that are out included; no guarantee.

    Whole walks are simulated, and of each only what it buys beyond the point that this one has reached is counted. The
    difference to a whole walk's labels would not do: what this walk has bought so far says more about luck than about
    what is still to come, and towards the end nothing else would be left of the forecast.

    Examples
    --------
    >>> from karat.math.certify.settings import Settings
    >>> from karat.math.certify.walk import Walk
    >>> walk = Walk(Settings(), n_items=50_000, seed=1)
    >>> for _ in range(10):
    ...     cells = walk.ask(50)
    ...     walk.tell(cells.ranks[cells.new], cells.ranks[cells.new] % 3 > 0)
    >>> 500 < labels_left(walk) < 5000
    True
    """
    _check.whole("n_runs", n_runs, least=1)
    if walk.done:
        return 0
    ranks, rates = rates_seen(walk)
    runs = []
    for run in range(n_runs):  # one alone scatters by a third
        curve = RateCurve(ranks=ranks, rates=rates, seed=seed + run)
        cells = simulate_pass(curve, walk.settings, seed=seed + run, n_items=walk.n_items).cells
        ahead = (cells.look > walk.look) | ((cells.look == walk.look) & (cells.ranks > walk.rank_reached))
        runs.append(int(np.count_nonzero(ahead & cells.new & (cells.look > 0))))
    waiting = len(walk.pending) if walk.n_asked else walk.n_pilot
    beyond = int(np.median(runs))
    if walk.settings.budget is not None:
        beyond = min(beyond, walk.settings.budget - walk.n_asked)
    return waiting + beyond


def rates_seen(walk: Walk) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return ranks and a guess of the rates there.

    An answer weighs by its distance in ln(rank), and by the stretch of ln(rank) that it stands for: else the many
    answers of the part that is done would drown the few of the pilot that speak about the part to come.
    """
    ranks, values = walk.answers()
    ranks, first = np.unique(ranks[values >= 0], return_index=True)
    value = values[values >= 0][first].astype(np.float64)
    grid = np.unique(np.geomspace(1, walk.n_items, _GRID).astype(np.int64))
    if not len(ranks):
        return grid, np.full(len(grid), 0.5)
    place = np.log(ranks)
    borders = np.concatenate([[0.0], 0.5 * (place[1:] + place[:-1]), [np.log(walk.n_items)]])
    stretch = np.diff(borders)
    weights = np.exp(-np.abs(np.log(grid)[:, None] - place[None, :]) / _SCALE) * stretch
    overall = float(stretch @ value / stretch.sum()) if stretch.sum() else float(value.mean())
    rates = (weights @ value + _PSEUDO_WIDTH * overall) / (weights.sum(axis=1) + _PSEUDO_WIDTH)
    return grid, np.clip(rates, 0.0, 1.0)
