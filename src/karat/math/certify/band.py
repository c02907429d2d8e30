"""From cells and labels to bounds on the yield at cell ends, evaluated in rank order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from karat.math.certify.cells import PENDING, Drawn, class_weight
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
N_SCALARS = 10
# Places in the last axis of Tally.rates: the hits if every open answer were 0, or 1, and the weight of all labels
HITS_LOW, HITS_HIGH, WEIGHT = range(3)

_SMALLEST_GUESS, _LARGEST_GUESS = 1e-5, 1.0 - 1e-3
_LEAN_ON_ALL = 3.0  # pseudo-labels by which a class's rate leans on the rate of all
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
        return Tally(np.zeros(n_bets), np.zeros(n_bets), np.zeros((n_classes + 1, 3)), np.zeros(N_SCALARS))

    def copy(self) -> Tally:
        """Return a tally that can run ahead on its own."""
        return Tally(*(array.copy() for array in self))


class _Cell(NamedTuple):
    """One cell as the bets see it; where an answer is open, low and high are the ends of what it may be."""

    size: int
    klass: int
    label_low: float
    label_high: float
    expected: bool  # the label is not known but counted as it is expected to turn out
    counts: NDArray[np.int64]
    guess_low: FloatArray  # of each class
    guess_high: FloatArray
    weights: FloatArray
    total_weight: float


@njit(cache=True)
def class_guess(rates: FloatArray, klass: int, which: int) -> float:
    """Return the guess of a class's rate from labels at smaller ranks, leaning on the rate of all classes."""
    last = len(rates) - 1
    guess = (rates[last, which] + 0.5) / (rates[last, WEIGHT] + 1.0)
    if last > 1:
        guess = (rates[klass, which] + _LEAN_ON_ALL * guess) / (rates[klass, WEIGHT] + _LEAN_ON_ALL)
    return float(min(max(guess, _SMALLEST_GUESS), _LARGEST_GUESS))


@njit(cache=True)
def _view(rates: FloatArray, drawn: Drawn, cell: int, start: int, value: int, expect: bool) -> _Cell:  # noqa: FBT001
    """Return the cell with the guesses that labels before it suggest."""
    n_classes = len(rates) - 1
    klass = drawn.classes[cell]
    guess_low = np.empty(n_classes)
    guess_high = np.empty(n_classes)
    weights = np.empty(n_classes)
    total_weight = 0.0
    for k in range(n_classes):
        guess_low[k] = class_guess(rates, k, HITS_LOW)
        guess_high[k] = class_guess(rates, k, HITS_HIGH)
        weights[k] = class_weight(drawn.tilt[cell], k)
        total_weight += weights[k] * drawn.counts[cell, k]
    expected = expect and value == PENDING
    label_low, label_high = float(value), float(value)
    if expected:
        label_low = label_high = 0.5 * (guess_low[klass] + guess_high[klass])
    elif value < 0:
        label_low, label_high = 0.0, 1.0
    size = drawn.ends[cell] - start
    counts = drawn.counts[cell]
    return _Cell(size, klass, label_low, label_high, expected, counts, guess_low, guess_high, weights, total_weight)


@njit(cache=True)
def _bet(tally: Tally, cell: _Cell, thetas: FloatArray) -> None:
    """Add what the cell's label wins or loses to the log-wealth of every bet, at its worst over open answers."""
    klass = cell.klass
    low, high = cell.guess_low[klass], cell.guess_high[klass]
    for j in range(len(thetas)):
        theta = thetas[j]
        bet = theta * cell.total_weight / cell.weights[klass]
        own = theta * cell.counts[klass]
        if cell.expected:
            chance = cell.label_low
            gain_low = chance * lower_gain(1.0, low, bet, own) + (1.0 - chance) * lower_gain(0.0, low, bet, own)
            gain_high = chance * upper_gain(1.0, high, bet, own) + (1.0 - chance) * upper_gain(0.0, high, bet, own)
        else:
            gain_low = lower_gain(cell.label_low, low, bet, own)
            gain_high = upper_gain(cell.label_high, low, bet, own)
            if low != high:  # gains are concave in the guess
                gain_low = min(gain_low, lower_gain(cell.label_low, high, bet, own))
                gain_high = min(gain_high, upper_gain(cell.label_high, high, bet, own))
        for k in range(len(cell.counts)):  # the classes that were not drawn stand in the sum of guesses only
            if k != klass and cell.counts[k] > 0:
                other = theta * cell.total_weight / cell.weights[k]
                gain_low += theta * cell.counts[k] * clip_below(cell.guess_low[k], other)
                gain_high -= theta * cell.counts[k] * clip_above(cell.guess_high[k], other)
        tally.wealth_low[j] += gain_low
        tally.wealth_high[j] += gain_high


