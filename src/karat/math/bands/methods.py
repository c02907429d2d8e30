"""The methods by name: from an order of labels to a band over a range of levels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from karat.math.bands.asymptotic import precision_variance, sample_slope, sensitivity_variance, tail_slope
from karat.math.bands.envelopes import (
    percentile_envelope,
    simultaneous_envelope,
    studentised_envelope,
    sup_radius,
    unseen,
)
from karat.math.bands.exact import exact_pr_band, exact_roc_band
from karat.math.bands.importance import importance_weights
from karat.math.bands.ordering import counts_above, normal_scores, precision_curve
from karat.math.bands.replicates import Replicates, draw_replicates
from karat.math.bands.smoothing import SmoothTails, bandwidth, smooth_tails, step_tails

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from karat.math.bands.smoothing import Tails

    Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A sample and what is wanted of it.

    Attributes
    ----------
    ordered : labels from the best score to the worst, without ties
    positives, negatives : raw scores of the classes, for methods that smooth on the score's own scale
    levels : evenly spaced levels of the whole (0, 1)
    inside : which of them the band covers
    anchor_is_positive : True for a PR curve, False for a ROC curve
    confidence_level, n_replicates, kernel : as asked for
    resampling_rate : rate of positives in replicates; None for the sample's own
    rng : source of randomness
    """

    ordered: NDArray[np.bool_]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]
    levels: NDArray[np.float64]
    inside: NDArray[np.bool_]
    anchor_is_positive: bool
    confidence_level: float
    n_replicates: int
    kernel: str
    resampling_rate: float | None
    rng: np.random.Generator

    @property
    def n_items(self) -> int:
        """Size of the sample."""
        return self.ordered.size

    @property
    def positive_rate(self) -> float:
        """Share of positives in the sample."""
        return self.positives.size / self.ordered.size

    def estimate(self) -> NDArray[np.float64]:
        """Return the empirical curve at all levels."""
        counts = counts_above(self.ordered, self.levels, anchor_is_positive=self.anchor_is_positive)
        if self.anchor_is_positive:
            return precision_curve(self.levels, counts, n_positives=self.positives.size)
        return np.asarray(counts / self.positives.size)

    def smoothed(self) -> SmoothTails:
        """Return our law: normal scores of pooled ranks, one bandwidth a class, pseudo-items of the counted class."""
        scale = normal_scores(self.n_items)
        anchor, counted = scale[self.ordered == self.anchor_is_positive], scale[self.ordered != self.anchor_is_positive]
        return smooth_tails(
            anchor,
            counted,
            anchor_bandwidth=bandwidth(anchor),
            counted_bandwidth=bandwidth(counted),
            kernel=self.kernel,
            n_pseudo=1.0,
        )

    def smoothed_on_scores(self) -> SmoothTails:
        """Return the paper's law: the score's own scale, one bandwidth ``1.06 sd n^(-1/5)`` for both classes."""
        both = np.concatenate([self.positives, self.negatives])
        spread = float(np.std(both))
        width = 1.06 * (spread if spread > 0 else 1.0) * both.size ** (-1 / 5)
        first, second = self.positives, self.negatives
        anchor, counted = (first, second) if self.anchor_is_positive else (second, first)
        return smooth_tails(anchor, counted, anchor_bandwidth=width, counted_bandwidth=width, kernel=self.kernel)

    def replicates(self, tails: Tails, *, positive_rate: float | None = None) -> Replicates:
        """Draw replicates from a law, with the sample's rate of positives or another."""
        rate = self.positive_rate if positive_rate is None else positive_rate
        return draw_replicates(
            tails,
            self.levels,
            n_items=self.n_items,
            anchor_rate=rate if self.anchor_is_positive else 1 - rate,
            n_replicates=self.n_replicates,
            rng=self.rng,
        )

    def curves(self, drawn: Replicates) -> NDArray[np.float64]:
        """Return the replicates' curves at all levels."""
        if self.anchor_is_positive:
            return precision_curve(self.levels, drawn.counts, n_positives=drawn.n_anchor[:, None])
        return np.asarray(drawn.counts / drawn.n_counted[:, None])

    def with_classes_swapped(self) -> Problem:
        """Return the same sample anchored on the other class."""
        return replace(self, anchor_is_positive=not self.anchor_is_positive)

    def exact(self, levels: NDArray[np.float64]) -> Pair:
        """Return the finite-sample band at any levels."""
        band = exact_pr_band if self.anchor_is_positive else exact_roc_band
        return band(self.ordered, levels, confidence_level=self.confidence_level)

    def deviation(
        self,
        tail: NDArray[np.float64],
        *,
        slope: NDArray[np.float64],
        positive_rate: NDArray[np.float64] | float,
    ) -> NDArray[np.float64]:
        """Return the curve's standard deviation at all levels by its limit variance."""
        formula = precision_variance if self.anchor_is_positive else sensitivity_variance
        variance = formula(self.levels, tail, slope=slope, positive_rate=positive_rate)
        return np.asarray(np.sqrt(variance / self.n_items))


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How a method makes its band, and what the band may claim."""

    make: Callable[[Problem, Replicates | None], Pair]
    guarantee: str
    simultaneous: bool


def _default(problem: Problem, drawn: Replicates | None) -> Pair:
    curves = problem.curves(drawn or problem.replicates(problem.smoothed()))
    levels = problem.levels[problem.inside]
    n_anchor = int(np.count_nonzero(problem.ordered == problem.anchor_is_positive))
    unseen_above, unseen_below = unseen(levels, n_anchor)
    judged = ~(unseen_above | unseen_below)
    low, high = simultaneous_envelope(
        curves[:, problem.inside],
        confidence_level=problem.confidence_level,
        judged=judged if judged.any() else None,
    )
    if judged.all():
        return low, high
    # What the sample has hardly seen comes from the exact band, at the end towards it.
    exact_low, exact_high = problem.exact(levels)
    # A higher threshold than seen means fewer items of the other class: more precision, less sensitivity.
    raised, lowered = (unseen_above, unseen_below) if problem.anchor_is_positive else (unseen_below, unseen_above)
    return np.where(lowered, np.minimum(low, exact_low), low), np.where(raised, np.maximum(high, exact_high), high)


def _pointwise(problem: Problem, drawn: Replicates | None) -> Pair:
    curves = problem.curves(drawn or problem.replicates(problem.smoothed()))
    return percentile_envelope(curves[:, problem.inside], confidence_level=problem.confidence_level)


def _naive(problem: Problem, _: Replicates | None) -> Pair:
    law = step_tails(problem.ordered, anchor_is_positive=problem.anchor_is_positive)
    curves = problem.curves(problem.replicates(law))
    return percentile_envelope(curves[:, problem.inside], confidence_level=problem.confidence_level)


def _clemencon_vayatis(problem: Problem, _: Replicates | None) -> Pair:
    rate = problem.positive_rate if problem.resampling_rate is None else problem.resampling_rate
    drawn = problem.replicates(problem.smoothed_on_scores(), positive_rate=rate)
    weights = importance_weights(
        drawn.n_anchor if problem.anchor_is_positive else drawn.n_counted,
        n_items=problem.n_items,
        positive_rate=problem.positive_rate,
        resampling_rate=rate,
    )
    estimate = problem.estimate()[problem.inside]
    radius = sup_radius(
        problem.curves(drawn)[:, problem.inside],
        estimate,
        confidence_level=problem.confidence_level,
        weights=weights,
    )
    return estimate - radius, estimate + radius


def _exact(problem: Problem, _: Replicates | None) -> Pair:
    return problem.exact(problem.levels[problem.inside])


def _studentised(problem: Problem, drawn: Replicates | None) -> Pair:
    # Every replicate is divided by its own deviation, read off its own tails; the slope is taken over n^(-1/3).
    law = problem.smoothed()
    drawn = drawn or problem.replicates(law)
    n_anchor = int(np.count_nonzero(problem.ordered == problem.anchor_is_positive))
    n_counted = problem.n_items - n_anchor
    width = 0.5 * n_anchor ** (-1 / 3)
    # Half an item more on either side keeps the deviation of a perfect stretch above zero.
    tails = (drawn.counts + 0.5) / (drawn.n_counted[:, None] + 1)
    anchor_rate = drawn.n_anchor[:, None] / problem.n_items
    deviations = problem.deviation(
        tails,
        slope=sample_slope(tails, problem.levels, width=width),
        positive_rate=anchor_rate if problem.anchor_is_positive else 1 - anchor_rate,
    )
    counts = counts_above(problem.ordered, problem.levels, anchor_is_positive=problem.anchor_is_positive)
    tail = (counts + 0.5) / (n_counted + 1)
    deviation = problem.deviation(
        tail, slope=sample_slope(tail, problem.levels, width=width), positive_rate=problem.positive_rate
    )
    centre = law(problem.levels)
    if problem.anchor_is_positive:
        centre = precision_curve(problem.levels, n_counted * centre, n_positives=n_anchor)
    inside = problem.inside
    return studentised_envelope(
        problem.curves(drawn)[:, inside],
        deviations[:, inside],
        centre=centre[inside],
        estimate=problem.estimate()[inside],
        deviation=deviation[inside],
        confidence_level=problem.confidence_level,
    )


def _asymptotic(problem: Problem, _: Replicates | None) -> Pair:
    law = problem.smoothed()
    n_anchor = int(np.count_nonzero(problem.ordered == problem.anchor_is_positive))
    slope = tail_slope(law, problem.levels, width=min(0.02, 0.5 * n_anchor ** (-1 / 3)))
    deviation = problem.deviation(law(problem.levels), slope=slope, positive_rate=problem.positive_rate)
    reach = float(ndtri((1 + problem.confidence_level) / 2)) * deviation[problem.inside]
    estimate = problem.estimate()[problem.inside]
    return estimate - reach, estimate + reach


METHODS: dict[str, Method] = {
    "default": Method(make=_default, guarantee="bootstrap", simultaneous=True),
    "clemencon-vayatis": Method(make=_clemencon_vayatis, guarantee="bootstrap", simultaneous=True),
    "exact": Method(make=_exact, guarantee="finite-sample", simultaneous=True),
    "pointwise": Method(make=_pointwise, guarantee="bootstrap", simultaneous=False),
    "naive": Method(make=_naive, guarantee="bootstrap", simultaneous=False),
    "studentised": Method(make=_studentised, guarantee="bootstrap", simultaneous=False),
    "asymptotic": Method(make=_asymptotic, guarantee="asymptotic", simultaneous=False),
}


def band(problem: Problem, method: Method, *, drawn: Replicates | None = None) -> tuple[NDArray[np.float64], ...]:
    """Estimate, low and high over the covered levels: in [0, 1], and the estimate always inside its band."""
    estimate = problem.estimate()[problem.inside]
    low, high = method.make(problem, drawn)
    low, high = (np.clip(np.where(np.isfinite(end), end, estimate), 0.0, 1.0) for end in (low, high))
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def enough_replicates(confidence_level: float) -> int:
    """Return how many replicates leave an envelope enough on each side to be trusted: 2,000 at 95%."""
    return math.ceil(100 / (1 - confidence_level))
