"""From cells and labels to bounds on the yield: evaluation in rank order, consistency, interpolation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from karat.math.certify.cells import PENDING, UNSURE, Drawn, class_weight
from karat.math.certify.martingale import (
    clip_above,
    clip_below,
    lower_gain,
    reaching_yield,
    union_start,
    upper_gain,
)
from karat.math.certify.variance import VarianceTable, effective_variance

if TYPE_CHECKING:
    from karat.math.certify.bets import Bets

FloatArray = NDArray[np.float64]

# Places in Tally.scalars
END, LOW, HIGH, ROOT_LOW, ROOT_HIGH, STARTED, SPENT, ESTIMATE, SURE_ONES, SURE_ZEROS = range(10)
_N_SCALARS = 10
# Places in the last axis of Tally.rates: the hits if every open answer were 0, or 1, and the weight of all labels
HITS_LOW, HITS_HIGH, WEIGHT = range(3)

_SMALLEST_GUESS, _LARGEST_GUESS = 1e-5, 1.0 - 1e-3
_EXHAUSTIVE_WEIGHT = 200.0  # in a fully labelled stretch about this many labels speak for the rate


class Rules(NamedTuple):
    """What the evaluation must know besides bets and cells."""

    noisy: bool  # labels may be wrong: single items go through the bet as well
    bound_low: bool  # whether the lower bound is wanted; if not, only what is seen bounds the yield
    bound_high: bool
    memory: float  # rates are averaged over about this much of ln(rank)
    absolute: float  # the tolerance as a share of the rank, for the variance spent before the first judged rank
    relative: float  # and as a share of the rate


class Tally(NamedTuple):
    """All that a pass remembers at a cell end; its size does not depend on the number of items."""

    wealth_low: FloatArray
    wealth_high: FloatArray
    rates: FloatArray  # one row a proxy class, and a last row for all classes together
    scalars: FloatArray

    @staticmethod
    def empty(n_bets: int, n_classes: int) -> Tally:
        """Return the tally before rank 1."""
        return Tally(np.zeros(n_bets), np.zeros(n_bets), np.zeros((n_classes + 1, 3)), np.zeros(_N_SCALARS))

    def copy(self) -> Tally:
        """Return a tally that can run ahead on its own."""
        return Tally(*(array.copy() for array in self))


@njit(cache=True)
def class_guess(rates: FloatArray, klass: int, which: int) -> float:
    """Return the guess of a class's rate from labels at smaller ranks, leaning on the rate of all classes."""
    last = len(rates) - 1
    pooled = (rates[last, which] + 0.5) / (rates[last, WEIGHT] + 1.0)
    if last > 1:
        pooled = (rates[klass, which] + pooled) / (rates[klass, WEIGHT] + 1.0)
    return min(max(pooled, _SMALLEST_GUESS), _LARGEST_GUESS)


