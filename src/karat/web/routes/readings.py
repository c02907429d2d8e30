"""Reading documents: what to read, what was marked, how far readers agree."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query, Response

from karat.service import statements
from karat.service.naming import Naming
from karat.service.problems import NotFound
from karat.service.reading_results import Told
from karat.service.sources import called
from karat.store import evaluations
from karat.store.evaluations import EvaluationRow
from karat.web.deps import InProject, Visit
from karat.web.shapes import readings as shapes
from karat.web.shapes.base import ItemId

router = APIRouter(prefix="/api/projects/{project}", tags=["reading"])
Label = Annotated[Visit, Depends(InProject("label", "label"))]
Manage = Annotated[Visit, Depends(InProject("manage", "manage"))]
File = Annotated[str, Query(min_length=1, max_length=200, description="The file's name, for what is wrong with it.")]


@router.post("/reading", status_code=201)
def draw_documents(body: shapes.NewReading, visit: Manage) -> shapes.Reading:
    """Draw documents of an evaluation for people to read exhaustively."""
    row = visit.house.evaluations.row(visit.project)
    slug = visit.house.readings.create(visit.project, row, by=visit.caller.user, n=body.documents, law=body.law,
                                       votes=body.votes, seed=body.seed)  # fmt: skip
    return shapes.Reading(project=slug)


@router.get("/documents/{item}")
def read_document(item: ItemId, visit: Label) -> shapes.Document:
    """Return a document in your hands, and what you marked in it so far."""
    row = _row(visit)
    found = visit.house.readings.document(visit.project, row, item, user_id=visit.caller.user.id)
    task = visit.house.evaluations.task(row)
    return shapes.Document(**found, types=list(task.types), predicates=task.predicates)


@router.post("/annotations", status_code=204)
def annotate(body: shapes.MarkedDocument, visit: Label) -> Response:
    """Keep what you marked in a document and count it as read."""
    content = body.annotation.model_dump()
    visit.house.readings.annotate(
        visit.project, _row(visit), visit.campaign, item_id=body.item, content=content, request=body.request,
        user_id=visit.caller.user.id, seconds=body.seconds,
    )  # fmt: skip
    return Response(status_code=204)


@router.get("/reading")
def read_summary(visit: Annotated[Visit, Depends(InProject("watch"))]) -> shapes.ReadingSummary:
    """Return how far readers agree, what they found and what it cost."""
    found = visit.house.reading_results.summary(visit.project, _row(visit))
    return shapes.ReadingSummary(**{**found, "naming": _naming(found["naming"])})


@router.post("/reading/truth")
def tell_truth(visit: Manage) -> shapes.Told:
    """Tell the pool the relations that readers agree on: recall is against everything true from here on.

    How many documents state a relation, where that was told before, still counts.
    """
    return _told(visit.house.reading_results.tell(visit.house.evaluations.row(visit.project)))


@router.get("/reading/relations.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
def list_relations(visit: Manage) -> Response:
    """Return the relations that readers agree on, and in how many documents; the last column is to be filled in."""
    row, results = visit.house.evaluations.row(visit.project), visit.house.reading_results
    text = statements.write_counts(results.read_in(row), results.stated_in(row))
    headers = {"content-disposition": f'attachment; filename="{visit.project.slug}-relations.csv"'}
    return Response(text, media_type="text/csv", headers=headers)


@router.post("/reading/counted-truth")
def tell_counted_truth(
    visit: Manage, table: Annotated[bytes, Body(media_type="application/octet-stream")] = b"", file: File = "the table"
) -> shapes.Told:
    """Tell the pool the same with how many documents state each relation (CSV): each then counts once.

    A relation whose count is left empty counts as if one document stated it.
    """
    row = visit.house.evaluations.row(visit.project)
    with visit.house.database.read() as connection:
        n_documents, _ = evaluations.count_documents(connection, row.project_id)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{secrets.token_hex(8)}.csv"
        path.write_bytes(table)
        with called(path, file):
            counts = statements.read_counts(path, visit.house.reading_results.read_in(row), n_documents=n_documents)
    return _told(visit.house.reading_results.tell(row, stated_in=counts))


def _told(told: Told) -> shapes.Told:
    return shapes.Told(**{**told._asdict(), "naming": _naming(told.naming)})


def _naming(naming: Naming) -> shapes.Naming:
    return shapes.Naming(**naming._asdict(), sentence=naming.sentence, doubt=naming.doubt)


def _row(visit: Visit) -> EvaluationRow:
    with visit.house.database.read() as connection:
        row = evaluations.find_evaluation(connection, visit.project.id)
    if row is None or row.reading_id != visit.project.id:
        raise NotFound(f"{visit.project.slug!r} is no reading of documents.")
    return row
