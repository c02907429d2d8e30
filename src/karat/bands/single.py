"""Bands for one curve: `pr_band`, `roc_band`, and the same from a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.bands.result import Band, check_curve
from karat.bands.sample import FEW, assumptions, check_request, check_sample
from karat.bands.scalars import bootstrap_scalars, exact_scalars, f1_at
from karat.bands.weighted import weighted_band
from karat.errors import InvalidInput
from karat.math.bands.importance import effective_sample_size, gentle_rate
from karat.math.bands.methods import METHODS, Problem
from karat.math.bands.methods import band as make_band
from karat.math.bands.ordering import descending_labels
from karat.math.bands.smoothing import KERNELS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from karat.bands.sample import Request, Sample

_LEAST_EFFECTIVE = 100.0


def pr_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    confidence_level: float = 0.95,
    method: str = "default",
    recall_range: tuple[float, float] = (0.05, 0.95),
    inclusion_probabilities: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    n_replicates: int = 2000,
    seed: int = 0,
    threshold: float | None = None,
    resampling_rate: float | None = None,
    kernel: str = "gaussian",
) -> Band:
    """Confidence band for the precision-recall curve of the population that a labelled sample was drawn from.

    Parameters
    ----------
    y_true : labels, 0 or 1
    y_score : scores, higher for items believed positive; ties are put in random order
    confidence_level : of the band
    method : "default" (narrow, simultaneous), "exact" (simultaneous, holds in every finite sample), "clemencon-vayatis"
        (Algorithm 1 of their 2009 paper, simultaneous), and for one recall at a time "pointwise", "naive",
        "studentised" or "asymptotic"
    recall_range : part of the curve that the band covers
    inclusion_probabilities : probability with which each item was drawn, if not equal
    strata : stratum of each item, if the draw was stratified
    n_replicates : bootstrap replicates
    seed : of ties and replicates
    threshold : score fixed beforehand at which F1 is wanted, too
    resampling_rate : share of positives in the replicates of "clemencon-vayatis"; the sample's own if None
    kernel : "gaussian" or "box"

    Returns
    -------
    Band
        With ``recall``, ``estimate``, ``low`` and ``high``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> label = rng.random(1000) < 0.3
    >>> band = pr_band(label, rng.normal(1.5 * label))
    >>> print(band)
    Precision-recall band, 95% simultaneous, default (bootstrap), 1,000 labels, ... positive
    AP ...
    at recall 0.50: ...
    >>> band.precision_at_recall(0.8).low < band.precision_at_recall(0.8).estimate
    True
    """
    sample = check_sample(y_true, ("y_score", y_score), inclusion_probabilities=inclusion_probabilities, strata=strata)
    request = check_request(
        confidence_level=confidence_level,
        level_range=recall_range,
        range_name="recall_range",
        n_replicates=n_replicates,
        seed=seed,
    )
    return _band(
        sample,
        request,
        curve="pr",
        method=method,
        threshold=threshold,
        resampling_rate=resampling_rate,
        kernel=kernel,
    )


def roc_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    confidence_level: float = 0.95,
    method: str = "default",
    false_positive_range: tuple[float, float] = (0.05, 0.95),
    inclusion_probabilities: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    n_replicates: int = 2000,
    seed: int = 0,
    threshold: float | None = None,
    resampling_rate: float | None = None,
    kernel: str = "gaussian",
) -> Band:
    """Confidence band for the ROC curve; parameters as for `pr_band`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> label = rng.random(500) < 0.3
    >>> band = roc_band(label, rng.normal(1.5 * label))
    >>> bool(np.all(band.low <= band.estimate) and np.all(band.estimate <= band.high))
    True
    """
    sample = check_sample(y_true, ("y_score", y_score), inclusion_probabilities=inclusion_probabilities, strata=strata)
    request = check_request(
        confidence_level=confidence_level,
        level_range=false_positive_range,
        range_name="false_positive_range",
        n_replicates=n_replicates,
        seed=seed,
    )
    return _band(
        sample,
        request,
        curve="roc",
        method=method,
        threshold=threshold,
        resampling_rate=resampling_rate,
        kernel=kernel,
    )


def from_estimator(estimator: Any, features: Any, y_true: ArrayLike, *, curve: str = "pr", **options: Any) -> Band:
    """Band for a fitted classifier on held-out data, scored by ``decision_function`` or ``predict_proba``.

    Parameters
    ----------
    estimator : anything with one of these methods, such as a scikit-learn classifier
    features : held-out rows
    y_true : their labels, 0 or 1
    curve : "pr" or "roc"
    **options : passed to `pr_band` or `roc_band`
    """
    check_curve("curve", curve)
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(features))
    elif hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(features))[:, 1]
    else:
        raise _check.refuse("estimator", "able to score: decision_function or predict_proba", type(estimator).__name__)
    return (pr_band if curve == "pr" else roc_band)(y_true, scores, **options)


def _band(
    sample: Sample,
    request: Request,
    *,
    curve: str,
    method: str,
    threshold: float | None,
    resampling_rate: float | None,
    kernel: str,
) -> Band:
    _check.one_of("method", method, METHODS)
    _check.one_of("kernel", kernel, KERNELS)
    notes = request.notes()
    if resampling_rate is not None:
        _check_resampling_rate(sample, request, method, resampling_rate)
    if not sample.is_uniform:
        return weighted_band(sample, request, curve=curve, method=method, threshold=threshold, notes=notes)
    if method != "exact" and sample.is_small(curve):
        counted = "positives" if curve == "pr" else "items of the smaller class"
        few = sample.n_positives if curve == "pr" else sample.n_smaller
        notes.append(f"Only {few} {counted}, fewer than {FEW}: this is the exact band, not {method!r}.")
        method = "exact"
    rng = np.random.default_rng(request.seed)
    scores = sample.scores[0]
    ordered, n_tied = descending_labels(sample.labels, scores, rng=rng)
    if n_tied:
        notes.append(
            f"{n_tied:,} positives share their score with a negative: ties are in random order, "
            "so numbers may differ from those of tools that step over whole ties."
        )
    problem = Problem(
        ordered=ordered,
        positives=scores[sample.labels],
        negatives=scores[~sample.labels],
        levels=request.levels,
        inside=request.inside,
        anchor_is_positive=curve == "pr",
        confidence_level=request.confidence_level,
        n_replicates=request.n_replicates,
        kernel=kernel,
        resampling_rate=resampling_rate,
        rng=rng,
    )
    if method == "exact":
        drawn, scalars = None, exact_scalars(sample, problem)
    else:
        law = problem.smoothed()
        drawn = problem.replicates(law)
        scalars = bootstrap_scalars(sample, problem, law=law, drawn=drawn)
    if threshold is not None:
        scalars["f1_at_threshold"] = f1_at(sample, request, _check.number("threshold", threshold))
    estimate, low, high = make_band(problem, METHODS[method], drawn=drawn)
    return Band(
        curve=curve,
        levels=request.covered,
        estimate=estimate,
        low=low,
        high=high,
        confidence_level=request.confidence_level,
        guarantee=METHODS[method].guarantee,
        simultaneous=METHODS[method].simultaneous,
        method=method,
        n_labels=sample.n_items,
        n_positives=sample.n_positives,
        scalars=scalars,
        notes=tuple(notes),
        assumptions=assumptions(sample),
    )


def _check_resampling_rate(sample: Sample, request: Request, method: str, rate: float) -> None:
    if method != "clemencon-vayatis":
        raise InvalidInput(f"'resampling_rate' belongs to method 'clemencon-vayatis'; got method {method!r}.")
    _check.fraction("resampling_rate", rate)
    own = sample.n_positives / sample.n_items
    worth = effective_sample_size(
        n_items=sample.n_items, positive_rate=own, resampling_rate=rate, n_replicates=request.n_replicates
    )
    if worth < _LEAST_EFFECTIVE:
        gentle = gentle_rate(n_items=sample.n_items, positive_rate=own)
        raise InvalidInput(
            f"'resampling_rate' must leave an effective sample size of at least {_LEAST_EFFECTIVE:g} replicates; "
            f"got {rate:g}, which makes {request.n_replicates:,} replicates worth {worth:.2g}. "
            f"The sample's own rate is {own:.4g}; up to {gentle:.4g} is harmless."
        )
