"""How far a project is: the curve, labels and money, the forecast, how people agree, and what can be taken away."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from karat.formats.formulas import neutralise
from karat.service import money
from karat.service.agreement import describe
from karat.service.forecast import Needed, answers_needed, forecast_labels
from karat.service.labels import read_labels
from karat.service.studies import labels_for_design
from karat.store import answers, gold, projects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from karat.service.campaign import Campaign
    from karat.service.studies import Studies
    from karat.store.database import Database
    from karat.store.projects import Project

_WORDS = {1: "1", 0: "0", -1: "unsure"}


class Progress:
    """What the owner watches."""

    def __init__(self, database: Database, studies: Studies, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._studies = studies
        self._clock = clock
        self._forecasts: dict[int, tuple[int, int | None]] = {}  # labels then, and how many more

    def summary(self, project: Project, campaign: Campaign) -> dict[str, Any]:
        """Return labels, answers, money and how people agree."""
        with self._database.read() as connection:
            by_label = Counter(row.label for row in read_labels(connection, project))
            n_answers = answers.count_votes(connection, project.id)
        design = self._studies.design(project)
        over_target = self._studies.curve(project).worst_over_target
        return {
            "n_items": design.draw.n_items,
            "method": design.draw.method,
            "laid_out": by_label.total(),
            "labelled": by_label[1] + by_label[0],
            "unsure": by_label[-1],
            "open": by_label[None],
            "answers": n_answers,
            "price": campaign.price,
            "spent": money.total((n_answers, campaign.price)),
            "currency": campaign.currency,
            "done": design.done,
            "worst_over_target": over_target,
            "target_met": None if over_target is None else over_target <= 1,
        }

    def people(self, project: Project, campaign: Campaign) -> dict[str, Any]:
        """Return how far votes agree, and how each annotator does: on gold questions and beside the others."""
        with self._database.read() as connection:
            votes = answers.list_votes(connection, project.id)
            spending = answers.spending(connection, project.id)
            truths = gold.truths(connection, project.id)
            n_gold = gold.count(connection, project.id)
            drawn = {row.item_id for row in projects.stored_labels(connection, project.id)}
        found = describe(votes, campaign, drawn=drawn, gold=truths)
        return {
            **found.overall,
            "gold_questions": n_gold,
            "annotators": [
                {
                    "name": name,
                    "answers": count,
                    "seconds": seconds,
                    "last_at": last,
                    "cost": money.total((count, campaign.price)),
                    "on_gold": found.on_gold.get(id_),
                    "beside_others": found.beside_others.get(id_),
                }
                for id_, name, count, seconds, last in spending
            ],
        }

    def still_needed(self, project: Project, campaign: Campaign) -> Needed | None:
        """Return about how many labels and answers are still to be bought; None where that cannot be said yet.

        It may take a second, so it is asked for by itself.
        """
        labels = self._labels_needed(project)
        if labels is None:
            return None
        with self._database.read() as connection:
            spread = answers.spread(connection, project.id)
            n_gold = gold.count(connection, project.id)
        return answers_needed(labels, spread, campaign, has_gold=n_gold > 0)

    def _labels_needed(self, project: Project) -> int | None:
        design = self._studies.design(project)
        n_labels = len(design.labels)
        known = self._forecasts.get(project.id)
        # a forecast simulates the whole design: not again for every label
        if known is not None and known[0] <= n_labels < known[0] * 1.05 + 5 and not design.done:
            bought_since = n_labels - known[0]
            return None if known[1] is None else max(len(design.pending), known[1] - bought_since)
        needed = forecast_labels(design)
        self._forecasts[project.id] = (n_labels, needed)
        return needed

    # --- to take away

    def draw_document(self, project: Project) -> dict[str, Any]:
        """Return the sealed draw: with the labels it gives the same curve anywhere."""
        with self._database.read() as connection:
            return projects.draw_document(connection, project.id)

    def labels_csv(self, project: Project) -> str:
        """Return the labels as `karat curve` reads them, joined with the draw by rank."""
        with self._database.read() as connection:
            rows = projects.item_rows(connection, project.id)
            told = labels_for_design(read_labels(connection, project))
        value_of = dict(zip(told.ranks.tolist(), told.values.tolist(), strict=True))
        table = [(row.rank, row.name, _WORDS[value_of[row.rank]]) for row in rows if row.rank in value_of]
        return _csv(("rank", "item", "label"), table)

    def ledger_csv(self, project: Project) -> str:
        """Return every line of the ledger."""
        with self._database.read() as connection:
            lines = answers.events(connection, project.id)
        names = ("line", "at", "kind", "rank", "item", "user", "value", "note", "seconds", "undoes")
        return _csv(names, ([line[name] for name in names] for line in lines))

    def items_jsonl(self, project: Project) -> str:
        """Return the items with payload, label and votes, one JSON object a line."""
        with self._database.read() as connection:
            rows = projects.item_rows(connection, project.id)
            label_of = {row.item_id: row.label for row in read_labels(connection, project)}
            votes = answers.list_votes(connection, project.id)
        by_item: dict[int, list[dict[str, Any]]] = {}
        for vote in votes:
            by_item.setdefault(vote.item_id, []).append({"user": vote.user, "value": vote.value, "note": vote.note})
        lines = [
            json.dumps({"rank": row.rank, "id": row.name, "score": row.score, "payload": json.loads(row.payload),
                        "label": label_of[row.id], "votes": by_item.get(row.id, [])},
                       ensure_ascii=False, allow_nan=False)
            for row in rows
        ]  # fmt: skip
        return "".join(line + "\n" for line in lines)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(head)
    writer.writerows([neutralise(value) for value in row] for row in rows)
    return stream.getvalue()
