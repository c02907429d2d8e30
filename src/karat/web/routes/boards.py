"""Public leaderboards, open to anybody who has the address."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request

from karat.web.deps import Anyone, Slug, house_of
from karat.web.routes.evaluations import Metric
from karat.web.shapes import boards as shapes

router = APIRouter(prefix="/api/boards", tags=["evaluation"])


@router.get("/{project}", dependencies=[Depends(Anyone())])
def read_board(request: Request, project: Slug, metric: Metric = "f1") -> shapes.Board:
    """Return the scores of an evaluation whose owner published them to anyone; else it is as if there were none."""
    return shapes.Board(**house_of(request).boards.read(project, metric=metric))
