"""What the default estimator reads: the labelled units, and sums of the features over all units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.pooled.proxy import N_FOLDS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSample:
    """Labelled units (columns) of a pool of systems (rows), with sums over the whole pool.

    Parameters
    ----------
    mass
        p_i(x): the mass of unit x under the law of system i, 0 where i does not predict it.
    right
        Share of that mass whose instances are right; simply the label where a unit is one instance.
    found
        1 where system i holds a right instance of unit x.
    true
        1 where any instance of the unit in the pool is right.
    weight
        p_0(x) up to scale: how much the unit counts towards recall.
    inclusion
        pi(x): the probability with which the unit came to be labelled.
    fold
        The unit's fold.
    features
        One row a unit; the first column is all ones.
    mass_sums, weight_sums, pool_sums
        Sums over all units x of a fold: of ``p_i(x) features(x)`` for each system, of ``p_0(x) features(x)`` over
        the units of each system, and of ``p_0(x) features(x)`` over the pool.
    feature_scale
        Standard deviation of each feature over the pool.
    single
        True where every unit is one instance, so that ``found`` is ``true`` wherever the system holds the unit.
    noise_right, noise_found, noise_true
        Variance of ``right``, ``found`` and ``true`` where labels may be wrong and were corrected for that; None where
        labels are right. It is there even where every unit is labelled.
    """

    mass: NDArray[np.float64]
    right: NDArray[np.float64]
    found: NDArray[np.float64]
    true: NDArray[np.float64]
    weight: NDArray[np.float64]
    inclusion: NDArray[np.float64]
    fold: NDArray[np.int64]
    features: NDArray[np.float64]
    mass_sums: NDArray[np.float64]
    weight_sums: NDArray[np.float64]
    pool_sums: NDArray[np.float64]
    feature_scale: NDArray[np.float64]
    single: bool = True
    noise_right: NDArray[np.float64] | None = None
    noise_found: NDArray[np.float64] | None = None
    noise_true: NDArray[np.float64] | None = None


def sample_from_matrix(
    law: ArrayLike,
    labels: ArrayLike,
    *,
    inclusion: ArrayLike,
    drawn: ArrayLike,
    fold: ArrayLike,
    scores: ArrayLike | None = None,
    judges: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> PoolSample:
    """Build the sample from full matrices, one row a system and one column a unit of the pool.

    Labels of units that are not drawn are never read. ``scores`` (0 where a system does not predict the unit, best
    as ranks in (0, 1]) and ``judges`` (one row a judge's votes) feed the proxy.
    """
    p = np.atleast_2d(np.asarray(law, dtype=np.float64))
    member = p > 0
    n_items = p.shape[1]
    chosen = np.flatnonzero(np.asarray(drawn))
    folds = np.asarray(fold, dtype=np.int64)
    p0 = np.ones(n_items) if weight is None else np.asarray(weight, dtype=np.float64)
    parts = [np.ones((1, n_items)), member.astype(np.float64)]
    parts += [np.atleast_2d(np.asarray(part, dtype=np.float64)) for part in (scores, judges) if part is not None]
    features = np.concatenate(parts).T
    truth = _check.binary_labels("labels", np.asarray(labels)[chosen]).astype(np.float64)
    one_hot = folds[None, :] == np.arange(N_FOLDS)[:, None]
    scale = features.std(axis=0)
    return PoolSample(
        mass=p[:, chosen],
        right=np.broadcast_to(truth, (p.shape[0], chosen.size)),
        found=member[:, chosen] * truth,
        true=truth,
        weight=p0[chosen],
        inclusion=np.asarray(inclusion, dtype=np.float64)[chosen],
        fold=folds[chosen],
        features=features[chosen],
        mass_sums=np.stack([(p[:, rows]) @ features[rows] for rows in one_hot]),
        weight_sums=np.stack([(member[:, rows] * p0[rows]) @ features[rows] for rows in one_hot]),
        pool_sums=np.stack([(p0 * member.any(axis=0))[rows] @ features[rows] for rows in one_hot]),
        feature_scale=np.where(scale > 1e-9, scale, 1.0),
    )
