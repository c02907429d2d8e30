"""Bootstrap intervals: percentiles of replicates of the default and of the joint estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.pooled.estimate import Estimate, Metric
    from karat.math.pooled.joint import JointEstimate
    from karat.math.pooled.recall import PoolRecall

N_REPLICATES = 1000


def bootstrap_default(
    estimates: dict[Metric, Estimate],
    *,
    confidence_level: float = 0.9,
    n_replicates: int = N_REPLICATES,
    rng: np.random.Generator,
) -> dict[Metric, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Multiplier bootstrap for units drawn independently with known probabilities (Beaumont and Patak 2012).

    A replicate multiplies each unit's influence, which carries its ``sqrt(1 - pi)``, by an independent factor of
    mean 0 and variance 1 (a Poisson count less 1, which also keeps the third moment); F1 is recomputed from the
    replicates of precision and recall, not linearised.
    """
    tail = (1.0 - _check.fraction("confidence_level", confidence_level)) / 2.0
    precision, recall = estimates["precision"], estimates["recall"]
    n_columns = precision.influence.shape[1]
    factor = rng.poisson(1.0, (n_replicates, n_columns)) - 1.0
    replicate: dict[Metric, NDArray[np.float64]] = {
        "precision": precision.value + factor @ precision.influence.T,
        "recall": recall.value + factor @ recall.influence.T,
    }
    total = replicate["precision"] + replicate["recall"]
    product = 2.0 * replicate["precision"] * replicate["recall"]
    replicate["f1"] = np.where(total > 0, product / np.where(total > 0, total, 1.0), 0.0)
    return {metric: _ends(values, estimates[metric].known, tail=tail) for metric, values in replicate.items()}


def bootstrap_joint(
    joint: JointEstimate,
    *,
    source: NDArray[np.int64],
    theta: PoolRecall,
    confidence_level: float = 0.9,
    n_replicates: int = N_REPLICATES,
    rng: np.random.Generator,
) -> dict[Metric, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Resample the draws of each source, and the exhaustively found true relations, with replacement."""
    tail = (1.0 - _check.fraction("confidence_level", confidence_level)) / 2.0
    counts = np.zeros((n_replicates, source.size))
    for j in np.unique(source):
        columns = np.flatnonzero(source == j)
        counts[:, columns] = rng.multinomial(columns.size, np.full(columns.size, 1.0 / columns.size), n_replicates)
    precision = counts @ joint.terms_precision.T
    pool = counts @ joint.terms_pool.T
    recall = counts @ joint.terms_recall.T / np.where(pool > 0, pool, 1.0)
    if not theta.exact:
        recall *= rng.binomial(round(theta.n_found), theta.value, (n_replicates, 1)) / round(theta.n_found)
    total = precision + recall
    f1 = np.where(total > 0, 2.0 * precision * recall / np.where(total > 0, total, 1.0), 0.0)
    known = np.ones(precision.shape[1], dtype=bool)
    named: dict[Metric, NDArray[np.float64]] = {"precision": precision, "recall": recall, "f1": f1}
    return {metric: _ends(values, known, tail=tail) for metric, values in named.items()}


def _ends(
    values: NDArray[np.float64], known: NDArray[np.bool_], *, tail: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = np.clip(np.quantile(values, [tail, 1.0 - tail], axis=0), 0.0, 1.0)
    return np.where(known, low, 0.0), np.where(known, high, 1.0)
