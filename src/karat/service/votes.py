"""From the votes on an item to its label: the only place that knows the rule."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from karat.draws import UNSURE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MEANINGS = {"positive": 1, "negative": 0, "unsure": UNSURE}
TIES = ("unsure", "positive", "negative")


def decide(votes: Sequence[int], *, wanted: int, tie: str = "unsure") -> int | None:
    """Return the label that most votes give; None while votes are missing.

    Parameters
    ----------
    votes
        1 (positive), 0 (negative) or -1 (unsure) each.
    wanted
        How many votes an item needs; more may have come in.
    tie
        What it means when no answer has more votes than every other.

    Examples
    --------
    >>> decide([1, 0, 1], wanted=3), decide([1, 0], wanted=2), decide([1], wanted=2)
    (1, -1, None)
    >>> decide([1, 0], wanted=2, tie="negative")
    0
    """
    if len(votes) < wanted or not votes:
        return None
    ranking = Counter(votes).most_common()
    if len(ranking) > 1 and ranking[0][1] == ranking[1][1]:
        return MEANINGS[tie]
    return ranking[0][0]


def raw_agreement(items: Iterable[Sequence[int]]) -> float | None:
    """Return the share of pairs of votes on the same item that agree; None where no item has two votes.

    Examples
    --------
    >>> raw_agreement([[1, 1, 0], [0, 0], [1]])
    0.5
    """
    same = pairs = 0
    for votes in items:
        for one, other in combinations(votes, 2):
            pairs += 1
            same += one == other
    return same / pairs if pairs else None
