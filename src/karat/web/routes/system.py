"""Is it alive, how is it doing."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse

import karat
from karat.store.upgrade import revision_of
from karat.web.deps import Anyone, house_of
from karat.web.shapes.base import Health

router = APIRouter(tags=["system"])


@router.get("/healthz", dependencies=[Depends(Anyone())])
def health(request: Request) -> Health:
    """Answer if the database answers."""
    with house_of(request).database.read() as connection:
        return Health(ok=revision_of(connection) is not None, version=karat.__version__)


@router.get("/metrics", response_class=PlainTextResponse, dependencies=[Depends(Anyone())])
def metrics(request: Request) -> PlainTextResponse:
    """Return counts and durations of requests for Prometheus."""
    return PlainTextResponse(request.app.state.metrics.text())
