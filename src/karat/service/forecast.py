"""What a running project will still want: labels, answers, money."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from karat.designs.base import FixedDesign
from karat.designs.certifying import CertifyDesign
from karat.math.certify.remaining import labels_left
from karat.service import money

if TYPE_CHECKING:
    from karat.designs.base import Design
    from karat.service.campaign import Campaign
    from karat.store.answers import Spread

LEAST_LABELS = 20


class Needed(NamedTuple):
    """What is still to be bought."""

    labels: int
    answers: int
    cost: float


def forecast_labels(design: Design) -> int | None:
    """Return about how many labels are still to come; None where too little is known.

    A fixed design knows. An adaptive one is simulated from where it stands, at the rates seen so far: a planning figure
    with no guarantee, mostly right within a half.
    """
    if design.done:
        return 0
    if isinstance(design, FixedDesign):
        return design.draw.n_ranks - len(design.labels)
    if not isinstance(design, CertifyDesign) or design.labels.n_sure < LEAST_LABELS:
        return None
    if (design.draw.resource or {}).get("proxy") is not None:
        return None  # how good the proxy is cannot be drawn
    return labels_left(design.walk, seed=design.draw.seed)


def answers_needed(labels: int, spread: Spread, campaign: Campaign, *, has_gold: bool) -> Needed:
    """Return how many answers so many labels take, at as many a label as they took so far, gold questions included.

    Examples
    --------
    >>> from karat.service.campaign import Campaign
    >>> from karat.store.answers import Spread
    >>> spread = Spread(labelled_items=10, on_labelled=30, on_open=4)
    >>> answers_needed(20, spread, Campaign(votes=3, price=0.5), has_gold=False)
    Needed(labels=20, answers=56, cost=28.0)
    """
    each = spread.on_labelled / spread.labelled_items if spread.labelled_items else campaign.votes
    share = campaign.gold_share if has_gold else 0.0
    answers = ceil(max(0.0, labels * each - spread.on_open) / (1.0 - share))
    return Needed(labels, answers, money.total((answers, campaign.price)))
