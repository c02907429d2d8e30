"""A labelled sample as bands take it: checked once, at the border."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.errors import InvalidInput
from karat.math.bands.methods import enough_replicates
from karat.math.bands.ordering import midpoint_levels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# With fewer items of a class that the curve is anchored on, a bootstrap is no guide: the exact band takes over.
FEW = 10
N_LEVELS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Labels and one or two scores of the same items, with weights and strata if the draw was not uniform."""

    labels: NDArray[np.bool_]
    scores: tuple[NDArray[np.float64], ...]
    weights: NDArray[np.float64]
    strata: NDArray[np.int64]
    is_uniform: bool

    @property
    def n_items(self) -> int:
        """Number of labelled items."""
        return self.labels.size

    @property
    def n_positives(self) -> int:
        """Number of positives among them."""
        return int(np.count_nonzero(self.labels))

    @property
    def n_smaller(self) -> int:
        """Size of the smaller class."""
        return min(self.n_positives, self.n_items - self.n_positives)

    def effective_size(self, *, positives: bool) -> float:
        """Items of equal weight that the weighted items of a class are worth (Kish)."""
        weights = self.weights[self.labels == positives]
        return float(weights.sum() ** 2 / (weights**2).sum())

    def is_small(self, curve: str) -> bool:
        """Tell whether the curve has too few items to bootstrap."""
        return (self.n_positives if curve == "pr" else self.n_smaller) < FEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a sample, checked."""

    levels: NDArray[np.float64]
    inside: NDArray[np.bool_]
    confidence_level: float
    n_replicates: int
    seed: int

    @property
    def covered(self) -> NDArray[np.float64]:
        """Levels that the band covers."""
        return self.levels[self.inside]

    def notes(self) -> list[str]:
        """Say what in the request weakens the band."""
        enough = enough_replicates(self.confidence_level)
        if self.n_replicates >= enough:
            return []
        return [f"{self.n_replicates:,} replicates are few: bands tend to be too narrow below {enough:,}."]


def check_sample(
    y_true: ArrayLike,
    *scores: tuple[str, ArrayLike],
    inclusion_probabilities: ArrayLike | None,
    strata: ArrayLike | None,
) -> Sample:
    """Return the sample, or raise for anything that cannot be used."""
    labels = _check.binary_labels("y_true", y_true).astype(np.bool_)
    n_positives = int(labels.sum())
    if n_positives in (0, labels.size):
        found = f"{n_positives:,} positives among {labels.size:,} labels"
        raise InvalidInput(f"'y_true' must hold both classes; got {found}.")
    checked = []
    for name, values in scores:
        score = _check.finite_scores(name, values)
        _check.same_length("y_true", labels.size, name, score.size)
        checked.append(score)
    weights = np.ones(labels.size)
    if inclusion_probabilities is not None:
        shares = _check.finite_scores("inclusion_probabilities", inclusion_probabilities)
        _check.same_length("y_true", labels.size, "inclusion_probabilities", shares.size)
        bad = np.flatnonzero((shares <= 0) | (shares > 1))
        if bad.size:
            raise _check.refuse(
                "inclusion_probabilities", "in (0, 1]", float(shares[bad[0]]), f"It stands at position {bad[0]}."
            )
        weights = 1 / shares
    groups = np.zeros(labels.size, dtype=np.int64)
    if strata is not None:
        names = np.asarray(strata)
        if names.ndim != 1:
            raise _check.refuse("strata", "one-dimensional", f"{names.ndim} dimensions")
        _check.same_length("y_true", labels.size, "strata", names.size)
        groups = np.unique(names, return_inverse=True)[1].astype(np.int64)
    is_uniform = bool(np.all(weights == weights[0])) and not groups.any()
    return Sample(labels=labels, scores=tuple(checked), weights=weights, strata=groups, is_uniform=is_uniform)


def check_request(
    *,
    confidence_level: float,
    level_range: tuple[float, float],
    range_name: str,
    n_replicates: int,
    seed: int,
) -> Request:
    """Return the request, or raise."""
    try:
        start, end = level_range
    except (TypeError, ValueError):
        raise _check.refuse(range_name, "a pair of numbers in [0, 1]", level_range) from None
    low, high = (_check.number(range_name, value, least=0.0, most=1.0) for value in (start, end))
    levels = midpoint_levels(N_LEVELS)
    inside = (levels >= low) & (levels <= high)
    if np.count_nonzero(inside) < 2:
        raise _check.refuse(range_name, f"an increasing pair at least {2 / N_LEVELS:g} apart", level_range)
    return Request(
        levels=levels,
        inside=inside,
        confidence_level=_check.fraction("confidence_level", confidence_level),
        n_replicates=_check.whole("n_replicates", n_replicates, least=100),
        seed=_check.whole("seed", seed),
    )


def assumptions(sample: Sample) -> tuple[str, ...]:
    """Say what the bounds rest on."""
    drawn = "a uniform random sample of the population" if sample.is_uniform else "drawn with the given probabilities"
    return (f"The labelled items are {drawn}.", "The scores did not learn from these labels.", "The labels are right.")
