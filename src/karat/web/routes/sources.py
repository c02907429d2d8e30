"""Tables that can become projects: uploads, and the files of the server's folder."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool

from karat.service.access import Caller
from karat.service.sources import Sources
from karat.web.body import receive_file
from karat.web.deps import Administrator
from karat.web.shapes import projects as shapes

UPLOADS = "/api/uploads"
router = APIRouter(tags=["sources"])
Manager = Annotated[Caller, Depends(Administrator("manage"))]
Reader = Annotated[Caller, Depends(Administrator("read"))]
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post(UPLOADS, status_code=201, openapi_extra=_FILE)
async def upload(
    request: Request, caller: Manager, name: Annotated[str, Query(min_length=1, max_length=150)]
) -> shapes.Preview:
    """Send a table (CSV, TSV, JSON lines or Parquet) as it is; it waits a day for its project."""
    sources: Sources = request.app.state.sources
    source, path = sources.new_upload(name, user_id=caller.user.id)
    try:
        await receive_file(request, path)
        return await run_in_threadpool(_preview, sources, source, caller.user.id)
    except BaseException:  # also where it was cut off because it is too large
        path.unlink(missing_ok=True)
        raise


@router.get("/api/files")
def list_files(request: Request, caller: Reader) -> shapes.Files:  # noqa: ARG001
    """Return the tables of the folder that the server allows."""
    found = request.app.state.sources.files()
    return shapes.Files(files=None if found is None else [shapes.File(name=name, size=size) for name, size in found])


@router.get("/api/preview")
def preview(
    request: Request, caller: Reader, source: Annotated[str, Query(min_length=1, max_length=1000)]
) -> shapes.Preview:
    """Return a table's first rows, and which of its columns could be the score and the id."""
    return _preview(request.app.state.sources, source, caller.user.id)


def _preview(sources: Sources, source: str, user_id: int) -> shapes.Preview:
    return shapes.Preview(**sources.preview(source, user_id=user_id)._asdict())
