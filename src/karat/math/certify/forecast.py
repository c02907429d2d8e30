"""What labels would buy: simulated from assumed rates before a walk, or from the answers so far during one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.certify.judge import worst_share
from karat.math.certify.pilot import forecast_rates
from karat.math.certify.simulate import RateCurve, simulate_pass
from karat.math.certify.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from karat.math.certify.settings import Settings

_PSEUDO_LABELS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelsNeeded:
    """Labels a target takes, over simulated lists: their mean and the middle 80%, and how often it was met."""

    mean: float
    low: float
    high: float
    share_met: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetBuys:
    """The largest half-width that a budget leaves, in units of the tolerance: median over simulated lists."""

    budget: int
    worst_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLabels:
    """Where a walk is expected to stand after some more labels.

    ``rank_reached`` is the last rank with a cell in the current look; ``worst_share`` is the largest half-width over
    its tolerance at all judged ranks, ``worst_share_so_far`` at those reached.
    """

    n_more: int
    rank_reached: int
    worst_share: float
    worst_share_so_far: float


def labels_needed(
    ranks: ArrayLike, rates: ArrayLike, *, settings: Settings, n_items: int, seed: int = 0, n_runs: int = 10
) -> LabelsNeeded:
    """Simulate how many labels a target takes if labels are 1 with the given rates at the given ranks.

    Examples
    --------
    >>> from karat.math.certify.settings import Settings
    >>> needed = labels_needed([1, 100_000], [0.9, 0.6], settings=Settings(), n_items=100_000)
    >>> needed.low <= needed.mean <= needed.high, needed.share_met
    (True, 1.0)
    """
    _check.whole("n_runs", n_runs, least=1)
    runs = [
        simulate_pass(_curve(ranks, rates, seed + run), settings, seed=seed + run, n_items=n_items)
        for run in range(n_runs)
    ]
    counts = np.array([run.n_labels for run in runs])
    low, high = np.quantile(counts, (0.1, 0.9))
    met = float(np.mean([run.target_met for run in runs]))
    return LabelsNeeded(mean=float(counts.mean()), low=float(low), high=float(high), share_met=met)


def budgets_buy(
    ranks: ArrayLike,
    rates: ArrayLike,
    *,
    settings: Settings,
    n_items: int,
    budgets: Sequence[int] = (300, 1000, 3000),
    seed: int = 0,
    n_runs: int = 5,
) -> list[BudgetBuys]:
    """Simulate how tight budgets get, in units of the tolerance of the settings.

    Examples
    --------
    >>> from karat.math.certify.settings import Settings
    >>> rows = budgets_buy([1, 100_000], [0.9, 0.6], settings=Settings(), n_items=100_000, budgets=(300, 1200))
    >>> [row.budget for row in rows], rows[0].worst_share > rows[1].worst_share
    ([300, 1200], True)
    """
    _check.whole("n_runs", n_runs, least=1)
    rows = []
    for budget in budgets:
        wish = replace(settings, budget=budget)
        shares = [
            simulate_pass(_curve(ranks, rates, seed + run), wish, seed=seed + run, n_items=n_items).worst_share
            for run in range(n_runs)
        ]
        rows.append(BudgetBuys(budget=budget, worst_share=float(np.median(shares))))
    return rows


def next_labels(walk: Walk, n_more: Sequence[int] = (100, 500), *, seed: int = 0) -> list[NextLabels]:
    """Simulate what the next labels of a walk would buy, at the rates its answers show so far.

    Open answers are made up first. The walk itself is left as it is.

    Examples
    --------
    >>> from karat.math.certify.settings import Settings
    >>> walk = Walk(Settings(), n_items=50_000, seed=1)
    >>> pilot = walk.ask()
    >>> walk.tell(pilot.ranks, pilot.ranks % 3 > 0)
    >>> first, second = next_labels(walk)
    >>> 0 < first.rank_reached < second.rank_reached <= 50_000
    True
    """
    ranks, values = walk.answers()
    known = values >= 0
    rates = forecast_rates(
        ranks[known], values[known].astype(np.float64), n_items=walk.n_items, pseudo_labels=_PSEUDO_LABELS
    )
    if len(rates.ranks):
        grid, place = np.unique(np.ceil(rates.ranks).astype(np.int64), return_index=True)
        curve = RateCurve(ranks=grid, rates=rates.rates[place], seed=seed)
    else:
        curve = RateCurve(ranks=np.array([1]), rates=np.array([0.5]), seed=seed)
    copy = Walk.resume(
        walk.settings,
        n_items=walk.n_items,
        seed=walk.seed,
        cells=walk.cells,
        ranks=ranks,
        values=values,
        proxy=walk.proxy if len(walk.proxy) else None,
    )
    copy.tell(copy.pending, curve.labels_at(copy.pending))
    rows = []
    start = copy.n_asked
    for goal in sorted(n_more):
        _check.whole("n_more", goal, least=1)
        while copy.n_asked - start < goal and not copy.done:
            cells = copy.ask(goal - (copy.n_asked - start))
            asked = cells.ranks[cells.new]
            copy.tell(asked, curve.labels_at(asked))
        bounds = copy.bounds()
        rows.append(
            NextLabels(
                n_more=goal,
                rank_reached=copy.rank_reached,
                worst_share=worst_share(bounds, copy.settings),
                worst_share_so_far=worst_share(bounds, copy.settings, upto=copy.rank_reached),
            )
        )
    return rows


def _curve(ranks: ArrayLike, rates: ArrayLike, seed: int) -> RateCurve:
    return RateCurve(ranks=np.asarray(ranks, np.int64), rates=np.asarray(rates, np.float64), seed=seed)
