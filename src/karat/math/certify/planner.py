"""How many labels, and where: the size of the next cells, and the labels the rest of the pass will take.

Planning never touches validity. With l the effective log-level (``drift``) a half-width T at rank r needs a spent
variance of at most ``T**2 / (2 l)``; cells of size s over a stretch dr add ``s w dr``, with w the effective
variance. Fewest labels under all those ceilings at once: s proportional to 1/sqrt(w), and the spent variance follows
the greatest convex minorant of the ceilings, drawn against the integral of sqrt(w). Its first slope gives the
next cells; all its slopes give the cost of the rest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from karat.math.certify.variance import VarianceTable, effective_variance

if TYPE_CHECKING:
    from karat.math.certify.pilot import Forecast

_HORIZON = 1.04  # ceilings nearer than this are past help
_FORECAST_PULL = 3.0  # how fast, in ln(rank), the rate now gives way to the pilot's forecast
_LEAST_RANK = 20.0
_NO_CEILING = 1e300
_COARSE = 1.04  # coarser steps while a budget's scale is sought
_BUDGET_STEPS = 9
_PROXY_CARE = 0.02


class Goal(NamedTuple):
    """What planning aims at."""

    last_rank: float
    from_rank: float
    absolute: float
    relative: float
    slack: float
    early_care: float  # tighter tolerance just after from_rank, while planning before it
    jump_care: float  # 1: a wider margin where single labels move the band; 0: none
    drift: float
    step_ratio: float  # of the grid of future ranks


class Position(NamedTuple):
    """Where a pass stands: rank, yield, half-width, variance spent, rate of the last labels, what the proxy saves."""

    rank: float
    estimate: float
    half_width: float
    spent: float
    rate: float
    proxy_gain: float


@njit(cache=True)
def plan_ahead(
    position: Position,
    scale: float,
    goal: Goal,
    forecast: Forecast,
    table: VarianceTable,
    want_cost: bool,  # noqa: FBT001
) -> tuple[float, float]:
    """Return the size of the next cells and, if wanted, the labels from here to the last rank.

    ``scale`` multiplies the tolerance. The rate ahead moves from the rate now to the forecast's.
    """
    here = position.rank
    # Rates of several classes are known less well than one; a proxy that saves nothing needs no care.
    slack = goal.slack * (1.0 - _PROXY_CARE * min(1.0, 20.0 * (1.0 - position.proxy_gain)))
    ratio = goal.step_ratio * (_COARSE if want_cost else 1.0)
    most = int(max(math.log(goal.last_rank / max(here, _LEAST_RANK / ratio)) / math.log(ratio), 0.0)) + 4
    across = np.empty(most)
    ceilings = np.empty(most)
    root_variances = np.empty(most)
    widths = np.empty(most)
    n = 0
    rank = here
    expected_yield = position.estimate
    travelled = 0.0
    slope = _NO_CEILING
    first_variance = -1.0
    first_margin = 1.0
    ahead = 0
    while rank < goal.last_rank and n < most:
        following = min(goal.last_rank, max(rank, _LEAST_RANK) * ratio)
        rate = position.rate
        if len(forecast.ranks) > 0:
            while ahead < len(forecast.ranks) - 1 and forecast.ranks[ahead] < following:
                ahead += 1
            pull = _FORECAST_PULL * math.log(following / max(here, _LEAST_RANK))
            pull = 1.0 - math.exp(-pull) if pull > 0.0 else 0.0
            rate = rate * (1.0 - pull) + forecast.rates[ahead] * pull
        expected_yield += rate * (following - rank)
        judged_at = max(following, goal.from_rank)
        tolerance = scale * slack * max(goal.absolute * judged_at, goal.relative * expected_yield)
        if here < goal.from_rank and following < 1.6 * goal.from_rank:
            tolerance *= goal.early_care
        variance = effective_variance(rate, max(tolerance / judged_at, 1e-4), table) * position.proxy_gain
        sharpness = 0.37 * math.sqrt(tolerance / judged_at / (goal.drift * variance)) - 0.08
        margin = 1.0 - goal.jump_care * min(max(sharpness, 0.0), 0.07)
        tolerance *= margin
        if first_variance < 0.0:
            first_variance = variance
            first_margin = margin
        travelled += (following - rank) * math.sqrt(variance)
        across[n] = travelled
        root_variances[n] = math.sqrt(variance)
        widths[n] = following - rank
        ceilings[n] = tolerance * tolerance / (2.0 * goal.drift) if following >= goal.from_rank else _NO_CEILING
        if following >= goal.from_rank and (following >= _HORIZON * here or following >= goal.last_rank):
            # A bet made for this ceiling widens the band linearly: seen from here so much is spent at least.
            in_line = tolerance * (position.half_width - 0.5 * tolerance) / goal.drift
            slope = min(slope, (ceilings[n] - max(position.spent, in_line)) / travelled)
        n += 1
        rank = following
    # Keep the size within reason of what this rank alone would ask for.
    to_go = max(goal.from_rank - here, 0.0)
    judged_at = max(here, goal.from_rank)
    yield_there = position.estimate + position.rate * to_go
    tolerance = first_margin * scale * slack * max(goal.absolute * judged_at, goal.relative * yield_there)
    alone = tolerance * tolerance / (judged_at * goal.drift * first_variance)
    increment = tolerance * max(goal.absolute, goal.relative * position.rate) / (goal.drift * first_variance)
    size = min(max(slope / math.sqrt(first_variance), 0.25 * min(alone, increment)), 4.0 * alone)
    cost = 0.0
    if want_cost:
        cost = _minorant_cost(across[:n], ceilings[:n], root_variances[:n], widths[:n], position.spent)
    return size, cost


@njit(cache=True)
def _minorant_cost(
    across: np.ndarray, ceilings: np.ndarray, root_variances: np.ndarray, widths: np.ndarray, spent: float
) -> float:
    """Return the labels needed when the spent variance follows the greatest convex minorant of the ceilings."""
    n = len(across)
    lowest = _NO_CEILING
    for k in range(n - 1, -1, -1):  # what is spent never falls, so a later, lower ceiling binds here too
        lowest = min(lowest, ceilings[k])
        ceilings[k] = max(lowest, spent + 1e-9)
    hull = np.empty(n + 1, np.int64)  # indices into (0, spent), (across[0], ceilings[0]), ...; -1 is the start
    hull[0] = -1
    top = 0
    for k in range(n):
        while top > 0:
            x_before = 0.0 if hull[top - 1] < 0 else across[hull[top - 1]]
            y_before = spent if hull[top - 1] < 0 else ceilings[hull[top - 1]]
            x_last, y_last = across[hull[top]], ceilings[hull[top]]
            if (y_last - y_before) * (across[k] - x_before) < (ceilings[k] - y_before) * (x_last - x_before):
                break
            top -= 1
        top += 1
        hull[top] = k
    cost = 0.0
    for corner in range(1, top + 1):
        before, last = hull[corner - 1], hull[corner]
        x_before = 0.0 if before < 0 else across[before]
        y_before = spent if before < 0 else ceilings[before]
        slope = (ceilings[last] - y_before) / (across[last] - x_before)
        for k in range(before + 1, last + 1):
            cost += widths[k] / max(1.0, slope / root_variances[k])
    return cost


@njit(cache=True)
def scale_for_budget(
    position: Position, labels_left: float, start: float, goal: Goal, forecast: Forecast, table: VarianceTable
) -> float:
    """Return the scale of the tolerance at which the rest of the pass is expected to take the labels left.

    Labels fall about as the square of the scale, which gives the steps; bisection guards them.
    """
    low, high = 0.02, 500.0
    scale = min(max(start, low), high)
    aim = max(labels_left, 1.0)
    for _ in range(_BUDGET_STEPS):
        _, cost = plan_ahead(position, scale, goal, forecast, table, True)
        if abs(cost - aim) < 0.004 * aim:
            break
        if cost > aim:
            low = scale
        else:
            high = scale
        guess = scale * math.sqrt(max(cost, 1.0) / aim)
        scale = guess if low < guess < high else math.sqrt(low * high)
    return scale
