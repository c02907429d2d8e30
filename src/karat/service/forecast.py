"""How many labels a running design will still want: its plan is replayed on a list like the one seen so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.designs import catalogue
from karat.designs.base import FixedDesign
from karat.draws import UNSURE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.designs.base import Design
    from karat.draws import Labels

LEAST_LABELS = 20
MOST_ITEMS = 2_000_000
_SCALE = 0.5
_GRID = 200
_REPLAYS = 5


def forecast_labels(design: Design) -> int | None:
    """Return about how many labels are still to come; None where too little is known or the list too long to replay.

    A fixed design knows. An adaptive one is replayed on labels drawn with the rates seen so far: this is a planning
    figure, with no guarantee; with a quarter of the labels in it is usually right within a half.
    """
    n_sure = design.labels.n_sure
    if design.done:
        return 0
    if isinstance(design, FixedDesign):
        return design.draw.n_ranks - len(design.labels)
    if n_sure < LEAST_LABELS or design.draw.n_items > MOST_ITEMS:
        return None
    if (design.draw.resource or {}).get("proxy") is not None:
        return None  # how good the proxy is cannot be drawn
    rng = np.random.default_rng(design.draw.seed)
    rates = smooth_rates(design.labels, design.draw.n_items)
    method = catalogue.make_method(design.draw.method, **design.draw.parameters)
    wanted = []
    for replay in range(_REPLAYS):  # one alone scatters by a third
        labels = (rng.random(design.draw.n_items) < rates).astype(np.int8)
        wanted.append(method.replay(labels, seed=design.draw.seed + replay)[1])
    return max(len(design.pending), int(np.median(wanted)) - len(design.labels))


def smooth_rates(labels: Labels, n_items: int) -> NDArray[np.float64]:
    """Return a guess of the rate at every rank: labels weighted by their distance in ln rank."""
    sure = labels.values != UNSURE
    place, value = np.log(labels.ranks[sure]), labels.values[sure].astype(float)
    grid = np.linspace(0.0, np.log(n_items), _GRID)
    weights = np.exp(-np.abs(grid[:, None] - place[None, :]) / _SCALE)
    overall = float(value.mean())
    smooth = (weights @ value + 0.5 * overall) / (weights.sum(axis=1) + 0.5)
    return np.asarray(np.interp(np.log(np.arange(1, n_items + 1)), grid, smooth))
