"""Files to take away; always downloads, never shown as pages."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from karat.web.deps import InProject, Visit

router = APIRouter(prefix="/api/projects/{project}/export", tags=["export"])
Manage = Annotated[Visit, Depends(InProject("manage", "read"))]


@router.get("/labels.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
def export_labels(visit: Manage) -> Response:
    """Return the labels as `karat curve draw.json labels.csv` reads them."""
    return _file(visit.house.progress.labels_csv(visit.project), f"{visit.project.slug}-labels.csv", "text/csv")


@router.get("/ledger.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
def export_ledger(visit: Manage) -> Response:
    """Return every answer, change, skip and undo, oldest first."""
    return _file(visit.house.progress.ledger_csv(visit.project), f"{visit.project.slug}-ledger.csv", "text/csv")


@router.get("/items.jsonl", response_class=Response, responses={200: {"content": {"application/jsonl": {}}}})
def export_items(visit: Manage) -> Response:
    """Return the items with payload, label and votes."""
    text = visit.house.progress.items_jsonl(visit.project)
    return _file(text, f"{visit.project.slug}-items.jsonl", "application/jsonl")


@router.get("/draw.json", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def export_draw(visit: Manage) -> Response:
    """Return the sealed draw."""
    text = json.dumps(visit.house.progress.draw_document(visit.project), allow_nan=False)
    return _file(text, f"{visit.project.slug}-draw.json", "application/json")


def _file(text: str, name: str, kind: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
