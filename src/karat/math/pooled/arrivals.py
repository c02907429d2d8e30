"""Replay systems arriving one by one: labels bought and errors made, by the paper's rule and by ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.math.pooled.adaptive import arrive, paper_count
from karat.math.pooled.estimate import cross_fitted_residuals, estimate_metrics
from karat.math.pooled.inclusion import (
    LARGEST_SPREAD,
    learned_spread,
    raise_inclusion,
    shared_size,
    smallest_scale,
)
from karat.math.pooled.intervals import estimate_interval, logit_interval
from karat.math.pooled.joint import joint_weights
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.sample import sample_from_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from karat.math.pooled.sample import PoolSample

PILOT_SHARE = 0.25  # of the labels that the worst case asks for; then the spread is learned


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalTrace:
    """Labels bought for, and precision with 90% interval of, each system at its arrival, in order of arrival."""

    new_labels: NDArray[np.int64]
    precision: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def arrive_by_paper(
    law: ArrayLike, labels: ArrayLike, *, order: ArrayLike, target_variance: float, rng: np.random.Generator
) -> ArrivalTrace:
    """One replay of the paper's rule: draws with replacement, as many as its conservative variance asks for."""
    p, f, sequence = _replayed(law, labels, order)
    times_drawn = np.zeros(p.shape)
    bought, values, variances, effective = [], [], [], []
    for step, new in enumerate(sequence):
        arrival, units = arrive(p, new=int(new), earlier=sequence[:step], times_drawn=times_drawn, labels=f)
        n_new = paper_count(arrival, target_variance=target_variance)
        before = (times_drawn.sum(axis=0) > 0).sum()
        chosen = rng.choice(units, n_new, p=p[new, units])
        np.add.at(times_drawn[new], chosen, 1.0)
        bought.append((times_drawn.sum(axis=0) > 0).sum() - before)
        weights = joint_weights(arrival.overlap[None, :], np.append(arrival.n_draws, n_new))[0]
        ratio = p[new, units] * f[units] / (weights @ arrival.law)
        counts = times_drawn[sequence[: step + 1]][:, units]
        n_each = np.append(arrival.n_draws, n_new)
        mean, mean_square = counts @ ratio / n_each, counts @ ratio**2 / n_each
        values.append(float(weights @ mean))
        variances.append(float((weights**2 / n_each) @ (mean_square - mean**2)))
        effective.append(n_new)
    low, high = logit_interval(values, variances, n_effective=effective)
    return ArrivalTrace(new_labels=np.array(bought), precision=np.array(values), low=low, high=high)


def arrive_by_default(
    law: ArrayLike,
    labels: ArrayLike,
    *,
    order: ArrayLike,
    target_variance: float,
    scores: ArrayLike | None = None,
    learn: bool = True,
    rng: np.random.Generator,
) -> ArrivalTrace:
    """One replay of the default design: permanent random numbers and the smallest scale that meets the target.

    With ``learn`` the labels come in two steps: a pilot, then what the spread of labels around the proxy, seen on
    the system's units so far (those that earlier systems predict and new ones apart), still asks for.
    """
    p, f, sequence = _replayed(law, labels, order)
    score = None if scores is None else np.asarray(scores, dtype=np.float64)
    permanent = rng.random(f.size)
    fold = rng.integers(0, N_FOLDS, f.size)
    inclusion = np.zeros(f.size)
    drawn = np.zeros(f.size, dtype=bool)
    bought, values, ends = [], [], []

    def sample_of(seen: NDArray[np.int64], pool: NDArray[np.bool_]) -> PoolSample:
        return sample_from_matrix(
            p[seen][:, pool],
            f[pool],
            inclusion=inclusion[pool],
            drawn=drawn[pool],
            fold=fold[pool],
            scores=None if score is None else score[seen][:, pool],
        )

    for step, new in enumerate(sequence):
        seen = sequence[: step + 1]
        pool: NDArray[np.bool_] = np.any(p[seen] > 0, axis=0)
        known: NDArray[np.bool_] = np.any(p[seen[:-1]] > 0, axis=0)
        before = int(drawn.sum())
        for share in (PILOT_SHARE, 1.0) if learn else (1.0,):
            spread = np.full(f.size, LARGEST_SPREAD)
            if learn and before:
                sample = sample_of(seen, pool)
                residuals = cross_fitted_residuals(sample)
                for part in (known, ~known):
                    rows = (part & (p[new] > 0))[pool & drawn]
                    spread[part] = learned_spread(residuals[rows], 1.0 / sample.inclusion[rows])
            scale = smallest_scale(p[new], inclusion, target_variance=target_variance / share, spread=spread)
            inclusion = raise_inclusion(shared_size(p[new], spread=spread), inclusion, scale=scale)
            drawn = permanent <= inclusion
        bought.append(int(drawn.sum()) - before)
        estimate = estimate_metrics(sample_of(seen, pool))["precision"]
        values.append(float(estimate.value[-1]))
        ends.append([float(end[-1]) for end in estimate_interval(estimate)])
    low, high = np.array(ends).T
    return ArrivalTrace(new_labels=np.array(bought), precision=np.array(values), low=low, high=high)


