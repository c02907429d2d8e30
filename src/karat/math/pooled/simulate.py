"""Replay an evaluation on systems whose every label is known: bias, coverage and labels of each estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.math.pooled.estimate import METRICS, estimate_metrics
from karat.math.pooled.guaranteed import guaranteed_intervals
from karat.math.pooled.inclusion import design_variance, raise_inclusion, scale_for_budget, shared_size
from karat.math.pooled.intervals import estimate_interval, logit_interval, normal_quantile, wilson_interval
from karat.math.pooled.joint import (
    BiasedRecallWarning,
    estimate_joint,
    joint_f1,
    joint_precision_variance,
    scaled_recall,
)
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.recall import pool_recall
from karat.math.pooled.sample import PoolSample, sample_from_matrix
from karat.math.pooled.simple import simple_f1, simple_precision, simple_recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

ESTIMATORS = ("simple", "joint", "balance", "default", "betting")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Systems (rows) over items (columns) with every label known; items outside the pool may be true as well."""

    law: NDArray[np.float64]
    labels: NDArray[np.float64]
    scores: NDArray[np.float64] | None
    n_draws: int
    n_truth: int
    confidence_level: float

    @property
    def in_pool(self) -> NDArray[np.bool_]:
        """Items that some system predicts."""
        held: NDArray[np.bool_] = np.any(self.law > 0, axis=0)
        return held

    def true_scores(self) -> NDArray[np.float64]:
        """Precision, recall and F1 of every system, one row a metric."""
        precision = self.law @ self.labels
        recall = (self.law > 0) @ self.labels / self.labels.sum()
        total = np.where(precision + recall > 0, precision + recall, 1.0)
        return np.stack([precision, recall, 2 * precision * recall / total])


Trial = tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.float64]", int]


