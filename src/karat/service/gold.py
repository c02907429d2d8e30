"""Gold questions: a table of items whose answer is known, mixed in among the others to see how people do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.draws import UNSURE
from karat.errors import InvalidData
from karat.formats.answers import read_word
from karat.formats.sizes import refuse_oversize
from karat.formats.tables import FileTable
from karat.service.assignment import settle_label
from karat.service.shown import are_spans, is_empty, plain, shown_columns
from karat.store import gold, projects
from karat.store.gold import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from karat.service.campaign import Campaign
    from karat.store.database import Database
    from karat.store.people import User
    from karat.store.projects import Project

MOST_QUESTIONS = 10_000
MOST_LINES = 1_000_000


class Gold:
    """The gold questions of all projects."""

    def __init__(self, database: Database, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def columns(self, project: Project, campaign: Campaign) -> list[str]:
        """Return the columns that people see of an item: a gold question must have them too, or it would stand out."""
        with self._database.read() as connection:
            document = projects.draw_document(connection, project.id)
            payload = projects.any_payload(connection, project.id)
        return shown_columns(payload, campaign, proxy=(document.get("resource") or {}).get("proxy"))

    def sometimes_empty(self, project: Project) -> set[str]:
        """Return the columns in which some item that was drawn has nothing: a gold question may lack them too."""
        with self._database.read() as connection:
            return empty_columns(projects.some_payloads(connection, project.id))

    def add(self, project: Project, campaign: Campaign, questions: Sequence[Question], *, by: User) -> int:
        """Add questions, or correct the answers of those known by their name; return how many are new."""
        with self._database.write() as connection:
            added = gold.add(connection, project.id, questions)
            for item_id in gold.drawn(connection, project.id):
                settle_label(connection, campaign, item_id)
            projects.add_audit(connection, "add gold questions", now=self._clock(), user_id=by.id,
                               project_id=project.id, added=added, given=len(questions))  # fmt: skip
        return added


def empty_columns(payloads: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the columns in which at least one item has nothing."""
    return {name for payload in payloads for name, value in payload.items() if is_empty(value)}


def read_questions(
    path: Path,
    *,
    truth: str,
    id: str | None,
    columns: Sequence[str],
    template: str = "fields",
    may_be_empty: Collection[str] = (),
) -> list[Question]:
    """Read a table of gold questions.

    Parameters
    ----------
    truth
        The column with the answers: yes and no, 1 and 0, ...
    id
        The column that names an item as the resource does; if None, the questions have no names.
    columns
        What people see of an item.
    template
        How an item is laid out: spans must lie inside their text.
    may_be_empty
        The columns in which items may have nothing; in others that would tell gold questions apart.
    """
    table = FileTable(path)
    _check.whole("questions", table.n_rows, least=1, most=MOST_QUESTIONS)
    refuse_oversize(path, most_rows=MOST_LINES)
    for column in (truth, *columns, *([] if id is None else [id])):
        table.require(column)
    if id is not None:
        table.id_numbers(id)  # missing and double ids are refused
    questions = []
    for number, row in enumerate(table.rows(np.arange(table.n_rows)), start=1):
        try:
            answer = read_word(row[truth])
        except InvalidData as error:
            raise InvalidData(f"{path}, row {number}, column '{truth}': {error}.") from None
        if answer is None or answer == UNSURE:
            raise InvalidData(f"{path}, row {number}, column '{truth}': expected yes or no; got {row[truth]!r}.")
        payload = plain({column: row[column] for column in columns})
        for column in columns:
            if is_empty(payload[column]) and column not in may_be_empty:
                raise InvalidData(f"{path}, row {number}, column '{column}': expected what people see; got nothing.")
        if template == "spans" and len(columns) > 1 and not are_spans(payload[columns[1]], str(payload[columns[0]])):
            raise InvalidData(f"{path}, row {number}, column '{columns[1]}': expected spans inside the text, "
                              f"[[start, end], ...]; got {payload[columns[1]]!r}.")  # fmt: skip
        questions.append(Question(None if id is None else str(row[id]), int(answer), payload))
    return questions
