"""The default estimator: proxy sums corrected by the weighted residuals of the labelled units.

With f the cross-fitted proxy, y the labels, S the labelled units and pi their inclusion probabilities,
``P_i = sum p_i f + [sum_S p_i (y - f)/pi] / [sum_S p_i/pi]``. The p_0-weighted number of true units of a system,
A_i, and of the pool, T, have the same form, and ``R_i = theta A_i / T``. The units are independent draws, so every
estimate is to first order a sum of independent terms, one a unit: its *influence*. Influences are kept, multiplied
by ``sqrt(1 - pi)``; the covariance of any two estimates is then the dot product of their influences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from karat.math.pooled.degrees import DEGREES_OF_DRAW, satterthwaite
from karat.math.pooled.proxy import fit_folds
from karat.math.pooled.recall import POOL_IS_EVERYTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.pooled.recall import PoolRecall
    from karat.math.pooled.sample import PoolSample

Metric = Literal["precision", "recall", "f1"]
METRICS: tuple[Metric, ...] = ("precision", "recall", "f1")
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One metric of every system.

    ``value`` may leave [0, 1] a little, as unbiased estimates do. ``influence`` has one column a labelled unit and
    a last one for theta. ``degrees`` says, column by column, how well the square of an influence is known as a
    variance: with how many degrees of freedom. ``floor`` times z^2 is added to the variance: what few labels cannot
    show. ``known`` is False where no label says anything.
    """

    value: NDArray[np.float64]
    influence: NDArray[np.float64]
    degrees: NDArray[np.float64]
    floor: NDArray[np.float64]
    n_effective: NDArray[np.float64]
    known: NDArray[np.bool_]

    def variance(self, z: float = 0.0) -> NDArray[np.float64]:
        """Variance of each estimate, with the allowance for few labels at the normal quantile z."""
        result: NDArray[np.float64] = (self.influence**2).sum(axis=1) + z * z * self.floor
        return result

    def degrees_of_freedom(self, z: float = 0.0) -> NDArray[np.float64]:
        """Degrees of freedom of each of these variances (Satterthwaite): few where few units carry most of it."""
        return satterthwaite(self.variance(z), (self.influence**4 / self.degrees).sum(axis=1))

    def with_columns(self, influence: NDArray[np.float64]) -> Estimate:
        """Return the estimate with further influences, whose variances are known."""
        return replace(
            self,
            influence=np.concatenate([self.influence, influence], axis=1),
            degrees=np.concatenate([self.degrees, np.full(influence.shape[1], np.inf)]),
        )


def estimate_metrics(
    sample: PoolSample, *, pool_recall: PoolRecall = POOL_IS_EVERYTHING, use_proxy: bool = True
) -> dict[Metric, Estimate]:
    """Precision, recall and F1 of every system from one sample of labelled units.

    Parameters
    ----------
    sample
        Labelled units and sums over the pool.
    pool_recall
        Theta; by default recall is relative to the pool.
    use_proxy
        False replaces the proxy by 0: the plain self-normalised estimator.
    """
    to_right, to_true = _proxies(sample, use_proxy=use_proxy)
    precision = _precision(sample, to_right)
    recall = _recall(sample, to_true, pool_recall)
    return {"precision": precision, "recall": recall, "f1": _f1(precision, recall)}


def cross_fitted_residuals(sample: PoolSample) -> NDArray[np.float64]:
    """Label minus guess of each labelled unit, the guess made without its fold."""
    _, to_true = _proxies(sample, use_proxy=True)
    residuals: NDArray[np.float64] = sample.true - (sample.features * to_true[sample.fold]).sum(axis=1)
    return residuals


