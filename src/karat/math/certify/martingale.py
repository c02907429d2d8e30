"""Log-wealth of one cell, and the yield at which a mixture of wealths reaches its level.

Why this is valid. A cell of ``size`` items is fixed before its draw; an item of proxy class k is drawn with
probability q_k; x is its label and f_k any guess that the cell's own draw cannot influence. With b_k = theta/q_k,

    E[1 + b (x - f)] = 1 + theta (Y_cell - sum f) <= exp(theta (Y_cell - sum f)),

the sum running over all items of the cell, provided that the factor is never negative. So the product over cells of
``(1 + b (x - f)) exp(theta sum f)`` divided by ``exp(theta Y)`` is a non-negative supermartingale in the rank that
starts at 1. Its mirror image (theta -> -theta) serves the upper bound. Guesses are clipped so that no factor falls
below .1: the same clipped guess stands in the factor and in the sum.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

LARGEST_LOSS = 0.9  # a bet may lose at most this share of the wealth on one label
_NEWTON_STEPS = 60
_NEWTON_STOP = 1e-6  # the error left after a step this small is its square times theta/2

FloatArray = NDArray[np.float64]


@njit(cache=True)
def clip_below(guess: float, bet: float) -> float:
    """Return the guess a lower-bound bet may use: 1 + bet (0 - guess) stays at least .1."""
    return min(guess, LARGEST_LOSS / bet)


@njit(cache=True)
def clip_above(guess: float, bet: float) -> float:
    """Return the guess an upper-bound bet may use: 1 - bet (1 - guess) stays at least .1."""
    return max(guess, 1.0 - LARGEST_LOSS / bet)


@njit(cache=True)
def lower_gain(label: float, guess: float, bet: float, class_theta: float) -> float:
    """Log-wealth that the drawn class adds to the lower-bound process; class_theta is theta times the class's count."""
    clipped = clip_below(guess, bet)
    return math.log1p(bet * (label - clipped)) + class_theta * clipped


@njit(cache=True)
def upper_gain(label: float, guess: float, bet: float, class_theta: float) -> float:
    """Log-wealth that the drawn class adds to the upper-bound process."""
    clipped = clip_above(guess, bet)
    return math.log1p(-bet * (label - clipped)) - class_theta * clipped


@njit(cache=True)
def reaching_yield(log_wealth: FloatArray, thetas: FloatArray, level: float, sign: float, start: float) -> float:
    """Return the root R of ``logsumexp(log_wealth - sign * thetas * R) = level``.

    With sign +1 it is the largest yield that is certainly too small, with -1 the smallest that is certainly too
    large. The function is convex and monotone in R, so after its first step Newton stands on the outer side of the
    root and stays there: stopping early can only widen the band.
    """
    root = start
    for _ in range(_NEWTON_STEPS):
        largest = -math.inf
        for j in range(len(thetas)):
            largest = max(largest, log_wealth[j] - sign * thetas[j] * root)
        total = 0.0
        slope = 0.0
        for j in range(len(thetas)):
            weight = math.exp(log_wealth[j] - sign * thetas[j] * root - largest)
            total += weight
            slope += weight * thetas[j]
        step = (largest + math.log(total) - level) * total / slope
        root += sign * step
        if 0.0 <= step < _NEWTON_STOP * (1.0 + 1e-6 * abs(root)):
            break
    return root


@njit(cache=True)
def union_start(log_wealth: FloatArray, thetas: FloatArray, level: float, sign: float) -> float:
    """Return the best root of the single bets: on the outer side of the mixture's root, close to it."""
    best = -math.inf
    for j in range(len(thetas)):
        best = max(best, (log_wealth[j] - level) / thetas[j])
    return sign * best