@njit(cache=True)
def evaluate(
    tally: Tally,
    drawn: Drawn,
    values: NDArray[np.int8],
    bets: Bets,
    rules: Rules,
    table: VarianceTable,
    first: int,
    last: int,
    expect: bool,  # noqa: FBT001
    low: FloatArray,
    high: FloatArray,
    estimate: FloatArray,
) -> None:
    """Carry the tally over the cells first..last-1 and write the bounds on the yield at their ends.

    An open answer (unsure or pending) takes, in each bound, the worst of all values it may turn out to have, its
    influence on later guesses included: the gains are concave in a guess, so the worst lies at an end of its range.
    The bounds therefore contain those of every completion, and hold whenever and for whatever reason an answer is
    missing. With ``expect`` pending answers count as they are expected to turn out instead: that serves planning.
    """
    thetas, level, _ = bets
    scalars = tally.scalars
    rates = tally.rates
    n_classes = len(rates) - 1
    guess_low = np.empty(n_classes)
    guess_high = np.empty(n_classes)
    weights = np.empty(n_classes)
    for cell in range(first, last):
        start = int(scalars[END])
        end = drawn.ends[cell]
        size = end - start
        klass = drawn.classes[cell]
        value = values[cell]
        expected = expect and value == PENDING
        is_open = value < 0 and not expected
        total_weight = 0.0
        mean_guess = 0.0
        for k in range(n_classes):
            guess_low[k] = class_guess(rates, k, HITS_LOW)
            guess_high[k] = class_guess(rates, k, HITS_HIGH)
            weights[k] = class_weight(drawn.tilt[cell], k)
            total_weight += weights[k] * drawn.counts[cell, k]
            mean_guess += 0.5 * (guess_low[k] + guess_high[k]) * drawn.counts[cell, k]
        guess = 0.5 * (guess_low[klass] + guess_high[klass])
        label_low = guess if expected else (0.0 if is_open else float(value))
        label_high = guess if expected else (1.0 if is_open else float(value))

        if size == 1 and not rules.noisy:
            for j in range(len(thetas)):
                tally.wealth_low[j] += thetas[j] * label_low
                tally.wealth_high[j] -= thetas[j] * label_high
            scalars[LOW] += label_low
            scalars[HIGH] += label_high
            scalars[ROOT_LOW] += label_low
            scalars[ROOT_HIGH] += label_high
            scalars[ESTIMATE] += 0.5 * (label_low + label_high)
        else:
            for j in range(len(thetas)):
                theta = thetas[j]
                bet = theta * total_weight / weights[klass]
                sum_low = 0.0
                sum_high = 0.0
                for k in range(n_classes):
                    if k != klass and drawn.counts[cell, k] > 0:
                        other = theta * total_weight / weights[k]
                        sum_low += drawn.counts[cell, k] * clip_below(guess_low[k], other)
                        sum_high += drawn.counts[cell, k] * clip_above(guess_high[k], other)
                own = theta * drawn.counts[cell, klass]
                if expected:
                    gain_low = guess * lower_gain(1.0, guess, bet, own) + (1.0 - guess) * lower_gain(
                        0.0, guess, bet, own
                    )
                    gain_high = guess * upper_gain(1.0, guess, bet, own) + (1.0 - guess) * upper_gain(
                        0.0, guess, bet, own
                    )
                else:
                    gain_low = lower_gain(label_low, guess_low[klass], bet, own)
                    gain_high = upper_gain(label_high, guess_low[klass], bet, own)
                    if guess_low[klass] != guess_high[klass]:
                        gain_low = min(gain_low, lower_gain(label_low, guess_high[klass], bet, own))
                        gain_high = min(gain_high, upper_gain(label_high, guess_high[klass], bet, own))
                tally.wealth_low[j] += gain_low + theta * sum_low
                tally.wealth_high[j] += gain_high - theta * sum_high
            if scalars[STARTED] == 0.0:
                scalars[STARTED] = 1.0
                scalars[ROOT_LOW] = union_start(tally.wealth_low, thetas, level, 1.0)
                scalars[ROOT_HIGH] = union_start(tally.wealth_high, thetas, level, -1.0)
            scalars[HIGH] += size
            if rules.bound_low:
                scalars[ROOT_LOW] = reaching_yield(tally.wealth_low, thetas, level, 1.0, scalars[ROOT_LOW])
                scalars[LOW] = max(scalars[LOW], scalars[ROOT_LOW])
            if rules.bound_high:
                scalars[ROOT_HIGH] = reaching_yield(tally.wealth_high, thetas, level, -1.0, scalars[ROOT_HIGH])
                scalars[HIGH] = min(scalars[HIGH], scalars[ROOT_HIGH])
            residual = (0.5 * (label_low + label_high) - guess) * total_weight / weights[klass]
            scalars[ESTIMATE] += mean_guess + residual
            variance = 0.0
            for k in range(n_classes):
                rate = 0.5 * (guess_low[k] + guess_high[k])
                share = drawn.counts[cell, k] * total_weight / (weights[k] * size * size)
                tolerance = max(rules.absolute, rules.relative * mean_guess / size)
                variance += share * effective_variance(rate, tolerance, table)
            scalars[SPENT] += size * (size - 1.0) * variance
        if not rules.noisy and value >= 0:  # what is seen is certain
            scalars[SURE_ONES] += value
            scalars[SURE_ZEROS] += 1 - value
        scalars[LOW] = max(scalars[LOW], scalars[SURE_ONES])
        scalars[HIGH] = min(scalars[HIGH], end - scalars[SURE_ZEROS])
        scalars[END] = end
        low[cell] = scalars[LOW]
        high[cell] = scalars[HIGH]
        estimate[cell] = scalars[ESTIMATE]

        decay = math.exp(-math.log1p(size / max(start, 100.0)) / rules.memory)
        rates *= decay
        if not expected:
            weight = 1.0 if size > 1 else min(1.0, _EXHAUSTIVE_WEIGHT / max(0.01 * start, 1.0))
            for row in (klass, n_classes):
                rates[row, HITS_LOW] += weight * label_low
                rates[row, HITS_HIGH] += weight * label_high
                rates[row, WEIGHT] += weight


