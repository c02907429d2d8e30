"""From votes to labels: the only place that knows the rules.

`decide` and `more_wanted` look at one item and are asked inside the transaction that records an answer. `model_labels`
looks at all votes of a project at once: under the rules that learn how good people are, one more vote on one item can
change what the votes on another one mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.draws import UNSURE
from karat.math.agreement.consensus import TIES, majority, weigh_by_gold
from karat.math.agreement.dawid_skene import fit_dawid_skene
from karat.math.agreement.disputes import votes_wanted
from karat.math.agreement.votes import Votes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEANINGS = {"positive": 1, "negative": 0, "unsure": UNSURE}
RULES = ("majority", "dawid-skene", "gold-weighted")


def decide(votes: Sequence[int], *, wanted: int, extra: int = 0, tie: str = "unsure") -> int | None:
    """Return the label that most sure votes give; None while votes are missing.

    Parameters
    ----------
    votes
        1 (positive), 0 (negative) or -1 (unsure: an abstention) each.
    wanted, extra
        How many votes an item needs, and how many more where they disagree; more may have come in.
    tie
        What as many positive as negative votes make.

    Examples
    --------
    >>> decide([1, 0, 1], wanted=3), decide([1, 0], wanted=2), decide([1], wanted=2)
    (1, -1, None)
    >>> decide([1, 0], wanted=2, tie="negative"), decide([1, 0], wanted=2, extra=1)
    (0, None)
    """
    if len(votes) < wanted or not votes or more_wanted(votes, wanted=wanted, extra=extra):
        return None
    return int(majority(_of_one_item(votes), ties=tie).label[0])


def more_wanted(votes: Sequence[int], *, wanted: int, extra: int) -> int:
    """Return how many votes to ask for beyond those that every item gets, given the votes so far.

    None while the first ones are still to come, and none where they all agree. Where they do not, as many as could
    decide it, up to ``extra``: the label is then the one that all ``wanted + extra`` votes would give.

    Examples
    --------
    >>> [more_wanted(votes, wanted=2, extra=3) for votes in ([1], [1, 1], [1, 0], [1, 0, 1, 0], [1, 0, 1, 1])]
    [0, 0, 2, 1, 0]
    """
    if not extra or len(votes) < wanted or (len(set(votes)) == 1 and votes[0] != UNSURE):
        return 0
    return int(votes_wanted(_of_one_item(votes), n_votes=wanted + extra)[0])


def model_labels(votes: Votes, *, rule: str, gold: Mapping[int, int], tie: str = "unsure") -> dict[int, int]:
    """Return what a rule makes of all votes: item to 1, 0 or -1, for the items that have votes.

    An item nobody is sure about is unsure under every rule, and "gold-weighted" is the majority until somebody has
    answered a gold question.

    Examples
    --------
    >>> votes = Votes.from_arrays(item=[1, 1, 1, 2], annotator=[7, 8, 9, 7], answer=[1, 1, 0, -1])
    >>> model_labels(votes, rule="dawid-skene", gold={})
    {1: 1, 2: -1}
    """
    if not len(votes):
        return {}
    known = {item: truth for item, truth in gold.items() if item in set(votes.items.tolist())}
    if rule == "dawid-skene":
        label = fit_dawid_skene(votes, gold=known or None).consensus.label
    elif rule == "gold-weighted" and known:
        label = weigh_by_gold(votes, known).label
    else:
        return dict(zip(votes.items.tolist(), majority(votes, ties=tie).label.tolist(), strict=True))
    sure = votes.counts(unsure="missing").sum(axis=1) > 0
    settled = np.where(label == UNSURE, TIES[tie], label)
    return dict(zip(votes.items.tolist(), np.where(sure, settled, UNSURE).tolist(), strict=True))


def _of_one_item(votes: Sequence[int]) -> Votes:
    return Votes.from_arrays(item=np.zeros(len(votes), np.int64), annotator=np.arange(len(votes)), answer=list(votes))
