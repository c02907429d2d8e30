"""One step of a pass: where it stands, how large the next cells shall be, and whole passes over known labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

from karat.math.certify.band import (
    END,
    ESTIMATE,
    HIGH,
    HITS_HIGH,
    HITS_LOW,
    LOW,
    N_SCALARS,
    SPENT,
    WEIGHT,
    Rules,
    Tally,
    class_guess,
    evaluate,
)
from karat.math.certify.bets import Bets
from karat.math.certify.cells import Drawn, class_weight, tilt_towards
from karat.math.certify.layout import Batch, Parents, lay_out
from karat.math.certify.pilot import Forecast
from karat.math.certify.planner import Goal, Position, plan_ahead, scale_for_budget
from karat.math.certify.stream import PURPOSE_LABEL, uniform
from karat.math.certify.variance import VarianceTable, effective_variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDE_CODES = {"both": 0, "lower": 1, "upper": 2}
NO_BUDGET = np.iinfo(np.int64).max // 4


class Course(NamedTuple):
    """All that stays fixed while one look runs down the list."""

    look: int
    seed: int
    first_step: int  # ranks that the first batch covers
    last_rank: int
    side: int
    scale: float
    budget: int  # new labels this look may buy
    kept_share: float  # of a look's cells, those whose draw is expected to be kept from the look before
    pseudo_labels: float
    n_classes: int
    bets: Bets
    rules: Rules
    goal: Goal
    forecast: Forecast
    table: VarianceTable
    parents: Parents
    proxy: NDArray[np.uint8]


class Labels(NamedTuple):
    """Known labels in rank order or, if those are empty, the rates from which labels by rank are made up."""

    known: NDArray[np.int8]
    log_ranks: NDArray[np.float64]
    rates: NDArray[np.float64]
    seed: int


@njit(cache=True)
def label_at(labels: Labels, rank: int) -> int:
    """Return the label of a rank."""
    if len(labels.known) > 0:
        return int(labels.known[rank - 1])
    rate = np.interp(math.log(rank), labels.log_ranks, labels.rates)
    return 1 if uniform(labels.seed, 0, rank, PURPOSE_LABEL) < rate else 0


@njit(cache=True)
def _rate_ahead(tally: Tally, course: Course) -> float:
    """Return the rate of recent labels, cautious at the ends."""
    last = len(tally.rates) - 1
    weight = tally.rates[last, WEIGHT]
    if weight == 0.0 and len(course.forecast.rates) > 0:
        return float(min(max(course.forecast.rates[0], 1e-4), 1.0 - 1e-4))
    hits = 0.5 * (tally.rates[last, HITS_LOW] + tally.rates[last, HITS_HIGH])
    rate = (hits + course.pseudo_labels) / (weight + 2.0 * course.pseudo_labels)
    return float(min(max(rate, 1e-4), 1.0 - 1e-3))


@njit(cache=True)
def _proxy_gain(tally: Tally, course: Course, start: int, deviations: NDArray[np.float64]) -> float:
    """Return which share of the effective variance is left when the classes' rates are known.

    Looks at the classes of the ranks just ahead; fills in each class's standard deviation.
    """
    n_classes = course.n_classes
    guesses = np.empty(n_classes)
    counts = np.zeros(n_classes)
    for klass in range(n_classes):
        guesses[klass] = 0.5 * (class_guess(tally.rates, klass, HITS_LOW) + class_guess(tally.rates, klass, HITS_HIGH))
        deviations[klass] = math.sqrt(guesses[klass] * (1.0 - guesses[klass]))
    if n_classes == 1:
        return 1.0
    stop = min(course.last_rank, start + max(200, start // 50))
    stride = max(1, (stop - start) // 2000)
    for place in range(start, stop, stride):
        counts[course.proxy[place]] += 1.0
    counts /= counts.sum()
    tilt = tilt_towards(deviations)
    mean_weight = 0.0
    rate = 0.0
    for klass in range(n_classes):
        mean_weight += counts[klass] * class_weight(tilt, klass)
        rate += counts[klass] * guesses[klass]
    tolerance = course.scale * max(course.goal.absolute, course.goal.relative * rate)
    left = 0.0
    for klass in range(n_classes):
        share = counts[klass] * mean_weight / class_weight(tilt, klass)
        left += share * effective_variance(guesses[klass], tolerance, course.table)
    return min(left / effective_variance(rate, tolerance, course.table), 1.0)


@njit(cache=True)
def position_of(tally: Tally, course: Course, proxy_gain: float) -> Position:
    """Return where a pass stands."""
    scalars = tally.scalars
    if course.side == 0:
        estimate = 0.5 * (scalars[LOW] + scalars[HIGH])
        half_width = 0.5 * (scalars[HIGH] - scalars[LOW])
    else:
        estimate = min(max(scalars[ESTIMATE], scalars[LOW]), scalars[HIGH])
        half_width = estimate - scalars[LOW] if course.side == 1 else scalars[HIGH] - estimate
    spent = half_width * half_width / (2.0 * course.goal.drift)
    if scalars[END] < course.goal.from_rank:
        spent = min(spent, scalars[SPENT])
    return Position(scalars[END], estimate, half_width, spent, _rate_ahead(tally, course), proxy_gain)


@njit(cache=True)
def next_batch(tally: Tally, course: Course, n_bought: int, wanted: int) -> Batch:
    """Lay out the next batch after the tally's rank; n_bought new labels of this look are already spoken for."""
    start = int(tally.scalars[END])
    deviations = np.empty(course.n_classes)
    gain = _proxy_gain(tally, course, start, deviations)
    position = position_of(tally, course, gain)
    scale = course.scale
    left = course.budget - n_bought
    limited = course.budget < NO_BUDGET
    if limited:
        aim = (0.98 * left - 2.0) / (1.0 - course.kept_share)
        scale = scale_for_budget(position, aim, scale, course.goal, course.forecast, course.table)
    size, _ = plan_ahead(position, scale, course.goal, course.forecast, course.table, False)
    if limited:
        size = max(size, 1.0)
        if start > 50 and left > 0:  # at most four times the even spread in ln(rank)
            to_go = course.last_rank - start
            even = 0.25 * start / left * math.log(course.last_rank / start)
            size = max(size, min(to_go / left, even))
        if len(course.parents.ends) == 0:  # the last label speaks for all the rest, so that every look reaches the end
            if left <= 1:
                size = math.inf
            else:
                left -= 1
    return lay_out(
        start,
        size,
        course.first_step,
        course.last_rank,
        course.look,
        course.seed,
        tilt_towards(deviations),
        course.parents,
        course.proxy,
        course.n_classes,
        left,
        wanted,
    )


