"""A band for samples drawn with unequal probabilities or within strata: rows are resampled as they were drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.bands.result import Band
from karat.bands.rows import curves_of, ranks_of, replicates_of
from karat.bands.sample import FEW, assumptions
from karat.bands.scalars import make_interval
from karat.errors import InvalidInput
from karat.math.bands.areas import average_precision_interval, logit_deviation, logit_interval
from karat.math.bands.envelopes import percentile_envelope, simultaneous_envelope, unseen
from karat.math.bands.readings import best_f1_interval

if TYPE_CHECKING:
    from karat.bands.sample import Request, Sample


def weighted_band(
    sample: Sample, request: Request, *, curve: str, method: str, threshold: float | None, notes: list[str]
) -> Band:
    """Band by resampling rows, for unequal inclusion probabilities or strata."""
    if method not in ("default", "pointwise"):
        hint = "Weighted and stratified samples have 'default' and 'pointwise' only."
        raise _check.refuse("method", "'default' or 'pointwise' with weights or strata", method, hint)
    if threshold is not None:
        raise InvalidInput("'threshold' must be left out with weights or strata: F1's interval needs a uniform sample.")
    if sample.is_small(curve):
        raise InvalidInput(
            f"'y_true' must hold at least {FEW} {'positives' if curve == 'pr' else 'items of each class'} when labels "
            f"are weighted or stratified; got {sample.n_positives if curve == 'pr' else sample.n_smaller}."
        )
    rng = np.random.default_rng(request.seed)
    ranks = ranks_of(sample, rng)
    is_pr = curve == "pr"
    (found,) = curves_of(sample, request, ranks, curve=curve)
    (drawn,) = replicates_of(sample, request, ranks, curve=curve, rng=rng)
    level = request.confidence_level
    curves = drawn.curve[:, request.inside]
    if method == "default":
        above, below = unseen(request.covered, sample.effective_size(positives=is_pr))
        seen = ~(above | below)
        low, high = simultaneous_envelope(curves, confidence_level=level, judged=seen if seen.any() else None)
        # No exact band exists for weights: the end towards what the sample has hardly seen stays open.
        raised, lowered = (above, below) if is_pr else (below, above)
        low, high = np.where(lowered, 0.0, low), np.where(raised, 1.0, high)
    else:
        low, high = percentile_envelope(curves, confidence_level=level)
    estimate = found.curve[request.inside]
    notes += _weight_notes(sample, curve)
    area = float(found.roc_auc)
    ends = logit_interval(min(max(area, 1e-6), 1 - 1e-6), logit_deviation(drawn.roc_auc), confidence_level=level)
    auc = make_interval((area, min(ends[0], area), max(ends[1], area)), level, method="logit-normal")
    scalars = {"roc_auc": auc}
    if is_pr:
        precision, best = float(found.average_precision), float(found.best_f1)
        ends = average_precision_interval(
            precision, drawn.average_precision, n_items=sample.n_items, confidence_level=level
        )
        f1_ends = best_f1_interval(best, drawn.best_f1, best_of_law=best, confidence_level=level)
        scalars = {
            "average_precision": make_interval((precision, *ends), level, method="percentiles and logit-normal"),
            "roc_auc": auc,
            "best_f1": make_interval((best, *f1_ends), level, method="percentiles"),
        }
    return Band(
        curve=curve,
        levels=request.covered,
        estimate=estimate,
        low=np.minimum(low, estimate),
        high=np.maximum(high, estimate),
        confidence_level=level,
        guarantee="bootstrap",
        simultaneous=method == "default",
        method=method,
        n_labels=sample.n_items,
        n_positives=sample.n_positives,
        scalars=scalars,
        notes=tuple(notes),
        assumptions=assumptions(sample),
    )


def _weight_notes(sample: Sample, curve: str) -> list[str]:
    notes = []
    worth = sample.effective_size(positives=curve == "pr")
    if worth < 2 * FEW:
        kind = "positives" if curve == "pr" else "negatives"
        notes.append(f"The weights make the {kind} worth only {worth:.1f} equal ones: read the band with care.")
    smallest = int(np.bincount(sample.strata).min())
    if smallest < FEW:
        notes.append(f"A stratum has only {smallest} labelled items: resampling understates its spread.")
    return notes
