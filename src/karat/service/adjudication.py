"""Items whose votes do not agree, and the last word on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.draws import UNSURE
from karat.service.assignment import MOST_NOTE, settle_label
from karat.service.labels import read_labels
from karat.service.problems import Conflict, NotFound
from karat.store import answers, desk

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.service.campaign import Campaign
    from karat.store.database import Database
    from karat.store.projects import Project


class Adjudication:
    """The queue of disagreements."""

    def __init__(self, database: Database, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def queue(self, project: Project, campaign: Campaign) -> list[dict[str, Any]]:
        """Return items with differing or unsure votes, each with its votes, notes and label.

        Those that nothing has decided come first, then those that the rule has decided, then those that were ruled on.
        """
        unsure = [option.value for option in campaign.options if option.meaning == "unsure"]
        with self._database.read() as connection:
            disputed = answers.disputed_items(connection, project.id, unsure=unsure)
            votes = answers.list_votes(connection, project.id)
            label_of = {row.item_id: row.label for row in read_labels(connection, project)}
        by_item: dict[int, list[dict[str, Any]]] = {}
        for vote in votes:
            by_item.setdefault(vote.item_id, []).append({"user": vote.user, "value": vote.value, "note": vote.note})
        queue = [{**item._asdict(), "label": label_of[item.item_id], "votes": by_item.get(item.item_id, [])}
                 for item in disputed]  # fmt: skip
        return sorted(queue, key=lambda entry: (entry["adjudicated"] is not None, entry["label"] not in {None, UNSURE}))

    def rule(
        self,
        project: Project,
        campaign: Campaign,
        *,
        item_id: int,
        value: str,
        request: str,
        user_id: int,
        note: str | None = None,
    ) -> None:
        """Give an item its label, whatever the votes say; a later ruling replaces it."""
        campaign.meaning(value)
        if note is not None and len(note) > MOST_NOTE:
            note = note[:MOST_NOTE]
        with self._database.write() as connection:
            known = answers.find_request(connection, user_id, request)
            if known is not None:
                if (known.kind, known.item_id, known.value) != ("adjudicate", item_id, value):
                    raise Conflict(f"The request {request!r} was already used for something else.")
                return
            if desk.find_task(connection, project.id, item_id) is None:
                raise NotFound(f"There is no item {item_id} in this project.")
            desk.lock_item(connection, item_id)
            line = answers.append(
                connection,
                "adjudicate",
                project_id=project.id,
                item_id=item_id,
                user_id=user_id,
                request=request,
                now=self._clock(),
                value=value,
                note=note,
            )
            answers.set_adjudication(connection, item_id, user_id, value=value, note=note, ledger_id=line)
            settle_label(connection, campaign, item_id)
