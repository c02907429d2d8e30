"""How often each two annotators agree on the items both answered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from karat import _check
from karat.math.agreement.votes import Codes, Votes
from karat.math.binomial import clopper_pearson

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """One entry for each two annotators with an item in common; positions refer to ``votes.annotators``."""

    first: Codes
    second: Codes
    n_common: Codes
    """Items both answered."""
    n_agreed: Codes
    share: FloatArray
    low: FloatArray
    high: FloatArray
    """Clopper-Pearson limits of the chance that the two agree on an item, each pair taken alone."""
    kappa: FloatArray
    """Cohen's kappa; where both always gave one and the same answer it is undefined and `kappa_defined` is False."""
    kappa_defined: NDArray[np.bool_]
    """`kappa` is 0 where this is False."""
    confidence_level: float


def pairwise_agreement(votes: Votes, *, unsure: str = "category", confidence_level: float = 0.95) -> PairAgreement:
    """Return the agreement of all pairs of annotators who have items in common.

    Parameters
    ----------
    unsure
        "category": unsure is an answer to agree on; "missing": unsure votes are left out.

    Examples
    --------
    >>> item, annotator, answer = [1, 1, 2, 2, 3, 3, 4], [7, 8, 7, 8, 7, 8, 9], [1, 1, 0, 0, 1, 0, 1]
    >>> votes = Votes.from_arrays(item=item, annotator=annotator, answer=answer)
    >>> pairs = pairwise_agreement(votes)
    >>> pairs.n_common.tolist(), pairs.n_agreed.tolist(), pairs.kappa.round(3).tolist()
    ([3], [2], [0.4])
    """
    _check.one_of("unsure", unsure, ("category", "missing"))
    shape = (votes.n_items, votes.n_annotators)
    kinds = (0, 1, 2) if unsure == "category" else (0, 1)
    by_answer = []
    for kind in kinds:
        mine = votes.answer % 3 == kind
        ones = np.ones(int(mine.sum()), dtype=np.int64)
        by_answer.append(sparse.csr_array((ones, (votes.item[mine], votes.annotator[mine])), shape=shape))
    answered = sum(by_answer[1:], start=by_answer[0])
    common = sparse.coo_array(sparse.triu(answered.T @ answered, k=1))
    first, second = (np.asarray(axis, dtype=np.int64) for axis in common.coords)
    n_common = common.data.astype(np.int64)
    n_agreed = np.zeros(len(n_common), dtype=np.int64)
    by_chance = np.zeros(len(n_common))
    for table in by_answer:
        # Row a, column b: how often a gave this answer on items that b answered too.
        given = sparse.csr_array(table.T @ answered)
        n_agreed += _entries(sparse.csr_array(table.T @ table), first, second)
        by_chance += _entries(given, first, second) / n_common * (_entries(given, second, first) / n_common)
    share = n_agreed / n_common
    defined = by_chance < 1.0 - 1e-12
    low, high = clopper_pearson(n_agreed, n_common, confidence_level=confidence_level)
    return PairAgreement(
        first=first,
        second=second,
        n_common=n_common,
        n_agreed=n_agreed,
        share=share,
        low=low,
        high=high,
        kappa=np.where(defined, (share - by_chance) / np.where(defined, 1.0 - by_chance, 1.0), 0.0),
        kappa_defined=defined,
        confidence_level=confidence_level,
    )


def _entries(matrix: sparse.csr_array, rows: Codes, columns: Codes) -> Codes:
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(matrix[rows, columns], dtype=np.int64).ravel()
