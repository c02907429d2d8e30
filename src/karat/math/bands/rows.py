"""Replicates that resample rows: for weighted samples, and for two scores of the same items.

Here a replicate costs O(n log n), because weights and pairs cannot be drawn through order statistics. Rows are drawn
with replacement within their strata; every copy is moved by the kernel of its class (on the scale of normal scores), so
that with equal weights and a single score the law is that of `replicates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.math.bands.ordering import normal_scores
from karat.math.bands.smoothing import bandwidth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveValues:
    """A curve at K levels and its scalars: one sample's, or stacked over replicates."""

    curve: NDArray[np.float64]
    average_precision: NDArray[np.float64]
    roc_auc: NDArray[np.float64]
    best_f1: NDArray[np.float64]


def weighted_curve(
    labels: NDArray[np.bool_],
    scores: NDArray[np.float64],
    *,
    weights: NDArray[np.float64],
    levels: NDArray[np.float64],
    anchor_is_positive: bool,
) -> CurveValues:
    """Weighted curve at the levels: precision at recalls (anchor positive) or true positive rates (anchor negative).

    Weights enter both class distributions and the base rate (Hajek). With equal weights this is `counts_above` and
    `precision_curve`; scores are taken to be free of ties.
    """
    order = np.argsort(-scores, kind="stable")
    is_positive, weight = labels[order], weights[order]
    hits = np.cumsum(np.where(is_positive, weight, 0.0))
    misses = np.cumsum(np.where(is_positive, 0.0, weight))
    anchor, counted = (hits, misses) if anchor_is_positive else (misses, hits)
    at_anchor = np.flatnonzero(is_positive == anchor_is_positive)
    # The first anchor item whose cumulative weight exceeds the level: rank floor(n level) + 1 for equal weights.
    wanted = levels * anchor[-1] * (1 + 1e-12)
    index = np.minimum(np.searchsorted(anchor[at_anchor], wanted, side="right"), at_anchor.size - 1)
    above = counted[at_anchor[index]]
    curve = levels * hits[-1] / (levels * hits[-1] + above) if anchor_is_positive else above / counted[-1]
    own = weight[is_positive] / hits[-1]
    precision = hits[is_positive] / (hits[is_positive] + misses[is_positive])
    return CurveValues(
        curve=np.asarray(curve),
        average_precision=np.asarray(own @ precision),
        roc_auc=np.asarray(1 - own @ misses[is_positive] / misses[-1]),
        best_f1=np.asarray(np.max(2 * hits / (hits + misses + hits[-1]))),
    )


def row_replicates(
    labels: NDArray[np.bool_],
    ranks: Sequence[NDArray[np.int64]],
    *,
    weights: NDArray[np.float64],
    strata: NDArray[np.int64],
    levels: NDArray[np.float64],
    anchor_is_positive: bool,
    n_replicates: int,
    rng: np.random.Generator,
) -> list[CurveValues]:
    """Replicates of the weighted curve of each system, all systems on the same rows.

    Parameters
    ----------
    labels : of the rows
    ranks : one array a system, 0 for the worst score, free of ties
    weights : of the rows, inverse inclusion probabilities
    strata : 0, 1, ...: rows are resampled within their stratum
    levels : recall levels or false positive rates
    anchor_is_positive : True for PR, False for ROC
    n_replicates : how many
    rng : source of randomness

    Notes
    -----
    The kernels of two scores have the correlation of the scores within the class, so that two equal systems never
    differ by more than the pseudo-items. As in the default band a row of the counted class turns, with probability
    1 / (n + 1), into a pseudo-item above or below all others, independently for each system: shared pseudo-items would
    cancel, and where both systems look perfect the band of their difference would have no width at all.
    """
    values = normal_scores(labels.size)[::-1][np.array(ranks)]
    factors = {side: _kernel_factor(values[:, labels == side]) for side in (True, False)}
    order = np.argsort(strata, kind="stable")
    sizes = np.bincount(strata)
    starts, size_of_row = np.repeat(np.cumsum(sizes) - sizes, sizes), np.repeat(sizes, sizes)
    pseudo = 1 / (np.count_nonzero(labels != anchor_is_positive) + 1)
    found: list[list[CurveValues]] = [[] for _ in ranks]
    for _ in range(n_replicates):
        rows = _draw_rows(order, starts, size_of_row, labels, rng)
        label = labels[rows]
        noise = rng.standard_normal((len(ranks), rows.size))
        moved = values[:, rows] + np.where(label, factors[True] @ noise, factors[False] @ noise)
        extreme = (rng.random(moved.shape) < pseudo) & (label != anchor_is_positive)
        moved[extreme] = np.where(rng.random(np.count_nonzero(extreme)) < 0.5, np.inf, -np.inf)
        for system, score in enumerate(moved):
            found[system].append(
                weighted_curve(
                    label, score, weights=weights[rows], levels=levels, anchor_is_positive=anchor_is_positive
                )
            )
    return [_stack(one) for one in found]


def _draw_rows(
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    size_of_row: NDArray[np.int64],
    labels: NDArray[np.bool_],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    rows = np.asarray(order[starts + rng.integers(size_of_row)])
    for side in (True, False):
        # A replicate without a class has no curve; one row of it keeps the replicate.
        if not np.any(labels[rows] == side):
            rows[0] = rng.choice(np.flatnonzero(labels == side))
    return rows


def _kernel_factor(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrix that turns independent normals into the class's kernel: bandwidths and correlation of the scores."""
    widths = np.array([bandwidth(row) for row in values])
    if len(values) == 1 or values.shape[1] < 3:
        return np.diag(widths)
    correlation = np.corrcoef(values)
    spectrum, vectors = np.linalg.eigh(correlation)
    return np.asarray(widths[:, None] * vectors * np.sqrt(np.maximum(spectrum, 0.0)))


def _stack(found: list[CurveValues]) -> CurveValues:
    return CurveValues(
        curve=np.array([one.curve for one in found]),
        average_precision=np.array([one.average_precision for one in found]),
        roc_auc=np.array([one.roc_auc for one in found]),
        best_f1=np.array([one.best_f1 for one in found]),
    )
