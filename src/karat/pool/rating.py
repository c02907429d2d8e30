"""From the gathered sample to a leaderboard."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from karat import _check
from karat.errors import InvalidInput
from karat.math.pooled.bootstrap import bootstrap_default
from karat.math.pooled.estimate import METRICS, estimate_metrics
from karat.math.pooled.guaranteed import guaranteed_intervals
from karat.math.pooled.intervals import difference_interval, estimate_interval, noisy_interval, shared_ranks
from karat.pool.leaderboard import Difference, Leaderboard, Row, Score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from karat.math.pooled.estimate import Estimate, Metric
    from karat.math.pooled.recall import PoolRecall
    from karat.math.pooled.sample import PoolSample
    from karat.pool.scoring import Gathered
    from karat.pool.state import State, System

IntervalKind = Literal["logit", "bootstrap", "betting"]
GUARANTEES: dict[str, str] = {"logit": "asymptotic", "bootstrap": "bootstrap", "betting": "finite-sample"}
RIGHT_LABELS = "Every instance asked for was labelled, and the labels are right."
INDEPENDENT = "Submissions do not depend on the labels of the pool."
READ_FOR_RECALL = (
    "True relations told for recall come from documents drawn at random and annotated exhaustively; the number of "
    "documents that state each was told, or is one."
)
WRONG_LABELS = (
    "Every instance asked for was labelled; labels are wrong at the rates told, independently of each other given the "
    "truth. Rates learnt from votes come from a latent-class fit on the same votes: all people equally good, all items "
    "equally hard, votes independent given the truth."
)
"""How the note that names systems begins."""
_STEP = 1e-4
_SLACK = 1.05  # a goal missed by less is as good as met: widths are planned, not steered
Ends = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


def rate(
    gathered: Gathered,
    state: State,
    *,
    theta: PoolRecall,
    n_inside: int,
    metric: Metric,
    interval: IntervalKind,
    confidence_level: float,
    n_pending: int,
) -> Leaderboard:
    """Estimate every metric of every system and rank the systems that still compete."""
    _check.one_of("interval", interval, GUARANTEES)
    estimates = estimates_of(gathered, gathered.sample, theta)

    def ends_of(sample: PoolSample) -> dict[Metric, Ends]:
        if interval == "betting":
            return _betting(gathered, sample, state, theta=theta, n_inside=n_inside, confidence_level=confidence_level)
        found = estimates_of(gathered, sample, theta)
        if interval == "bootstrap":
            rng = np.random.default_rng(state.settings.seed)
            return bootstrap_default(found, confidence_level=confidence_level, rng=rng)
        interval_of = estimate_interval if gathered.errors is None else noisy_interval
        return {m: interval_of(found[m], confidence_level=confidence_level) for m in METRICS}

    ends = _ends(gathered, ends_of)
    active = [k for k, system in enumerate(gathered.systems) if system.number not in state.retracted]
    _, low, _ = differences(gathered, theta=theta, metric=metric, confidence_level=confidence_level)
    ranks = dict(zip(active, shared_ranks(low[np.ix_(active, active)]), strict=True))
    value = np.clip(estimates[metric].value, 0.0, 1.0)
    n_labels = (gathered.sample.mass > 0).sum(axis=1)
    as_planned = interval == "logit" and confidence_level == state.settings.confidence_level
    is_done = not n_pending and not state.waiting() and state.unfinished() is None
    widest = 2.0 * _SLACK * state.settings.half_width if as_planned and is_done else np.inf
    rows = tuple(
        Row(
            rank=int(ranks[k]),
            system=gathered.systems[k].name,
            version=gathered.systems[k].version,
            precision=_score(estimates["precision"], ends["precision"], k),
            recall=_score(estimates["recall"], ends["recall"], k),
            f1=_score(estimates["f1"], ends["f1"], k),
            n_predictions=gathered.systems[k].n_predictions,
            n_labels=int(n_labels[k]),
            missed=bool(ends["precision"][1][k] - ends["precision"][0][k] > widest),
        )
        for k in sorted(active, key=lambda k: (ranks[k], -value[k], gathered.systems[k].name))
    )
    return Leaderboard(
        rows=rows,
        metric=metric,
        method="difference estimator with cross-fitted proxy; permanent random numbers",
        guarantee=GUARANTEES[interval],
        confidence_level=confidence_level,
        n_items=int(gathered.sample.pool_sums[:, 0].sum()),
        n_labels=len(state.labels),
        n_pending=n_pending,
        pool_recall=None if theta.exact else theta.value,
        assumptions=_assumptions(state, theta),
        notes=_notes(state, theta, n_pending),
        waiting=tuple(system.name for system in state.waiting()),
    )


def estimates_of(gathered: Gathered, sample: PoolSample, theta: PoolRecall) -> dict[Metric, Estimate]:
    """Estimate every metric; where labels may be wrong, how well that is known is part of the uncertainty."""
    found = estimate_metrics(sample, pool_recall=theta)
    errors = gathered.errors
    if errors is None:
        return found
    slopes = {m: np.zeros((len(gathered.systems), 2)) for m in METRICS}
    base = estimate_metrics(gathered.settled(errors), pool_recall=theta)
    for k, name in enumerate(("sensitivity", "specificity")):
        moved = replace(errors, **{name: getattr(errors, name) - _STEP})
        other = estimate_metrics(gathered.settled(moved), pool_recall=theta)
        for m in METRICS:
            slopes[m][:, k] = (base[m].value - other[m].value) / _STEP
    spread = np.linalg.cholesky(np.asarray(errors.covariance) + 1e-12 * np.eye(2))
    return {m: found[m].with_columns(slopes[m] @ spread) for m in METRICS}


def _ends(gathered: Gathered, ends_of: Callable[[PoolSample], dict[Metric, Ends]]) -> dict[Metric, Ends]:
    """Return the intervals; with unsure answers, from all of them wrong to all of them right."""
    if not gathered.truths.n_unsure:
        return ends_of(gathered.sample)
    sides = [[ends_of(gathered.leaning(row, to=to)) for row in range(len(gathered.systems))] for to in (0.0, 1.0)]
    return {
        m: (np.array([found[m][0][k] for k, found in enumerate(sides[0])]),
            np.array([found[m][1][k] for k, found in enumerate(sides[1])]))
        for m in METRICS
    }  # fmt: skip


def differences(
    gathered: Gathered, *, theta: PoolRecall, metric: Metric, confidence_level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the paired difference of every two systems and its interval; unsure answers speak against a difference."""
    estimate = estimates_of(gathered, gathered.sample, theta)[metric]
    value, low, high = difference_interval(estimate, confidence_level=confidence_level)
    if not gathered.truths.n_unsure:
        return value, low, high
    for row in range(len(gathered.systems)):
        for to in (0.0, 1.0):
            leaned = estimates_of(gathered, gathered.leaning(row, to=to), theta)[metric]
            _, other_low, other_high = difference_interval(leaned, confidence_level=confidence_level)
            for table, other, worst in ((low, other_low, np.minimum), (high, other_high, np.maximum)):
                table[row], table[:, row] = worst(table[row], other[row]), worst(table[:, row], other[:, row])
    return value, low, high


