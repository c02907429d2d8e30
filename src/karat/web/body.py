"""A file that is a request's body."""

from __future__ import annotations

from pathlib import Path

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from karat.errors import InvalidInput


async def receive_file(request: Request, path: Path) -> None:
    """Write the body to ``path`` piece by piece; a form is refused, as its parts would be taken for lines."""
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        raise InvalidInput(
            "The file must be the body of the request, as `curl --data-binary @FILE` sends it; got a form."
        )
    with path.open("wb") as stream:
        async for chunk in request.stream():
            await run_in_threadpool(stream.write, chunk)
