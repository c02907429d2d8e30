"""One label from several votes: by majority, or weighted by what gold questions say about the annotators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from karat import _check
from karat.math.agreement.votes import NEGATIVE, POSITIVE, UNSURE, Answers, Votes

FloatArray = NDArray[np.float64]

TIES = {"unsure": UNSURE, "positive": POSITIVE, "negative": NEGATIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """One label an item, in the order of ``votes.items``."""

    label: Answers
    """1 positive, 0 negative, -1 unsure (tied, or nobody was sure)."""
    probability: FloatArray
    """For a majority the share of positive among the sure votes; otherwise the model's probability of positive."""
    method: str


def majority(votes: Votes, *, ties: str = "unsure") -> Consensus:
    """Return what most of the sure votes say.

    Unsure votes are abstentions. An item nobody is sure about is unsure.

    Parameters
    ----------
    ties
        What as many positive as negative votes make: "unsure", "positive" or "negative".

    Examples
    --------
    >>> votes = Votes.from_arrays(item=[1, 1, 1, 2, 2, 3], annotator=[7, 8, 9, 7, 8, 9], answer=[1, 1, 0, 1, 0, -1])
    >>> majority(votes).label.tolist(), majority(votes, ties="negative").label.tolist()
    ([1, -1, -1], [1, 0, -1])
    """
    _check.one_of("ties", ties, TIES)
    negative, positive = votes.counts(unsure="missing").T
    sure = negative + positive
    label = np.select([sure == 0, positive > negative, positive < negative], [UNSURE, 1, 0], default=TIES[ties])
    share = np.where(sure > 0, positive / np.maximum(sure, 1), 0.5)
    return Consensus(label=label.astype(np.int8), probability=share, method="majority")


def weigh_by_gold(
    votes: Votes,
    gold: ArrayLike | dict[Any, int],
    *,
    base_rate: float = 0.5,
    prior_votes: float = 4.0,
) -> Consensus:
    """Weigh each vote by how its annotator did on gold questions.

    Each annotator's chances to answer positive, negative and unsure, for a true and for a false item, are estimated
    from the gold questions the annotator answered, joined with ``prior_votes`` more that went like everybody's; a vote
    then moves the log odds of its item by the log ratio of the two chances. Gold items keep their gold label. This is
    the best possible weighing where annotators err independently of each other.

    Parameters
    ----------
    gold
        A mapping from item to 1 or 0, or one value for each of ``votes.items`` with -1 where the truth is unknown.
    base_rate
        Share of true items to start from.
    prior_votes
        How much an annotator who answered few gold questions is taken to be like the others.

    Examples
    --------
    >>> gold = {f"g{i}": i % 2 for i in range(20)}
    >>> item = [*gold] * 2 + ["x", "x", "x"]
    >>> annotator = ["careful"] * 20 + ["random"] * 20 + ["careful", "random", "hasty"]
    >>> answer = [*gold.values()] + [1, 1, 0, 0] * 5 + [1, 0, 0]
    >>> votes = Votes.from_arrays(item=item, annotator=annotator, answer=answer)
    >>> majority(votes).label[votes.items == "x"], weigh_by_gold(votes, gold).label[votes.items == "x"]
    (array([0], dtype=int8), array([1], dtype=int8))
    """
    _check.fraction("base_rate", base_rate)
    _check.number("prior_votes", prior_votes, above=0.0)
    truth = votes.truth_of(gold)
    told = truth[votes.item]
    counts = np.zeros((2, votes.n_annotators, 3))
    for value in (NEGATIVE, POSITIVE):
        mine = told == value
        cells = np.bincount(3 * votes.annotator[mine] + votes.answer[mine] % 3, minlength=3 * votes.n_annotators)
        counts[value] = cells.reshape(-1, 3)
    # One vote of doubt in every cell keeps the crowd's chances inside (0, 1), and makes it neutral without gold.
    crowd = counts.sum(axis=1, keepdims=True) + 1.0
    crowd /= crowd.sum(axis=2, keepdims=True)
    chances = counts + prior_votes * crowd
    chances /= chances.sum(axis=2, keepdims=True)
    weight = np.log(chances[POSITIVE]) - np.log(chances[NEGATIVE])
    log_odds = logit(base_rate) + np.bincount(
        votes.item, weights=weight[votes.annotator, votes.answer % 3], minlength=votes.n_items
    )
    probability = np.where(truth == UNSURE, expit(log_odds), truth.astype(np.float64))
    return Consensus(label=decide(probability), probability=probability, method="weighted by gold")


def decide(probability: FloatArray) -> Answers:
    """Return the likelier label, unsure at exactly one half."""
    return np.select([probability > 0.5, probability < 0.5], [POSITIVE, NEGATIVE], default=UNSURE).astype(np.int8)
