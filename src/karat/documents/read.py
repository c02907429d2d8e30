"""Import of documents: plain text with brat's files beside it, JSON lines, Label Studio exports; spans are checked."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from karat.documents.files import File, file_at, files_of_folder, files_of_zip
from karat.documents.json_records import document_of
from karat.documents.mentions import MOST_FAULTS, MOST_MENTIONS, read_brat
from karat.documents.text import Document, check_document
from karat.errors import InvalidData
from karat.formats.defects import Defects
from karat.formats.streams import find_bad_byte, read_chunks
from karat.formats.strict_json import read_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import PurePosixPath

MOST_BYTES = 8_000_000
"""Of a text file, or of the spans beside it."""
TEXT, NOTES, JSON = ".txt", ".ann", (".jsonl", ".ndjson", ".json")
_KNOWN = (TEXT, NOTES, *JSON)
_MENTION_HELD = 200
"""Bytes that a mention takes in memory."""


def read_documents(source: str | Path, *, name: str | None = None, most_held: int | None = None) -> list[Document]:
    """Read documents from a file or a folder; all faults are named, and any fault refuses all of it.

    Parameters
    ----------
    source
        A text file (its name is the document's), with a ``.ann`` file of brat beside it if mentions are known; JSON
        (lines or an array): objects with ``id`` and ``text`` and perhaps ``mentions`` (``start``, ``end``, ``type``,
        ``text``), or tasks as Label Studio exports them; or a folder or a zip of any of these, and of nothing else.
    name
        What the file is called, where that is not how it lies here: a text file's document is named by it.
    most_held
        How many bytes of memory the documents may take together.
    """
    path = Path(source)
    called = path.name if name is None else name
    defects, found = Defects(), dict[str, _Placed]()
    held = 0
    with _files_of(path, called) as files:
        for placed in _read_files(files, defects):
            document, before = placed.document, found.setdefault(placed.document.name, placed)
            if before is not placed:
                said = f"{placed.where}: document {document.name!r} appears twice; first in {before.where}."
                defects.add(said, line=placed.line)
            held += sys.getsizeof(document.text) + _MENTION_HELD * len(document.mentions)
            if most_held is not None and held > most_held:
                hint = "a text with an emoji takes four bytes a character"
                raise InvalidData(f"{called}: documents may take {most_held:,} bytes of memory together ({hint}); "
                                  f"{placed.where} is beyond that.")  # fmt: skip
    if len(defects) >= MOST_FAULTS:
        defects.add(f"{called}: the rest was not read, after {len(defects):,} faults.")
    if len(defects):
        raise defects.error("nothing was taken")
    if not found:
        raise InvalidData(f"{called}: it has no documents.")
    return [placed.document for placed in found.values()]


class _Placed(NamedTuple):
    """A document and where it stands."""

    document: Document
    where: str
    line: int | None = None


@contextmanager
def _files_of(path: Path, called: str) -> Iterator[Sequence[File]]:
    ending = path.suffix.lower()
    if path.is_dir():
        yield files_of_folder(path)
    elif ending == ".zip":
        with files_of_zip(path, called=called) as files:
            yield files
    elif ending in (TEXT, *JSON):
        beside = path.with_suffix(NOTES)
        notes = [file_at(beside, name=beside.name)] if ending == TEXT and beside.is_file() else []
        yield [file_at(path, name=called), *notes]
    else:
        raise InvalidData(f"{called}: unknown ending; known are {TEXT}, {', '.join(JSON)}, .zip, or a folder.")


def _read_files(files: Sequence[File], defects: Defects) -> Iterator[_Placed]:
    """Yield the documents that can be read; what is wrong with the others is added to the defects."""
    notes = _pair(files, defects)
    for file in files:
        if len(defects) >= MOST_FAULTS:
            return
        with defects.caught():
            if file.ending == TEXT:
                yield _Placed(_read_text(file, notes.get(file.path.with_suffix("")), defects), file.name)
            elif file.ending in JSON:
                yield from _read_json(file, defects)


def _pair(files: Sequence[File], defects: Defects) -> dict[PurePosixPath, File]:
    """Return the spans of each text, by its path without ending; files that belong to none are defects."""
    texts = {file.path.with_suffix("") for file in files if file.ending == TEXT}
    notes: dict[PurePosixPath, File] = {}
    for file in files:
        stem = file.path.with_suffix("")
        if len(defects) >= MOST_FAULTS:
            break
        if file.ending not in _KNOWN:
            defects.add(f"{file.name}: unknown ending; in a folder or a zip may be {', '.join(_KNOWN)}.")
        elif file.ending == NOTES and stem not in texts:
            defects.add(f"{file.name}: there is no {stem.name}{TEXT} beside it.")
        elif file.ending == NOTES and notes.setdefault(stem, file) is not file:
            defects.add(f"{file.name}: the spans of {stem.name}{TEXT} are there twice.")
    return notes


def _read_text(file: File, notes: File | None, defects: Defects) -> Document:
    for each in (file, notes) if notes is not None else (file,):
        if each.size > MOST_BYTES:
            raise InvalidData(f"{each.name}: expected at most {MOST_BYTES:,} bytes; it has {each.size:,}.")
    with file.open() as stream:
        text = "".join(read_chunks(stream)).replace("\r\n", "\n")
    if (broken := find_bad_byte(text, file.name, 1)) is not None:
        raise broken
    check_document(file.name, file.path.stem, text)
    mentions = () if notes is None else tuple(islice(read_brat(notes, text, defects), MOST_MENTIONS + 1))
    if notes is not None and len(mentions) > MOST_MENTIONS:
        raise InvalidData(f"{notes.name}: expected at most {MOST_MENTIONS:,} mentions; it has more.")
    return Document(name=file.path.stem, text=text, mentions=mentions)


def _read_json(file: File, defects: Defects) -> Iterator[_Placed]:
    with file.open() as stream:
        for row in read_records(stream, name=file.name):
            with defects.caught(line=row.line):
                if row.defect is not None:
                    raise row.defect
                yield _Placed(document_of(row, defects), row.where, row.line)
            if len(defects) >= MOST_FAULTS:
                return
