"""From settings and the pilot's answers to everything that stays fixed while one look runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat.math.certify.band import Rules
from karat.math.certify.bets import make_bets
from karat.math.certify.layout import Parents
from karat.math.certify.pilot import FIRST_RANK, NO_FORECAST, Forecast, forecast_rates
from karat.math.certify.planner import Goal, Position, plan_ahead, scale_for_budget
from karat.math.certify.settings import Settings
from karat.math.certify.steps import NO_BUDGET, SIDE_CODES, Course
from karat.math.certify.variance import variance_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PILOT, _PILOT_MANY_PENDING = 50, 80
_PILOT_SHARE, _BUDGET_PILOT_SHARE = 0.12, 0.1
_EASY_RATE = 0.9  # few labels will do at such a rate: the pilot shall not outweigh them
_MEMORY = 0.25
_FEWEST_HITS = 10.0  # bets of a relative target start where so many positives are expected
_PLANNING_DRIFT = 6.0
_FIRST_STEP, _FIRST_STEP_SHARE = 20, 0.005  # ranks, and share of the first rank that is judged


class _Care(NamedTuple):
    """How cautiously rates are forecast and tolerances approached."""

    early: float
    jumps: float
    pseudo_labels: float
    pilot_pseudo_labels: float
    lowest_bet: float
    highest_bet: float


_TARGET_CARE = _Care(early=0.95, jumps=1.9, pseudo_labels=0.6, pilot_pseudo_labels=0.5, lowest_bet=1.0, highest_bet=1.5)
_BUDGET_CARE = _Care(early=1.0, jumps=0.0, pseudo_labels=0.5, pilot_pseudo_labels=0.15, lowest_bet=0.7, highest_bet=1.5)

NO_PARENTS = Parents(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
NO_PROXY = np.empty(0, np.uint8)


def pilot_size(settings: Settings, *, last_rank: int) -> int:
    """Return how many labels the pilot asks for."""
    if last_rank <= FIRST_RANK:
        return 0
    wish = settings.pilot
    if wish is None and settings.budget is not None:
        wish = int(_BUDGET_PILOT_SHARE * settings.budget)
    elif wish is None:
        easy = Position(0.0, 0.0, 0.0, 0.0, _EASY_RATE, 1.0)
        goal = _make_goal(settings, last_rank=last_rank, care=_TARGET_CARE)
        _, cost = plan_ahead(easy, 1.0, goal, NO_FORECAST, variance_table(settings.side), True)
        most = _PILOT_MANY_PENDING if settings.pending > 20 else _PILOT
        wish = min(most, int(_PILOT_SHARE * cost))
    if settings.budget is not None:
        wish = min(wish, settings.budget // 2)  # a pilot without a pass would buy nothing
    return min(wish, last_rank)


def _make_goal(settings: Settings, *, last_rank: int, care: _Care) -> Goal:
    """Return what planning aims at; where labels may be wrong, in units of observed labels."""
    gain = 1.0 if settings.label_errors is None else max(settings.label_errors.gain(settings.side), 0.01)
    from_rank = min(settings.from_rank, last_rank)
    return Goal(
        last_rank=float(last_rank),
        from_rank=float(from_rank),
        absolute=settings.absolute * gain,
        relative=settings.relative * gain,
        slack=settings.slack,
        early_care=care.early,
        jump_care=care.jumps,
        drift=_PLANNING_DRIFT,
        step_ratio=1.03,
    )


def make_course(
    settings: Settings,
    *,
    look: int,
    n_items: int,
    seed: int,
    forecast: Forecast,
    n_pilot: int,
    parents: Parents = NO_PARENTS,
    proxy: NDArray[np.uint8] = NO_PROXY,
    n_classes: int = 1,
) -> Course:
    """Return the fixed part of a look.

    It must not depend on any label but the pilot's: the parents enter cell by cell, as the pass reaches them.
    """
    care = _BUDGET_CARE if settings.budget is not None else _TARGET_CARE
    last_rank = min(n_items, settings.top or n_items)
    goal = _make_goal(settings, last_rank=last_rank, care=care)
    absolute, relative, from_rank = goal.absolute, goal.relative, goal.from_rank
    table = variance_table(settings.side)
    scale = settings.look_scale(look)
    budget = settings.look_budget(look, n_pilot=n_pilot)
    if settings.budget is not None:
        rate = float(forecast.rates[0]) if len(forecast.rates) else 0.5
        start = Position(0.0, 0.0, 0.0, 0.0, rate, 1.0)
        labels_left = float(max(settings.budget - n_pilot, 1))
        scale *= scale_for_budget(start, labels_left, 1.0, goal, forecast, table)
    fewest, most = _FEWEST_HITS, float(last_rank)
    if len(forecast.rates):
        fewest = max(fewest, forecast.yield_upto(from_rank) / forecast.doubt_at(from_rank))
        most = min(most, forecast.yield_upto(last_rank) * forecast.doubt_at(last_rank))
    lowest = care.lowest_bet * scale * max(absolute * from_rank, relative * fewest)
    highest = scale * max(care.highest_bet * absolute * last_rank, relative * most)
    bets = make_bets(lowest, highest, delta=settings.look_delta(look), sides=settings.n_sides)
    return Course(
        look=look,
        seed=seed,
        first_step=max(_FIRST_STEP, int(_FIRST_STEP_SHARE * from_rank)),
        last_rank=last_rank,
        side=SIDE_CODES[settings.side],
        scale=scale,
        budget=NO_BUDGET if budget is None else budget,
        kept_share=0.5 if len(parents.ends) else 0.0,
        pseudo_labels=care.pseudo_labels,
        n_classes=n_classes,
        bets=bets,
        rules=Rules(
            noisy=settings.label_errors is not None,
            bound_low=settings.side != "upper",
            bound_high=settings.side != "lower",
            memory=_MEMORY,
            absolute=scale * absolute,
            relative=scale * relative,
        ),
        goal=goal._replace(drift=bets.drift),
        forecast=forecast,
        table=table,
        parents=parents,
        proxy=proxy,
    )


def pilot_forecast(settings: Settings, ranks: NDArray[np.int64], values: NDArray[np.int8], *, n_items: int) -> Forecast:
    """Return the forecast from the pilot's answers; an unsure answer counts one half."""
    care = _BUDGET_CARE if settings.budget is not None else _TARGET_CARE
    last_rank = min(n_items, settings.top or n_items)
    labels = np.where(values < 0, 0.5, values.astype(np.float64))
    return forecast_rates(ranks, labels, n_items=last_rank, pseudo_labels=care.pilot_pseudo_labels)