class Pass(NamedTuple):
    """A finished pass over known labels."""

    batch: Batch
    values: NDArray[np.int8]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    estimate: NDArray[np.float64]


@njit(cache=True)
def _grown(array: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return the array with room for more."""
    larger = np.empty((capacity, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True)
def run_pass(course: Course, labels: Labels) -> Pass:
    """Run one look to its end (the last rank, or the budget), every answer given at once."""
    n_classes = course.n_classes
    capacity = 1024
    ends = np.empty(capacity, np.int64)
    ranks = np.empty(capacity, np.int64)
    probabilities = np.empty(capacity, np.float64)
    tilt = np.empty(capacity, np.int64)
    classes = np.empty(capacity, np.int64)
    counts = np.empty((capacity, n_classes), np.int64)
    new = np.empty(capacity, np.bool_)
    values = np.empty(capacity, np.int8)
    low = np.empty(capacity)
    high = np.empty(capacity)
    estimate = np.empty(capacity)
    n_bets = len(course.bets.thetas)
    tally = Tally(np.zeros(n_bets), np.zeros(n_bets), np.zeros((n_classes + 1, 3)), np.zeros(N_SCALARS))
    n = 0
    n_bought = 0
    while tally.scalars[END] < course.last_rank and (n_bought < course.budget or len(course.parents.ends) > 0):
        batch = next_batch(tally, course, n_bought, NO_BUDGET)
        more = n + len(batch.ends)
        if more > capacity:
            capacity = 2 * more
            ends = _grown(ends, capacity)
            ranks = _grown(ranks, capacity)
            probabilities = _grown(probabilities, capacity)
            tilt = _grown(tilt, capacity)
            classes = _grown(classes, capacity)
            counts = _grown(counts, capacity)
            new = _grown(new, capacity)
            values = _grown(values, capacity)
            low = _grown(low, capacity)
            high = _grown(high, capacity)
            estimate = _grown(estimate, capacity)
        ends[n:more] = batch.ends
        ranks[n:more] = batch.ranks
        probabilities[n:more] = batch.probabilities
        tilt[n:more] = batch.tilt
        classes[n:more] = batch.classes
        counts[n:more] = batch.counts
        new[n:more] = batch.new
        for cell in range(n, more):
            values[cell] = label_at(labels, ranks[cell])
            n_bought += new[cell]
        drawn = Drawn(ends, classes, counts, tilt)
        evaluate(tally, drawn, values, course.bets, course.rules, course.table, n, more, False, low, high, estimate)
        n = more
    batch = Batch(ends[:n], ranks[:n], probabilities[:n], tilt[:n], classes[:n], counts[:n], new[:n])
    return Pass(batch, values[:n], low[:n], high[:n], estimate[:n])
