"""Answers that were collected elsewhere: their annotators are kept by name, marked as imported, and cannot sign in.

An import makes the ledger agree with a file, all or nothing: what already stands is passed over, so the same file twice
changes nothing.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from karat import _check
from karat.errors import InvalidData
from karat.formats import catalogue
from karat.formats.streams import PathOrStream, name_of
from karat.service.assignment import MOST_NOTE, settle_votes
from karat.service.campaign import DEFAULT_OPTIONS
from karat.service.problems import NotAllowed
from karat.service.votes import MEANINGS
from karat.store import bulk, people, projects
from karat.store.bulk import Given

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy.engine import Connection

    from karat.formats.exchange import Answer
    from karat.service.campaign import Campaign
    from karat.store.database import Database
    from karat.store.projects import Project

MOST_ANSWERS = 100_000
MARK = " (imported)"
"""Names of people who sign in have no spaces, so an imported one is never taken for theirs."""
_MOST_NAME = 64 - len(MARK)


class Imported(NamedTuple):
    """What an import came to."""

    new: int
    changed: int
    unchanged: int
    annotators: list[str]


class Imports:
    """Reads files of answers into projects."""

    def __init__(self, database: Database, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def read(
        self,
        project: Project,
        campaign: Campaign,
        source: PathOrStream,
        *,
        format: str,
        by: int,
        meanings: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Imported:
        """Import the answers of a file; every defect of it is named, and then nothing is imported.

        Parameters
        ----------
        format
            One of `karat.formats.catalogue.FORMATS`.
        meanings
            Which word of the file means positive, negative or unsure; common words and the project's options are known.
        options
            What the format takes beside.
        """
        if project.state == "closed":
            raise NotAllowed("The project is closed.")
        with self._database.read() as connection:
            known = bulk.items_by_name(connection, project.id)
        gathered = _Gathered(known)
        words = _words(campaign, meanings)
        catalogue.import_answers(source, format, meanings=words, keep=gathered.keep, **options)
        with self._database.write() as connection:
            bulk.lock_project(connection, project.id)
            result = self._write(connection, project, campaign, gathered.answers)
            if result.new or result.changed:
                done = {"file": name_of(source), "format": format, "new": result.new, "changed": result.changed}
                projects.add_audit(connection, "import", now=self._clock(), user_id=by, project_id=project.id, **done)
        return result

    def _write(
        self, connection: Connection, project: Project, campaign: Campaign, answers: dict[tuple[int, str], Answer]
    ) -> Imported:
        now = self._clock()
        names = sorted({annotator for _, annotator in answers})
        ids = {name: people.ensure_user(connection, name + MARK, kind="imported", now=now) for name in names}
        standing = bulk.standing_votes(connection, project.id, ids.values())
        value_of = {MEANINGS[option.meaning]: option.value for option in reversed(campaign.options)}
        given, n_changed = [], 0
        for (item_id, annotator), answer in answers.items():
            user_id = ids[annotator]
            before = standing.get((item_id, user_id))
            at = now if answer.time is None else answer.time.timestamp()
            new = (value_of[answer.value], answer.note or None, answer.seconds)
            if before is not None and before[:3] == new and (answer.time is None or before.at == at):
                continue
            n_changed += before is not None
            key = f"{item_id}|{new!r}|{at!r}|{before and before.ledger_id}"
            request = f"import {hashlib.sha256(key.encode()).hexdigest()[:48]}"
            given.append(Given(item_id, user_id, *new, at, request))
        bulk.record(connection, project.id, given)
        for item_id in sorted({answer.item_id for answer in given}):
            settle_votes(connection, project.id, campaign, item_id)
        return Imported(len(given) - n_changed, n_changed, len(answers) - len(given), names)


class _Gathered:
    """The answers of a file that are about the project's items; of two by one annotator on an item the later counts."""

    def __init__(self, known: Mapping[str, int | None]) -> None:
        self._known = known
        self.answers: dict[tuple[int, str], Answer] = {}

    def keep(self, answer: Answer) -> None:
        item_id = self._known.get(answer.item)
        if item_id is None:
            once = "an item of the project" if answer.item not in self._known else "an id that only one item has"
            raise InvalidData(f"expected {once}; got {answer.item[:60]!r}")
        if len(answer.annotator) > _MOST_NAME or not answer.annotator.isprintable():
            raise InvalidData(f"expected a name of at most {_MOST_NAME} characters; got {answer.annotator[:60]!r}")
        if len(answer.note) > MOST_NOTE:
            raise InvalidData(f"expected a note of at most {MOST_NOTE:,} characters; got {len(answer.note):,}")
        if answer.seconds is not None and answer.seconds > 1e6:
            raise InvalidData(f"expected at most 1,000,000 seconds; got {answer.seconds:g}")
        self.answers[item_id, answer.annotator] = answer
        if len(self.answers) > MOST_ANSWERS:
            self.answers.popitem()
            raise InvalidData(f"expected at most {MOST_ANSWERS:,} answers in one file; here is one more")


def _words(campaign: Campaign, meanings: Mapping[str, str] | None) -> dict[str, int] | None:
    """Return what the words of a file mean; None for the common words, where the project has no words of its own."""
    own = {} if campaign.options == DEFAULT_OPTIONS else {
        word: option.meaning for option in campaign.options for word in (option.value, option.label)
    }  # fmt: skip
    said = {**own, **(meanings or {})}
    for word, meaning in said.items():
        _check.one_of(f"meaning of {word}", meaning, MEANINGS)
    offered = {option.meaning for option in campaign.options}
    found = {word: MEANINGS[meaning] for word, meaning in said.items() if meaning in offered}
    return found or None