def contrast(
    gathered: Gathered, first: System, second: System, *, theta: PoolRecall, metric: Metric, confidence_level: float
) -> Difference:
    """Return how two systems differ, on the labels that both share."""
    rows = {system.number: row for row, system in enumerate(gathered.systems)}
    for system in (first, second):
        if system.number not in rows:
            raise InvalidInput(f"'{system.name}' has too few labels yet; answer what next asks for.")
    pair = rows[first.number], rows[second.number]
    value, low, high = differences(gathered, theta=theta, metric=metric, confidence_level=confidence_level)
    return Difference(
        first=first.name,
        second=second.name,
        metric=metric,
        estimate=float(value[pair]),
        low=float(low[pair]),
        high=float(high[pair]),
        confidence_level=confidence_level,
        n_labels=int(gathered.sample.fold.size),
    )


def _score(estimate: Estimate, ends: Ends, k: int) -> Score:
    value = float(np.clip(estimate.value[k], 0.0, 1.0))
    return Score(estimate=value, low=min(float(ends[0][k]), value), high=max(float(ends[1][k]), value))


def _assumptions(state: State, theta: PoolRecall) -> tuple[str, ...]:
    of_labels = RIGHT_LABELS if state.errors is None else WRONG_LABELS
    return (of_labels, INDEPENDENT) if theta.exact else (of_labels, INDEPENDENT, READ_FOR_RECALL)


def _notes(state: State, theta: PoolRecall, n_pending: int) -> tuple[str, ...]:
    notes = []
    if theta.exact:
        notes.append("Recall is relative to the pool: no true relations from exhaustive annotation were told.")
    else:
        notes.append(
            f"The pool holds {100 * theta.value:.1f}% of the true relations told; recall counts the rest as missed."
        )
    if n_pending:
        verb = "instance asked for is" if n_pending == 1 else "instances asked for are"
        notes.append(f"{n_pending:,} {verb} not labelled yet; intervals are wider until then.")
    if state.errors is not None:
        rates = (1.0 - state.errors.sensitivity, 1.0 - state.errors.specificity)
        notes.append(
            f"Corrected for wrong labels: {100 * rates[0]:.1f}% of the right instances and {100 * rates[1]:.1f}% of "
            "the wrong ones are labelled otherwise."
        )
    if n_unsure := state.n_unsure:
        noun = "answer counts" if n_unsure == 1 else "answers count"
        notes.append(f"{n_unsure:,} unsure {noun} as wrong in the lower ends and as right in the upper ends.")
    return tuple(notes)


def _betting(
    gathered: Gathered,
    sample: PoolSample,
    state: State,
    *,
    theta: PoolRecall,
    n_inside: int,
    confidence_level: float,
) -> dict[Metric, Ends]:
    if state.settings.learn:
        raise InvalidInput("'interval' betting needs a pool created with learn=False: bets must not depend on labels.")
    if state.documents:
        raise InvalidInput("'interval' betting needs true relations drawn one by one, not whole documents.")
    if state.errors is not None:
        raise InvalidInput("'interval' betting needs labels that are right; these are corrected for errors.")
    if gathered.share_done < 1.0:
        raise InvalidInput("'interval' betting needs every instance asked for to be labelled.")
    reach = {int(n): value for draw in state.draws for n, value in draw.reach.items()}
    variance = {int(n): value for draw in state.draws for n, value in draw.variance.items()}
    low, high = guaranteed_intervals(
        sample,
        n_inside=n_inside,
        n_found=0 if theta.exact else len(state.truth),
        reach=np.array([reach[system.number] for system in gathered.systems]),
        pool_reach=max(draw.unit_reach for draw in state.draws),
        expected_variance=np.array([variance[system.number] for system in gathered.systems]),
        pool_variance=sum(draw.unit_variance for draw in state.draws),
        confidence_level=confidence_level,
    )
    return {m: (low[k], high[k]) for k, m in enumerate(METRICS)}
