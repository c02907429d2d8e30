"""The curve of the truth: that of the labels as given, corrected by how people did on gold questions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat.designs.wrong_labels import allows_for_errors, errors_assumption
from karat.math.agreement.rates import label_rates
from karat.math.certify.noise import LabelErrors
from karat.math.label_noise import true_bounds
from karat.math.path import tighten
from karat.service.votes import decide
from karat.store import answers, gold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from karat.curves import Curve
    from karat.math.agreement.rates import LabelRates
    from karat.service.campaign import Campaign
    from karat.store.answers import Vote
    from karat.store.database import Database
    from karat.store.projects import Project

DELTA_RATES, DELTA_SCATTER = 0.005, 0.005
"""Probabilities with which the rates, and the labels' scatter about them, may be off: both add to the curve's own."""
LEAST_POWER = 0.4
"""What labels must certainly say about the truth (1: all, 0: nothing): below, hardly anything is left of the curve."""
OF_THE_TRUTH = "the truth"
OF_LABELS = "the labels as given"


class Told(NamedTuple):
    """A curve, what it speaks of, and a sentence that says so."""

    curve: Curve
    of: str
    sentence: str
    corrected: bool = False


def tell_truth(database: Database, project: Project, campaign: Campaign, curve: Curve) -> Told:
    """Return the curve of the truth where gold questions allow it; else the curve as it is, and why."""
    if allows_for_errors(curve):
        return Told(curve, OF_THE_TRUTH, "The curve speaks of the truth: it allows for the error rates given.")
    if campaign.rule != "majority":
        return _as_given(curve, f"how often the rule {campaign.rule!r} errs cannot be told from gold questions")
    if curve.guarantee not in {"finite-sample", "exact"} or curve.crossed:
        return _as_given(curve, f"the bounds of {curve.method} cannot be corrected for errors")
    with database.read() as connection:
        known = gold.truths(connection, project.id)
        votes = [vote for vote in answers.list_votes(connection, project.id) if vote.item_id in known]
        set_right = answers.any_set_right(connection, project.id)
        strangers = answers.any_from_elsewhere(connection, project.id)
    given, truth = labels_of_gold(votes, known, campaign, seed=project.id)
    why = "some labels rest on models' or imported answers, which gold questions do not test" if strangers else ""
    wanted = campaign.votes + campaign.extra
    times = "" if wanted == 1 else f" by {wanted} people"
    for value, name in ((1, "right"), (0, "wrong")):
        if value not in truth and not why:
            why = f"no gold question whose answer is “{name}” has been answered{times} yet"
    if why:
        return _as_given(curve, why)
    rates = label_rates(given, truth, confidence_level=1 - DELTA_RATES)
    (a, b), (c, d) = rates.sensitivity, rates.specificity
    if a + c - 1.0 < LEAST_POWER:
        return _as_given(curve, f"{len(truth):,} gold questions do not tell yet how often they are wrong")
    corrected = correct(curve, rates, set_right=set_right)
    return Told(
        corrected, OF_THE_TRUTH,
        f"The curve speaks of the truth: {len(truth):,} gold questions show that people call a right item "
        f"right {a:.0%} to {b:.0%} of the time, and a wrong one wrong {c:.0%} to {d:.0%}.",
        corrected=True,
    )  # fmt: skip


def labels_of_gold(
    votes: Sequence[Vote], known: Mapping[int, int], campaign: Campaign, *, seed: int
) -> tuple[list[int], list[int]]:
    """Return the labels that gold questions would have got, each from as many votes as an item gets, and the truth.

    Of a question with more votes some are drawn: several labels of one question would not be independent.
    """
    wanted = campaign.votes + campaign.extra
    by_item: dict[int, list[int]] = {}
    for vote in sorted(votes, key=lambda vote: vote.ledger_id):
        by_item.setdefault(vote.item_id, []).append(campaign.meaning(vote.value))
    labels, truth = [], []
    for item, meanings in sorted(by_item.items()):
        if len(meanings) < wanted:
            continue
        some = np.random.default_rng([seed, item]).choice(meanings, wanted, replace=False).tolist()
        asked = (decide(some[:n], wanted=campaign.votes, extra=campaign.extra, tie=campaign.tie)
                 for n in range(campaign.votes, wanted + 1))  # fmt: skip
        labels.append(next(label for label in asked if label is not None))
        truth.append(known[item])
    return labels, truth


def correct(curve: Curve, rates: LabelRates, *, set_right: bool = False) -> Curve:
    """Return the curve of the truth.

    ``set_right``: some labels are rulings or known answers, which are right more often than people's.
    """
    sensitivity, specificity = rates.sensitivity, rates.specificity
    if set_right:
        sensitivity, specificity = (sensitivity[0], 1.0), (specificity[0], 1.0)
    errors = LabelErrors(sensitivity=sensitivity, specificity=specificity)
    low, high = true_bounds(curve.ranks, curve.yield_low, curve.yield_high, errors=errors, delta=DELTA_SCATTER)
    low, high = tighten(curve.ranks, low, high)
    middle_wrong = 1.0 - sum(specificity) / 2.0
    estimate = (curve.yield_estimate - middle_wrong * curve.ranks) / max(errors.gain(), 0.01)
    spent = (1.0 - rates.confidence_level) + DELTA_SCATTER
    own = 0.0 if curve.guarantee == "exact" else 1.0 - curve.confidence_level
    return replace(
        curve,
        yield_low=low,
        yield_high=high,
        yield_estimate=np.clip(estimate, low, np.maximum(low, high)),
        confidence_level=1.0 - own - spent,
        guarantee="finite-sample",
        assumptions=(errors_assumption(errors, "Learnt from gold questions, which must be like the items labelled."),),
        worst_over_target=None,
        claimed_factor=None,
        steps={},
    )


def _as_given(curve: Curve, why: str) -> Told:
    return Told(curve, OF_LABELS, f"The curve speaks of the labels as people give them, right or wrong: {why}.")
