"""How often the labels of an evaluation are wrong, learnt from how votes on an item agree; else, why it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from karat.math.agreement.vote_errors import FEWEST_VOTES, ErrorRates, majority_errors
from karat.math.agreement.votes import UNSURE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from karat.service.campaign import Campaign
    from karat.store.answers import Vote

FEWEST_ITEMS = 100
LEAST_POWER = 0.2


class Learnt(NamedTuple):
    """The rates, or None and a sentence for those who read the scores."""

    errors: ErrorRates | None
    doubt: str | None


def learn_errors(votes: Sequence[Vote], campaign: Campaign, *, ruled: Collection[int] = ()) -> Learnt:
    """Return how often the majority is wrong.

    Items that an owner ruled on are learnt from as well, but the rates are those of the labels that nobody ruled on.
    """
    odd = campaign.votes >= FEWEST_VOTES and campaign.votes % 2 == 1
    if campaign.rule != "majority" or campaign.extra or not odd:
        return _doubt("how often they are wrong is learnt only where a majority of three, five, ... votes decides")
    by_item: dict[int, list[int]] = {}
    for vote in votes:
        by_item.setdefault(vote.item_id, []).append(campaign.meaning(vote.value))
    whole = {item: sum(each) for item, each in by_item.items() if len(each) == campaign.votes and UNSURE not in each}
    if len(whole) < FEWEST_ITEMS:
        return _doubt(f"how often they are wrong is learnt from {FEWEST_ITEMS} items with all their votes, of which "
                      f"there are {len(whole):,}")  # fmt: skip
    split = [item in ruled for item, positive in whole.items() if 0 < positive < campaign.votes]
    share = sum(split) / len(split) if split else 0.0
    found = majority_errors(list(whole.values()), n_votes=campaign.votes, share_ruled=share)
    if found.power <= LEAST_POWER:
        return _doubt("votes on the same item agree hardly more than by chance, so that they say little of the truth")
    return Learnt(found, None)


def _doubt(why: str) -> Learnt:
    return Learnt(None, f"Labels are taken for right, and scores speak of the labels as given: {why}.")
