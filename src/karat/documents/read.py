"""Import of documents: plain text, JSON lines, Label Studio exports, brat's stand-off files. Spans are checked."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.documents.archive import unpack
from karat.documents.text import Document, Mention, fault_of_span
from karat.errors import InvalidData
from karat.formats.defects import Defects
from karat.formats.streams import read_chunks
from karat.formats.strict_json import read_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from karat.formats.exchange import Row

MOST_CHARACTERS = 1_000_000
MOST_BYTES = 8_000_000
"""Of a text file, or of the spans beside it."""
MOST_NAME = 200
MOST_FAULTS = 1000
"""After so many the rest is not read."""
_JSON = (".jsonl", ".ndjson", ".json")


def read_documents(source: str | Path, *, name: str | None = None) -> list[Document]:
    """Read documents from a file or a folder; all faults are named, and any fault refuses all of it.

    Parameters
    ----------
    source
        A text file (its name is the document's), a folder (or a zip) of text files, each with a ``.ann`` file of brat
        beside it if there are known mentions, or JSON (lines or an array): objects with ``id`` and ``text`` and
        perhaps ``mentions`` (``start``, ``end``, ``type``, ``text``), or tasks as Label Studio exports them.
    name
        What the file is called, where that is not how it lies here: a text file's document is named by it.
    """
    path = Path(source)
    if path.suffix.lower() == ".zip":
        with tempfile.TemporaryDirectory(prefix="karat-documents-") as folder:
            unpack(path, Path(folder), endings=(".txt", ".ann"))
            return _read_all(_read_folder(Path(folder), path.name), path.name)
    if path.is_dir():
        return _read_all(_read_folder(path, str(path)), path.name)
    if path.suffix.lower() in _JSON:
        return _read_all(((row, row.line) for row in read_records(path)), path.name, whole=str(path))
    if path.suffix.lower() == ".txt":
        return _read_all([((path, name), None)], path.name)
    raise InvalidData(f"{path.name}: unknown ending; known are .txt, {', '.join(_JSON)}, .zip, or a folder.")


def _read_folder(folder: Path, called: str) -> Iterator[tuple[tuple[Path, None], None]]:
    texts = sorted(folder.glob("*.txt"))
    if not texts:
        raise InvalidData(f"{called}: no .txt file in it.")
    known = {text.stem for text in texts}
    for notes in sorted(folder.glob("*.ann")):
        if notes.stem not in known:
            raise InvalidData(f"{notes.name}: there is no {notes.stem}.txt beside it.")
    yield from (((text, None), None) for text in texts)


def _read_all(
    sources: Iterable[tuple[tuple[Path, str | None] | Row, int | None]], called: str, *, whole: str = ""
) -> list[Document]:
    """Read documents one by one and raise what is wrong with any of them."""
    defects, found, seen = Defects(), [], set()
    for source, line in sources:
        with defects.caught(line=line):
            document = (
                _read_text(*source, defects)
                if isinstance(source, tuple)
                else _read_json(source, whole, called, defects)
            )
            if document.name in seen:
                raise InvalidData(f"{called}: document {document.name!r} appears twice.")
            seen.add(document.name)
            found.append(document)
        if len(defects) >= MOST_FAULTS:
            defects.add(f"{called}: the rest was not read, after {len(defects):,} faults.")
            break
    if len(defects):
        raise defects.error("nothing was taken")
    if not found:
        raise InvalidData(f"{called}: it has no documents.")
    return found


def _read_text(path: Path, called: str | None, defects: Defects) -> Document:
    name = path.stem if called is None else Path(called).stem
    notes = path.with_suffix(".ann")
    for file in (path, notes) if notes.is_file() else (path,):
        if file.stat().st_size > MOST_BYTES:
            raise InvalidData(f"{file.name}: expected at most {MOST_BYTES:,} bytes; it has {file.stat().st_size:,}.")
    text = "".join(read_chunks(path)).replace("\r\n", "\n")
    _check_text(path.name, name, text)
    mentions = tuple(_read_brat(notes, text, defects)) if notes.is_file() else ()
    return Document(name=name, text=text, mentions=mentions)


def _read_brat(path: Path, text: str, defects: Defects) -> Iterator[Mention]:
    """Yield the text-bound lines: ``T1<tab>Type start end<tab>text``; relations and notes are passed over."""
    for number, line in enumerate("".join(read_chunks(path)).split("\n"), start=1):
        if not line.startswith("T") or len(defects) >= MOST_FAULTS:
            continue
        where = f"{path.name}, line {number}"
        parts = line.removesuffix("\r").split("\t")
        with defects.caught(line=number):
            head = parts[1].split(" ") if len(parts) == 3 else []
            if len(head) < 3 or not (head[1].isdigit() and head[-1].isdigit()):
                raise InvalidData(f"{where}: expected 'T1<tab>Type start end<tab>text'; got {line[:60]!r}.")
            if ";" in parts[1]:
                raise InvalidData(f"{where}: a mention in several pieces cannot be read.")
            yield _mention(text, int(head[1]), int(head[2]), head[0], parts[2], where)


def _read_json(row: Row, path: str, called: str, defects: Defects) -> Document:
    if row.defect is not None:
        raise InvalidData(str(row.defect).replace(path, called))
    record, where = row.value, row.where.replace(path, called)
    return (_read_label_studio if "data" in record else _read_plain)(record, where, row.line, defects)


def _read_plain(record: dict[str, Any], where: str, line: int | None, defects: Defects) -> Document:
    name, text = record.get("id"), record.get("text")
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise InvalidData(f"{where}: 'id' must be text or a whole number; got {name!r}.")
    if not isinstance(text, str):
        raise InvalidData(f"{where}: 'text' must be text; got {type(text).__name__}.")
    _check_text(where, str(name), text)
    given = record.get("mentions", [])
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise InvalidData(f"{where}: 'mentions' must be a list of objects.")
    mentions = []
    for number, each in enumerate(given, start=1):
        start, end, type_, said = (each.get(key) for key in ("start", "end", "type", "text"))
        with defects.caught(line=line):
            mentions.append(_mention(text, start, end, type_, said, f"{where}, mention {number}"))
    return Document(name=str(name), text=text, mentions=tuple(mentions))


def _read_label_studio(record: dict[str, Any], where: str, line: int | None, defects: Defects) -> Document:
    """Read a task; its first annotation's labelled spans are the known mentions."""
    data = record["data"] if isinstance(record["data"], dict) else {}
    text, name = data.get("text"), data.get("id", record.get("id"))
    if not isinstance(text, str):
        raise InvalidData(f"{where}: 'data.text' must be text; got {type(text).__name__}.")
    _check_text(where, str(name), text)
    annotations = record.get("annotations") or [{}]
    results = annotations[0].get("result") or []
    mentions = []
    for number, result in enumerate(results, start=1):
        value = result.get("value", {}) if isinstance(result, dict) else {}
        labels = value.get("labels")
        if result.get("type") != "labels" or not labels:
            continue
        start, end, said = value.get("start"), value.get("end"), value.get("text")
        place = f"{where}, result {number}"
        if isinstance(start, int) and isinstance(end, int) and isinstance(said, str):
            start, end = _from_utf16(text, start, end, said)
        with defects.caught(line=line):
            mentions.append(_mention(text, start, end, labels[0], said, place))
    return Document(name=str(name), text=text, mentions=tuple(mentions))


def _from_utf16(text: str, start: int, end: int, said: str) -> tuple[int, int]:
    """Label Studio counts as browsers do, in UTF-16 units; return code points where that is what fits."""
    if text[start:end] == said:
        return start, end
    units = text.encode("utf-16-le", "surrogatepass")
    low, high = (len(units[: 2 * place].decode("utf-16-le", "replace")) for place in (start, end))
    return (low, high) if text[low:high] == said else (start, end)


def _mention(text: str, start: Any, end: Any, type_: Any, said: Any, where: str) -> Mention:
    whole = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
    if not whole or not isinstance(type_, str) or not isinstance(said, str):
        raise InvalidData(f"{where}: a mention needs 'start' and 'end' (whole numbers), 'type' and 'text'.")
    fault = fault_of_span(text, start, end, said)
    if fault is not None:
        raise InvalidData(f"{where}: {fault}")
    return Mention(start=start, end=end, type=type_)


def _check_text(where: str, name: str, text: str) -> None:
    if not 1 <= len(name) <= MOST_NAME or not name.isprintable():
        raise InvalidData(f"{where}: a document's name must have 1 to {MOST_NAME} printable characters; got {name!r}.")
    if not text.strip():
        raise InvalidData(f"{where}: document {name!r} is empty.")
    if len(text) > MOST_CHARACTERS:
        raise InvalidData(f"{where}: document {name!r} has {len(text):,} characters; {MOST_CHARACTERS:,} is the most.")
    bad = next((k for k, letter in enumerate(text) if "\ud800" <= letter <= "\udfff" or letter == "\x00"), None)
    if bad is not None:
        raise InvalidData(f"{where}: document {name!r} has no character at {bad}, but half of one or a NUL.")
