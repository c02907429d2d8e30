"""The pilot: a few labels spread evenly in ln(rank), for the forecast of rates and for nothing else.

The pass is valid given whatever the pilot showed, because its draws are independent of the pilot's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat.math.certify.cells import PENDING, Cells
from karat.math.certify.stream import PURPOSE_PILOT, uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_RANK = 100  # the top is labelled almost fully anyway
_N_GRID = 60
_KERNEL_SCALE = 0.35  # in ln(rank)
_DOUBT = 1.3  # standard errors of ln(rate) to allow for


class Forecast(NamedTuple):
    """Forecast rates at ranks, increasing, and how many labels speak for each; empty when nothing is known."""

    ranks: NDArray[np.float64]
    rates: NDArray[np.float64]
    support: NDArray[np.float64]

    def yield_upto(self, rank: float) -> float:
        """Return the forecast yield of the first ``rank`` items."""
        ends = np.minimum(self.ranks, rank)
        return float(np.sum(np.diff(ends, prepend=0.0) * self.rates))

    def doubt_at(self, rank: float) -> float:
        """Return the factor by which the yield up to a rank may well differ from its forecast."""
        place = min(int(np.searchsorted(self.ranks, rank)), len(self.ranks) - 1)
        return math.exp(_DOUBT / math.sqrt(self.support[place] * self.rates[place] + 0.5))


NO_FORECAST = Forecast(np.empty(0), np.empty(0), np.empty(0))


def first_pilot_rank(from_rank: int, n_items: int) -> int:
    """Return where the pilot begins: the top matters little when only far ranks are judged."""
    return max(FIRST_RANK, min(from_rank, n_items) // 10)


def pilot_ranks(n_pilot: int, *, n_items: int, seed: int, first_rank: int = FIRST_RANK) -> NDArray[np.int64]:
    """Return distinct ranks, one at random in each of ``n_pilot`` stretches of equal ln(rank).

    Examples
    --------
    >>> pilot_ranks(5, n_items=100_000, seed=1).tolist()
    [161, 731, 2295, 11885, 29599]
    """
    if n_pilot <= 0 or n_items <= FIRST_RANK:
        return np.empty(0, np.int64)
    spread = math.log(n_items / first_rank)
    places = [(stretch + uniform(seed, 0, stretch, PURPOSE_PILOT)) / n_pilot for stretch in range(n_pilot)]
    ranks = (first_rank * np.exp(np.array(places) * spread)).astype(np.int64) + 1
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
    support = kernel.sum(axis=1) ** 2 / (kernel**2).sum(axis=1)
    return Forecast(np.exp(grid), rates, support)


class Pilot:
    """The pilot's ranks and the answers that came so far.

    Examples
    --------
    >>> pilot = Pilot(np.array([3, 8]))
    >>> pilot.is_asked = True
    >>> pilot.take(np.array([8]), np.array([1], np.int8)), pilot.pending.tolist(), pilot.is_answered
    (True, [3], False)
    """

    def __init__(self, ranks: NDArray[np.int64]) -> None:
        self.ranks = ranks
        self.values = np.full(len(ranks), PENDING, np.int8)
        self.is_asked = False

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def is_answered(self) -> bool:
        """Whether every answer is there."""
        return not np.any(self.values == PENDING)

    @property
    def pending(self) -> NDArray[np.int64]:
        """Ranks asked for and not yet answered."""
        return self.ranks[self.values == PENDING] if self.is_asked else self.ranks[:0]

    def holds(self, ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which ranks the pilot asked for."""
        return np.isin(ranks, self.ranks) & self.is_asked

    def values_at(self, ranks: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the answers at any ranks, `PENDING` where the pilot has none."""
        values = np.full(len(ranks), PENDING, np.int8)
        held = self.holds(ranks)
        values[held] = self.values[np.searchsorted(self.ranks, ranks[held])]
        return values

    def take(self, ranks: NDArray[np.int64], answers: NDArray[np.int8]) -> bool:
        """Take answers at ranks that it holds; return whether one differs from what was there."""
        places = np.searchsorted(self.ranks, ranks)
        revised = bool(np.any(self.values[places] != answers))
        self.values[places] = answers
        return revised

    def cells(self, n_classes: int) -> Cells:
        """Return the pilot as the cells of look 0, of no size and no probability."""
        zeros = np.zeros(len(self), np.int64)
        return Cells(
            ends=self.ranks,
            ranks=self.ranks,
            probabilities=np.zeros(len(self)),
            look=zeros,
            tilt=zeros,
            new=np.ones(len(self), np.bool_),
            classes=zeros,
            counts=np.zeros((len(self), n_classes), np.int64),
        )
