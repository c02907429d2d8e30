"""Replay systems arriving one by one: labels bought and errors made, by the paper's rule and by ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.math.pooled.adaptive import arrival_variance, arrive, known_arrival_variance, paper_count
from karat.math.pooled.estimate import cross_fitted_residuals, estimate_metrics
from karat.math.pooled.inclusion import (
    LARGEST_SPREAD,
    learned_spread,
    raise_inclusion,
    shared_size,
    smallest_scales,
)
from karat.math.pooled.intervals import estimate_interval, logit_interval
from karat.math.pooled.joint import joint_weights
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.sample import sample_from_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

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
    law: ArrayLike,
    labels: ArrayLike,
    *,
    order: ArrayLike,
    target_variance: ArrayLike,
    is_known: bool = False,
    rng: np.random.Generator,
) -> ArrivalTrace:
    """One replay of the paper's rule: draws with replacement, as many as its conservative variance asks for.

    ``target_variance`` is one number, or one a system. With ``is_known`` the rule counts with the true variance, which
    takes all labels to know: the fewest draws with which the joint estimate meets the target.
    """
    p, f, sequence = _replayed(law, labels, order)
    targets = np.broadcast_to(np.asarray(target_variance, dtype=np.float64), p.shape[:1])
    variance = known_arrival_variance if is_known else arrival_variance
    times_drawn = np.zeros(p.shape)
    bought, values, variances, effective = [], [], [], []
    for step, new in enumerate(sequence):
        arrival, units = arrive(p, new=int(new), earlier=sequence[:step], times_drawn=times_drawn, labels=f)
        n_new = paper_count(arrival, target_variance=float(targets[new]), variance=variance)
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
    judges: ArrayLike | None = None,
    rng: np.random.Generator,
) -> ArrivalTrace:
    """One replay of the default design: permanent random numbers and the smallest scale that meets the target.

    The labels come in two steps: a pilot, then what the spread of labels around the proxy, seen on the system's units
    so far (those that earlier systems predict and new ones apart), still asks for.
    """
    p, f, sequence = _replayed(law, labels, order)
    score = None if scores is None else np.asarray(scores, dtype=np.float64)
    votes = None if judges is None else np.atleast_2d(np.asarray(judges, dtype=np.float64))
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
            judges=None if votes is None else votes[:, pool],
        )

    for step, new in enumerate(sequence):
        seen = sequence[: step + 1]
        pool: NDArray[np.bool_] = np.any(p[seen] > 0, axis=0)
        known: NDArray[np.bool_] = np.any(p[seen[:-1]] > 0, axis=0)
        before = int(drawn.sum())
        for share in (PILOT_SHARE, 1.0):
            spread = np.full(f.size, LARGEST_SPREAD)
            if share == 1.0 and drawn.any():
                sample = sample_of(seen, pool)
                residuals = cross_fitted_residuals(sample)
                for part in (known, ~known):
                    rows = (part & (p[new] > 0))[pool & drawn]
                    spread[part] = learned_spread(residuals[rows], 1.0 / sample.inclusion[rows])
            (scale,) = smallest_scales(p[new], inclusion, target_variance=target_variance / share, spread=spread)
            inclusion = raise_inclusion(shared_size(p[new], spread=spread), inclusion, scale=scale)
            drawn = permanent <= inclusion
        bought.append(int(drawn.sum()) - before)
        estimate = estimate_metrics(sample_of(seen, pool))["precision"]
        values.append(float(estimate.value[-1]))
        ends.append([float(end[-1]) for end in estimate_interval(estimate)])
    low, high = np.array(ends).T
    return ArrivalTrace(new_labels=np.array(bought), precision=np.array(values), low=low, high=high)


def fewest_labels(
    law: ArrayLike,
    labels: ArrayLike,
    *,
    order: ArrayLike,
    target_variance: ArrayLike,
    scores: ArrayLike | None = None,
    judges: ArrayLike | None = None,
    rng: np.random.Generator,
) -> float:
    """Labels that the default design would buy if every label were known but could not be used to score.

    The spread of labels around guesses fitted to all of them is then known for every set of systems that share an
    item, and one target variance a system is met exactly. No rule gets there; it shows what is there to be saved.
    """
    p, f, sequence = _replayed(law, labels, order)
    everything = sample_from_matrix(
        p,
        f,
        inclusion=np.ones(f.size),
        drawn=np.ones(f.size, dtype=np.bool_),
        fold=rng.integers(0, N_FOLDS, f.size),
        scores=scores,
        judges=judges,
    )
    group = np.unique(p > 0, axis=1, return_inverse=True)[1].ravel()
    squares = np.bincount(group, weights=cross_fitted_residuals(everything) ** 2) / np.bincount(group)
    spread = np.minimum(np.sqrt(squares), LARGEST_SPREAD)[group]
    targets = np.asarray(target_variance, dtype=np.float64)
    inclusion = np.zeros(f.size)
    for new in sequence:
        size = shared_size(p[new], spread=spread)
        (scale,) = smallest_scales(p[new], inclusion, target_variance=float(targets[new]), spread=spread)
        inclusion = raise_inclusion(size, inclusion, scale=scale)
    return float(inclusion.sum())


def simulate_arrivals(
    law: ArrayLike,
    labels: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    judges: ArrayLike | None = None,
    worth: int = 500,
    n_trials: int = 10,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Replay random orders of arrival, with the variance of ``worth`` labels per system as the target.

    The rules are ``default``; ``paper``, whose target is its own estimate of the variance of that many draws, 1/worth
    (it does not use that a label has a variance of at most 1/4), as in the paper's experiment; ``paper_same_target``,
    given the same number as ours, 1/(4 worth); and ``paper_known``, which knows all labels and takes the fewest draws
    with which the joint estimate meets ``p (1 - p) / worth``. ``judges`` (one row a judge's votes) help the default.

    Returns
    -------
    dict
        For each rule: ``labels`` bought in all, ``labels_over_default``, ``labels_by_system`` (mean after 1, 2, ...
        systems), ``error_ratio``: mean squared error of the precision over ``p (1 - p) / worth`` (the target is met at
        1), ``bias_z``: the mean error in standard errors, and ``coverage`` of the 90% intervals. ``fewest_labels`` is
        what the default would need if it knew all labels (see `fewest_labels`).
    """
    p = np.atleast_2d(np.asarray(law, dtype=np.float64))
    f = _check.binary_labels("labels", labels).astype(np.float64)
    worth = _check.whole("worth", worth, least=2)
    expected = p @ f
    known_targets = np.maximum(expected * (1.0 - expected), 1.0 / worth) / worth
    rules: dict[str, Callable[[NDArray[np.int64]], ArrivalTrace]] = {
        "paper": lambda order: arrive_by_paper(p, f, order=order, target_variance=1.0 / worth, rng=rng),
        "paper_same_target": lambda order: arrive_by_paper(p, f, order=order, target_variance=0.25 / worth, rng=rng),
        "paper_known": lambda order: arrive_by_paper(
            p, f, order=order, target_variance=known_targets, is_known=True, rng=rng
        ),
        "default": lambda order: arrive_by_default(
            p, f, order=order, target_variance=0.25 / worth, scores=scores, judges=judges, rng=rng
        ),
    }
    orders = [rng.permutation(p.shape[0]) for _ in range(_check.whole("n_trials", n_trials, least=1))]
    target = np.mean(expected * (1.0 - expected)) / worth
    result: dict[str, Any] = {"n_systems": p.shape[0], "worth": worth, "n_trials": n_trials}
    for name, arrive_in in rules.items():
        runs = [(order, arrive_in(order)) for order in orders]
        growth = np.mean([np.cumsum(trace.new_labels) for _, trace in runs], axis=0)
        errors = np.array([trace.precision - expected[order] for order, trace in runs])
        result[name] = {
            "labels": float(growth[-1]),
            "labels_by_system": growth.tolist(),
            "error_ratio": float((errors**2).mean() / target) if target > 0 else 0.0,
            "bias_z": _bias_z(errors),
            "coverage": float(np.mean([_covers(trace, expected[order]) for order, trace in runs])),
        }
    result["fewest_labels"] = float(np.mean([
        fewest_labels(p, f, order=order, target_variance=known_targets, scores=scores, judges=judges, rng=rng)
        for order in orders
    ]))  # fmt: skip
    for name in rules:
        result[name]["labels_over_default"] = result[name]["labels"] / max(result["default"]["labels"], 1.0)
    return result


def _bias_z(errors: NDArray[np.float64]) -> float:
    """Mean error in standard errors; the systems of one order share labels, so only orders are independent."""
    by_order = errors.mean(axis=1)
    if by_order.size == 1:
        return 0.0
    return float(by_order.mean() / max(by_order.std(ddof=1) / np.sqrt(by_order.size), 1e-12))


def _covers(trace: ArrivalTrace, expected: NDArray[np.float64]) -> float:
    return float(((trace.low <= expected + 1e-9) & (expected <= trace.high + 1e-9)).mean())


def _replayed(
    law: ArrayLike, labels: ArrayLike, order: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    p = np.atleast_2d(np.asarray(law, dtype=np.float64))
    return p, np.asarray(labels, dtype=np.float64), np.asarray(order, dtype=np.int64)
