"""How far the people of a project agree, and how each of them does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from karat.math.agreement.chance import fleiss_kappa, krippendorff_alpha
from karat.math.agreement.pairs import pairwise_agreement
from karat.math.agreement.quality import quality_against, quality_against_others
from karat.service.labels import votes_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from karat.math.agreement.quality import Quality
    from karat.math.agreement.votes import Votes
    from karat.service.campaign import Campaign
    from karat.store.answers import Vote

MOST_PAIRS = 100


class Agreement(NamedTuple):
    """What is known about all, and about each annotator by id."""

    overall: dict[str, Any]
    on_gold: dict[int, dict[str, Any]]
    beside_others: dict[int, dict[str, Any]]


def describe(
    votes: Sequence[Vote], campaign: Campaign, *, drawn: Collection[int], gold: Mapping[int, int]
) -> Agreement:
    """Return how far votes agree.

    Only the first votes of an item count, as many as every item gets: those asked for where the first ones disagree
    fall on the hard items, and coefficients of agreement need votes that were asked for alike. Gold questions count for
    nothing but accuracy on them.
    """
    shared = votes_of(_first_votes([vote for vote in votes if vote.item_id in drawn], campaign.votes), campaign)
    known = votes_of([vote for vote in votes if vote.item_id in gold], campaign)
    names = {vote.user_id: vote.user for vote in votes}
    table = shared.counts()
    alpha = krippendorff_alpha(table)
    return Agreement(
        {
            "agreement": _raw_agreement(shared),
            "shared_items": alpha.n_items,
            "krippendorff_alpha": alpha.coefficient,
            "fleiss_kappa": fleiss_kappa(table).coefficient,
            "pairs": _pairs(shared, names),
        },
        _by_annotator(known, quality_against(known, dict(gold))) if len(known) else {},
        _by_annotator(shared, quality_against_others(shared)) if len(shared) else {},
    )


def _first_votes(votes: Sequence[Vote], n: int) -> list[Vote]:
    by_item: dict[int, list[Vote]] = {}
    for vote in sorted(votes, key=lambda vote: vote.ledger_id):
        by_item.setdefault(vote.item_id, []).append(vote)
    return [vote for group in by_item.values() for vote in group[:n]]


def _raw_agreement(votes: Votes) -> float | None:
    """Return the share of pairs of votes on the same item that agree; None where no item has two votes."""
    pairs = pairwise_agreement(votes)
    return float(pairs.n_agreed.sum() / pairs.n_common.sum()) if len(pairs.n_common) else None


def _pairs(votes: Votes, names: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return the pairs of annotators with most items in common."""
    pairs = pairwise_agreement(votes)
    who = [names[id_] for id_ in votes.annotators.tolist()]
    order = (-pairs.n_common).argsort(kind="stable")[:MOST_PAIRS]
    return [
        {
            "first": who[pairs.first[place]],
            "second": who[pairs.second[place]],
            "shared_items": int(pairs.n_common[place]),
            "agreed": int(pairs.n_agreed[place]),
            "kappa": float(pairs.kappa[place]) if pairs.kappa_defined[place] else None,
        }
        for place in order.tolist()
    ]


def _by_annotator(votes: Votes, quality: Quality) -> dict[int, dict[str, Any]]:
    """Return right and sure answers of each annotator with any, and the range of the chance to be right."""
    return {
        id_: {"right": int(right), "answers": int(sure), "low": float(low), "high": float(high)}
        for id_, right, sure, low, high in zip(
            votes.annotators.tolist(), quality.n_right, quality.n_sure, quality.low, quality.high, strict=True
        )
        if sure
    }
