"""Dawid and Skene (1979): labels and every annotator's error rates together, from the votes alone.

The truth of an item is 1 with probability ``base_rate``; given the truth t, annotator j answers negative, positive or
unsure with the probabilities ``confusion[j, t]``, independently of the others. EM climbs to a maximum of the posterior
density; all products are sums of logarithms, and the start is the majority's share, so the same votes always give the
same result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from karat import _check
from karat.math.agreement.consensus import Consensus, decide, majority
from karat.math.agreement.votes import UNSURE, Votes

if TYPE_CHECKING:
    from scipy import sparse

FloatArray = NDArray[np.float64]

_FLOOR = 1e-10
"""No chance is taken to be smaller, so that one impossible answer cannot decide about an item by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DawidSkene:
    """What the votes say about items and annotators under the model."""

    consensus: Consensus
    base_rate: float
    confusion: FloatArray
    """Annotators x truth (0, 1) x answer (negative, positive, unsure); rows sum to 1."""
    log_likelihood: float
    """Of the votes (and gold labels) under the model."""
    n_steps: int
    converged: bool

    @property
    def sensitivity(self) -> FloatArray:
        """Each annotator's chance to answer positive about a true item, given a sure answer."""
        return self._sure(1)

    @property
    def specificity(self) -> FloatArray:
        """Each annotator's chance to answer negative about a false item, given a sure answer."""
        return self._sure(0)

    def _sure(self, truth: int) -> FloatArray:
        rows = self.confusion[:, truth]
        chance: FloatArray = rows[:, truth] / (rows[:, 0] + rows[:, 1])
        return chance


def fit_dawid_skene(
    votes: Votes,
    *,
    gold: ArrayLike | dict[Any, int] | None = None,
    prior_votes: float = 4.0,
    most_steps: int = 1000,
    tolerance: float = 1e-9,
) -> DawidSkene:
    """Fit the model of Dawid and Skene by expectation maximisation.

    Parameters
    ----------
    gold
        Known truths, which stay fixed: a mapping from item to 1 or 0, or one value for each of ``votes.items`` with -1
        where the truth is unknown.
    prior_votes
        Weight of a mild prior, in votes for each truth of each annotator, three quarters of them right. With 0 it is
        the plain maximum likelihood of the paper, which trusts annotators with few votes far too much: on simulated
        crowds with about ten votes an annotator it is right less often than the majority.
    most_steps, tolerance
        Stop when a step gains less than ``tolerance`` per vote in the logarithm of the posterior density.

    Examples
    --------
    >>> item = [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]
    >>> answer = [1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> votes = Votes.from_arrays(item=item, annotator=[1, 2, 3] * 5, answer=answer)
    >>> fit = fit_dawid_skene(votes)
    >>> fit.consensus.label.tolist(), fit.converged
    ([1, 0, 1, 0, 1], True)
    >>> bool(fit.sensitivity[2] < fit.sensitivity[0])
    True
    """
    _check.number("prior_votes", prior_votes, least=0.0)
    _check.whole("most_steps", most_steps, least=1)
    _check.number("tolerance", tolerance, above=0.0)
    if len(votes) == 0:
        raise _check.refuse("votes", "at least one vote", 0)
    truth = votes.truth_of(gold) if gold is not None else np.full(votes.n_items, UNSURE, dtype=np.int8)
    known = truth != UNSURE
    table = votes.incidence()
    per_truth = np.array([[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]])
    prior = prior_votes * np.tile(per_truth, (votes.n_annotators, 1, 1))
    positive = majority(votes).probability.copy()
    positive[known] = truth[known]
    value = -np.inf
    n_steps, converged = 0, False
    while n_steps < most_steps and not converged:
        n_steps += 1
        base_rate, confusion = _maximise(table, positive, prior)
        positive, log_likelihood = _expect(table, base_rate, confusion, truth)
        previous, value = value, log_likelihood + float(np.sum(prior * np.log(confusion)))
        converged = value - previous < tolerance * len(votes)
    consensus = Consensus(label=decide(positive), probability=positive, method="Dawid-Skene")
    return DawidSkene(
        consensus=consensus,
        base_rate=base_rate,
        confusion=confusion,
        log_likelihood=log_likelihood,
        n_steps=n_steps,
        converged=converged,
    )


def _maximise(table: sparse.csr_array, positive: FloatArray, prior: FloatArray) -> tuple[float, FloatArray]:
    """Return the base rate and the confusions that fit the current guess of the truth best."""
    both = np.column_stack([1.0 - positive, positive])
    expected = np.asarray(table.T @ both).reshape(-1, 3, 2).transpose(0, 2, 1) + prior
    floored = np.maximum(expected, _FLOOR)
    confusion = floored / floored.sum(axis=2, keepdims=True)
    return float(np.clip(positive.mean(), _FLOOR, 1.0 - _FLOOR)), confusion


def _expect(
    table: sparse.csr_array, base_rate: float, confusion: FloatArray, truth: NDArray[np.int8]
) -> tuple[FloatArray, float]:
    """Return the probability that each item is true, and the log likelihood of all votes and gold labels."""
    log_chances = np.log(confusion).transpose(0, 2, 1).reshape(-1, 2)
    log_joint = np.asarray(table @ log_chances) + np.log([1.0 - base_rate, base_rate])
    positive = expit(log_joint[:, 1] - log_joint[:, 0])
    log_item = np.logaddexp(log_joint[:, 0], log_joint[:, 1])
    for value in (0, 1):
        gold = truth == value
        positive[gold] = value
        log_item[gold] = log_joint[gold, value]
    return positive, float(log_item.sum())
