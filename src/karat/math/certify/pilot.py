"""The pilot: a few labels spread evenly in ln(rank), for the forecast of rates and for nothing else.

The pass is valid given whatever the pilot showed, because its draws are independent of the pilot's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.math.certify.stream import PURPOSE_PILOT, uniform

FIRST_RANK = 100  # the top is labelled almost fully anyway
_N_GRID = 60
_KERNEL_SCALE = 0.35  # in ln(rank)


class Forecast(NamedTuple):
    """Forecast rates at ranks, increasing; empty when nothing is known beforehand."""

    ranks: NDArray[np.float64]
    rates: NDArray[np.float64]

    def yield_upto(self, rank: float) -> float:
        """Return the forecast yield of the first ``rank`` items."""
        ends = np.minimum(self.ranks, rank)
        return float(np.sum(np.diff(ends, prepend=0.0) * self.rates))


NO_FORECAST = Forecast(np.empty(0), np.empty(0))


def pilot_ranks(n_pilot: int, *, n_items: int, seed: int) -> NDArray[np.int64]:
    """Return distinct ranks, one at random in each of ``n_pilot`` stretches of equal ln(rank) from rank 100 on.

    Examples
    --------
    >>> pilot_ranks(5, n_items=100_000, seed=1).tolist()
    [185, 1114, 3193, 7213, 82308]
    """
    if n_pilot <= 0 or n_items <= FIRST_RANK:
        return np.empty(0, np.int64)
    spread = math.log(n_items / FIRST_RANK)
    places = [(stretch + uniform(seed, 0, stretch, PURPOSE_PILOT)) / n_pilot for stretch in range(n_pilot)]
    ranks = (FIRST_RANK * np.exp(np.array(places) * spread)).astype(np.int64) + 1
    return np.unique(np.minimum(ranks, n_items))


def forecast_rates(
    ranks: NDArray[np.int64], labels: NDArray[np.float64], *, n_items: int, pseudo_labels: float
) -> Forecast:
    """Smooth labels over ln(rank), leaning on a rate of one half with the weight of some pseudo-labels."""
    if len(ranks) == 0:
        return NO_FORECAST
    grid = np.linspace(math.log(FIRST_RANK), math.log(max(n_items, FIRST_RANK + 1)), _N_GRID)
    kernel = np.exp(-np.abs(grid[:, None] - np.log(ranks)[None, :]) / _KERNEL_SCALE)
    rates = (kernel @ labels + 0.5 * pseudo_labels) / (kernel.sum(axis=1) + pseudo_labels)
    return Forecast(np.exp(grid), rates)
