"""PAULA's own promise: within which factor of the truth its two curves stay, and how often the truth lies between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import karat
from karat.engines.memory import order_items


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    ranking: str
    promised: float
    """The factor gamma (1 + epsilon)."""
    factor: float
    """The largest factor between one of its step curves and the truth, over all ranks and replications."""
    between: float
    """Share of the grid points at which the truth lies between the two curves."""
    crossed: float
    """Share of the replications in which the lower curve exceeds the upper one somewhere."""


def measure(ranking, *, replications):
    """Replay PAULA; only the order of ties changes from one replication to the next."""
    method, ranks = karat.Paula(), np.arange(1, ranking.n_items + 1)
    grid = method.grid(ranking.n_items)
    tail, points = slice(grid.g_l - 1, None), grid.points[1:] - 1
    factors, between, crossed = [], [], []
    for seed in range(replications):
        ranked = ranking.labels[order_items(ranking.scores, ranks, seed=seed)]
        curve, _ = method.replay(ranked, seed=seed)
        crossed.append(curve.crossed)
        precision = np.cumsum(ranked) / ranks
        low, high = (curve.step(name, ranks) for name in ("lower", "upper"))
        ratios = np.stack([low, high])[:, tail] / precision[tail]
        factors.append(np.max(np.maximum(ratios, 1 / ratios)))
        between.append(np.mean((low <= precision + 1e-12)[points] & (precision <= high + 1e-12)[points]))
    return Measured(
        ranking=ranking.name,
        promised=grid.factor,
        factor=float(max(factors)),
        between=float(np.mean(between)),
        crossed=float(np.mean(crossed)),
    )
