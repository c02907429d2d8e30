"""Effective variance: how many labels a rate and a tolerance really need, for planning only.

Far from the limits of the bets a label of rate v is worth its variance v(1-v). Near v = 0 or 1 that promises too
much: bets are clipped, and one adverse label moves the band. The table holds the value that makes the planner's
formula right in the self-similar regime: rate v, cells growing with the rank, a half-width of tau times the rank.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DRIFT = 6.0  # the log-level in whose units cell sizes are reckoned
_JUMP_SHARE = 2.0  # adverse labels to allow for
_SMALLEST_RATE = 1e-4
_TOLERANCES = (0.002, 0.45)
_N_RATES, _N_TOLERANCES = 41, 22


class VarianceTable(NamedTuple):
    """Log of the effective variance on a grid of logit rates and log tolerances, both evenly spaced."""

    logit_rates: NDArray[np.float64]
    log_tolerances: NDArray[np.float64]
    log_values: NDArray[np.float64]


@lru_cache(maxsize=3)
def variance_table(side: str = "both") -> VarianceTable:
    """Return the table for a band ('both') or for a 'lower' or 'upper' bound alone.

    For every rate the largest cell size (in units of rank/l) is sought whose certified gap stays within the
    tolerance: a bound with a bet of strength a pays ``(1 + loss/size + jump) / a``, where ``loss`` is the
    expected log-wealth lost against a riskless bet, summed over cells whose size grows with the rank. A gap can
    never exceed the trivial bound: v below, 1 - v above. That is why one side is almost free near 0 and 1.
    """
    logit_rates = np.linspace(math.log(_SMALLEST_RATE), -math.log(_SMALLEST_RATE), _N_RATES)
    tolerances = np.exp(np.linspace(math.log(_TOLERANCES[0]), math.log(_TOLERANCES[1]), _N_TOLERANCES))
    bets = np.exp(np.linspace(math.log(1e-5), math.log(60.0), 900))
    log_bets = np.log(bets)
    spacing = np.diff(log_bets, prepend=log_bets[0])
    sizes = np.exp(np.linspace(math.log(1e-6), math.log(50.0), 160))
    strengths = np.exp(np.linspace(math.log(0.3), math.log(3e4), 260))
    log_products = np.log(strengths[None, :] * sizes[:, None])

    def gap(rate: float) -> NDArray[np.float64]:
        """Gap of the lower bound at every cell size; the upper bound's is that of the mirrored rate."""
        guess = np.minimum(rate, 0.9 / bets)
        growth = rate * np.log1p(bets * (1 - guess)) + (1 - rate) * np.log1p(-bets * guess)
        loss = np.cumsum((bets * (rate - guess) - growth) * spacing)
        jump = -np.log1p(-bets * guess)
        losses = np.interp(log_products, log_bets, loss, left=0.0, right=1e9)
        jumps = np.interp(log_products, log_bets, jump, left=0.0, right=2.3)
        paid = (1.0 + losses / sizes[:, None] + _JUMP_SHARE * jumps / _DRIFT) / strengths[None, :]
        return np.asarray(np.minimum(paid.min(axis=1), rate))

    log_values = np.empty((_N_RATES, _N_TOLERANCES))
    for i, logit in enumerate(logit_rates):
        rate = 1.0 / (1.0 + math.exp(-logit))
        below = gap(rate) if side != "upper" else 0.0
        above = gap(1.0 - rate) if side != "lower" else 0.0
        total = np.maximum.accumulate(below + above) + 1e-12 * np.arange(len(sizes))
        allowed = 2.0 * tolerances if side == "both" else tolerances
        largest = np.interp(allowed, total, sizes)
        log_values[i] = np.log(np.maximum(tolerances**2 / largest, 1e-5))
    return VarianceTable(logit_rates, np.log(tolerances), log_values)


@njit(cache=True)
def effective_variance(rate: float, tolerance: float, table: VarianceTable) -> float:
    """Look the effective variance of a rate up, at a tolerance given as a share of the rank (bilinear in the logs)."""
    logit_rates, log_tolerances, log_values = table
    rate = min(max(rate, 1.01 * _SMALLEST_RATE), 1.0 - 1.01 * _SMALLEST_RATE)
    tolerance = min(max(tolerance, 1.005 * _TOLERANCES[0]), 0.998 * _TOLERANCES[1])
    x = (math.log(rate / (1.0 - rate)) - logit_rates[0]) / (logit_rates[1] - logit_rates[0])
    y = (math.log(tolerance) - log_tolerances[0]) / (log_tolerances[1] - log_tolerances[0])
    i = min(int(x), len(logit_rates) - 2)
    j = min(int(y), len(log_tolerances) - 2)
    x -= i
    y -= j
    low = (1.0 - y) * log_values[i, j] + y * log_values[i, j + 1]
    high = (1.0 - y) * log_values[i + 1, j] + y * log_values[i + 1, j + 1]
    return math.exp((1.0 - x) * low + x * high)
