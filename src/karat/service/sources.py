"""Where the tables of new projects come from: files that were uploaded, and those of a folder that the server allows.

A source is named by a text: ``upload:TOKEN`` for a file that the caller sent, ``file:PATH`` for one inside the folder.
"""

from __future__ import annotations

import contextlib
import math
import secrets
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from karat import _check
from karat.documents.read import read_documents
from karat.errors import InvalidData
from karat.formats.sizes import refuse_oversize
from karat.formats.tables import FileTable
from karat.service.problems import NotFound
from karat.service.shown import HIDDEN, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from karat.documents.text import Document

KINDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq")
"""Endings of files that may be uploaded: nothing packed, which could be far larger than it looks."""
DOCUMENT_KINDS = (".txt", ".jsonl", ".ndjson", ".json", ".zip")
"""Endings of files with documents; how much is packed in a zip is known before it is unpacked."""
MOST_HELD = 96_000_000
"""Bytes of memory that the documents of one evaluation may take while they are checked."""
MOST_FILES = 1000
MOST_ROWS, MOST_BYTES = 100_000_000, 1_000_000
"""Rows of a table, and bytes of a row."""
MOST_DEFECTS = 10_000
_WAITS = 24 * 3600.0
"""Seconds that an upload waits for its project."""
_LOOK = 200
_SCORES = ("score", "confidence", "probability", "prob", "similarity", "weight")


class Preview(NamedTuple):
    """The beginning of a table, and which of its columns could be what."""

    source: str
    name: str
    n_rows: int
    columns: list[str]
    rows: list[dict[str, Any]]
    numeric: list[str]
    score: str | None
    id: str | None
    hidden: list[str]


class Sources:
    """Files that can become projects.

    Parameters
    ----------
    uploads
        Where uploaded files are kept; made when the first one comes.
    folder
        Whose files may be named; None: nothing but uploads.
    """

    def __init__(self, uploads: Path, folder: Path | None, *, clock: Callable[[], float]) -> None:
        self._waiting, self._kept = uploads / "waiting", uploads / "kept"
        self._folder = None if folder is None else folder.resolve()
        self._clock = clock

    def new_upload(self, name: str, *, user_id: int, kinds: Sequence[str] = KINDS) -> tuple[str, Path]:
        """Return the source and the path for a file that is about to come; old ones that nobody used are removed."""
        given = Path(name.replace("\\", "/")).name
        if Path(given).suffix.lower() not in kinds or len(given.encode()) > 150 or not given.isprintable():
            raise _check.refuse("name", f"a file's name that ends in {', '.join(kinds)}", given[:160])
        self._waiting.mkdir(parents=True, exist_ok=True)
        for old in self._waiting.iterdir():
            if old.stat().st_mtime < self._clock() - _WAITS:
                old.unlink(missing_ok=True)
        token = secrets.token_hex(16)
        return f"upload:{token}", self._waiting / f"{user_id}-{token}-{given}"

    def files(self) -> list[tuple[str, int]] | None:
        """Return the files of the folder, with their sizes; None if there is no such folder."""
        if self._folder is None:
            return None
        found = (path for path in sorted(self._folder.rglob("*")) if path.suffix.lower() in KINDS and path.is_file())
        inside = (path for path in found if path.resolve().is_relative_to(self._folder))
        return [(path.relative_to(self._folder).as_posix(), path.stat().st_size)
                for path, _ in zip(inside, range(MOST_FILES), strict=False)]  # fmt: skip

    def find(self, source: str, *, user_id: int) -> tuple[Path, str]:
        """Return the path of a source and what its file is called."""
        kind, _, rest = source.partition(":")
        if kind == "upload" and rest.isalnum() and rest.isascii() and self._waiting.is_dir():
            for path in self._waiting.glob(f"{user_id}-{rest}-*"):
                return path, path.name.split("-", 2)[2]
        if kind == "file" and self._folder is not None and "\x00" not in rest:
            path = (self._folder / rest).resolve()
            with contextlib.suppress(OSError):  # a name too long to be one
                if path.is_relative_to(self._folder) and path.suffix.lower() in KINDS and path.is_file():
                    return path, rest
        raise NotFound(
            f"There is no source {source[:200]!r}: upload the file first, or name one of the folder's files."
        )

    def keep(self, source: str, *, user_id: int) -> Path:
        """Move an upload to where it stays; a file of the folder stays where it is."""
        path, _ = self.find(source, user_id=user_id)
        if not source.startswith("upload:"):
            return path
        self._kept.mkdir(parents=True, exist_ok=True)
        return path.rename(self._kept / path.name.split("-", 1)[1]).resolve()

    def discard(self, source: str, *, user_id: int) -> None:
        """Take away an upload that has served."""
        if source.startswith("upload:"):
            self.find(source, user_id=user_id)[0].unlink(missing_ok=True)

    def documents(self, source: str, *, user_id: int) -> list[Document]:
        """Return the documents of an upload."""
        if not source.startswith("upload:"):
            raise _check.refuse("documents", "an upload, as in 'upload:1f2e...'", source[:200])
        path, name = self.find(source, user_id=user_id)
        with called(path, name):
            return read_documents(path, name=name, most_held=MOST_HELD)

    def preview(self, source: str, *, user_id: int, n_rows: int = 5) -> Preview:
        """Return a table's columns and first rows, and a guess which column is the score and which names an item."""
        path, name = self.find(source, user_id=user_id)
        with called(path, name):
            refuse_oversize(path, most_rows=MOST_ROWS, most_bytes=MOST_BYTES)
            table = FileTable(path)
            rows = [plain(row) for row in table.head(_LOOK)]
        numeric = [column for column in table.columns if all(_is_number(row[column]) for row in rows)]
        distinct = [column for column in table.columns if len({str(row[column]) for row in rows}) == len(rows)]
        score = _first(table.columns, numeric, _SCORES) or next((c for c in reversed(numeric) if c != "id"), None)
        names = [column for column in distinct if column != score and (column not in numeric or column == "id")]
        id_ = _first(table.columns, distinct, ("id", "key", "name")) or next(iter(names), None)
        hidden = [column for column in table.columns if column.lower() in HIDDEN or column in {score, id_}]
        return Preview(source, name, table.n_rows, table.columns, rows[:n_rows], numeric, score, id_, hidden)


class called:  # noqa: N801  # reads as a word: with called(path, name)
    """Errors about a file speak of the name that its owner knows."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, InvalidData):
            first = islice(error.defects, MOST_DEFECTS)
            defects = [defect._replace(message=self._rename(defect.message)) for defect in first]
            raise InvalidData(self._rename(str(error)), defects=defects) from error

    def _rename(self, message: str) -> str:
        renamed = message.replace(str(self._path), self._name)
        stored = self._path.name  # some speak of a file without its folder
        return renamed if Path(self._name).name == stored else renamed.replace(stored, self._name)


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(str(value).strip()))
    except (TypeError, ValueError):
        return False


def _first(columns: Sequence[str], among: Sequence[str], wanted: Sequence[str]) -> str | None:
    by_name = {column.lower(): column for column in reversed(columns) if column in among}
    return next((by_name[name] for name in wanted if name in by_name), None)
