"""Average precision from a random part of the judgements: infAP of Yilmaz and Aslam (CIKM 2006).

A pool of documents is known; a uniform random part of it was judged. For a judged relevant document at rank k, the
expected precision there is ``1/k`` for itself plus, for the documents above, the share of them that is in the pool
times the rate of relevant ones among those judged. infAP is the mean of that over the judged relevant documents; those
that were not retrieved count 0. With everything judged it is average precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from karat.math.path import Floats

_SMOOTHING = 1e-5


class Judged(NamedTuple):
    """One topic: the run's documents in order, and how many judged ones it did not retrieve."""

    labels: NDArray[np.int8]
    """1 relevant, 0 not, -1 not judged."""
    pooled: NDArray[np.bool_]
    """Whether the document is in the pool that judgements were drawn from; others count as not relevant."""
    missed_relevant: int
    missed_other: int
    missed_unjudged: int = 0
    """Documents of the pool that were neither retrieved nor judged."""

    @property
    def judged_share(self) -> float:
        """How much of the pool was judged."""
        missed = self.missed_relevant + self.missed_other
        n_judged = int(np.sum(self.labels >= 0)) + missed
        n_pooled = int(np.sum(self.pooled | (self.labels >= 0))) + missed + self.missed_unjudged
        return n_judged / max(n_pooled, 1)

    @property
    def says_something(self) -> bool:
        """Whether a relevant document is known, or none can be left."""
        return bool(np.any(self.labels == 1)) or self.missed_relevant > 0 or self.judged_share == 1.0


def inferred_average_precision(topic: Judged, weights: Floats | None = None) -> Floats:
    """Return infAP, once for each row of weights of the judged documents (retrieved, then missed relevant ones).

    Examples
    --------
    >>> full = Judged(np.array([1, 0, 1], dtype=np.int8), np.ones(3, dtype=bool), 1, 0)
    >>> round(float(inferred_average_precision(full)[0]), 4)  # (1 + 2/3) / 3
    0.5556
    """
    ranks = np.arange(1, len(topic.labels) + 1)
    relevant, judged = topic.labels == 1, topic.labels >= 0
    rows = np.ones((1, int(judged.sum()) + topic.missed_relevant)) if weights is None else weights
    counts = np.zeros((len(rows), len(ranks)))
    counts[:, judged] = rows[:, : int(judged.sum())]
    above_relevant = np.cumsum(counts * relevant, axis=1) - counts * relevant
    above_judged = np.cumsum(counts, axis=1) - counts
    above_pooled: Floats = np.cumsum(topic.pooled) - topic.pooled.astype(np.float64)
    rate = (above_relevant + _SMOOTHING) / (above_judged + 2 * _SMOOTHING)
    expected = (1.0 + above_pooled * rate) / ranks
    total = (counts * relevant).sum(axis=1) + rows[:, int(judged.sum()) :].sum(axis=1)
    found = (counts * relevant * expected).sum(axis=1)
    result: Floats = np.where(total > 0, found / np.maximum(total, 1e-12), 0.0)
    return result


def resample(topic: Judged, n_replicates: int, rng: np.random.Generator) -> Floats:
    """Return infAP of bootstrap samples of the judged documents, retrieved or not.

    Judgements were drawn from a finite pool, without replacement: deviations from the estimate are smaller by
    ``sqrt(1 - judged share)`` than those of the samples, and vanish where everything was judged.
    """
    n_retrieved = int(np.sum(topic.labels >= 0))
    n_judged = n_retrieved + topic.missed_relevant + topic.missed_other
    if n_judged == 0:
        return np.zeros(n_replicates)
    weights = rng.multinomial(n_judged, np.full(n_judged, 1 / n_judged), size=n_replicates).astype(np.float64)
    drawn = inferred_average_precision(topic, weights[:, : n_retrieved + topic.missed_relevant])
    estimate = inferred_average_precision(topic)
    shrunk: Floats = estimate + np.sqrt(1.0 - topic.judged_share) * (drawn - estimate)
    return shrunk
