"""What an evaluation cost so far: judging instances, and reading documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from karat.documents.text import count_tokens
from karat.service import money
from karat.service.evaluation_task import EvaluationTask
from karat.service.marks import Marked, count_pairs
from karat.store import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from karat.service.campaign import Campaign
    from karat.store.database import Database
    from karat.store.evaluations import EvaluationRow


class Effort(NamedTuple):
    """What readers were paid for: tokens read, and pairs of mentions in a sentence judged."""

    tokens: int
    pairs: int

    def cost(self, task: EvaluationTask) -> float:
        return money.total((self.tokens, task.token_price), (self.pairs, task.pair_price))


class Spent(NamedTuple):
    """Money spent on an evaluation."""

    judging: float
    reading: float

    @property
    def in_all(self) -> float:
        return money.total((1, self.judging), (1, self.reading))


def effort_of(documents: Iterable[Marked]) -> Effort:
    """Count what those who read documents to the end read and judged."""
    tokens = pairs = 0
    for document in documents:
        for reading in document.readings:
            tokens += count_tokens(document.text)
            pairs += count_pairs(document.text, reading)
    return Effort(tokens, pairs)


class Spending:
    """Adds up what was spent; readings are counted anew only if there are new ones."""

    def __init__(self, database: Database, marked: Callable[[EvaluationRow], list[Marked]]) -> None:
        self._database = database
        self._marked = marked
        self._efforts: dict[int, tuple[tuple[int, ...], Effort]] = {}

    def so_far(self, row: EvaluationRow, campaign: Campaign) -> Spent:
        with self._database.read() as connection:
            n_answers = answers.count_votes(connection, row.project_id)
        judging = money.total((n_answers, campaign.price))
        return Spent(judging, self._effort(row).cost(EvaluationTask.from_dict(row.settings)))

    def _effort(self, row: EvaluationRow) -> Effort:
        if row.reading_id is None:
            return Effort(0, 0)
        with self._database.read() as connection:
            version = answers.version(connection, row.reading_id)
        known = self._efforts.get(row.reading_id)
        if known is None or known[0] != version:
            known = (version, effort_of(self._marked(row)))
            self._efforts[row.reading_id] = known
        return known[1]
