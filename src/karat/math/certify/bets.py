"""The bets: a grid of thetas, fixed before the first label of a pass, and the level their mixture must reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GRID_RATIO = 1.4  # neighbouring thetas; closer ones gain little sharpness and cost ln J


class Bets(NamedTuple):
    """Thetas, the log-level of their sum, and the effective log-level that planning reckons with.

    ``level`` is ``ln(sides * J / delta)``: a sum of J supermartingales from 1 reaches ``sides * J / delta`` with
    probability at most ``delta / sides``. ``drift`` (called l in the formulas) says how much of it a well-placed
    theta really pays: a half-width ``T`` needs a variance of at most ``T**2 / (2 * drift)``.
    """

    thetas: NDArray[np.float64]
    level: float
    drift: float


def make_bets(lowest_tolerance: float, highest_tolerance: float, *, delta: float, sides: int = 2) -> Bets:
    """Return bets that are sharp wherever the wanted half-width lies between the two tolerances.

    Parameters
    ----------
    lowest_tolerance, highest_tolerance
        The half-widths (in items) wanted at the first and at the last rank that is judged.
    delta
        Probability with which the band may miss.
    sides
        2 for a band, 1 for a lower or an upper bound alone, which then has all of delta.

    Examples
    --------
    >>> bets = make_bets(20.0, 700.0, delta=0.05)
    >>> len(bets.thetas), round(bets.level, 3), round(bets.drift, 2)
    (11, 6.087, 5.25)
    """
    log_ratio = math.log(GRID_RATIO)
    n_bets = max(1, math.ceil(math.log(max(highest_tolerance / lowest_tolerance, 1.0)) / log_ratio - 1e-9))
    one_bet = math.log(sides / delta)
    drift = one_bet
    for _ in range(20):  # l = ln(sides/delta) + ln(J ln(1.4) / sqrt(pi/l)): the mixture's Laplace approximation
        drift = one_bet + math.log(max(1.0, n_bets * log_ratio / math.sqrt(math.pi / drift)))
    if n_bets == 1:  # one theta for the whole range stands in its middle
        tolerances = np.array([math.sqrt(lowest_tolerance * highest_tolerance)])
    else:
        tolerances = lowest_tolerance * GRID_RATIO ** (np.arange(n_bets) + 0.5)
    return Bets(2.0 * drift / tolerances, one_bet + math.log(n_bets), drift)
