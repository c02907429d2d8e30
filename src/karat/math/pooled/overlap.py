"""What two systems share: sums over their common units, from keys in ascending order."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from karat.math.pooled.proxy import N_FOLDS

SUMS = (
    "n_shared", "new_mass", "old_mass", "new_mass_old_score", "old_mass_new_score",
    "new_score", "old_score", "product", "new_score_square", "n_novel", "novel_old_score",
)  # fmt: skip
"""Sums over shared units of the new and the old system; novel units are those new to the pool."""


@njit(cache=True)
def match_sorted(ours: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the place of each of their keys among ours, -1 where it is not; both ascend without repeating.

    Examples
    --------
    >>> match_sorted(np.array([2, 5, 9], dtype=np.uint64), np.array([1, 2, 9, 11], dtype=np.uint64)).tolist()
    [-1, 0, 2, -1]
    """
    places = np.empty(len(theirs), dtype=np.int64)
    at = 0
    for row in range(len(theirs)):
        while at < len(ours) and ours[at] < theirs[row]:
            at += 1
        places[row] = at if at < len(ours) and ours[at] == theirs[row] else -1
    return places


@njit(cache=True)
def add_overlap(
    places: NDArray[np.int64],
    new_mass: NDArray[np.float64],
    new_score: NDArray[np.float64],
    novel: NDArray[np.bool_],
    fold: NDArray[np.int64],
    old_mass: NDArray[np.float64],
    old_score: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the sums of each fold, one row a fold; ``places`` says where their units stand among ours."""
    sums = np.zeros((N_FOLDS, len(SUMS)))
    for row in range(len(places)):
        place = places[row]
        if place < 0:
            continue
        own = sums[fold[place]]
        own[0] += 1.0
        own[1] += new_mass[place]
        own[2] += old_mass[row]
        own[3] += new_mass[place] * old_score[row]
        own[4] += old_mass[row] * new_score[place]
        own[5] += new_score[place]
        own[6] += old_score[row]
        own[7] += new_mass[place] * old_mass[row]
        own[8] += new_score[place] * new_score[place]
        if novel[place]:
            own[9] += 1.0
            own[10] += old_score[row]
    return sums


@njit(cache=True)
def raise_shared(
    inclusion: NDArray[np.float64],
    places: NDArray[np.int64],
    mass: NDArray[np.float64],
    novel: NDArray[np.bool_],
    known: float,
    new: float,
) -> None:
    """Raise inclusion probabilities to what a system drawn alone gives its units: coefficient times mass, at most 1."""
    for row in range(len(places)):
        place = places[row]
        if place >= 0:
            inclusion[place] = max(inclusion[place], min((new if novel[row] else known) * mass[row], 1.0))
