"""Guaranteed precision, recall and F1 of every system: betting intervals, combined by monotonicity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.binomial import clopper_pearson
from karat.math.pooled.betting import poisson_betting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.pooled.sample import PoolSample


def guaranteed_intervals(
    sample: PoolSample,
    *,
    n_inside: int,
    n_found: int,
    reach: NDArray[np.float64],
    pool_reach: float,
    expected_variance: NDArray[np.float64],
    pool_variance: float,
    confidence_level: float = 0.9,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intervals that hold in finite samples, each metric of each system at the stated level.

    Recall is ``theta A / (A + B)`` with A the true units of the system and B those of the rest of the pool: it rises
    in theta and A and falls in B, so bounds at a third of the risk each give its bound. F1 rises in precision and
    recall: bounds at half the risk each.

    Parameters
    ----------
    sample
        Labelled units.
    n_inside, n_found
        True relations found by exhaustive annotation that the pool holds, and all of them; ``n_found = 0`` takes
        recall relative to the pool. They must be independent draws; whole documents are not.
    reach, pool_reach
        The largest ``p_i(x) / pi(x)`` of each system and the largest ``p_0(x) / pi(x)`` of the pool, over all units.
    expected_variance, pool_variance
        Variances to bet for, fixed in advance: of each system's precision, and of the number of true units in the
        pool. They move the widths, never the guarantee.

    Returns
    -------
    low, high
        One row a metric (precision, recall, F1), one column a system.
    """
    risk = 1.0 - _check.fraction("confidence_level", confidence_level)
    own_variance = sample.weight_sums[:, :, 0].sum(axis=0) ** 2 * expected_variance

    def bounds(at_risk: float) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        precision = [
            poisson_betting(
                sample.mass[i],
                sample.right[i],
                inclusion=sample.inclusion,
                fold=sample.fold,
                fold_mass=sample.mass_sums[:, i, 0],
                reach=float(reach[i]),
                expected_variance=float(expected_variance[i]),
                confidence_level=1.0 - at_risk,
            )
            for i in range(sample.mass.shape[0])
        ]
        theta = (1.0, 1.0)
        if n_found > 0:
            low_theta, high_theta = clopper_pearson(n_inside, n_found, confidence_level=1.0 - at_risk / 3)
            theta = float(low_theta), float(high_theta)
        recall = [
            _recall_bounds(
                sample,
                i,
                theta=theta,
                reach=pool_reach,
                variances=(float(own_variance[i]), max(pool_variance - float(own_variance[i]), 0.1 * pool_variance)),
                risk=at_risk / 3,
            )
            for i in range(len(precision))
        ]
        return precision, recall

    precision, recall = bounds(risk)
    half_precision, half_recall = bounds(risk / 2.0)
    ends = []
    for side in (0, 1):
        f1 = [_harmonic(p[side], r[side]) for p, r in zip(half_precision, half_recall, strict=True)]
        ends.append(np.array([[p[side] for p in precision], [r[side] for r in recall], f1]))
    return ends[0], ends[1]


def _recall_bounds(
    sample: PoolSample,
    system: int,
    *,
    theta: tuple[float, float],
    reach: float,
    variances: tuple[float, float],
    risk: float,
) -> tuple[float, float]:
    member = sample.mass[system] > 0
    own_mass = sample.weight_sums[:, system, 0]
    pool_mass = sample.pool_sums[:, 0]

    def total(
        held: NDArray[np.bool_], labels: NDArray[np.float64], masses: NDArray[np.float64], variance: float
    ) -> tuple[float, float]:
        return poisson_betting(
            sample.weight[held],
            labels[held],
            inclusion=sample.inclusion[held],
            fold=sample.fold[held],
            fold_mass=np.maximum(masses, 0.0),
            reach=reach,
            expected_variance=variance,
            confidence_level=1.0 - risk,
        )

    own = total(member, sample.found[system], own_mass, variances[0])
    if sample.single:
        rest = total(~member, sample.true, pool_mass - own_mass, variances[1])
    else:  # a unit that the system holds may be right only in another system's instance: then it is missed
        rest = total(np.ones_like(member), sample.true - sample.found[system], pool_mass, variances[1])
    low = theta[0] * own[0] / (own[0] + rest[1]) if own[0] > 0 else 0.0
    high = theta[1] * own[1] / (own[1] + rest[0]) if own[1] > 0 else 0.0
    return low, high


def _harmonic(precision: float, recall: float) -> float:
    return 2.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