@njit(cache=True)
def _move_roots(tally: Tally, cell: _Cell, bets: Bets, rules: Rules) -> None:
    """Move the bounds to where the mixture's wealth now reaches its level."""
    thetas, level, _ = bets
    scalars = tally.scalars
    if scalars[STARTED] == 0.0:
        scalars[STARTED] = 1.0
        scalars[ROOT_LOW] = union_start(tally.wealth_low, thetas, level, 1.0)
        scalars[ROOT_HIGH] = union_start(tally.wealth_high, thetas, level, -1.0)
    scalars[HIGH] += cell.size
    if rules.bound_low:
        scalars[ROOT_LOW] = reaching_yield(tally.wealth_low, thetas, level, 1.0, scalars[ROOT_LOW])
        scalars[LOW] = max(scalars[LOW], scalars[ROOT_LOW])
    if rules.bound_high:
        scalars[ROOT_HIGH] = reaching_yield(tally.wealth_high, thetas, level, -1.0, scalars[ROOT_HIGH])
        scalars[HIGH] = min(scalars[HIGH], scalars[ROOT_HIGH])


@njit(cache=True)
def _note_for_planning(tally: Tally, cell: _Cell, rules: Rules, table: VarianceTable) -> None:
    """Carry the estimate of the yield and the variance spent: nothing here enters a bound."""
    expected_yield = 0.0
    for k in range(len(cell.counts)):
        expected_yield += 0.5 * (cell.guess_low[k] + cell.guess_high[k]) * cell.counts[k]
    tolerance = max(rules.absolute, rules.relative * expected_yield / cell.size)
    variance = 0.0
    for k in range(len(cell.counts)):
        rate = 0.5 * (cell.guess_low[k] + cell.guess_high[k])
        share = cell.counts[k] * cell.total_weight / (cell.weights[k] * cell.size * cell.size)
        variance += share * effective_variance(rate, tolerance, table)
    surprise = 0.5 * (cell.label_low + cell.label_high - cell.guess_low[cell.klass] - cell.guess_high[cell.klass])
    tally.scalars[ESTIMATE] += expected_yield + surprise * cell.total_weight / cell.weights[cell.klass]
    tally.scalars[SPENT] += cell.size * (cell.size - 1.0) * variance


@njit(cache=True)
def _learn(rates: FloatArray, cell: _Cell, start: int, memory: float) -> None:
    """Let older labels fade and add this one to its class and to all."""
    if cell.expected:  # nothing is learnt, and nothing forgotten for it
        return
    rates *= math.exp(-math.log1p(cell.size / max(start, 100.0)) / memory)
    weight = 1.0 if cell.size > 1 else min(1.0, _EXHAUSTIVE_WEIGHT / max(0.01 * start, 1.0))
    for row in (cell.klass, len(rates) - 1):
        rates[row, HITS_LOW] += weight * cell.label_low
        rates[row, HITS_HIGH] += weight * cell.label_high
        rates[row, WEIGHT] += weight


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
    thetas = bets.thetas
    scalars = tally.scalars
    for index in range(first, last):
        start = int(scalars[END])
        value = values[index]
        cell = _view(tally.rates, drawn, index, start, value, expect)
        if cell.size == 1 and not rules.noisy:  # nothing was drawn at random: the label itself is added
            for j in range(len(thetas)):
                tally.wealth_low[j] += thetas[j] * cell.label_low
                tally.wealth_high[j] -= thetas[j] * cell.label_high
            for place in (LOW, ROOT_LOW):
                scalars[place] += cell.label_low
            for place in (HIGH, ROOT_HIGH):
                scalars[place] += cell.label_high
            scalars[ESTIMATE] += 0.5 * (cell.label_low + cell.label_high)
        else:
            _bet(tally, cell, thetas)
            _move_roots(tally, cell, bets, rules)
            _note_for_planning(tally, cell, rules, table)
        end = drawn.ends[index]
        if not rules.noisy and value >= 0:  # what is seen is certain
            scalars[SURE_ONES] += value
            scalars[SURE_ZEROS] += 1 - value
        scalars[LOW] = max(scalars[LOW], scalars[SURE_ONES])
        scalars[HIGH] = min(scalars[HIGH], end - scalars[SURE_ZEROS])
        scalars[END] = end
        low[index] = scalars[LOW]
        high[index] = scalars[HIGH]
        estimate[index] = scalars[ESTIMATE]
        _learn(tally.rates, cell, start, rules.memory)
