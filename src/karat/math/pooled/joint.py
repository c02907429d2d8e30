"""The joint estimators of Chaganty et al. (2017): every system from the draws of all.

``n_j`` units are drawn with replacement from the law of each system j; draws are columns here, a unit drawn twice
is two columns. ``w_ij`` mixes the samples, ``q_i = sum_j w_ij p_j``, and
``P_i = sum_j (w_ij/n_j) sum_{x drawn from j} p_i(x) f(x) / q_i(x)``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from karat import _check

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

RecallWeights = Literal["paper", "balance"]


class BiasedRecallWarning(UserWarning):
    """The paper's joint recall was asked for where it is biased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointEstimate:
    """Joint estimates of every system; recall is relative to the pool (multiply by theta).

    ``terms_precision`` and ``terms_recall`` hold each draw's contribution to the two estimates, so that
    precision is their plain sum; ``n_precision`` and ``n_recall`` are effective numbers of draws (of right ones for
    recall); ``recall_biased`` marks systems for which the weights miss part of the pool.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    precision_variance: NDArray[np.float64]
    recall_variance: NDArray[np.float64]
    covariance: NDArray[np.float64]
    n_precision: NDArray[np.float64]
    n_recall: NDArray[np.float64]
    recall_biased: NDArray[np.bool_]
    terms_precision: NDArray[np.float64]
    terms_recall: NDArray[np.float64]
    terms_pool: NDArray[np.float64]


def joint_weights(overlap: ArrayLike, n_draws: ArrayLike) -> NDArray[np.float64]:
    """Weigh systems as the paper does: ``w_ij`` proportional to ``n_j sum_x p_i(x) p_j(x)``, rows summing to 1.

    Examples
    --------
    Two identical systems and one apart from both:

    >>> joint_weights([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0.5]], [10, 30, 20]).tolist()
    [[0.25, 0.75, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    """
    raw = np.asarray(overlap, dtype=np.float64) * np.asarray(n_draws, dtype=np.float64)
    weights: NDArray[np.float64] = raw / raw.sum(axis=1, keepdims=True)
    return weights


def balance_weights(n_draws: ArrayLike) -> NDArray[np.float64]:
    """Weigh by the balance heuristic: ``w_ij = n_j / sum n`` for every system, so no part of the pool is missed.

    Examples
    --------
    >>> balance_weights([10, 30]).tolist()
    [[0.25, 0.75], [0.25, 0.75]]
    """
    n = np.asarray(n_draws, dtype=np.float64)
    return np.tile(n / n.sum(), (n.size, 1))


def estimate_joint(
    law: ArrayLike,
    labels: ArrayLike,
    *,
    source: ArrayLike,
    overlap: ArrayLike,
    weight: ArrayLike | None = None,
    recall: RecallWeights = "balance",
) -> JointEstimate:
    """Joint precision, and recall relative to the pool, from draws of all systems.

    Parameters
    ----------
    law
        p_i at each draw: one row a system, one column a draw.
    labels
        Label of each draw.
    source
        System (row number) whose law each draw came from.
    overlap
        ``sum_x p_i(x) p_j(x)`` over all units.
    weight
        p_0 at each draw, up to scale.
    recall
        ``"paper"`` uses the paper's weights for recall too. Where a system shares no unit with another, its q_i
        then misses that part of the pool, the denominator loses true units and recall comes out too high: a
        warning says so. ``"balance"`` mends it.
    """
    _check.one_of("recall", recall, ("paper", "balance"))
    p = np.atleast_2d(np.asarray(law, dtype=np.float64))
    f = _check.binary_labels("labels", labels).astype(np.float64)
    origin = np.asarray(source, dtype=np.int64)
    _check.same_length("labels", f.size, "source", origin.size)
    n_draws = np.bincount(origin, minlength=p.shape[0])
    p0 = np.ones(f.size) if weight is None else np.asarray(weight, dtype=np.float64)
    weights = joint_weights(overlap, n_draws)
    missed: NDArray[np.bool_] = np.any((np.asarray(overlap) <= 0) & (n_draws > 0), axis=1)
    biased = missed if recall == "paper" else np.zeros_like(missed)
    if biased.any():
        warnings.warn(
            f"The paper's joint recall is biased for {int(biased.sum())} of {biased.size} systems, which share "
            "no unit with some other system; recall='balance' is not.",
            BiasedRecallWarning,
            stacklevel=2,
        )
    share, ratio = _terms(p, weights, origin, n_draws)
    weighed = share * p * ratio
    terms_precision = weighed * f
    if recall == "balance":
        share, ratio = _terms(p, balance_weights(n_draws), origin, n_draws)
    terms_recall = share * p0 * (p > 0) * f * ratio
    terms_pool = share * p0 * f * ratio
    total = terms_pool.sum(axis=1)
    safe = np.where(total > 0, total, 1.0)
    nu = terms_recall.sum(axis=1) / safe
    residual = (terms_recall - nu[:, None] * terms_pool) / safe[:, None]
    return JointEstimate(
        precision=terms_precision.sum(axis=1),
        recall=nu,
        precision_variance=_sum_covariance(terms_precision, terms_precision, origin, n_draws),
        recall_variance=_sum_covariance(residual, residual, origin, n_draws),
        covariance=_sum_covariance(terms_precision, residual, origin, n_draws),
        n_precision=_effective(weighed),
        n_recall=_effective(terms_pool),
        recall_biased=biased,
        terms_precision=terms_precision,
        terms_recall=terms_recall,
        terms_pool=terms_pool,
    )


def scaled_recall(
    estimate: JointEstimate, *, theta: float, theta_variance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Recall ``theta nu`` and its variance, the variance of a product of two independent estimates."""
    nu, of_nu = estimate.recall, estimate.recall_variance
    return theta * nu, theta**2 * of_nu + nu**2 * theta_variance + theta_variance * of_nu


def joint_f1(
    estimate: JointEstimate, *, theta: float, theta_variance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """F1 and its variance by the delta method; precision and recall share labels, so their covariance counts."""
    p, (r, of_r) = estimate.precision, scaled_recall(estimate, theta=theta, theta_variance=theta_variance)
    total = np.where(p + r > 0, p + r, np.inf)
    by_precision, by_recall = 2.0 * r**2 / total**2, 2.0 * p**2 / total**2
    variance = (
        by_precision**2 * estimate.precision_variance
        + by_recall**2 * of_r
        + 2.0 * by_precision * by_recall * theta * estimate.covariance
    )
    return 2.0 * p * r / total, np.maximum(variance, 0.0)


def joint_precision_variance(law: ArrayLike, labels: ArrayLike, *, n_draws: ArrayLike) -> NDArray[np.float64]:
    """Exact variance of the joint precision when every label is known: the yardstick for other designs.

    Examples
    --------
    >>> joint_precision_variance([[0.5, 0.5]], [1, 0], n_draws=[100]).tolist()
    [0.0025]
    """
    p = np.atleast_2d(np.asarray(law, dtype=np.float64))
    f, n = np.asarray(labels, dtype=np.float64), np.asarray(n_draws, dtype=np.float64)
    weights = joint_weights(p @ p.T, n)
    mixture = weights @ p
    value = np.where(p > 0, p * f / np.where(mixture > 0, mixture, 1.0), 0.0)
    variance: NDArray[np.float64] = ((weights**2 / n) * (value**2 @ p.T - (value @ p.T) ** 2)).sum(axis=1)
    return variance


def _terms(
    p: NDArray[np.float64], weights: NDArray[np.float64], source: NDArray[np.int64], n_draws: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``w_ij / n_j`` of each draw and ``1 / q_i``, 0 where q_i is."""
    mixture = weights @ p
    ratio = np.where(mixture > 0, 1.0 / np.where(mixture > 0, mixture, 1.0), 0.0)
    return (weights / np.maximum(n_draws, 1))[:, source], ratio


def _effective(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kish's effective number of draws."""
    squares = (weight**2).sum(axis=1)
    result: NDArray[np.float64] = weight.sum(axis=1) ** 2 / np.where(squares > 0, squares, 1.0)
    return result


def _sum_covariance(
    first: NDArray[np.float64], second: NDArray[np.float64], source: NDArray[np.int64], n_draws: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Covariance of two sums of draws: independent between sources, identically distributed within one."""
    result = np.zeros(first.shape[0])
    for j in np.flatnonzero(n_draws > 1):
        a, b = first[:, source == j], second[:, source == j]
        centred = (a - a.mean(axis=1, keepdims=True)) * (b - b.mean(axis=1, keepdims=True))
        result += centred.sum(axis=1) * n_draws[j] / (n_draws[j] - 1)
    return result
