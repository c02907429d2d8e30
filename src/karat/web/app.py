"""`create_app(settings)`: the service as an ASGI application."""

from __future__ import annotations

import itertools
import json
import logging
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

import karat
from karat import _check
from karat.errors import InvalidData, InvalidInput, KaratError
from karat.judges.settings import read_judges
from karat.service.installation import Installation
from karat.service.problems import Conflict, NotAllowed, NotFound, NotSignedIn, TooManyTries
from karat.service.sources import Sources
from karat.web.guards import Guards, Metrics
from karat.web.logs import configure_logging
from karat.web.routes import (
    adjudications,
    boards,
    evaluation_tasks,
    evaluations,
    exports,
    gold,
    imports,
    judges,
    members,
    progress,
    projects,
    readings,
    sessions,
    sources,
    system,
    tasks,
    tokens,
)
from karat.web.settings import Settings
from karat.web.shapes.base import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

STATIC = Path(__file__).parent / "static"
_STATUS: dict[type[KaratError], int] = {
    NotSignedIn: 401,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    TooManyTries: 429,
    InvalidInput: 400,
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 401, 403, 404, 409, 413, 422, 429)
}
_log = logging.getLogger("karat.web")


def create_app(settings: Settings, *, house: Installation | None = None) -> FastAPI:
    """Return the application; an empty database is set up."""
    opened = house or Installation(settings.db, judges=read_judges(settings.judges), pools=settings.pools)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        if house is None:
            opened.close()

    app = FastAPI(
        title="karat",
        version=karat.__version__,
        summary="Label items, watch the certified curve.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        responses=_PROBLEMS,
        lifespan=lifespan,
    )
    app.state.house, app.state.settings, app.state.metrics = opened, settings, Metrics()
    folder = Path(settings.folder) if settings.folder else None
    app.state.sources = Sources(settings.uploads_folder, folder, clock=opened.clock)
    for module in (sessions, tokens, sources, projects, members, tasks, progress, gold, adjudications, exports,
                   imports, judges, evaluation_tasks, evaluations, boards, readings, system):  # fmt: skip
        app.include_router(module.router)
    app.add_api_route("/", _page, include_in_schema=False)
    if STATIC.is_dir():
        app.mount("/assets", StaticFiles(directory=STATIC / "assets"), name="assets")
    app.add_exception_handler(KaratError, _explain)
    app.add_exception_handler(RequestValidationError, _explain_shape)
    app.add_exception_handler(HTTPException, _explain_http)
    app.add_middleware(
        Guards, metrics=app.state.metrics, most_body=settings.most_body, most_upload=settings.most_upload
    )
    return app


def from_environment() -> FastAPI:
    """Return the application as the environment says; for servers that start it by name."""
    settings = Settings.read()
    configure_logging(settings.log)
    return create_app(settings)


def _page() -> Response:
    index = STATIC / "index.html"
    if not index.is_file():
        return PlainTextResponse("The page was not built; the API is at /api/openapi.json.", status_code=503)
    return FileResponse(index)


def _explain(_request: Request, error: Exception) -> Response:
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    if status == 500:
        _log.exception("not explained", exc_info=error)
    headers = {"retry-after": str(round(error.seconds))} if isinstance(error, TooManyTries) else None
    if isinstance(error, InvalidData) and error.defects:
        return StreamingResponse(_list_defects(error), status_code=status, media_type="application/json")
    field = error.argument if isinstance(error, InvalidInput) else None
    return JSONResponse({"detail": str(error), "field": field}, status_code=status, headers=headers)


def _list_defects(error: InvalidData) -> Iterator[str]:
    """Yield the answer piece by piece: there may be a million defects."""
    yield f'{{"detail": {json.dumps(str(error))}, "field": null, "defects": ['
    listed, mark = iter(error.defects), ""
    while some := list(itertools.islice(listed, 1000)):  # every piece costs a turn of a thread
        yield mark + ",".join(json.dumps(defect._asdict()) for defect in some)
        mark = ","
    yield "]}"


def _explain_shape(_request: Request, error: Exception) -> Response:
    """Say what is wrong with a request without repeating it: it may hold a password, or NaN."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    found = [f"{'.'.join(str(part) for part in entry['loc'])}: {_wrong(entry)}" for entry in error.errors()[:5]]
    places = [entry["loc"] for entry in error.errors()[:1] if len(entry["loc"]) > 1]
    field = next((str(part) for part in reversed(places[0]) if isinstance(part, str)), None) if places else None
    return JSONResponse({"detail": "; ".join(found), "field": field}, status_code=422)


def _wrong(entry: Mapping[str, Any]) -> str:
    """Say what is wrong with a field; what was given is repeated only where it is a number with a comma."""
    given = entry.get("input")
    if entry["type"] == "float_parsing" and isinstance(given, str) and _check.has_comma(given):
        return str(_check.no_number(str(entry["loc"][-1]), given))
    return str(entry["msg"])


def _explain_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    return JSONResponse({"detail": str(error.detail)}, status_code=error.status_code, headers=error.headers)
