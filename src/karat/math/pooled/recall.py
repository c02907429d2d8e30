"""Recall of the pool: the share of everything true that some system predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat import _check

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

N_DOCUMENTS_LEAST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRecall:
    """Share of true relations inside the pool, from documents annotated exhaustively.

    ``exact`` marks a recall that is known, not estimated; recall is then relative to the pool.
    """

    value: float
    variance: float
    n_found: float
    exact: bool = False


POOL_IS_EVERYTHING = PoolRecall(value=1.0, variance=0.0, n_found=0.0, exact=True)


def pool_recall(inside: ArrayLike, documents: ArrayLike | None = None) -> PoolRecall:
    """Estimate theta from true relations found by exhaustive annotation.

    Parameters
    ----------
    inside
        1 where the pool holds the relation, 0 where it does not.
    documents
        Document of each relation. The documents, not the relations, were drawn at random, so with documents
        given the variance is that between documents and ``n_found`` is the effective number of relations.

    Examples
    --------
    >>> theta = pool_recall([1, 1, 1, 0])
    >>> theta.value, round(theta.variance, 4)
    (0.75, 0.0625)
    """
    hits = _check.binary_labels("inside", inside).astype(np.float64)
    if hits.size < 2:
        raise _check.refuse("inside", "at least two true relations", hits.size)
    value = float(hits.mean())
    plain = value * (1.0 - value) / (hits.size - 1)
    if documents is None:
        return PoolRecall(value=value, variance=plain, n_found=float(hits.size))
    names, code = np.unique(np.asarray(documents), return_inverse=True)
    _check.same_length("inside", hits.size, "documents", code.size)
    if names.size < N_DOCUMENTS_LEAST:
        raise _check.refuse("documents", "at least two documents", names.size)
    surplus = np.bincount(code, weights=hits - value)
    between = float((surplus**2).sum()) / hits.size**2 * names.size / (names.size - 1)
    variance = max(between, plain)
    per_document = np.bincount(code).astype(np.float64)
    # With all inside or all outside nothing tells relations of a document apart: count documents, by their sizes.
    n_documents = float(hits.size**2 / (per_document**2).sum())
    n_found = hits.size * plain / variance if plain > 0.0 else n_documents
    return PoolRecall(value=value, variance=variance, n_found=n_found)
