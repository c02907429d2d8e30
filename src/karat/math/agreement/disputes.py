"""Which items annotators disagree on, and where another vote is worth asking for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from karat import _check
from karat.math.agreement.votes import Codes, Votes


def find_disputes(votes: Votes, *, least_votes: int = 2, probability: ArrayLike | None = None) -> Codes:
    """Return the positions of items to adjudicate, the most disputed first.

    Disputed are items with at least ``least_votes`` votes of which some are positive and some negative, or where at
    least half are unsure.

    Parameters
    ----------
    probability
        For each of ``votes.items`` a model's probability of positive (`fit_dawid_skene`, `weigh_by_gold`): the closest
        to one half come first. Without it the closest votes come first, among them the ones with most votes.

    Examples
    --------
    >>> annotator, answer = [1, 2, 3, 1, 2, 1, 2, 3], [1, 1, 0, 1, 0, 1, 1, 1]
    >>> votes = Votes.from_arrays(item=list("aaabbccc"), annotator=annotator, answer=answer)
    >>> votes.items[find_disputes(votes)].tolist()
    ['b', 'a']
    """
    _check.whole("least_votes", least_votes, least=1)
    negative, positive, unsure = votes.counts().T
    total = negative + positive + unsure
    split = (negative > 0) & (positive > 0)
    disputed = np.flatnonzero((total >= least_votes) & (split | (2 * unsure >= total)))
    lead = np.abs(positive - negative) / np.maximum(total, 1)
    if probability is not None:
        given = _check.finite_scores("probability", probability)
        _check.same_length("probability", len(given), "items", votes.n_items)
        lead = np.abs(given - 0.5)
    order = np.lexsort((disputed, -total[disputed], lead[disputed]))
    return disputed[order].astype(np.int64)


def votes_wanted(votes: Votes, *, n_votes: int = 3, most_votes: int | None = None) -> Codes:
    """Return for each of ``votes.items`` how many more votes to ask for now, 0 where the label is decided.

    An item is decided once the votes still to come, up to ``n_votes``, cannot change the majority or tie it. Asking
    only as many as could decide it gives exactly the labels of ``n_votes`` votes on every item, for fewer votes: with
    three, the third is asked only where the first two disagree or one of them is unsure. Agreement coefficients of
    such votes are biased, though: the extra votes fall on the hard items.

    Parameters
    ----------
    n_votes
        Votes an item that the majority is taken of.
    most_votes
        If given, items still tied after ``n_votes`` are asked again, one vote at a time, up to so many.

    Examples
    --------
    >>> annotator, answer = [1, 2, 1, 2, 1], [1, 1, 1, 0, 1]
    >>> votes = Votes.from_arrays(item=list("aabbc"), annotator=annotator, answer=answer, items=list("abcd"))
    >>> votes_wanted(votes).tolist()
    [0, 1, 1, 2]
    """
    planned = _check.whole("n_votes", n_votes, least=1)
    ceiling = planned if most_votes is None else _check.whole("most_votes", most_votes, least=planned)
    negative, positive, unsure = votes.counts().T
    total = negative + positive + unsure
    lead = np.abs(positive - negative)
    left = np.maximum(planned - total, 0)
    # After m more votes, all for the leader, the lead is lead + m and left - m could still go against it.
    to_decide = np.minimum((left - lead) // 2 + 1, left)
    wanted = np.where(lead > left, 0, to_decide)
    still_tied = (total >= planned) & (lead == 0) & (total < ceiling)
    return np.where(still_tied, 1, wanted).astype(np.int64)
