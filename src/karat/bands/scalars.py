"""The scalars that come with a band: average precision, ROC AUC, best F1, F1 at a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.bands.result import Interval
from karat.bands.sample import FEW
from karat.math.bands.areas import (
    auc_interval,
    average_precision,
    average_precision_interval,
    delong,
    needs_replicates,
)
from karat.math.bands.exact import exact_pr_band, exact_roc_band
from karat.math.bands.ordering import midpoint_levels
from karat.math.bands.readings import best_f1, best_f1_interval, f1_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.bands.sample import Request, Sample
    from karat.math.bands.methods import Problem
    from karat.math.bands.replicates import Replicates
    from karat.math.bands.smoothing import SmoothTails


_FINE = 2000


def make_interval(
    found: tuple[float, float, float], confidence_level: float, *, method: str, guarantee: str = "bootstrap"
) -> Interval:
    """Put estimate, low and high into an interval."""
    estimate, low, high = found
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        confidence_level=confidence_level,
        guarantee=guarantee,
        method=method,
    )


def _law_precision(problem: Problem, tail: NDArray[np.float64]) -> NDArray[np.float64]:
    """Precision of a PR law at its recall levels."""
    hits = problem.positive_rate * problem.levels
    return np.asarray(hits / (hits + (1 - problem.positive_rate) * tail))


def bootstrap_scalars(sample: Sample, problem: Problem, *, law: SmoothTails, drawn: Replicates) -> dict[str, Interval]:
    """Average precision, ROC AUC and best F1 from replicates drawn from ``law``."""
    level = problem.confidence_level
    auc = _exact_auc(sample, problem) if sample.n_smaller < FEW else _bootstrap_auc(sample, problem, drawn)
    if not problem.anchor_is_positive:
        return {"roc_auc": auc}
    precision = average_precision(problem.ordered)
    hits = np.cumsum(problem.ordered)
    best = float(np.max(2 * hits / (np.arange(1, hits.size + 1) + hits[-1])))
    at_replicates = np.mean(drawn.ranks / (drawn.ranks + drawn.counts), axis=1)
    best_of_replicates = np.max(2 * drawn.ranks / (drawn.ranks + drawn.counts + drawn.n_anchor[:, None]), axis=1)
    best_of_law = best_f1(problem.levels, _law_precision(problem, law(problem.levels)))
    ends = average_precision_interval(precision, at_replicates, n_items=sample.n_items, confidence_level=level)
    f1_ends = best_f1_interval(best, best_of_replicates, best_of_law=best_of_law, confidence_level=level)
    return {
        "average_precision": make_interval((precision, *ends), level, method="percentiles and logit-normal"),
        "roc_auc": auc,
        "best_f1": make_interval((best, *f1_ends), level, method="percentiles"),
    }


def _bootstrap_auc(sample: Sample, problem: Problem, drawn: Replicates) -> Interval:
    areas = _auc_replicates(sample, problem, drawn) if needs_replicates(sample.n_smaller) else None
    found = auc_interval(sample.labels, sample.scores[0], replicates=areas, confidence_level=problem.confidence_level)
    guarantee = "asymptotic" if areas is None else "bootstrap"
    return make_interval(found, problem.confidence_level, guarantee=guarantee, method="logit-normal")


def _exact_auc(sample: Sample, problem: Problem) -> Interval:
    low, high = exact_roc_band(problem.ordered, midpoint_levels(_FINE), confidence_level=problem.confidence_level)
    area = float(delong(sample.labels, sample.scores[0])[0][0])
    found = area, float(low.mean()), float(high.mean())
    return make_interval(found, problem.confidence_level, guarantee="finite-sample", method="exact")


def _auc_replicates(sample: Sample, problem: Problem, drawn: Replicates) -> NDArray[np.float64]:
    """Replicates of the area from the law whose pseudo-items belong to the smaller class."""
    smaller_is_positive = 2 * sample.n_positives <= sample.n_items
    if smaller_is_positive == problem.anchor_is_positive:
        problem = problem.with_classes_swapped()
        drawn = problem.replicates(problem.smoothed())
    above = np.mean(drawn.counts / drawn.n_counted[:, None], axis=1)
    return np.asarray(1 - above if problem.anchor_is_positive else above)


def exact_scalars(sample: Sample, problem: Problem) -> dict[str, Interval]:
    """Integrals and maxima of the exact band's ends over all levels: valid whenever the band is."""
    auc = _exact_auc(sample, problem)
    if not problem.anchor_is_positive:
        return {"roc_auc": auc}
    levels, level = midpoint_levels(_FINE), problem.confidence_level
    low, high = exact_pr_band(problem.ordered, levels, confidence_level=level)
    precision = average_precision(problem.ordered)
    hits = np.cumsum(problem.ordered)
    best = float(np.max(2 * hits / (np.arange(1, hits.size + 1) + hits[-1])))
    ends = float(low.mean()), float(high.mean())
    f1_ends = best_f1(levels, low), best_f1(levels, high)
    return {
        "average_precision": make_interval((precision, *ends), level, guarantee="finite-sample", method="exact"),
        "roc_auc": auc,
        "best_f1": make_interval((best, *f1_ends), level, guarantee="finite-sample", method="exact"),
    }


def f1_at(sample: Sample, request: Request, threshold: float) -> Interval:
    """F1 of the items at or above a threshold fixed beforehand."""
    predicted = sample.scores[0] >= threshold
    found = f1_interval(
        n_true_positives=int(np.count_nonzero(predicted & sample.labels)),
        n_false_positives=int(np.count_nonzero(predicted & ~sample.labels)),
        n_false_negatives=int(np.count_nonzero(~predicted & sample.labels)),
        confidence_level=request.confidence_level,
    )
    return make_interval(found, request.confidence_level, guarantee="finite-sample", method="clopper-pearson")
