"""What follows from readings: how far people agree, what they cost, the true relations, and recall told of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.pool.relation_ends import find_stated, read_ends
from karat.service.entities import agreed_relations, meet, other_names
from karat.service.evaluation_task import EvaluationTask
from karat.service.marks import Marked, agreement, count_linked, shares_found
from karat.service.naming import Naming, describe_naming
from karat.service.problems import NotFound
from karat.service.reading import DONE
from karat.service.spending import effort_of
from karat.store import answers, evaluations, projects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from karat.pool.pool import Pool
    from karat.service.entities import Agreed, Relation
    from karat.service.pools import Pools
    from karat.store.database import Database
    from karat.store.evaluations import Annotation, EvaluationRow
    from karat.store.projects import Project

_SEPARATOR = chr(31)


class Told(NamedTuple):
    """How often true relations were read; how many distinct ones have a count of their documents, and how many none."""

    relations: int
    counted: int
    uncounted: int
    naming: Naming


class _Truth(NamedTuple):
    """The relations that readers agree on, and how their ends came to their names."""

    agreed: list[Agreed]
    naming: Naming


class ReadingResults:
    """The results of all readings of an installation."""

    def __init__(self, database: Database, pools: Pools) -> None:
        self._database = database
        self._pools = pools
        self._known: dict[int, tuple[Any, _Truth]] = {}

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
            if standing.get((each.item_id, each.user_id)) == DONE.value:
                by_document[each.document].append(each)
        return [Marked(name, texts[name], [one.content for one in each], [one.user for one in each])
                for name, each in by_document.items()]  # fmt: skip

    def summary(self, project: Project, row: EvaluationRow) -> dict[str, Any]:
        """Return how far people agree, what they found and what it cost."""
        task = EvaluationTask.from_dict(row.settings)
        marked = self.marked(row)
        with self._database.read() as connection:
            known = evaluations.known_mentions(connection, row.project_id)
            by_label = projects.count_labels(connection, project.id)
            currency = projects.get_project(connection, row.project_id).settings["currency"]
        effort = effort_of(marked)
        truth = self._truth(row, marked)
        return {
            "documents": sum(by_label.values()),
            "read": by_label.get(1, 0),
            "readings": sum(len(document.readings) for document in marked),
            "agreement": agreement(marked),
            "linked": count_linked(marked),
            "found": shares_found(marked, known, task),
            "relations": len(truth.agreed),
            "naming": truth.naming,
            **effort._asdict(),
            "spent": effort.cost(task),
            "currency": currency,
        }

    def tell(self, row: EvaluationRow, *, stated_in: Mapping[Relation, int | None] | None = None) -> Told:
        """Tell the pool the true relations of all documents that were read by everybody who should.

        Each counts with one over the probability with which its document was drawn, and with one over the number of
        documents that state it: as said now, else as said before, else one; None takes back what was said before.
        """
        truth, inclusion = self._truth(row, self.marked(row)), self._inclusion(row)
        found = truth.agreed
        said = {**self._counts_before(row, found), **(stated_in or {})}
        counts = {relation: count for relation, count in said.items() if count is not None}
        distinct = {each.relation for each in found}
        if found:
            relations = [_SEPARATOR.join(each.relation) for each in found]
            documents = [each.document for each in found]
            weights = [1.0 / inclusion[each.document] for each in found]
            stated = [counts.get(each.relation) for each in found]
            wanted = [weight / (count or 1) for weight, count in zip(weights, stated, strict=True)]
            with self._pools.use(row) as pool:
                state = pool.state
                if (state.truth, state.documents, state.weights, state.stated_in) != (
                    relations, documents, wanted, stated,
                ):  # fmt: skip
                    pool.tell_truth(relations, documents, weights=weights, stated_in=stated, replace=True)
        return Told(len(found), len(distinct & counts.keys()), len(distinct - counts.keys()), truth.naming)

    def read_in(self, row: EvaluationRow) -> dict[Relation, int]:
        """Return each relation that readers agree on, with the number of documents read that state it."""
        return _count(self._truth(row, self.marked(row)).agreed)

    def stated_in(self, row: EvaluationRow) -> dict[Relation, int]:
        """Return how many documents state a relation, where that was told and can still be true."""
        return self._counts_before(row, self._truth(row, self.marked(row)).agreed)

    def _counts_before(self, row: EvaluationRow, found: Sequence[Agreed]) -> dict[Relation, int]:
        read_in = _count(found)
        with self._pools.use(row) as pool:
            told = dict(zip(pool.state.truth, pool.state.stated_in, strict=True))
        counts = {relation: told.get(_SEPARATOR.join(relation)) for relation in read_in}
        return {
            relation: count for relation, count in counts.items() if count is not None and count >= read_in[relation]
        }

    def _inclusion(self, row: EvaluationRow) -> dict[str, float]:
        """Return the documents that were read by everybody who should, with the probability that each was drawn."""
        if row.reading_id is None:
            raise NotFound("No documents were drawn for this evaluation.")
        with self._database.read() as connection:
            rows = projects.item_rows(connection, row.reading_id)
        return {each.name: json.loads(each.payload)["inclusion"] for each in rows if each.label == 1}

    def _truth(self, row: EvaluationRow, marked: Sequence[Marked]) -> _Truth:
        """Return what readers agree on in finished documents; found anew only where readers or systems changed."""
        finished = self._inclusion(row)
        documents = [document for document in marked if document.name in finished]
        with self._pools.use(row) as pool:
            given = (documents, pool.systems, tuple(pool.state.systems), row.settings)
            known = self._known.get(row.project_id)
            if known is None or known[0] != given:
                known = (given, _find_truth(documents, EvaluationTask.from_dict(row.settings), pool))
                self._known[row.project_id] = known
        return known[1]


def _find_truth(documents: Sequence[Marked], task: EvaluationTask, pool: Pool) -> _Truth:
    """Return what readers agree on, under the names that they and the systems give."""
    mentions = [(document, mention) for document in documents for reading in document.readings
                for mention in reading["mentions"]]  # fmt: skip
    places = {(document.name, mention["start"], mention["end"]) for document, mention in mentions}
    names = {document.text[mention["start"] : mention["end"]] for document, mention in mentions}
    say = read_ends(pool, places, names)
    found = [relation for document in documents for relation in agreed_relations(document, task, say)]
    possible = {name for each in found for name in (each.relation, *other_names(each, say))}
    stated = find_stated(pool, {_SEPARATOR.join(relation) for relation in possible})
    met = meet(found, say, {relation for relation in possible if _SEPARATOR.join(relation) in stated})
    return _Truth(met, describe_naming(found, met, say))


def _count(found: Iterable[Agreed]) -> dict[Relation, int]:
    return dict(Counter(each.relation for each in found))
