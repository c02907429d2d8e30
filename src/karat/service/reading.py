"""Reading documents exhaustively: what people mark, checked; what they agree on; the true relations that follow.

A reading is a project of its own whose items are documents, so claims, slots, ledger and roles are those of any
other. What people mark is kept beside the ledger, version by version.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy.exc import IntegrityError

from karat import _check
from karat.documents.text import sentences_of, tokens_of
from karat.math.annotation.reading import document_law, draw_documents, inclusion_of
from karat.service.assignment import Answer
from karat.service.campaign import Campaign, Option
from karat.service.evaluation_task import EvaluationTask
from karat.service.marks import Marked, agreed_relations, agreement, check_annotation, shares_found
from karat.service.problems import Conflict, NotFound
from karat.service.spending import effort_of
from karat.store import answers, desk, evaluations, people, projects
from karat.store.projects import NewItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from karat.service.assignment import Assignment
    from karat.service.pools import Pools
    from karat.store.answers import Event
    from karat.store.database import Database
    from karat.store.evaluations import Annotation, EvaluationRow
    from karat.store.people import User
    from karat.store.projects import Project

    Relation = tuple[str, str, str]

LAWS = ("uniform", "entity")
OPTIONS = (
    Option(value="done", label="Done", key="1", meaning="positive"),
    Option(value="unreadable", label="Cannot be read", key="2", meaning="negative"),
)
_SEPARATOR = chr(31)


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

    def __init__(self, database: Database, pools: Pools, assignment: Assignment, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._pools = pools
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

        answer = Answer(item_id, OPTIONS[0].value, request, None, seconds)
        self._assignment.answer(project, campaign, answer, user_id=user_id, alongside=keep)

    # --- what follows

    def marked(self, row: EvaluationRow) -> list[Marked]:
        """Return the documents with what was marked in them by those who read them to the end."""
        if row.reading_id is None:
            return []
        with self._database.read() as connection:
            found = evaluations.latest_annotations(connection, row.reading_id)
            standing = {(vote.item_id, vote.user_id): vote.value
                        for vote in answers.list_votes(connection, row.reading_id)}  # fmt: skip
            texts = evaluations.texts_of(connection, row.project_id, {each.document for each in found})
        by_document: dict[str, list[Annotation]] = defaultdict(list)
        for each in found:
            if standing.get((each.item_id, each.user_id)) == OPTIONS[0].value:
                by_document[each.document].append(each)
        return [Marked(name, texts[name], [one.content for one in each], [one.user for one in each])
                for name, each in by_document.items()]  # fmt: skip

    def summary(self, project: Project, row: EvaluationRow, campaign: Campaign) -> dict[str, Any]:
        """Return how far people agree, what they found and what it cost."""
        task = EvaluationTask.from_dict(row.settings)
        marked = self.marked(row)
        with self._database.read() as connection:
            known = evaluations.known_mentions(connection, row.project_id)
            by_label = projects.count_labels(connection, project.id)
            currency = projects.get_project(connection, row.project_id).settings["currency"]
        effort = effort_of(marked)
        truths = [relation for document in marked if len(document.readings) >= campaign.votes
                  for relation in agreed_relations(document, task)]  # fmt: skip
        return {
            "documents": sum(by_label.values()),
            "read": by_label.get(1, 0),
            "readings": sum(len(document.readings) for document in marked),
            "agreement": agreement(marked),
            "found": shares_found(marked, known, task),
            "relations": len(truths),
            **effort._asdict(),
            "spent": effort.cost(task),
            "currency": currency,
        }

    def tell(self, row: EvaluationRow, *, stated_in: Mapping[Relation, int] | None = None) -> Told:
        """Tell the pool the true relations of all documents that were read by everybody who should.

        Each counts with one over the probability with which its document was drawn, and with one over the number of
        documents that state it: as said now, else as said before, else one.
        """
        found = self._agreed(row)
        counts = {**self._counts_before(row, found), **(stated_in or {})}
        distinct = {each.relation for each in found}
        if found:
            relations = [_SEPARATOR.join(each.relation) for each in found]
            documents = [each.document for each in found]
            weights = [each.weight for each in found]
            stated = [counts.get(each.relation) for each in found]
            wanted = [weight / (count or 1) for weight, count in zip(weights, stated, strict=True)]
            with self._pools.use(row) as pool:
                state = pool.state
                if (state.truth, state.documents, state.weights, state.stated_in) != (
                    relations, documents, wanted, stated,
                ):  # fmt: skip
                    pool.tell_truth(relations, documents, weights=weights, stated_in=stated, replace=True)
        return Told(len(found), len(distinct & counts.keys()), len(distinct - counts.keys()))

    def read_in(self, row: EvaluationRow) -> dict[Relation, int]:
        """Return each relation that readers agree on, with the number of documents read that state it."""
        return _count(self._agreed(row))

    def stated_in(self, row: EvaluationRow) -> dict[Relation, int]:
        """Return how many documents state a relation, where that was told and can still be true."""
        return self._counts_before(row, self._agreed(row))

    def _counts_before(self, row: EvaluationRow, found: Sequence[_Agreed]) -> dict[Relation, int]:
        read_in = _count(found)
        with self._pools.use(row) as pool:
            told = dict(zip(pool.state.truth, pool.state.stated_in, strict=True))
        counts = {relation: told.get(_SEPARATOR.join(relation)) for relation in read_in}
        return {
            relation: count for relation, count in counts.items() if count is not None and count >= read_in[relation]
        }

    def _agreed(self, row: EvaluationRow) -> list[_Agreed]:
        """Return what readers agree on in the documents that were read by everybody who should."""
        if row.reading_id is None:
            raise NotFound("No documents were drawn for this evaluation.")
        task = EvaluationTask.from_dict(row.settings)
        with self._database.read() as connection:
            rows = projects.item_rows(connection, row.reading_id)
        inclusion = {each.name: json.loads(each.payload)["inclusion"] for each in rows if each.label == 1}
        return [
            _Agreed(relation, document.name, 1.0 / inclusion[document.name])
            for document in self.marked(row)
            if document.name in inclusion
            for relation in agreed_relations(document, task)
        ]


class Told(NamedTuple):
    """How often true relations were read; how many distinct ones have a count of their documents, and how many none."""

    relations: int
    counted: int
    uncounted: int


class _Agreed(NamedTuple):
    """A relation that readers state, in one document."""

    relation: Relation
    document: str
    weight: float


def _count(found: Iterable[_Agreed]) -> dict[Relation, int]:
    return dict(Counter(each.relation for each in found))
