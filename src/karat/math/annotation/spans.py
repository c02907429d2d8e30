"""Spans that several readers marked in a document: token-level majority and agreement, and how much they find.

A reader's marks are given token by token: a code for the kind of the span that holds the token, 0 where none does,
and whether a span begins there, so that two neighbours of one kind stay two.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat import _check
from karat.math.agreement.chance import Agreement, fleiss_kappa

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


def majority_spans(codes: ArrayLike, begins: ArrayLike) -> list[tuple[int, int, int]]:
    """Return the spans that most readers mark, as first token, token after the last, and code.

    A token gets the code that more than half of the readers give it, 0 included; 0 where no code has more than half.
    Where neighbours get the same code, a new span begins if more than half of the readers who agree say so.

    Parameters
    ----------
    codes
        Readers by tokens: the code of each token, 0 for none.
    begins
        Readers by tokens: whether a span begins there.

    Examples
    --------
    >>> majority_spans([[1, 1, 0], [1, 1, 2], [1, 0, 2]], [[1, 0, 0], [1, 0, 1], [1, 0, 1]])
    [(0, 2, 1), (2, 3, 2)]
    """
    marks, starts = _marks(codes, begins)
    n_readers, n_tokens = marks.shape
    best = np.zeros(n_tokens, dtype=np.int64)
    for code in np.unique(marks[marks > 0]).tolist():
        best[2 * (marks == code).sum(axis=0) > n_readers] = code
    agreed = (marks == best) & (best > 0)
    begun = 2 * (starts & agreed).sum(axis=0) > agreed.sum(axis=0)
    spans: list[tuple[int, int, int]] = []
    for token, code in enumerate(best.tolist()):
        goes_on = bool(spans) and spans[-1][1] == token and spans[-1][2] == code and not begun[token]
        if code and goes_on:
            spans[-1] = (spans[-1][0], token + 1, code)
        elif code:
            spans.append((token, token + 1, code))
    return spans


def token_kappa(codes: ArrayLike) -> Agreement:
    """Return Fleiss' kappa of the tokens' codes: how far readers agree on spans and their kinds, beyond chance.

    Parameters
    ----------
    codes
        Readers by tokens; a negative code says that the reader did not read the token.

    Examples
    --------
    >>> round(token_kappa([[1, 1, 0, 0], [1, 0, 0, 0]]).coefficient, 3)
    0.467
    """
    marks = np.atleast_2d(np.asarray(codes, dtype=np.int64))
    known = np.unique(marks[marks >= 0])
    counts = np.stack([(marks == code).sum(axis=0) for code in known.tolist()], axis=1) if known.size else (
        np.zeros((0, 0), dtype=np.int64)
    )  # fmt: skip
    return fleiss_kappa(counts)


def share_found(found: ArrayLike, k: int) -> float:
    """Return the mean share of an expert's spans that k of the readers together find, over all choices of k.

    Parameters
    ----------
    found
        Readers by the expert's spans: whether the reader found the span.
    k
        How many readers work together.

    Examples
    --------
    >>> share_found([[1, 0], [0, 0], [1, 1]], 1), share_found([[1, 0], [0, 0], [1, 1]], 3)
    (0.5, 1.0)
    """
    table = np.atleast_2d(np.asarray(found)).astype(bool)
    n_readers, n_spans = table.shape
    _check.whole("k", k, least=1, most=n_readers)
    if not n_spans:
        raise _check.refuse("found", "about at least one span", 0)
    # of all choices of k readers, those that miss a span choose among the readers who missed it
    missed = [comb(n_readers - int(finders), k) / comb(n_readers, k) for finders in table.sum(axis=0)]
    return float(1.0 - np.mean(missed))


def _marks(codes: ArrayLike, begins: ArrayLike) -> tuple[Codes, Flags]:
    marks = np.atleast_2d(np.asarray(codes, dtype=np.int64))
    starts = np.atleast_2d(np.asarray(begins, dtype=bool))
    if marks.shape != starts.shape or marks.ndim != 2:
        raise _check.refuse("begins", f"of the same shape as 'codes', {marks.shape}", starts.shape)
    if marks.size and marks.min() < 0:
        raise _check.refuse("codes", "made of 0 and codes above it", int(marks.min()))
    return marks, starts
