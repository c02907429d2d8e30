"""Which documents to read, and with what probability each came to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_ROUNDS = 100


def document_law(entities: Sequence[Sequence[str]] | None, n_documents: int) -> NDArray[np.float64]:
    """Return the law by which documents are drawn: uniform, or that of a random entity's random document.

    Parameters
    ----------
    entities
        The entities that each document names; None for the uniform law. A document without any is never drawn.

    Examples
    --------
    >>> document_law([["ann", "bob"], ["ann"], ["bob"], ["cid"]], 4).tolist()
    [0.3333333333333333, 0.16666666666666666, 0.16666666666666666, 0.3333333333333333]
    """
    if entities is None:
        return np.full(n_documents, 1.0 / max(n_documents, 1))
    _check.same_length("entities", len(entities), "documents", n_documents)
    spread: dict[str, int] = {}
    for names in entities:
        for name in set(names):
            spread[name] = spread.get(name, 0) + 1
    if not spread:
        raise _check.refuse("entities", "named by at least one document", 0)
    # sorted: a set has another order in each process, and the sum's last digit would follow it
    shares = [sum(1.0 / (len(spread) * spread[name]) for name in sorted(set(names))) for names in entities]
    return np.asarray(shares, dtype=np.float64)


def inclusion_of(law: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return probabilities in proportion to a law that sum to n; those that would pass 1 are 1, the rest share.

    Examples
    --------
    >>> inclusion_of([0.7, 0.2, 0.1], 2).tolist()
    [1.0, 0.6666666666666666, 0.3333333333333333]
    """
    size = _check.finite_scores("law", law)
    _check.whole("n", n, least=1, most=int((size > 0).sum()))
    certain = np.zeros(size.size, dtype=bool)
    for _ in range(_ROUNDS):
        rest = np.where(certain, 0.0, size)
        left = n - certain.sum()
        share = left * rest / rest.sum() if rest.sum() > 0 else np.zeros(size.size)
        if not np.any(share > 1.0):
            break
        certain |= share >= 1.0
    return np.where(certain, 1.0, np.minimum(share, 1.0))


def draw_documents(inclusion: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a fixed number of documents, each with its probability (Pareto sampling, Rosén 1997).

    The number is the sum of the probabilities. Each is met but for terms that vanish as the number grows.
    """
    pi = _check.finite_scores("inclusion", inclusion)
    n = round(float(pi.sum()))
    u = rng.random(pi.size)
    with np.errstate(divide="ignore"):
        ranking = np.where(pi >= 1.0, -1.0, (u / (1.0 - u)) * (1.0 - pi) / np.where(pi > 0, pi, 1.0))
    ranking[pi <= 0.0] = np.inf
    return np.sort(np.argsort(ranking, kind="stable")[:n])
