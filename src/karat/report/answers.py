"""The four questions of a reader with no statistics, answered in whole sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.designs import catalogue
from karat.designs.certify import Certify
from karat.designs.wrong_labels import allows_for_errors
from karat.math.certify.simulate import RateCurve, simulate_pass
from karat.math.path import bounds_at

if TYPE_CHECKING:
    from karat.curves import Curve
    from karat.draws import Draw
    from karat.math.certify.settings import Settings

TOP = 10_000
MORE = 500
_TARGETS = (0.99, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5)
WORTH_A_CUT = 100
"""A cut that keeps fewer items than this is not worth naming."""
_WORTH_LEAVING = 0.95
"""A cut that keeps more of the list than this is none."""
_HARDLY_LESS = 0.97
_SIMULATED = " (a simulation with the rates seen so far, not a promise)"
_RUNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question and what the labels say."""

    question: str
    text: str


def answer_all(curve: Curve, draw: Draw | None = None) -> list[Answer]:
    """Return the answers: all four, or without the cut where only one rank was asked about.

    Examples
    --------
    >>> from karat.designs.point import Point
    >>> design = Point(rank=50, labels=50).begin(50, seed=1)
    >>> from karat.draws import Labels
    >>> ranks = design.ask()
    >>> design.tell(Labels.from_pairs(ranks, ranks % 5 > 0))
    >>> print(answer_all(design.curve())[0].text)
    Exactly 40 of all 50 items are right, 80.0%.
    """
    rank = _rank_of_interest(curve)
    which = f"the top {rank:,}" if rank < curve.n_items else f"all {rank:,} items"
    return [
        Answer(question=f"How good is {which}?" if rank < curve.n_items else "How good is the list?",
               text=_how_good(curve, rank, which)),
        *([Answer(question="Where should I cut?", text=_where_to_cut(curve))] if curve.asked_at is None else []),
        Answer(question="How sure are we?", text=_how_sure(curve)),
        Answer(question=f"What would {MORE} more labels buy?", text=_what_more_buys(curve, draw, rank, which)),
    ]  # fmt: skip


def _rank_of_interest(curve: Curve) -> int:
    """Return the rank asked about; else the first ten thousand, or as far as the labels speak if that is far."""
    if curve.asked_at is not None:
        return curve.asked_at
    rank = min(TOP, curve.n_items)
    return min(rank, curve.reach) if curve.reach >= min(WORTH_A_CUT, rank) else rank


def _how_good(curve: Curve, rank: int, which: str) -> str:
    known, found = curve.at(rank), curve.gain_at(rank)
    if curve.crossed:
        return f"We cannot say: the labels contradict what {curve.method} takes for granted."
    if curve.contradicted and rank > curve.exact_until:
        return f"We cannot say for sure: the labels contradict what {curve.method} takes for granted." + (
            f" Our best guess is that {known.estimate:.1%} of {which} are right." if known.estimated else ""
        )
    if known.is_share_unknown:
        return "We cannot say yet: nothing is certain by now."
    if known.low == known.high:
        return f"Exactly {found.low:,.0f} of {which} are right, {known.low:.1%}."
    least, most = np.ceil(found.low - 1e-9), np.floor(found.high + 1e-9)
    guess = f" Our best guess is {known.estimate:.1%}." if known.estimated else ""
    return (
        f"Between {known.low:.1%} and {known.high:.1%} of {which} are right: at least {least:,.0f} and at most "
        f"{most:,.0f} items.{guess}"
    )


def _where_to_cut(curve: Curve) -> str:
    cuts = [(target, curve.cutoff(precision=target)) for target in _TARGETS]
    least = min(WORTH_A_CUT, curve.n_items)
    useful = [(target, cut) for target, cut in cuts if cut is not None and cut >= least]
    if useful and useful[0][1] == curve.n_items:
        del useful[1:]  # of all of it, the highest share says it all
    sentences = [
        f"Keep the first {cut:,} items ({_share(cut / curve.n_items)} of the list) to be sure that at least "
        f"{target:.0%} of what you keep is right."
        if cut < curve.n_items
        else f"Keep everything, and still at least {target:.0%} is right."
        for target, cut in useful[:2]
    ]
    if not sentences:
        sentences = ["No cut is certain to keep half of the items right, unless it keeps hardly anything."]
    everything = curve.cutoff(recall=0.9)
    if everything is not None and everything <= _WORTH_LEAVING * curve.n_items:
        sentences.append(f"Keep the first {everything:,} to be sure to lose at most a tenth of the right items.")
    return " ".join(sentences)


