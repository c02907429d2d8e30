"""Each system's curve on a weighted sample, and its replicates when rows are resampled as they were drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.math.bands.ordering import tie_free_ranks
from karat.math.bands.rows import row_replicates, weighted_curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.bands.sample import Request, Sample
    from karat.math.bands.rows import CurveValues


def ranks_of(sample: Sample, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the ranks by each system's score, with one lottery for all: who agrees on every item, ties alike."""
    lottery = rng.permutation(sample.n_items)
    return [tie_free_ranks(score, lottery=lottery) for score in sample.scores]


def curves_of(sample: Sample, request: Request, ranks: list[NDArray[np.int64]], *, curve: str) -> list[CurveValues]:
    """Return the curve of each system."""
    return [
        weighted_curve(
            sample.labels,
            one.astype(np.float64),
            weights=sample.weights,
            levels=request.levels,
            anchor_is_positive=curve == "pr",
        )
        for one in ranks
    ]


def replicates_of(
    sample: Sample, request: Request, ranks: list[NDArray[np.int64]], *, curve: str, rng: np.random.Generator
) -> list[CurveValues]:
    """Return the replicates of each system's curve, all from the same resampled rows."""
    return row_replicates(
        sample.labels,
        ranks,
        weights=sample.weights,
        strata=sample.strata,
        levels=request.levels,
        anchor_is_positive=curve == "pr",
        n_replicates=request.n_replicates,
        rng=rng,
    )
