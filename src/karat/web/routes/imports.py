"""Answers from elsewhere, as a file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from fastapi import APIRouter, BackgroundTasks, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool

from karat.errors import InvalidInput
from karat.service.imports import Imported
from karat.web.body import receive_file
from karat.web.deps import InProject, Visit
from karat.web.shapes import labelling as shapes

router = APIRouter(prefix="/api/projects/{project}", tags=["import"])
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
Format = Literal["label-studio", "argilla", "prodigy", "mturk", "csv", "tsv", "jsonl", "parquet"]
Word = Annotated[str, Query(max_length=200)]


class Upload:
    """A file that came over the net: read as a stream, called by the name it had."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self._stream: IO[bytes] = path.open("rb")

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size)

    def close(self) -> None:
        self._stream.close()


@router.post("/import", openapi_extra=_FILE)
async def import_answers(
    request: Request,
    later: BackgroundTasks,
    visit: Annotated[Visit, Depends(InProject("manage", "manage"))],
    format: Format,
    name: Annotated[
        str, Query(min_length=1, max_length=200, description="What to call the file in messages.")
    ] = "file",
    annotator: Annotated[Word | None, Query(description="Who answered, where the file does not say.")] = None,
    id_field: Annotated[Word | None, Query(description="What names the item.")] = None,
    question: Annotated[Word | None, Query(description="What holds the answer.")] = None,
    meaning: Annotated[list[Word], Query(max_length=100, description="WORD=positive, negative or unsure.")] = [],  # noqa: B006
) -> shapes.Imported:
    """Import the answers of a file, sent as it is. All or nothing; the same file twice changes nothing."""
    options = {"annotator": annotator, "id_field": id_field, "question": question}
    meanings = read_meanings(meaning)
    with tempfile.TemporaryDirectory(prefix="karat-import-") as folder:
        path = Path(folder) / "file"
        await receive_file(request, path)
        result = await run_in_threadpool(_import, visit, Upload(path, Path(name).name), format, meanings, options)
    later.add_task(visit.house.studies.replenish, visit.project, visit.campaign)
    return shapes.Imported(**result._asdict())


def _import(
    visit: Visit, upload: Upload, format: str, meanings: dict[str, str], options: dict[str, str | None]
) -> Imported:
    try:
        return visit.house.imports.read(
            visit.project,
            visit.campaign,
            upload,  # type: ignore[arg-type]  # it has all of a stream that readers use
            format=format,
            by=visit.caller.user.id,
            meanings=meanings,
            **options,
        )
    finally:
        upload.close()


def read_meanings(pairs: list[str]) -> dict[str, str]:
    """Return the mapping that texts such as "Good=positive" say."""
    found = {}
    for pair in pairs:
        word, mark, meaning = pair.rpartition("=")
        if not mark or not word:
            raise InvalidInput(f"'meaning' must be WORD=positive, negative or unsure; got {pair!r}.")
        found[word] = meaning
    return found