def _share(share: float) -> str:
    """Write a share of the list; never 0% for what is more than nothing."""
    return "less than 0.1%" if share < 0.001 else f"{share:.1%}"


def _how_sure(curve: Curve) -> str:
    if curve.contradicted or curve.crossed:
        return (
            "Not at all: the labels contradict an assumption, see the warning above. Estimates are shown, no promises."
        )
    if curve.guarantee == "exact":
        return "Certain: every item was labelled."
    labels = f"{curve.n_labels:,} labels"
    if curve.guarantee == "deterministic under assumptions":
        return f"As sure as we are of the assumptions listed below; nothing but them and {labels} enters."
    if curve.confidence_level >= 1:
        return "Certain, for the ranks that were asked about."
    odds = math.floor(1 / (1 - curve.confidence_level) + 1e-9)
    basis = (
        f"{labels} being wrong no more often than stated" if allows_for_errors(curve) else f"the {labels} being right"
    )
    return (
        f"{curve.confidence_level:.0%}, for all ranges on this page together: had we drawn other items to label, in at "
        f"most one of {odds} such evaluations would any range miss the truth. It rests on {basis} and "
        "on drawing as planned, not on how good the scores are."
    )


def _what_more_buys(curve: Curve, draw: Draw | None, rank: int, which: str) -> str:
    known = curve.at(rank)
    if curve.guarantee == "exact" or known.low == known.high:
        return f"Nothing for {which}: there is nothing left to learn."
    method = None if draw is None else catalogue.make_method(draw.method, **draw.parameters)
    width = known.high - known.low
    if isinstance(method, Certify) and curve.reach < method.goes_to(curve.n_items):
        rank = min(TOP, method.goes_to(curve.n_items))
        then = _width_with(curve, method.settings(), rank)
        return (
            "This draw is not finished: what it still asks for comes first. When all of it is labelled, the range for "
            f"the top {rank:,} will be about {100 * then:.1f} percentage points from end to end{_SIMULATED}."
        )
    if curve.n_labels + MORE >= curve.n_items:
        return f"Everything: with {curve.n_items - curve.n_labels:,} more all items are labelled."
    if not isinstance(method, Certify):
        return "That depends on the method: a method that plans its labels cannot use more than it planned."
    then = _width_with(curve, replace(method.settings(), budget=curve.n_labels + MORE, looks=1), rank)
    if then > _HARDLY_LESS * width:
        return f"Little: the range for {which} would stay about {100 * width:.1f} percentage points wide."
    return (
        f"The range for {which} would shrink from {100 * width:.1f} to about {100 * then:.1f} percentage points from "
        f"end to end{_SIMULATED}. This draw is finished and takes no more: plan them into a new one, with a budget of "
        f"{curve.n_labels + MORE:,}, or with several looks (rounds) so that you can go on from each."
    )


def _width_with(curve: Curve, settings: Settings, rank: int) -> float:
    """Return how wide the range of precision at a rank would be with these settings, simulated."""
    knots = np.unique(np.geomspace(1, curve.n_items, 15).astype(np.int64))
    found = np.r_[0.0, np.interp(knots, curve.ranks, curve.yield_estimate)]
    rates = np.clip(np.diff(found) / np.diff(np.r_[0, knots]), 0.001, 0.999)
    widths = []
    for run in range(_RUNS):
        labels = RateCurve(ranks=knots, rates=rates, seed=run)
        bounds = simulate_pass(labels, settings, seed=run, n_items=curve.n_items).bounds
        low, high = bounds_at(bounds.knots, bounds.low, bounds.high, at=[rank])
        widths.append(float(high[0] - low[0]) / rank)
    return float(np.median(widths))