def make_consistent(knots: NDArray[np.int64], low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Tighten bounds at knots with what every yield curve obeys: it rises by at most one an item and never falls.

    Examples
    --------
    >>> low, high = make_consistent(np.array([0, 10, 20]), np.array([0.0, 3.0, 15.0]), np.array([0.0, 14.0, 12.0]))
    >>> low.tolist(), high.tolist()
    ([0.0, 5.0, 15.0], [0.0, 10.0, 12.0])
    """
    low = np.maximum(low, 0.0)
    high = np.minimum(high, knots)
    low = np.maximum(low, np.maximum.accumulate((low - knots)[::-1])[::-1] + knots)
    low = np.maximum.accumulate(low)
    high = np.minimum.accumulate(high[::-1])[::-1]
    high = np.minimum(high, np.minimum.accumulate(high - knots) + knots)
    return low, high


def bounds_at(
    ranks: NDArray[np.int64], *, knots: NDArray[np.int64], low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Carry consistent bounds from knots (0 and the number of items among them) to any ranks.

    Examples
    --------
    >>> knots, low, high = np.array([0, 10]), np.array([0.0, 4.0]), np.array([0.0, 6.0])
    >>> [bound.tolist() for bound in bounds_at(np.array([3, 8]), knots=knots, low=low, high=high)]
    [[0.0, 2.0], [3.0, 6.0]]
    """
    right = np.searchsorted(knots, ranks)
    left = np.maximum(right - 1, 0)
    return (
        np.maximum(low[left], low[right] - (knots[right] - ranks)),
        np.minimum(high[right], high[left] + (ranks - knots[left])),
    )


class Bounds(NamedTuple):
    """Consistent bounds on the yield at knots, the first of which is rank 0 and the last the end of the list."""

    knots: NDArray[np.int64]
    low: FloatArray
    high: FloatArray
    estimate: FloatArray


def intersect(first: Bounds, second: Bounds) -> Bounds:
    """Return bounds that hold where both do; the estimate is the second's."""
    knots = np.union1d(first.knots, second.knots)
    low_first, high_first = bounds_at(knots, knots=first.knots, low=first.low, high=first.high)
    low_second, high_second = bounds_at(knots, knots=second.knots, low=second.low, high=second.high)
    low, high = make_consistent(knots, np.maximum(low_first, low_second), np.minimum(high_first, high_second))
    estimate = np.interp(knots, second.knots, second.estimate)
    return Bounds(knots, low, high, np.clip(estimate, low, np.maximum(low, high)))


__all__ = ["PENDING", "UNSURE", "Bounds", "Tally", "bounds_at", "evaluate", "intersect", "make_consistent"]