def simulate_arrivals(
    law: ArrayLike,
    labels: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    worth: int = 500,
    n_trials: int = 10,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Replay random orders of arrival, with the variance of ``worth`` labels per system as the target.

    Returns
    -------
    dict
        For ``paper`` and ``default``: ``labels`` bought in all, ``labels_by_system`` (mean after 1, 2, ... systems),
        ``error_ratio``: mean squared error of the precision over ``p (1 - p) / worth`` (the target is met at 1),
        ``bias_z``: the mean error in standard errors, and ``coverage`` of the 90% intervals.
    """
    p = np.atleast_2d(np.asarray(law, dtype=np.float64))
    f = _check.binary_labels("labels", labels).astype(np.float64)
    worth = _check.whole("worth", worth, least=2)
    expected = p @ f
    traces: dict[str, list[tuple[NDArray[np.int64], ArrivalTrace]]] = {"paper": [], "default": []}
    for _ in range(_check.whole("n_trials", n_trials, least=1)):
        order = rng.permutation(p.shape[0])
        # The paper's variance of n draws alone is 1/n: it does not use that a label has variance at most 1/4.
        paper = arrive_by_paper(p, f, order=order, target_variance=1.0 / worth, rng=rng)
        ours = arrive_by_default(p, f, order=order, target_variance=0.25 / worth, scores=scores, rng=rng)
        traces["paper"].append((order, paper))
        traces["default"].append((order, ours))
    result: dict[str, Any] = {"n_systems": p.shape[0], "worth": worth, "n_trials": n_trials}
    for name, runs in traces.items():
        growth = np.mean([np.cumsum(trace.new_labels) for _, trace in runs], axis=0)
        errors = np.array([trace.precision - expected[order] for order, trace in runs])
        target = np.mean(expected * (1.0 - expected)) / worth
        result[name] = {
            "labels": float(growth[-1]),
            "labels_by_system": growth.tolist(),
            "error_ratio": float((errors**2).mean() / target) if target > 0 else 0.0,
            "bias_z": float(errors.mean() / max(errors.std() / np.sqrt(errors.size), 1e-12)),
            "coverage": float(np.mean([_covers(trace, expected[order]) for order, trace in runs])),
        }
    return result


def _covers(trace: ArrivalTrace, expected: NDArray[np.float64]) -> float:
    return float(((trace.low <= expected + 1e-9) & (expected <= trace.high + 1e-9)).mean())


def _replayed(
    law: ArrayLike, labels: ArrayLike, order: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    p = np.atleast_2d(np.asarray(law, dtype=np.float64))
    return p, np.asarray(labels, dtype=np.float64), np.asarray(order, dtype=np.int64)
