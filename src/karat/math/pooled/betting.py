"""Guaranteed intervals: bets on the total that hold in finite samples, whatever the labels.

For a sum of independent terms Z_x, guesses m_x that depend on earlier terms only, and bets with
``1 + b (Z_x - m_x) > 0``: ``E[1 + b (Z_x - m_x)] = 1 + b (E Z_x - m_x) <= exp(b (E Z_x - m_x))``, so
``exp(sum ln(1 + b (Z_x - m_x)) - b (total - sum m_x))`` has mean at most 1, for b of either sign; so has a mixture
over bets fixed in advance. By Markov's inequality each side exceeds ``2/delta`` with probability at most ``delta/2``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from karat import _check

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MULTIPLES = np.array([0.5, 0.71, 1.0, 1.41, 2.0, 2.8])
_LARGEST_STAKE = 0.9
_STEPS = 60


def betting_interval(
    terms: ArrayLike,
    guesses: ArrayLike,
    *,
    offset: float,
    expected_variance: float,
    reach: float,
    confidence_level: float = 0.9,
) -> tuple[float, float]:
    """Interval for ``offset + sum of E[terms] - sum of guesses``, in finite samples.

    Parameters
    ----------
    terms
        Independent random terms. Units that were not drawn contribute 0 and may be left out when their guess is 0.
    guesses
        A guess of each term made from earlier terms only; subtracted inside the bet.
    offset
        What is known of the total: it must contain the sum of the guesses.
    expected_variance
        Variance to bet for: fixed in advance, it moves the width only.
    reach
        Bound on ``|term - guess|`` that holds for every possible draw; fixed in advance.

    Examples
    --------
    >>> low, high = betting_interval([0.01] * 60, [0.005] * 60, offset=0.3, expected_variance=0.003, reach=0.01)
    >>> round(low, 2), round(high, 2)
    (0.51, 0.72)
    """
    delta = 1.0 - _check.fraction("confidence_level", confidence_level)
    gain = np.asarray(terms, dtype=np.float64) - np.asarray(guesses, dtype=np.float64)
    limit = _check.number("reach", reach, above=0.0)
    if gain.size and float(np.abs(gain).max()) > limit * (1.0 + 1e-9):
        raise _check.refuse("reach", "a bound on every term", limit)
    wanted = np.sqrt(2.0 * np.log(2.0 / delta) / max(expected_variance, 1e-300))
    bets = np.minimum(wanted * _MULTIPLES, _LARGEST_STAKE / limit)
    threshold = np.log(2.0 * bets.size / delta)
    up = np.log1p(bets[:, None] * gain).sum(axis=1) if gain.size else np.zeros(bets.size)
    down = np.log1p(-bets[:, None] * gain).sum(axis=1) if gain.size else np.zeros(bets.size)
    return offset + _root(up, bets, threshold), offset - _root(down, bets, threshold)


def _root(log_wealth: NDArray[np.float64], bets: NDArray[np.float64], threshold: float) -> float:
    """Solve ``logsumexp(log_wealth - bets R) = threshold`` for R.

    The left side is convex and falls in R, so Newton's steps from the left never pass the root: stopping early
    only widens the interval.
    """
    root = float(((log_wealth - threshold) / bets).max())
    for _ in range(_STEPS):
        exponent = log_wealth - bets * root
        level = float(logsumexp(exponent))
        step = (level - threshold) / float((np.exp(exponent - level) * bets).sum())
        if step <= 1e-15 * max(1.0, abs(root)):
            break
        root += step
    return float(root)


def poisson_betting(
    mass: ArrayLike,
    labels: ArrayLike,
    *,
    inclusion: ArrayLike,
    fold: ArrayLike,
    fold_mass: ArrayLike,
    reach: float,
    expected_variance: float,
    confidence_level: float = 0.9,
) -> tuple[float, float]:
    """Guaranteed interval for ``sum_x mass(x) y(x)`` over all units, from units drawn independently.

    The guess of a label is the weighted mean label of earlier folds, so each fold's bet is fixed before its labels.

    Parameters
    ----------
    mass, labels, inclusion, fold
        Of the drawn units; labels in [0, 1].
    fold_mass
        Sum of the mass over all units of each fold, drawn or not.
    reach
        The largest ``mass/inclusion`` over all units, drawn or not.
    expected_variance
        See `betting_interval`.
    """
    p, y = np.asarray(mass, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    chance, folds = np.asarray(inclusion, dtype=np.float64), np.asarray(fold, dtype=np.int64)
    totals = np.asarray(fold_mass, dtype=np.float64)
    weight = p / chance
    n_folds = totals.size
    right = np.bincount(folds, weights=weight * y, minlength=n_folds)
    seen = np.bincount(folds, weights=weight, minlength=n_folds)
    earlier_right = np.concatenate([[0.0], np.cumsum(right)[:-1]])
    earlier_seen = np.concatenate([[0.0], np.cumsum(seen)[:-1]])
    guess = (earlier_right + 0.5 * reach) / (earlier_seen + reach)  # half right before the first label
    certain = chance >= 1.0
    terms = np.where(certain, 0.0, weight * (y - guess[folds]))
    # A unit that was sure to be drawn is known: it leaves the bet.
    known = float((p[certain] * (y - guess[folds])[certain]).sum())
    low, high = betting_interval(
        terms,
        np.zeros_like(terms),
        offset=float(guess @ totals) + known,
        expected_variance=expected_variance,
        reach=reach,
        confidence_level=confidence_level,
    )
    total = float(totals.sum())
    return min(max(low, 0.0), total), max(min(high, total), 0.0)


def draws_betting(
    terms: ArrayLike, *, source: ArrayLike, reach: ArrayLike, expected_variance: float, confidence_level: float = 0.9
) -> tuple[float, float]:
    """Guaranteed interval for the expected sum of non-negative terms drawn with replacement (the joint estimator).

    Draws of one source have one mean; the guess of each is the mean of the earlier draws of its source.
    ``reach`` bounds the terms of each source.
    """
    value, origin = np.asarray(terms, dtype=np.float64), np.asarray(source, dtype=np.int64)
    bounds = np.asarray(reach, dtype=np.float64)
    guesses = np.empty_like(value)
    for j in np.unique(origin):
        rows = np.flatnonzero(origin == j)
        earlier = np.concatenate([[0.0], np.cumsum(value[rows])[:-1]])
        guesses[rows] = (earlier + 0.5 * bounds[j]) / (1.0 + np.arange(rows.size))
    low, high = betting_interval(
        value,
        guesses,
        offset=float(guesses.sum()),
        expected_variance=expected_variance,
        reach=float(bounds.max()),
        confidence_level=confidence_level,
    )
    return min(max(low, 0.0), 1.0), max(min(high, 1.0), 0.0)
