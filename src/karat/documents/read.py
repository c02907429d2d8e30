"""Import of documents: plain text, JSON lines, Label Studio exports, brat's stand-off files. Spans are checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.documents.text import Document, Mention, fault_of_span
from karat.errors import InvalidData
from karat.formats.streams import read_chunks
from karat.formats.strict_json import read_records

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_CHARACTERS = 1_000_000
MOST_NAME = 200
_JSON = (".jsonl", ".ndjson", ".json")


def read_documents(source: str | Path, *, name: str | None = None) -> list[Document]:
    """Read documents from a file or a folder.

    Parameters
    ----------
    source
        A text file (its name is the document's), a folder of text files, each with a ``.ann`` file of brat beside it
        if there are known mentions, or JSON (lines or an array): objects with ``id`` and ``text`` and perhaps
        ``mentions`` (``start``, ``end``, ``type``, ``text``), or tasks as Label Studio exports them.
    name
        What the file is called, where that is not how it lies here: a text file's document is named by it.
    """
    path = Path(source)
    if path.is_dir():
        texts = sorted(path.glob("*.txt"))
        if not texts:
            raise InvalidData(f"{path}: no .txt file in this folder.")
        documents = [_read_text(text) for text in texts]
    elif path.suffix.lower() in _JSON:
        documents = list(_read_json(path))
    elif path.suffix.lower() == ".txt":
        documents = [_read_text(path, name)]
    else:
        raise InvalidData(f"{path.name}: unknown ending; known are .txt, {', '.join(_JSON)}, or a folder.")
    seen: set[str] = set()
    for document in documents:
        if document.name in seen:
            raise InvalidData(f"{path.name}: document {document.name!r} appears twice.")
        seen.add(document.name)
    if not documents:
        raise InvalidData(f"{path.name}: it has no documents.")
    return documents


def _read_text(path: Path, called: str | None = None) -> Document:
    name = path.stem if called is None else Path(called).stem
    text = "".join(read_chunks(path)).replace("\r\n", "\n")
    _check_text(path.name, name, text)
    notes = path.with_suffix(".ann")
    return Document(name=name, text=text, mentions=tuple(_read_brat(notes, text)) if notes.is_file() else ())


def _read_brat(path: Path, text: str) -> Iterator[Mention]:
    """Yield the text-bound lines: ``T1<tab>Type start end<tab>text``; relations and notes are passed over."""
    for number, line in enumerate("".join(read_chunks(path)).split("\n"), start=1):
        if not line.startswith("T"):
            continue
        where = f"{path.name}, line {number}"
        parts = line.split("\t")
        head = parts[1].split(" ") if len(parts) == 3 else []
        if len(head) < 3 or not (head[1].isdigit() and head[-1].isdigit()):
            raise InvalidData(f"{where}: expected 'T1<tab>Type start end<tab>text'; got {line[:60]!r}.")
        if ";" in parts[1]:
            raise InvalidData(f"{where}: a mention in several pieces cannot be read.")
        yield _mention(text, int(head[1]), int(head[2]), head[0], parts[2], where)


def _read_json(path: Path) -> Iterator[Document]:
    for row in read_records(path):
        if row.defect is not None:
            raise row.defect
        record, where = row.value, row.where.replace(str(path), path.name)
        yield _read_label_studio(record, where) if "data" in record else _read_plain(record, where)


def _read_plain(record: dict[str, Any], where: str) -> Document:
    name, text = record.get("id"), record.get("text")
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise InvalidData(f"{where}: 'id' must be text or a whole number; got {name!r}.")
    if not isinstance(text, str):
        raise InvalidData(f"{where}: 'text' must be text; got {type(text).__name__}.")
    _check_text(where, str(name), text)
    mentions = record.get("mentions", [])
    if not isinstance(mentions, list) or not all(isinstance(each, dict) for each in mentions):
        raise InvalidData(f"{where}: 'mentions' must be a list of objects.")
    found = (
        _mention(text, m.get("start"), m.get("end"), m.get("type"), m.get("text"), f"{where}, mention {k}")
        for k, m in enumerate(mentions, start=1)
    )
    return Document(name=str(name), text=text, mentions=tuple(found))


def _read_label_studio(record: dict[str, Any], where: str) -> Document:
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
