"""How good each annotator is: against gold questions, against a consensus, and against the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat import _check
from karat.math.agreement.votes import UNSURE, Answers, Codes, Votes
from karat.math.binomial import clopper_pearson

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """One entry an annotator, in the order of ``votes.annotators``."""

    confusion: Codes
    """Annotators x truth (0, 1) x answer (negative, positive, unsure): how many votes."""
    accuracy: FloatArray
    """Share of right answers among the sure ones; 0.5 where there are none."""
    low: FloatArray
    high: FloatArray
    """Clopper-Pearson limits of the chance that a sure answer is right, each annotator taken alone."""
    confidence_level: float
    against: str

    @property
    def n_sure(self) -> Codes:
        """Sure answers about items whose truth is taken as known."""
        total: Codes = self.confusion[:, :, :2].sum(axis=(1, 2))
        return total

    @property
    def n_right(self) -> Codes:
        right: Codes = self.confusion[:, 0, 0] + self.confusion[:, 1, 1]
        return right

    @property
    def n_unsure(self) -> Codes:
        unsure: Codes = self.confusion[:, :, 2].sum(axis=1)
        return unsure


def quality_against(
    votes: Votes, truth: ArrayLike | dict[Any, int], *, confidence_level: float = 0.95, against: str = "gold"
) -> Quality:
    """Compare every annotator with a truth: gold questions, an adjudicator, or a consensus.

    Against a consensus that the annotator's own votes helped to make, everybody looks better than they are; use
    `quality_against_others` unless the consensus is made elsewhere.

    Parameters
    ----------
    truth
        A mapping from item to 1 or 0, or one value for each of ``votes.items`` with -1 where the truth is unknown.
    against
        What the truth is called in the result.

    Examples
    --------
    >>> votes = Votes.from_arrays(item=[1, 2, 3, 1, 2], annotator=["a", "a", "a", "b", "b"], answer=[1, 0, 1, 0, -1])
    >>> quality = quality_against(votes, {1: 1, 2: 0})
    >>> quality.accuracy.tolist(), quality.n_sure.tolist(), quality.low.round(3).tolist()
    ([1.0, 0.0], [2, 1], [0.158, 0.0])
    """
    return _tabulate(votes, votes.truth_of(truth)[votes.item], confidence_level, against)


def quality_against_others(votes: Votes, *, confidence_level: float = 0.95) -> Quality:
    """Compare every annotator with the majority of the others on the same item; ties among them are passed over.

    The others can be wrong together, so this is agreement rather than truth; it needs no gold.

    Examples
    --------
    >>> votes = Votes.from_arrays(item=[1, 1, 1, 2, 2, 2], annotator=["a", "b", "c"] * 2, answer=[1, 1, 0, 0, 0, 0])
    >>> quality_against_others(votes).accuracy.tolist()
    [1.0, 1.0, 0.5]
    """
    return _tabulate(votes, _majority_of_others(votes), confidence_level, "the others")


def _majority_of_others(votes: Votes) -> Answers:
    """Return, for each vote, what most other sure votes on its item say; -1 where they are tied or absent."""
    negative, positive = votes.counts(unsure="missing").T
    lead = (positive - negative)[votes.item] - (votes.answer == 1) + (votes.answer == 0)
    return np.select([lead > 0, lead < 0], [1, 0], default=UNSURE).astype(np.int8)


def _tabulate(votes: Votes, truth: Answers, confidence_level: float, against: str) -> Quality:
    _check.fraction("confidence_level", confidence_level)
    known = truth != UNSURE
    cells = 6 * votes.annotator[known] + 3 * truth[known].astype(np.int64) + votes.answer[known] % 3
    confusion = np.bincount(cells, minlength=6 * votes.n_annotators).reshape(-1, 2, 3).astype(np.int64)
    right = confusion[:, 0, 0] + confusion[:, 1, 1]
    sure = confusion[:, :, :2].sum(axis=(1, 2))
    low, high = clopper_pearson(right, sure, confidence_level=confidence_level)
    return Quality(
        confusion=confusion,
        accuracy=np.where(sure > 0, right / np.maximum(sure, 1), 0.5),
        low=low,
        high=high,
        confidence_level=confidence_level,
        against=against,
    )
