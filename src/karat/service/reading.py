"""Reading documents exhaustively: which are drawn, and what people mark in them, checked.

A reading is a project of its own whose items are documents, so claims, slots, ledger and roles are those of any
other. What people mark is kept beside the ledger, version by version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy.exc import IntegrityError

from karat import _check
from karat.documents.text import sentences_of, tokens_of
from karat.math.annotation.reading import document_law, draw_documents, inclusion_of
from karat.service.assignment import Answer
from karat.service.campaign import Campaign, Option
from karat.service.evaluation_task import EvaluationTask
from karat.service.marks import check_annotation
from karat.service.problems import Conflict, NotFound
from karat.store import desk, evaluations, people, projects
from karat.store.projects import NewItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy.engine import Connection

    from karat.service.assignment import Assignment
    from karat.store.answers import Event
    from karat.store.database import Database
    from karat.store.evaluations import EvaluationRow
    from karat.store.people import User
    from karat.store.projects import Project

LAWS = ("uniform", "entity")
DONE = Option(value="done", label="Done", key="1", meaning="positive")
OPTIONS = (DONE, Option(value="unreadable", label="Cannot be read", key="2", meaning="negative"))


def check_law(law: str, documents: Iterable[tuple[str, bool]], *, name: str = "law") -> None:
    """Refuse a law that would never draw some of the documents, each given with whether it has known mentions."""
    _check.one_of(name, law, LAWS)
    bare = [document for document, has_mentions in documents if not has_mentions]
    if law == "entity" and bare:
        hint = f"Under 'entity' they would never be drawn: {len(bare):,}, '{bare[0]}' the first."
        raise _check.refuse(name, "uniform where some documents have no known mentions", law, hint)


def reading_slug(slug: str) -> str:
    """Return the short name of the project in which an evaluation's documents are read."""
    return f"{slug[:52]}-documents"


class Readings:
    """All readings of an installation."""

    def __init__(self, database: Database, assignment: Assignment, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._assignment = assignment
        self._clock = clock

    def create(
        self, project: Project, row: EvaluationRow, *, by: User, n: int, law: str = "uniform", votes: int = 3, seed: int
    ) -> str:
        """Draw documents of an evaluation for people to read; return the short name of the project they do it in.

        Parameters
        ----------
        n
            How many documents.
        law
            ``uniform``, or ``entity``: a random one of the known mentions' texts, then a random document with it.
        votes
            How many people read each.
        """
        if row.reading_id is not None:
            raise Conflict("Documents of this evaluation were drawn already.")
        with self._database.read() as connection:
            known = evaluations.known_mentions(connection, project.id)
            texts = evaluations.texts_of(connection, project.id, known)
        check_law(law, [(name, bool(mentions)) for name, mentions in known.items()])
        names = list(known)
        entities = None
        if law == "entity":
            entities = [[texts[name][start:end] for start, end, _ in known[name]] for name in names]
        inclusion = inclusion_of(document_law(entities, len(names)), n)
        drawn = draw_documents(inclusion, rng=np.random.default_rng(seed))
        campaign = Campaign(
            question="Mark every mention, then every relation.",
            options=OPTIONS,
            votes=votes,
            template="document",
            lease_minutes=60,
            guidelines=project.settings["guidelines"],
        )
        new = [
            NewItem(rank, names[place], 0.0, rank - 1, {"document": names[place], "inclusion": float(inclusion[place])})
            for rank, place in enumerate(drawn.tolist(), start=1)
        ]
        slug = reading_slug(project.slug)
        try:
            with self._database.write() as connection:
                now = self._clock()
                id_ = projects.add_project(
                    connection, slug, title=f"{project.title}: documents"[:200], settings=campaign.to_dict(), now=now
                )
                people.set_member(connection, id_, by.id, role="owner", now=now)
                projects.add_items(connection, id_, new, batch=0, votes=votes)
                evaluations.set_reading(connection, project.id, id_)
                projects.add_audit(connection, "draw documents", now=now, user_id=by.id, project_id=project.id,
                                   n=n, law=law, seed=seed)  # fmt: skip
        except IntegrityError as error:
            raise Conflict(f"There is a project {slug!r} already.") from error
        return slug

    # --- annotating

    def document(self, project: Project, row: EvaluationRow, item_id: int, *, user_id: int) -> dict[str, Any]:
        """Return a document that was handed to a person, and what they marked in it so far."""
        with self._database.read() as connection:
            task = desk.find_task(connection, project.id, item_id)
            if task is None or not desk.was_handed_out(connection, item_id, user_id):
                raise NotFound(f"There is no document {item_id} in your hands.")
            text = evaluations.texts_of(connection, row.project_id, [task.name])[task.name]
            mine = evaluations.latest_annotations(connection, project.id, user_id=user_id)
        kept: dict[str, Any] = next(
            (each.content for each in mine if each.item_id == item_id), {"mentions": [], "relations": []}
        )
        return {"item": item_id, "name": task.name, "text": text, "sentences": sentences_of(text),
                "tokens": tokens_of(text), "annotation": kept}  # fmt: skip

    def annotate(
        self,
        project: Project,
        row: EvaluationRow,
        campaign: Campaign,
        *,
        item_id: int,
        content: dict[str, Any],
        request: str,
        user_id: int,
        seconds: float | None = None,
    ) -> None:
        """Keep what a person marked in a document and count it as read, both or neither; a later one takes its place.

        The same request again changes nothing; with other marks it is refused.
        """
        document = self.document(project, row, item_id, user_id=user_id)
        check_annotation(content, document["text"], EvaluationTask.from_dict(row.settings))

        def keep(connection: Connection, event: Event, is_new: bool) -> None:  # noqa: FBT001
            if is_new:
                evaluations.add_annotation(connection, item_id, user_id, content=content, now=event.at)
            elif content not in evaluations.annotations_by(connection, item_id, user_id, at=event.at):
                raise Conflict(f"The request {request!r} was already used for other marks.")

        answer = Answer(item_id, DONE.value, request, None, seconds)
        self._assignment.answer(project, campaign, answer, user_id=user_id, alongside=keep)