def _proxies(sample: PoolSample, *, use_proxy: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients of the proxies for "this prediction is right" and "this relation is true"."""
    n_folds, n_features = sample.pool_sums.shape
    if not use_proxy or sample.fold.size == 0:
        nothing = np.zeros((n_folds, n_features))
        return nothing, nothing

    def fit(labels: NDArray[np.float64]) -> NDArray[np.float64]:
        return fit_folds(
            sample.features,
            labels,
            weights=1.0 / sample.inclusion,
            fold=sample.fold,
            feature_scale=sample.feature_scale,
            n_folds=n_folds,
        )

    holds = sample.mass > 0
    share = (holds * sample.right).sum(axis=0) / np.maximum(holds.sum(axis=0), 1)
    share = np.where(holds.any(axis=0), share, sample.true)
    to_true = fit(sample.true)
    return (to_true if np.array_equal(share, sample.true) else fit(share)), to_true


def _precision(sample: PoolSample, coefficients: NDArray[np.float64]) -> Estimate:
    guess = (sample.features * coefficients[sample.fold]).sum(axis=1)
    weight = sample.mass / sample.inclusion
    residual, influence, n_effective = _mean_residual(sample.right - guess, weight)
    sums = np.einsum("kd,kmd->m", coefficients, sample.mass_sums)
    noise = _noise_influence(sample, sample.noise_right, weight)
    return Estimate(
        value=sums + residual,
        influence=_with_theta(influence * np.sqrt(1.0 - sample.inclusion), 0.0, noise=noise),
        degrees=_column_degrees(sample.fold.size, noise.shape[1], np.inf),
        floor=_unseen(sample, weight) ** 2,
        n_effective=n_effective,
        known=n_effective > 0,
    )


def _recall(sample: PoolSample, coefficients: NDArray[np.float64], theta: PoolRecall) -> Estimate:
    guess = (sample.features * coefficients[sample.fold]).sum(axis=1)
    weight = sample.weight / sample.inclusion
    member_weight = (sample.mass > 0) * weight
    own_residual, own_influence, _ = _mean_residual(sample.found - guess, member_weight)
    own_size = sample.weight_sums[:, :, 0].sum(axis=0)
    own = np.einsum("kd,kmd->m", coefficients, sample.weight_sums) + own_size * own_residual

    pool_residual, pool_influence, _ = _mean_residual((sample.true - guess)[None, :], weight[None, :])
    pool_size = float(sample.pool_sums[:, 0].sum())
    total = float((coefficients * sample.pool_sums).sum() + pool_size * pool_residual[0])

    n_systems = own.size
    positives = weight * sample.true
    degrees = _column_degrees(sample.fold.size, 0 if sample.noise_true is None else sample.fold.size, theta.degrees)
    if total <= _NOTHING * max(pool_size, 1.0) or not positives.any():
        return _unknown(n_systems, degrees)
    share = own / total
    influence = (own_size[:, None] * own_influence - share[:, None] * pool_size * pool_influence) / total
    influence = theta.value * influence * np.sqrt(1.0 - sample.inclusion)
    own_noise = _noise_influence(sample, sample.noise_found, member_weight)
    pool_noise = _noise_influence(sample, None if sample.noise_true is None else sample.noise_true[None, :],
                                  weight[None, :])  # fmt: skip
    noise = theta.value * (own_size[:, None] * own_noise - share[:, None] * pool_size * pool_noise) / total
    n_positives = float(_kish(positives))
    # The share is A / (A + B): true units that the system holds, and others. Both means may show too little spread.
    found = np.clip(own, 0.0, total)
    of_own = (total - found) * own_size * _unseen(sample, member_weight)
    of_others = found * (pool_size - own_size) * _unseen(sample, (sample.mass == 0) * weight)
    floor = theta.value**2 * (of_own**2 + of_others**2) / total**4
    of_theta = 0.0 if theta.exact else 1.0 / (4.0 * theta.n_found**2)
    # Var(theta nu) = theta^2 Var(nu) + nu^2 Var(theta) + Var(theta) Var(nu); the last term scales the first.
    inflation = 1.0 + theta.variance / max(theta.value, _NOTHING) ** 2
    return Estimate(
        value=theta.value * share,
        influence=_with_theta(
            influence * np.sqrt(inflation), share * np.sqrt(theta.variance), noise=noise * np.sqrt(inflation)
        ),
        degrees=degrees,
        floor=floor + share**2 * of_theta,
        n_effective=np.full(n_systems, n_positives if theta.exact else min(n_positives, theta.n_found)),
        known=np.any(member_weight > 0, axis=1),
    )


def _f1(precision: Estimate, recall: Estimate) -> Estimate:
    p, r = precision.value, recall.value
    total = np.where(p + r > _NOTHING, p + r, np.inf)
    by_precision, by_recall = 2.0 * r**2 / total**2, 2.0 * p**2 / total**2
    return Estimate(
        value=2.0 * p * r / total,
        influence=by_precision[:, None] * precision.influence + by_recall[:, None] * recall.influence,
        degrees=recall.degrees,
        floor=by_precision**2 * precision.floor + by_recall**2 * recall.floor,
        n_effective=np.minimum(precision.n_effective, recall.n_effective),
        known=precision.known & recall.known,
    )


def _mean_residual(
    residual: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Weighted mean of each row, its influences, and Kish's effective number of units.

    An influence is what the mean would lose without the unit, as in the jackknife: a unit of much weight draws the mean
    towards itself, and would look too harmless otherwise.
    """
    total = weight.sum(axis=1)
    safe = np.where(total > 0, total, 1.0)
    mean = (weight * residual).sum(axis=1) / safe
    others = total[:, None] - weight
    influence = weight * (residual - mean[:, None]) / np.where(others > _NOTHING * safe[:, None], others, np.inf)
    return mean, influence, _kish(weight)


def _kish(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the effective number of units behind each row of weights."""
    squares = (weight**2).sum(axis=-1)
    return np.where(squares > 0, weight.sum(axis=-1) ** 2 / np.where(squares > 0, squares, 1.0), 0.0)


def _unseen(sample: PoolSample, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the deviation of each weighted mean, by z, that few labels cannot show: Wilson's allowance, 1 / 2n.

    It shrinks with the share of units that may go unlabelled.
    """
    drawn = weight > 0
    unlabelled = (drawn * (1.0 - sample.inclusion)).sum(axis=1) / np.maximum(drawn.sum(axis=1), 1)
    return np.asarray(np.sqrt(np.where(drawn.any(axis=1), unlabelled, 1.0)) / (2.0 * np.maximum(_kish(weight), 1.0)))


def _noise_influence(
    sample: PoolSample, noise: NDArray[np.float64] | None, weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what wrong labels add, one column a unit; no columns where labels are right.

    A residual with noise of variance v, drawn with probability pi, shows (1 - pi) of the noise in its square; the
    rest, pi v, is added here, so that a unit that was certain to be labelled is not taken for known.
    """
    if noise is None:
        return np.zeros((weight.shape[0], 0))
    total = weight.sum(axis=1)
    scaled: NDArray[np.float64] = weight / np.where(total > 0, total, 1.0)[:, None] * np.sqrt(sample.inclusion * noise)
    return scaled


def _with_theta(
    influence: NDArray[np.float64], of_theta: NDArray[np.float64] | float, *, noise: NDArray[np.float64]
) -> NDArray[np.float64]:
    last = np.broadcast_to(np.asarray(of_theta, dtype=np.float64), (influence.shape[0],))[:, None]
    return np.concatenate([influence, noise, last], axis=1)


def _column_degrees(n_units: int, n_noise: int, of_theta: float) -> NDArray[np.float64]:
    return np.concatenate([np.full(n_units, DEGREES_OF_DRAW), np.full(n_noise, np.inf), [of_theta]])


def _unknown(n_systems: int, degrees: NDArray[np.float64]) -> Estimate:
    nothing = np.zeros(n_systems)
    return Estimate(
        value=nothing,
        influence=np.zeros((n_systems, degrees.size)),
        degrees=degrees,
        floor=nothing,
        n_effective=nothing,
        known=np.zeros(n_systems, dtype=bool),
    )
