"""The queue of disagreements."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from karat.web.deps import InProject, Visit
from karat.web.routes.tasks import fields_of
from karat.web.shapes import labelling as shapes

router = APIRouter(prefix="/api/projects/{project}", tags=["adjudication"])


@router.get("/disagreements")
def list_disagreements(visit: Annotated[Visit, Depends(InProject("manage", "manage"))]) -> list[shapes.Dispute]:
    """Return items whose votes differ or are unsure, with all votes and notes; settled ones last."""
    queue = visit.house.adjudication.queue(visit.project, visit.campaign)
    return [
        shapes.Dispute(item=entry["item_id"], fields=fields_of(visit, entry["payload"]), label=entry["label"],
                       adjudicated=entry["adjudicated"], votes=[shapes.Vote(**vote) for vote in entry["votes"]])
        for entry in queue
    ]  # fmt: skip


@router.post("/adjudications", status_code=204)
def adjudicate(body: shapes.Ruling, visit: Annotated[Visit, Depends(InProject("manage", "manage"))]) -> Response:
    """Give an item its label, whatever the votes say."""
    visit.house.adjudication.rule(
        visit.project,
        visit.campaign,
        item_id=body.item,
        value=body.value,
        request=body.request,
        note=body.note,
        user_id=visit.caller.user.id,
    )
    return Response(status_code=204)