def simulate(
    law: ArrayLike,
    labels: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    n_draws: int = 150,
    n_truth: int = 150,
    n_trials: int = 300,
    confidence_level: float = 0.9,
    estimators: tuple[str, ...] = ("simple", "joint", "default"),
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Replay the evaluation many times and measure each estimator against the truth.

    Parameters
    ----------
    law
        One row a system, one column an item: p_i(x), 0 where the system does not predict the item.
    labels
        1 where the item is right; items that no system predicts may be right too (then theta < 1).
    scores
        Scores of the predictions, 0 elsewhere, for the proxy.
    n_draws, n_truth
        Draws from each system, and true items found by exhaustive annotation. The default estimator gets as many
        labels, in expectation, as the others get distinct ones.
    estimators
        Any of ``simple``, ``joint`` (the paper's), ``balance`` (joint with balanced recall), ``default`` and
        ``betting`` (guaranteed intervals around the default estimate).

    Returns
    -------
    dict
        Ready for JSON; ``estimators.<name>`` has ``precision_bias_max``, ``precision_coverage``,
        ``recall_bias_max``, ``recall_coverage``, ``f1_coverage``, ``precision_variance_ratio`` (over the joint
        estimator's exact variance, median over systems), ``labels``, ``precision_width`` and the largest
        ``precision_z`` and ``recall_z`` of a bias in standard errors, and the ``precision_bias`` and ``recall_bias``
        of every system.
    """
    p = np.atleast_2d(np.asarray(law, dtype=np.float64))
    truth = _check.binary_labels("labels", labels).astype(np.float64)
    if not truth.any():
        raise _check.refuse("labels", "not all 0: recall needs something true", 0)
    replay = Replay(
        law=p,
        labels=truth,
        scores=None if scores is None else np.asarray(scores, dtype=np.float64),
        n_draws=_check.whole("n_draws", n_draws, least=2),
        n_truth=_check.whole("n_truth", n_truth, least=2),
        confidence_level=_check.fraction("confidence_level", confidence_level),
    )
    for name in estimators:
        _check.one_of("estimators", name, ESTIMATORS)
    trials: dict[str, list[Trial]] = {name: [] for name in estimators}
    true_items = np.flatnonzero(truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BiasedRecallWarning)
        for _ in range(_check.whole("n_trials", n_trials, least=2)):
            found = rng.choice(true_items, replay.n_truth)
            for name in estimators:
                trials[name].append(_RUN[name](replay, found, rng))
    yardstick = joint_precision_variance(p, truth, n_draws=np.full(p.shape[0], replay.n_draws))
    expected = replay.true_scores()
    return {
        "n_systems": p.shape[0],
        "n_items": int(replay.in_pool.sum()),
        "n_draws": replay.n_draws,
        "n_trials": int(n_trials),
        "confidence_level": replay.confidence_level,
        "estimators": {name: _summary(trials[name], expected, yardstick) for name in estimators},
    }


def _summary(trials: list[Trial], expected: NDArray[np.float64], yardstick: NDArray[np.float64]) -> dict[str, Any]:
    value, low, high = (np.stack([trial[k] for trial in trials]) for k in range(3))
    bias = value.mean(axis=0) - expected
    spread = value.std(axis=0, ddof=1)
    z = np.abs(bias) / np.maximum(spread / np.sqrt(len(trials)), 1e-12)
    # Exact intervals (a point) must not fail by rounding.
    covered = ((low <= expected + 1e-9) & (expected <= high + 1e-9)).mean(axis=(0, 2))
    moves = yardstick > 0
    ratio = spread[0, moves] ** 2 / yardstick[moves]
    return {
        "precision_bias_max": float(np.abs(bias[0]).max()),
        "precision_coverage": float(covered[0]),
        "recall_bias_max": float(np.abs(bias[1]).max()),
        "recall_coverage": float(covered[1]),
        "f1_coverage": float(covered[2]),
        "precision_variance_ratio": float(np.median(ratio)) if moves.any() else 1.0,
        "labels": float(np.mean([trial[3] for trial in trials])),
        "precision_width": float(np.median((high - low)[:, 0].mean(axis=0))),
        "precision_z": float(np.where(np.abs(bias[0]) > 1e-9, z[0], 0.0).max()),
        "recall_z": float(np.where(np.abs(bias[1]) > 1e-9, z[1], 0.0).max()),
        "precision_bias": bias[0].tolist(),
        "recall_bias": bias[1].tolist(),
    }


def _draw_each(replay: Replay, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw from every system's law, with replacement: items and the system each was drawn from."""
    n_items = replay.law.shape[1]
    items = np.concatenate([rng.choice(n_items, replay.n_draws, p=row) for row in replay.law])
    return items, np.repeat(np.arange(replay.law.shape[0]), replay.n_draws)


def _run_simple(replay: Replay, found: NDArray[np.int64], rng: np.random.Generator) -> Trial:
    items, _ = _draw_each(replay, rng)
    z = normal_quantile(replay.confidence_level)
    per_system = replay.labels[items].reshape(replay.law.shape[0], replay.n_draws)
    columns = []
    for row, labels in zip(replay.law, per_system, strict=True):
        precision, recall = simple_precision(labels), simple_recall(row[found] > 0)
        value, variance = simple_f1(precision, recall)
        ends = [
            wilson_interval(part.value, part.n_labels, confidence_level=replay.confidence_level)
            for part in (precision, recall)
        ]
        smaller = min(precision.n_labels, recall.n_labels)
        ends.append(
            logit_interval(
                value,
                variance + z * z / (4.0 * smaller**2),
                n_effective=smaller,
                confidence_level=replay.confidence_level,
            )
        )
        columns.append([[precision.value, recall.value, value], [e[0] for e in ends], [e[1] for e in ends]])
    value, low, high = np.array(columns, dtype=np.float64).transpose(1, 2, 0)
    return value, low, high, int(np.unique(items).size)


def _run_joint(replay: Replay, found: NDArray[np.int64], rng: np.random.Generator, *, balance: bool = False) -> Trial:
    items, source = _draw_each(replay, rng)
    z = normal_quantile(replay.confidence_level)
    joint = estimate_joint(
        replay.law[:, items],
        replay.labels[items],
        source=source,
        overlap=replay.law @ replay.law.T,
        recall="balance" if balance else "paper",
    )
    theta = pool_recall(replay.in_pool[found])
    recall, recall_variance = scaled_recall(joint, theta=theta.value, theta_variance=theta.variance)
    f1, f1_variance = joint_f1(joint, theta=theta.value, theta_variance=theta.variance)
    smaller = np.minimum(joint.n_precision, np.minimum(joint.n_recall, theta.n_found))
    floor_recall = 1.0 / (4.0 * np.maximum(joint.n_recall, 1.0) ** 2) + 1.0 / (4.0 * theta.n_found**2)
    parts = [
        (joint.precision, joint.precision_variance, 1.0 / (4.0 * joint.n_precision**2), joint.n_precision),
        (recall, recall_variance, floor_recall * recall**2, np.minimum(joint.n_recall, theta.n_found)),
        (f1, f1_variance, 1.0 / (4.0 * np.maximum(smaller, 1.0) ** 2), smaller),
    ]
    ends = [
        logit_interval(value, variance + z * z * floor, n_effective=n, confidence_level=replay.confidence_level)
        for value, variance, floor, n in parts
    ]
    value = np.stack([part[0] for part in parts])
    return value, np.stack([e[0] for e in ends]), np.stack([e[1] for e in ends]), int(np.unique(items).size)


def _run_balance(replay: Replay, found: NDArray[np.int64], rng: np.random.Generator) -> Trial:
    return _run_joint(replay, found, rng, balance=True)


def draw_sample(replay: Replay, rng: np.random.Generator) -> tuple[PoolSample, NDArray[np.float64]]:
    """One sample of the default design, all systems together, at the cost of the others' distinct labels.

    Returns the sample and the inclusion probability of every pool item.
    """
    keep = replay.in_pool
    law = replay.law[:, keep]
    budget = (1.0 - np.exp((replay.n_draws * np.log1p(-np.minimum(law, 1 - 1e-16))).sum(axis=0))).sum()
    size = shared_size(law)
    inclusion = raise_inclusion(size, scale=scale_for_budget(size, float(budget)))
    sample = sample_from_matrix(
        law,
        replay.labels[keep],
        inclusion=inclusion,
        drawn=rng.random(size.size) <= inclusion,
        fold=rng.integers(0, N_FOLDS, size.size),
        scores=None if replay.scores is None else replay.scores[:, keep],
    )
    return sample, inclusion


def _run_default(replay: Replay, found: NDArray[np.int64], rng: np.random.Generator) -> Trial:
    sample, _ = draw_sample(replay, rng)
    estimates = estimate_metrics(sample, pool_recall=pool_recall(replay.in_pool[found]))
    ends = [estimate_interval(estimates[m], confidence_level=replay.confidence_level) for m in METRICS]
    value = np.stack([estimates[m].value for m in METRICS])
    return value, np.stack([e[0] for e in ends]), np.stack([e[1] for e in ends]), sample.fold.size


def _run_betting(replay: Replay, found: NDArray[np.int64], rng: np.random.Generator) -> Trial:
    sample, inclusion = draw_sample(replay, rng)
    theta = pool_recall(replay.in_pool[found])
    estimates = estimate_metrics(sample, pool_recall=theta)
    law = replay.law[:, replay.in_pool]
    low, high = guaranteed_intervals(
        sample,
        n_inside=int(replay.in_pool[found].sum()),
        n_found=found.size,
        reach=np.array([float((row[row > 0] / inclusion[row > 0]).max()) for row in law]),
        pool_reach=float((1.0 / inclusion).max()),
        expected_variance=np.array([design_variance(row, inclusion) for row in law]),
        pool_variance=design_variance(np.ones(inclusion.size), inclusion),
        confidence_level=replay.confidence_level,
    )
    return np.stack([estimates[m].value for m in METRICS]), low, high, sample.fold.size


_RUN: dict[str, Callable[[Replay, NDArray[np.int64], np.random.Generator], Trial]] = {
    "simple": _run_simple,
    "joint": _run_joint,
    "balance": _run_balance,
    "default": _run_default,
    "betting": _run_betting,
}
