"""New evaluations: their documents, and what is asked of those who submit."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool

from karat.documents.text import count_tokens
from karat.service.access import Caller
from karat.service.evaluation_beginning import EvaluationPlan, begin_evaluation
from karat.service.evaluation_task import EvaluationTask
from karat.service.sources import DOCUMENT_KINDS, Sources
from karat.web.body import receive_file
from karat.web.deps import Administrator, house_of
from karat.web.shapes import evaluations as shapes

router = APIRouter(prefix="/api", tags=["evaluation"])
Manager = Annotated[Caller, Depends(Administrator("manage"))]
_SHOWN, _BEGINNING = 3, 300
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/documents", status_code=201, openapi_extra=_FILE)
async def upload_documents(
    request: Request, caller: Manager, name: Annotated[str, Query(min_length=1, max_length=150)]
) -> shapes.Documents:
    """Send documents (text, JSON lines, an export of Label Studio, a zip of these and of brat's files) as they are.

    They wait a day for their task.
    """
    sources: Sources = request.app.state.sources
    source, path = sources.new_upload(name, user_id=caller.user.id, kinds=DOCUMENT_KINDS)
    try:
        await receive_file(request, path)
        return await run_in_threadpool(_preview, sources, source, name, caller.user.id)
    except BaseException:  # also where it was cut off because it is too large
        path.unlink(missing_ok=True)
        raise


@router.post("/evaluations", status_code=201)
def create_evaluation(body: shapes.NewEvaluation, request: Request, caller: Manager) -> shapes.BegunEvaluation:
    """Start an evaluation: of relations in documents that were uploaded, or of any items with an id."""
    sources: Sources = request.app.state.sources
    user = caller.user
    documents = [] if body.documents is None else sources.documents(body.documents, user_id=user.id)
    more: dict[str, Any] = {} if body.types is None else {"types": tuple(body.types)}
    asked: dict[str, Any] = {"question": body.question} if body.question.strip() else {}
    plan = EvaluationPlan(
        title=body.title,
        task=EvaluationTask(kind=body.kind, predicates=body.predicates, token_price=body.token_price,
                            pair_price=body.pair_price, **more),
        settings={"guidelines": body.guidelines, "votes": body.votes, "price": body.price, "currency": body.currency,
                  **asked},
        pool={"seed": body.seed, "half_width": body.half_width, "confidence_level": body.confidence_level,
              "law": body.law},
        documents=documents,
        read=body.read,
        read_law=body.read_law,
    )  # fmt: skip
    begun = begin_evaluation(house_of(request), plan, by=user)
    if body.documents is not None:
        sources.discard(body.documents, user_id=user.id)
    return shapes.BegunEvaluation(**begun._asdict())


def _preview(sources: Sources, source: str, name: str, user_id: int) -> shapes.Documents:
    found = sources.documents(source, user_id=user_id)
    return shapes.Documents(
        source=source,
        name=name,
        n_documents=len(found),
        n_tokens=sum(count_tokens(document.text) for document in found),
        n_with_mentions=sum(bool(document.mentions) for document in found),
        first=[shapes.FirstDocument(name=each.name, text=each.text[:_BEGINNING]) for each in found[:_SHOWN]],
    )
