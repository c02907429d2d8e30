"""Bootstrap replicates of a curve in O(K) each, whatever the size of the sample.

A replicate needs K order statistics of its anchor class and the number of items of the other class above each. Both
can be drawn without drawing the sample:

1. The upper tails ``V_1 < V_2 < ...`` of the anchor's items, best first, are the order statistics of uniforms. Their
   spacings over a set of ranks r_1 < ... < r_K are jointly Dirichlet(r_1, r_2 - r_1, ..., m + 1 - r_K), that is
   independent Gamma variables of these shapes divided by their sum.
2. Given the thresholds, each item of the counted class falls between two of them with the probability that the law
   gives to that interval, independently: the counts are one multinomial draw.

So the K values have exactly the joint law that drawing all n items would give them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.math.bands.ordering import ranks_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.bands.smoothing import Tails

_CHUNK = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicates:
    """B replicates at K levels.

    Attributes
    ----------
    n_anchor, n_counted : sizes of the two classes in each replicate, shape (B,)
    ranks : rank of the anchor item that stands at each level, shape (B, K)
    counts : items of the counted class above it, shape (B, K)
    """

    n_anchor: NDArray[np.int64]
    n_counted: NDArray[np.int64]
    ranks: NDArray[np.int64]
    counts: NDArray[np.int64]


def draw_replicates(
    tails: Tails,
    levels: NDArray[np.float64],
    *,
    n_items: int,
    anchor_rate: float,
    n_replicates: int,
    rng: np.random.Generator,
) -> Replicates:
    """Draw replicates of ``n_items`` from the law ``tails``; each class keeps at least one item.

    Parameters
    ----------
    tails : counted class's tail as a function of the anchor class's (see `smoothing`)
    levels : increasing levels in (0, 1) of the anchor class: recall for PR, false positive rate for ROC
    n_items : size of each replicate
    anchor_rate : probability that an item belongs to the anchor class
    n_replicates : how many
    rng : source of randomness
    """
    n_anchor = np.clip(rng.binomial(n_items, anchor_rate, n_replicates), 1, n_items - 1)
    ranks = ranks_at(levels, n_anchor[:, None])
    counts = np.empty_like(ranks)
    for start in range(0, n_replicates, _CHUNK):
        # A few hundred at a time stay in the processor's cache.
        rows = slice(start, start + _CHUNK)
        counts[rows] = _draw_counts(tails, ranks[rows], n_anchor[rows], n_items - n_anchor[rows], rng)
    return Replicates(n_anchor=n_anchor, n_counted=n_items - n_anchor, ranks=ranks, counts=counts)


def _draw_counts(
    tails: Tails,
    ranks: NDArray[np.int64],
    n_anchor: NDArray[np.int64],
    n_counted: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    shapes = np.diff(ranks, axis=1, prepend=0, append=n_anchor[:, None] + 1)
    gammas = np.cumsum(rng.standard_gamma(shapes), axis=1)
    above = tails(gammas[:, :-1] / gammas[:, -1:])
    cells = np.maximum(np.diff(above, axis=1, prepend=0.0, append=1.0), 0.0)
    cells /= cells.sum(axis=1, keepdims=True)
    return np.cumsum(rng.multinomial(n_counted, cells), axis=1)[:, :-1]
