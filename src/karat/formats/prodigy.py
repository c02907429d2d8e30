"""Prodigy: JSON lines, one an answer: accept is positive, reject negative, ignore unsure.

Fields of an item stay together under "fields"; "text" is what Prodigy shows. Seconds, which Prodigy does not know, are
kept under "karat_seconds".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from karat.formats.exchange import Answer, Keep, Row, Task, collect_answers, group_answers, read_seconds, read_value
from karat.formats.streams import PathOrStream
from karat.formats.strict_json import plain_fields, read_records, write_records

_VERDICTS = {"accept": 1, "reject": 0, "ignore": -1}
_VERDICT_OF = {value: word for word, value in _VERDICTS.items()}
_START = datetime(1970, 1, 1, tzinfo=UTC)


def export_tasks(
    tasks: Iterable[Task],
    target: PathOrStream,
    *,
    answers: Iterable[Answer] = (),
    id_field: str = "id",
    note: str = "user_input",
) -> None:
    r"""Write tasks for Prodigy's loader; a task with answers becomes one line an answer, as `db-out` writes them.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> export_tasks([Task(id="7", fields={"phrase": "a b", "other": "c"})], stream)
    >>> print(stream.getvalue().strip())
    {"text": "phrase: a b\nother: c", "fields": {"phrase": "a b", "other": "c"}, "id": "7"}
    """
    write_records(target, _lines(tasks, answers, id_field, note), as_array=False)


def import_answers(
    source: PathOrStream,
    *,
    id_field: str = "id",
    note: str = "user_input",
    meanings: Mapping[str, int] | None = None,
    annotator: str | None = None,
    keep: Keep | None = None,
) -> list[Answer]:
    """Read the lines that `prodigy db-out` writes.

    With the choice interface (a line that has "options") the accepted option is the answer, and a task that was
    rejected or ignored as a whole is unsure.

    Parameters
    ----------
    id_field, note
        The keys that name the item and hold a note; an id inside "meta" is found too.
    meanings
        What each option of the choice interface means, as 1, 0 or -1; by default common words are known.
    annotator
        Who answered where the file does not say.
    keep
        Takes each answer in place of the list; what it refuses is a defect of the answer's row.

    Examples
    --------
    >>> import io
    >>> line = '{"text": "a b", "id": 7, "answer": "reject", "_annotator_id": "data-ann", "_timestamp": 1700000000}'
    >>> import_answers(io.StringIO(line))[0].value
    0
    """

    def parse(row: Row) -> Iterator[Answer]:
        verdict = row.value.get("answer")
        if verdict is None:
            return
        if not isinstance(verdict, str) or verdict not in _VERDICTS:
            raise row.fail("answer", "accept, reject or ignore", verdict)
        value: int | None = _VERDICTS[verdict]
        if "options" in row.value:
            value = _read_option(row, meanings) if verdict == "accept" else -1
        who = row.value.get("_annotator_id") or row.value.get("_session_id") or annotator
        text = row.value.get(note) or ""
        if not isinstance(text, str):
            raise row.fail(note, "text", text)
        if value is not None:
            yield row.answer(
                item=_read_id(row, id_field),
                annotator=row.name("_annotator_id", who, "who answered, or 'annotator' to say who it was"),
                value=value,
                note=text,
                seconds=row.read("karat_seconds", read_seconds, row.value.get("karat_seconds"), "a number of seconds"),
                time=row.read("_timestamp", _read_timestamp, row.value.get("_timestamp"), "seconds since 1970"),
            )

    return collect_answers(read_records(source), parse, keep)


def _lines(tasks: Iterable[Task], answers: Iterable[Answer], id_field: str, note: str) -> Iterator[dict[str, Any]]:
    for task, mine in group_answers(tasks, answers):
        fields = plain_fields(task.fields)
        text = fields.get("text") or "\n".join(f"{name}: {value}" for name, value in fields.items())
        line = {"text": text, "fields": fields, id_field: task.id}
        if not mine:
            yield line
        for answer in mine:
            extra: dict[str, Any] = {"answer": _VERDICT_OF[answer.value], "_annotator_id": answer.annotator}
            if answer.note:
                extra[note] = answer.note
            if answer.time is not None:
                extra["_timestamp"] = _write_timestamp(answer.time)
            if answer.seconds is not None:
                extra["karat_seconds"] = answer.seconds
            yield {**line, **extra}


def _read_id(row: Row, id_field: str) -> str:
    meta = row.value.get("meta")
    item = row.value.get(id_field, meta.get(id_field) if isinstance(meta, dict) else None)
    return row.name(id_field, item)


def _read_option(row: Row, meanings: Mapping[str, int] | None) -> int | None:
    accepted = row.value.get("accept")
    if not isinstance(accepted, list) or len(accepted) > 1:
        raise row.fail("accept", "a list with one option", accepted)
    value: int | None = row.read(
        "accept", lambda word: read_value(word, meanings), (accepted or [None])[0], "an answer"
    )
    return value


def _read_timestamp(seconds: Any) -> datetime | None:
    """Return the moment exactly to the microsecond, which arithmetic with floats would not."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(seconds)
    return _START + timedelta(microseconds=int((Decimal(repr(seconds)) * 1_000_000).to_integral_value()))


def _write_timestamp(time: datetime) -> int | float:
    microseconds = (time - _START) // timedelta(microseconds=1)
    return microseconds // 1_000_000 if microseconds % 1_000_000 == 0 else microseconds / 1_000_000
