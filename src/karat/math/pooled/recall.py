"""Recall of the pool: the share of everything true that some system predicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.pooled.degrees import DEGREES_OF_DRAW, satterthwaite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

N_DOCUMENTS_LEAST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRecall:
    """Share of true relations inside the pool, from documents annotated exhaustively.

    ``degrees`` are those of its variance: at most the documents less one, or the relations less one where these were
    drawn. ``exact`` marks a recall that is known, not estimated; recall is then relative to the pool.
    """

    value: float
    variance: float
    n_found: float
    degrees: float
    exact: bool = False


POOL_IS_EVERYTHING = PoolRecall(value=1.0, variance=0.0, n_found=0.0, degrees=math.inf, exact=True)


def pool_recall(
    inside: ArrayLike, documents: ArrayLike | None = None, *, weights: ArrayLike | None = None
) -> PoolRecall:
    """Estimate theta from true relations found by exhaustive annotation.

    Parameters
    ----------
    inside
        1 where the pool holds the relation, 0 where it does not.
    documents
        Document of each relation. The documents, not the relations, were drawn at random, so with documents
        given the variance is that between documents and ``n_found`` is the effective number of relations.
    weights
        One over the probability with which the relation's document was drawn, up to scale; equal if not given.

    Examples
    --------
    >>> theta = pool_recall([1, 1, 1, 0])
    >>> theta.value, round(theta.variance, 4)
    (0.75, 0.0625)
    >>> pool_recall([1, 0, 0], ["often drawn", "rarely drawn", "rarely drawn"], weights=[1, 4, 4]).value
    0.1111111111111111
    """
    hits = _check.binary_labels("inside", inside).astype(np.float64)
    if hits.size < 2:
        raise _check.refuse("inside", "at least two true relations", hits.size)
    weight = np.ones(hits.size) if weights is None else _check.finite_scores("weights", weights)
    _check.same_length("inside", hits.size, "weights", weight.size)
    if not np.all(weight > 0):
        raise _check.refuse("weights", "positive", float(weight.min()))
    share = weight / weight.sum()
    value = min(float((weight * hits).sum() / weight.sum()), 1.0)
    # With equal weights share @ share is 1 / n, and this the usual p (1 - p) / (n - 1).
    unequal = float(share @ share)
    plain = value * (1.0 - value) * unequal / (1.0 - unequal)
    if documents is None:
        degrees = _degrees(share * (hits - value))
        return PoolRecall(value=value, variance=plain, n_found=1.0 / unequal, degrees=degrees)
    names, code = np.unique(np.asarray(documents), return_inverse=True)
    _check.same_length("inside", hits.size, "documents", code.size)
    if names.size < N_DOCUMENTS_LEAST:
        raise _check.refuse("documents", "at least two documents", names.size)
    surplus = np.bincount(code, weights=share * (hits - value)).astype(np.float64)
    between = float((surplus**2).sum()) * names.size / (names.size - 1)
    variance = max(between, plain)
    per_document = np.bincount(code, weights=share)
    # With all inside or all outside nothing tells relations of a document apart: count documents, by their sizes.
    n_documents = float(1.0 / (per_document**2).sum())
    n_found = plain / variance / unequal if plain > 0.0 else n_documents
    return PoolRecall(value=value, variance=variance, n_found=n_found, degrees=_degrees(surplus))


def _degrees(surplus: NDArray[np.float64]) -> float:
    """Degrees of freedom of the variance between draws: one less than these, fewer where some of them weigh most."""
    terms = surplus**2
    return min(surplus.size - 1.0, float(satterthwaite(terms.sum(), (terms**2).sum() / DEGREES_OF_DRAW)))
