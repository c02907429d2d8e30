"""Documents in JSON: plain objects with id, text and mentions, and tasks as Label Studio exports them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.documents.mentions import MOST_FAULTS, read_mention
from karat.documents.text import Document, check_document
from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karat.formats.defects import Defects
    from karat.formats.exchange import Row

    Said = tuple[str, dict[str, Any]]
    """Where a mention stands, and what is said of it."""


def document_of(row: Row, defects: Defects) -> Document:
    """Return the document of a record; what is wrong with its mentions is added to the defects."""
    record, where = row.value, row.where
    is_task = "data" in record
    data = record["data"] if is_task else record
    if not isinstance(data, dict):
        raise InvalidData(f"{where}: 'data' must be an object with 'text'; got {type(data).__name__}.")
    name, text = data.get("id", record.get("id")), data.get("text")
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise InvalidData(f"{where}: 'id' must be text or a whole number; got {name!r}.")
    if not isinstance(text, str):
        raise InvalidData(f"{where}: '{'data.' * is_task}text' must be text; got {type(text).__name__}.")
    check_document(where, str(name), text)
    mentions = []
    for place, said in _labelled_spans(record, text, where) if is_task else _plain_mentions(record, where):
        if len(defects) >= MOST_FAULTS:
            break
        with defects.caught(line=row.line):
            mentions.append(
                read_mention(text, said.get("text"), start=said.get("start"), end=said.get("end"),
                             type=said.get("type"), where=place)
            )  # fmt: skip
    return Document(name=str(name), text=text, mentions=tuple(mentions))


def _plain_mentions(record: dict[str, Any], where: str) -> Iterator[Said]:
    given = _objects(record.get("mentions"), f"{where}: 'mentions'")
    return ((f"{where}, mention {number}", each) for number, each in enumerate(given, start=1))


def _labelled_spans(task: dict[str, Any], text: str, where: str) -> Iterator[Said]:
    """Yield the labelled spans of the first annotation."""
    annotations = _objects(task.get("annotations"), f"{where}: 'annotations'")
    results = _objects(annotations[0].get("result"), f"{where}: 'result'") if annotations else []
    for number, result in enumerate(results, start=1):
        value = result.get("value")
        labels = value.get("labels") if isinstance(value, dict) else None
        if result.get("type") != "labels" or not isinstance(value, dict) or not labels:
            continue
        start, end, said = value.get("start"), value.get("end"), value.get("text")
        if isinstance(start, int) and isinstance(end, int) and isinstance(said, str):
            start, end = _from_utf16(text, start, end, said)
        label = labels[0] if isinstance(labels, list) else None
        yield f"{where}, result {number}", {"start": start, "end": end, "type": label, "text": said}


def _objects(given: Any, what: str) -> list[dict[str, Any]]:
    """Return a list of objects; none where nothing is said."""
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise InvalidData(f"{what} must be a list of objects.")
    return given


def _from_utf16(text: str, start: int, end: int, said: str) -> tuple[int, int]:
    """Label Studio counts as browsers do, in UTF-16 units; return code points where that is what fits."""
    if text[start:end] == said:
        return start, end
    units = text.encode("utf-16-le", "surrogatepass")
    low, high = (len(units[: 2 * place].decode("utf-16-le", "replace")) for place in (start, end))
    return (low, high) if text[low:high] == said else (start, end)
