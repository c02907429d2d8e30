"""Two systems on the same labelled items: where one is certainly better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from karat.bands.result import Comparison, Interval, check_curve
from karat.bands.rows import curves_of, ranks_of, replicates_of
from karat.bands.sample import FEW, assumptions, check_request, check_sample
from karat.errors import InvalidInput
from karat.math.bands.areas import delong, percentile_interval
from karat.math.bands.envelopes import simultaneous_envelope, unseen
from karat.math.bands.exact import exact_pr_band, exact_roc_band
from karat.math.bands.ordering import midpoint_levels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from karat.bands.sample import Request, Sample
    from karat.math.bands.rows import CurveValues


def compare_curves(
    y_true: ArrayLike,
    first_score: ArrayLike,
    second_score: ArrayLike,
    *,
    curve: str = "pr",
    confidence_level: float = 0.95,
    level_range: tuple[float, float] = (0.05, 0.95),
    inclusion_probabilities: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    n_replicates: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Band for the difference of two systems' curves (second minus first) on the same labelled items.

    Rows are resampled with both scores together, so what is easy or hard for both systems cancels out.

    Parameters
    ----------
    y_true : labels, 0 or 1
    first_score, second_score : the systems' scores of the same items
    curve : "pr" or "roc"
    confidence_level : of the band, for all levels at once
    level_range : recalls ("pr") or false positive rates ("roc") to cover
    inclusion_probabilities, strata : as for `pr_band`
    n_replicates : bootstrap replicates, each of which costs as much as sorting the sample
    seed : of ties and replicates

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> label = rng.random(500) < 0.4
    >>> weak, strong = rng.normal(0.5 * label), rng.normal(2.5 * label)
    >>> result = compare_curves(label, weak, strong, n_replicates=200)
    >>> result.certain_ranges[0][0]
    'second'
    """
    check_curve("curve", curve)
    sample = check_sample(
        y_true,
        ("first_score", first_score),
        ("second_score", second_score),
        inclusion_probabilities=inclusion_probabilities,
        strata=strata,
    )
    request = check_request(
        confidence_level=confidence_level,
        level_range=level_range,
        range_name="level_range",
        n_replicates=n_replicates,
        seed=seed,
    )
    rng = np.random.default_rng(request.seed)
    ranks = ranks_of(sample, rng)
    found = curves_of(sample, request, ranks, curve=curve)
    notes = request.notes()
    if sample.is_small(curve):
        if not sample.is_uniform:
            raise InvalidInput(f"'y_true' must hold at least {FEW} items of each class when labels are weighted.")
        notes = [f"Fewer than {FEW} items to compare on: the difference of two exact bands."]
        low, high, scalars = _exact_difference(sample, request, ranks, found, curve)
        method, guarantee = "exact", "finite-sample"
    else:
        drawn = replicates_of(sample, request, ranks, curve=curve, rng=rng)
        difference = (drawn[1].curve - drawn[0].curve)[:, request.inside]
        above, below = unseen(request.covered, sample.effective_size(positives=curve == "pr"))
        seen = ~(above | below)
        low, high = simultaneous_envelope(
            difference, confidence_level=request.confidence_level, judged=seen if seen.any() else None
        )
        # Where the sample has hardly seen either system, their difference stays open.
        low, high = np.where(seen, low, -1.0), np.where(seen, high, 1.0)
        scalars = _scalar_differences(sample, request, found, drawn, curve)
        method, guarantee = "default", "bootstrap"
    first, second = (one.curve[request.inside] for one in found)
    return Comparison(
        curve=curve,
        levels=request.covered,
        estimate=second - first,
        low=np.minimum(low, second - first),
        high=np.maximum(high, second - first),
        first=first,
        second=second,
        confidence_level=request.confidence_level,
        guarantee=guarantee,
        simultaneous=True,
        method=method,
        n_labels=sample.n_items,
        n_positives=sample.n_positives,
        scalars=scalars,
        notes=tuple(notes),
        assumptions=assumptions(sample),
    )


def _names(curve: str) -> tuple[str, ...]:
    return ("average_precision", "roc_auc", "best_f1") if curve == "pr" else ("roc_auc",)


def _scalar_differences(
    sample: Sample, request: Request, found: list[CurveValues], drawn: list[CurveValues], curve: str
) -> dict[str, Interval]:
    """Outer of the replicates' percentiles and a normal interval at the estimate; for AUC at least DeLong's width."""
    level = request.confidence_level
    reach = float(ndtri((1 + level) / 2))
    scalars = {}
    for name in _names(curve):
        first, second = (float(getattr(one, name)) for one in found)
        values = getattr(drawn[1], name) - getattr(drawn[0], name)
        estimate, deviation = second - first, float(np.std(values, ddof=1))
        if name == "roc_auc" and sample.is_uniform:
            (area, other), covariance = delong(sample.labels, *sample.scores)
            estimate = float(other - area)
            variance = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
            deviation = max(deviation, math.sqrt(max(variance, 0.0)))
        low, high = percentile_interval(values, confidence_level=level)
        low, high = min(low, estimate - reach * deviation), max(high, estimate + reach * deviation)
        scalars[name] = Interval(
            estimate=estimate,
            low=max(low, -1.0),
            high=min(high, 1.0),
            confidence_level=level,
            guarantee="bootstrap",
            method="paired rows",
        )
    return scalars


def _exact_difference(
    sample: Sample, request: Request, ranks: list[NDArray[np.int64]], found: list[CurveValues], curve: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[str, Interval]]:
    """Two exact bands at half the error each; areas by integration."""
    half = (1 + request.confidence_level) / 2
    ordered = [sample.labels[np.argsort(-one)] for one in ranks]

    def difference(curve: str, levels: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        band = exact_pr_band if curve == "pr" else exact_roc_band
        (low_first, high_first), (low_second, high_second) = (
            band(one, levels, confidence_level=half) for one in ordered
        )
        return low_second - high_first, high_second - low_first

    scalars = {}
    for name, of_curve in (("average_precision", "pr"), ("roc_auc", "roc")):
        if name not in _names(curve):
            continue
        first, second = (float(getattr(one, name)) for one in found)
        low, high = (float(end.mean()) for end in difference(of_curve, midpoint_levels(2000)))
        scalars[name] = Interval(
            estimate=second - first,
            low=low,
            high=high,
            confidence_level=request.confidence_level,
            guarantee="finite-sample",
            method="exact",
        )
    return *difference(curve, request.covered), scalars
