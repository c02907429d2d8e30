"""How often votes are wrong, learnt from how they agree: a latent-class model of votes alone, without gold items.

Each item is true with an unknown probability; each of its k votes is right with the probability a (sensitivity) if it
is true and b (specificity) if it is not, independently of the others. With three votes or more an item, and votes
that are more often right than wrong, the three unknowns follow from how many items got how many positive votes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

from karat import _check

FEWEST_VOTES = 3
_INSIDE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """How often labels are right, and how well that is known."""

    sensitivity: float
    """Chance that a true item is labelled positive."""
    specificity: float
    """Chance that a false item is labelled negative."""
    covariance: tuple[tuple[float, float], tuple[float, float]]
    """Of the two, as estimates."""
    n_items: int
    """Items they were learnt from."""

    @property
    def power(self) -> float:
        """How much labels tell: 1 if they are always right, 0 if they do not depend on the truth."""
        return self.sensitivity + self.specificity - 1.0

    def corrected(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values whose mean, given the truth, is the truth (Rogan and Gladen 1978)."""
        values: NDArray[np.float64] = (labels - (1.0 - self.specificity)) / self.power
        return values

    def noise(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values whose mean, given the truth, is the variance of the corrected values, given the truth.

        The truth is not known, so neither a(1 - a) nor b(1 - b) can be taken; but of a true item a b(1 - a) +
        (1 - a) a(1 - b) = a(1 - a), and likewise of a false one.
        """
        a, b = self.sensitivity, self.specificity
        spread = np.where(labels > 0.5, b * (1.0 - a), a * (1.0 - b))
        return np.asarray(spread / self.power**2, dtype=np.float64)


def majority_errors(n_positive: ArrayLike, *, n_votes: int, share_ruled: float = 0.0) -> ErrorRates:
    """Estimate how often the majority of ``n_votes`` votes is right, from the votes of many items.

    Parameters
    ----------
    n_positive
        How many of its votes are positive, for each item; every item has ``n_votes`` sure votes.
    n_votes
        Votes an item: odd, and at least 3.
    share_ruled
        Share of the items with differing votes that somebody ruled on, any of them as likely as another. The rates are
        then those of the majority on all other items, which is right more often: more of its votes are unanimous.

    Examples
    --------
    >>> import numpy
    >>> rng = numpy.random.default_rng(1)
    >>> truth = rng.random(4000) < 0.7
    >>> found = majority_errors(rng.binomial(3, numpy.where(truth, 0.9, 0.2)), n_votes=3)
    >>> abs(found.sensitivity - 0.972) < 0.01, abs(found.specificity - 0.896) < 0.02
    (True, True)
    """
    k = _check.whole("n_votes", n_votes, least=FEWEST_VOTES)
    if k % 2 == 0:
        raise _check.refuse("n_votes", "odd, so that no majority is tied", k)
    given = np.asarray(n_positive)
    if given.ndim != 1 or given.size < 2 or given.min() < 0 or given.max() > k:
        raise _check.refuse("n_positive", f"whole numbers from 0 to {k} of at least two items", given[:3].tolist())
    counts = np.bincount(given.astype(np.int64), minlength=k + 1).astype(np.float64)
    votes = np.arange(k + 1)

    def chances(x: NDArray[np.float64]) -> NDArray[np.float64]:
        share, a, b = special.expit(x)
        mixed = share * stats.binom.pmf(votes, k, a) + (1.0 - share) * stats.binom.pmf(votes, k, 1.0 - b)
        return np.asarray(np.clip(mixed, 1e-300, None), dtype=np.float64)

    def loss(x: NDArray[np.float64]) -> float:
        # a faint pull to the inside: with one vote right in all, the maximum would be at infinity
        return float(-(counts @ np.log(chances(x))) + 0.01 * float(x @ x))

    positive = float((votes @ counts) / (k * counts.sum()))
    start = special.logit(np.clip([positive, 0.85, 0.85], 0.02, 0.98))
    best = optimize.minimize(loss, start, method="BFGS")
    share, a, b = special.expit(best.x).tolist()
    if a + b < 1.0:  # the mirror image: the same votes if all were more often wrong than right
        share, a, b = 1.0 - share, 1.0 - b, 1.0 - a
    spread = _covariance(share, a, b, counts, k)
    ruled = _check.number("share_ruled", share_ruled, least=0.0, most=1.0)
    slopes = np.array([_slope(a, k, ruled), _slope(b, k, ruled)])
    of_majority = slopes[:, None] * spread * slopes[None, :]
    return ErrorRates(
        sensitivity=_majority(a, k, ruled),
        specificity=_majority(b, k, ruled),
        covariance=(
            (float(of_majority[0, 0]), float(of_majority[0, 1])),
            (float(of_majority[1, 0]), float(of_majority[1, 1])),
        ),
        n_items=int(counts.sum()),
    )


def _majority(q: float, k: int, ruled: float) -> float:
    """Return the chance that the majority is right on an item that nobody ruled on: all unanimous ones, some split."""
    right, wrong = float(stats.binom.sf(k // 2, k, q)), float(stats.binom.cdf(k // 2, k, q))
    right, wrong = right - ruled * (right - q**k), wrong - ruled * (wrong - (1.0 - q) ** k)
    return right / (right + wrong)


def _slope(q: float, k: int, ruled: float) -> float:
    """Return how the majority's chance grows with a vote's."""
    step = 1e-5 * min(q, 1.0 - q)
    return (_majority(q + step, k, ruled) - _majority(q - step, k, ruled)) / (2 * step) if step else 0.0


def _covariance(share: float, a: float, b: float, counts: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Inverse information of (share, a, b) at the estimate, the block of a and b."""
    point = np.clip([share, a, b], _INSIDE, 1.0 - _INSIDE)
    votes = np.arange(k + 1)

    def chances(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(x[0] * stats.binom.pmf(votes, k, x[1]) + (1 - x[0]) * stats.binom.pmf(votes, k, 1 - x[2]))

    step = 1e-5 * np.minimum(point, 1.0 - point)
    gradient = np.stack([
        (chances(point + np.eye(3)[j] * step[j]) - chances(point - np.eye(3)[j] * step[j])) / (2 * step[j])
        for j in range(3)
    ])  # fmt: skip
    information = counts.sum() * (gradient / np.clip(chances(point), 1e-300, None)) @ gradient.T
    block: NDArray[np.float64] = np.linalg.pinv(information)[1:, 1:]
    return block
