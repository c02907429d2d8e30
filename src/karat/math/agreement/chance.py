"""How far votes agree beyond chance: Fleiss' kappa and Krippendorff's alpha for nominal answers.

Both take a table of items by answers, counting votes, as `Votes.counts` gives it; only items with two or more votes
say anything, so missing votes need no care.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat import _check

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """An agreement coefficient and what it is made of."""

    coefficient: float | None
    """1 perfect, 0 as by chance, below 0 worse; None where no item has two votes or all votes are the same."""
    observed: float
    """Share of pairs of votes on an item that agree, 0 if there are none."""
    expected: float
    """The same for votes dealt to items by chance."""
    n_items: int
    """Items with two or more votes."""
    n_votes: int
    """Votes on them."""
    method: str


def fleiss_kappa(counts: ArrayLike) -> Agreement:
    """Return Fleiss' kappa.

    Items may have different numbers of votes: each counts the same in the observed agreement, each vote the same in
    the shares of answers. With equal numbers this is Fleiss (1971).

    Parameters
    ----------
    counts
        Items by answers: how many votes each item got for each answer.

    Examples
    --------
    >>> round(fleiss_kappa([[3, 0], [2, 1], [0, 3], [1, 2]]).coefficient, 3)
    0.333
    """
    table, total = _pairable(counts)
    if not len(table):
        return _nothing("Fleiss' kappa")
    observed = float(np.mean(np.sum(table * (table - 1.0), axis=1) / (total * (total - 1.0))))
    shares = table.sum(axis=0) / table.sum()
    return _beyond_chance(observed, float(np.sum(shares**2)), table, "Fleiss' kappa")


def krippendorff_alpha(counts: ArrayLike) -> Agreement:
    """Return Krippendorff's alpha for nominal answers.

    An item with m votes brings m votes' worth of pairs, and chance is dealt without replacement, so small tables are
    not judged too harshly; missing votes are natural.

    Parameters
    ----------
    counts
        Items by answers: how many votes each item got for each answer.

    Examples
    --------
    >>> round(krippendorff_alpha([[3, 0], [2, 1], [0, 3], [1, 2], [1, 0]]).coefficient, 3)
    0.389
    """
    table, total = _pairable(counts)
    if not len(table):
        return _nothing("Krippendorff's alpha")
    n_votes = float(table.sum())
    observed = float(np.sum(table * (table - 1.0) / (total[:, None] - 1.0)) / n_votes)
    margins = table.sum(axis=0)
    expected = float(np.sum(margins * (margins - 1.0)) / (n_votes * (n_votes - 1.0)))
    return _beyond_chance(observed, expected, table, "Krippendorff's alpha")


def _pairable(counts: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the rows with two or more votes, and their numbers of votes."""
    table = np.asarray(counts)
    if table.ndim != 2:
        raise _check.refuse("counts", "a table of items by answers", f"{table.ndim} dimensions")
    if table.size and (table.dtype.kind not in "iuf" or np.any(table < 0) or np.any(table != np.floor(table))):
        raise _check.refuse("counts", "made of numbers of votes", "something else")
    votes = table.astype(np.float64)
    if not np.all(np.isfinite(votes)):
        raise _check.refuse("counts", "made of numbers of votes", "something not finite")
    total = votes.sum(axis=1)
    return votes[total >= 2], total[total >= 2]


def _beyond_chance(observed: float, expected: float, table: FloatArray, method: str) -> Agreement:
    varied = np.count_nonzero(table.sum(axis=0)) > 1
    return Agreement(
        coefficient=(observed - expected) / (1.0 - expected) if varied else None,
        observed=observed,
        expected=expected,
        n_items=len(table),
        n_votes=int(table.sum()),
        method=method,
    )


def _nothing(method: str) -> Agreement:
    return Agreement(coefficient=None, observed=0.0, expected=0.0, n_items=0, n_votes=0, method=method)
