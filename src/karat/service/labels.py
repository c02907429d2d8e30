"""The labels of a project as its rule makes them: a pure function of votes, gold questions and rulings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.math.agreement.votes import Votes
from karat.service.campaign import Campaign
from karat.service.votes import model_labels
from karat.store import answers, gold, projects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from karat.store.answers import Vote
    from karat.store.projects import LabelRow, Project


def read_labels(connection: Connection, project: Project) -> list[LabelRow]:
    """Return every item that was drawn, by rank, with its label (None: votes are missing).

    The majority of an item's own votes is stored with the item. Under the other rules the votes of the whole project
    are weighed here, anew each time, so that no two places can hold different labels. A ruling has the last word, and
    an item whose answer is known has that one.
    """
    campaign = Campaign.from_dict(project.settings)
    rows = projects.stored_labels(connection, project.id)
    if campaign.rule == "majority":
        return rows
    known = gold.truths(connection, project.id)
    fitted = model_labels(
        votes_of(answers.list_votes(connection, project.id), campaign), rule=campaign.rule, gold=known, tie=campaign.tie
    )
    kept = answers.adjudicated_items(connection, project.id) | set(known)
    return [
        row if row.label is None or row.item_id in kept else row._replace(label=fitted.get(row.item_id, row.label))
        for row in rows
    ]


def votes_of(given: Iterable[Vote], campaign: Campaign) -> Votes:
    """Return votes as arrays: item and annotator by their ids."""
    listed = list(given)
    return Votes.from_arrays(
        item=[vote.item_id for vote in listed],
        annotator=[vote.user_id for vote in listed],
        answer=[campaign.meaning(vote.value) for vote in listed],
    )
