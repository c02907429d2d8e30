"""How often labels are right, as intervals learnt from gold items: what `Certify` needs to allow for wrong labels.

Two ways lead there. The direct one puts gold items through the very process that makes the labels (k votes, majority,
tie rule) and counts (`label_rates`); it assumes only that gold items are like the others and nobody knows them. The
other one learns how often a single vote is right and works out what a majority of k such votes does
(`majority_rates`); it needs fewer votes, and votes that err independently of each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from karat import _check
from karat.math.agreement.consensus import TIES
from karat.math.agreement.votes import ANSWERS
from karat.math.binomial import clopper_pearson


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRates:
    """Intervals to hand on: ``Certify(sensitivity=rates.sensitivity, specificity=rates.specificity)``.

    The lower ends count unsure labels as wrong and the upper ends as right, which is the safe way for bounds that count
    unsure items as 0 below and as 1 above.
    """

    sensitivity: tuple[float, float]
    """Least and most chance that a true item is labelled positive."""
    specificity: tuple[float, float]
    """Least and most chance that a false item is labelled negative."""
    confidence_level: float
    """Probability that all four ends hold; what it leaves adds to what the curve's own confidence level leaves."""
    assumption: str


def label_rates(label: ArrayLike, gold: ArrayLike, *, confidence_level: float = 0.995) -> LabelRates:
    """Return how often labels are right, from gold items that went through the same process as the others.

    Parameters
    ----------
    label
        The labels that the process gave: 1, 0, or -1 for unsure. One label an item: several votes on one gold item are
        not independent of each other, so make them one label first (`majority`).
    gold
        The truth of each: 1, 0, or -1 where it is unknown (passed over).
    confidence_level
        Probability that all four ends hold; each gets a quarter of what it leaves.

    Examples
    --------
    >>> rates = label_rates([1] * 97 + [0] * 3 + [0] * 196 + [1] * 4, [1] * 100 + [0] * 200, confidence_level=0.99)
    >>> [round(end, 3) for end in rates.sensitivity + rates.specificity]
    [0.886, 0.997, 0.934, 0.997]
    """
    _check.fraction("confidence_level", confidence_level)
    given, truth = np.asarray(label), np.asarray(gold)
    _check.same_length("label", given.size, "gold", truth.size)
    for name, values in (("label", given), ("gold", truth)):
        bad = np.flatnonzero(~np.isin(values, ANSWERS))
        if bad.size:
            raise _check.refuse(name, "made of 1, 0 and -1 (unsure)", values[bad[0]].item())
    ends = []
    for value in (1, 0):
        mine = given[truth == value]
        right, unsure = int(np.sum(mine == value)), int(np.sum(mine == -1))
        two_of_four = (1.0 + confidence_level) / 2.0
        low, _ = clopper_pearson(right, len(mine), confidence_level=two_of_four)
        _, high = clopper_pearson(right + unsure, len(mine), confidence_level=two_of_four)
        ends.append((float(low), float(high)))
    return LabelRates(
        sensitivity=ends[0],
        specificity=ends[1],
        confidence_level=confidence_level,
        assumption="Gold items are drawn like the others and are not recognised",
    )


def majority_rates(
    one_vote: LabelRates, *, n_votes: int, ties: str = "unsure", dependence: str = "independent"
) -> LabelRates:
    """Return how often the majority of several votes is right, given how often one vote is.

    With X right votes of k, X binomial, the chance of a majority rises with the chance of one vote, so ends map to
    ends. Unsure votes are abstentions; counting them as wrong votes can only lower the chance and counting them as
    right ones only raise it, which is how the ends of one vote count them.

    Parameters
    ----------
    one_vote
        Rates of a single vote: `label_rates` of one vote, drawn at random, of each gold item.
    n_votes
        Votes an item, odd or even.
    ties
        What as many positive as negative votes make, as in `majority`.
    dependence
        "independent": annotators are drawn at random for each vote and err independently of each other given the truth.
        Where some items mislead everybody this is too good to be true. "any": whatever the dependence, by Markov's
        inequality on the number of wrong votes; much wider.

    Examples
    --------
    >>> one = LabelRates(sensitivity=(0.9, 0.95), specificity=(0.9, 0.95), confidence_level=0.995, assumption="")
    >>> [round(end, 4) for end in majority_rates(one, n_votes=3).sensitivity]
    [0.972, 0.9928]
    >>> [round(end, 4) for end in majority_rates(one, n_votes=3, dependence="any").sensitivity]
    [0.85, 1.0]
    """
    votes = _check.whole("n_votes", n_votes, least=1)
    _check.one_of("ties", ties, TIES)
    _check.one_of("dependence", dependence, ("independent", "any"))
    more_than_half, at_least_half = votes // 2 + 1, (votes + 1) // 2
    ends = []
    for own, (least, most) in (("positive", one_vote.sensitivity), ("negative", one_vote.specificity)):
        surely = at_least_half if ties == own else more_than_half
        possibly = at_least_half if ties in {own, "unsure"} else more_than_half
        if dependence == "independent":
            low = float(stats.binom.sf(surely - 1, votes, least))
            high = float(stats.binom.sf(possibly - 1, votes, most))
        else:
            low = max(0.0, 1.0 - votes * (1.0 - least) / (votes - surely + 1))
            high = min(1.0, votes * most / possibly)
        ends.append((low, high))
    said = "Votes err independently of each other" if dependence == "independent" else "Votes may err together"
    return LabelRates(
        sensitivity=ends[0],
        specificity=ends[1],
        confidence_level=one_vote.confidence_level,
        assumption="; ".join(part for part in (one_vote.assumption, said) if part),
    )
