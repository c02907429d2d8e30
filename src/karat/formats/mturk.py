"""Mechanical Turk: a CSV to publish a batch with, and the CSV of its results.

Mechanical Turk puts a field's text into the page of a task as it is, HTML and all: escape it in the page's template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from karat import _check
from karat.errors import InvalidData
from karat.formats.exchange import (
    WORDS,
    Answer,
    Keep,
    Row,
    Task,
    collect_answers,
    group_answers,
    read_seconds,
    read_time,
    read_value,
    write_time,
)
from karat.formats.harmless_csv import read_rows, write_rows
from karat.formats.streams import PathOrStream, name_of

_NAME = re.compile(r"[A-Za-z]\w*", flags=re.ASCII)
_ZONES = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOMENT = re.compile(r"\w{3} (\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) ([A-Z]{3}) (\d{4})")
_HEAD = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds")


def export_tasks(
    tasks: Iterable[Task],
    target: PathOrStream,
    *,
    answers: Iterable[Answer] = (),
    id_field: str = "id",
    question: str = "label",
    note: str = "note",
) -> None:
    r"""Write the CSV to publish a batch with, one row a task; with answers, a CSV like that of a batch's results.

    Fields may be named with letters, digits and underscores only, which is all that Mechanical Turk takes.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> export_tasks([Task(id="7", fields={"phrase": "=1+1"})], stream)
    >>> stream.getvalue()
    "id,phrase\r\n7,'=1+1\r\n"
    """
    listed, given = list(tasks), list(answers)
    names = [name for name in dict.fromkeys(name for task in listed for name in task.fields) if name != id_field]
    for name in (id_field, *names):
        if not _NAME.fullmatch(name):
            raise _check.refuse("fields", "named with letters, digits and underscores", name)
    if not given:
        rows = ([task.id, *(task.fields.get(name) for name in names)] for task in listed)
        write_rows(target, [id_field, *names], rows)
        return
    inputs = [f"Input.{name}" for name in (id_field, *names)]
    header = [*_HEAD, *inputs, f"Answer.{question}", f"Answer.{note}", "Approve", "Reject"]
    write_rows(target, header, _result_rows(listed, given, names))


def import_answers(
    source: PathOrStream,
    *,
    id_field: str = "id",
    question: str = "label",
    note: str = "note",
    meanings: Mapping[str, int] | None = None,
    keep: Keep | None = None,
) -> list[Answer]:
    r"""Read the results of a batch; rejected assignments and empty answers are passed over.

    Parameters
    ----------
    id_field
        The input column that names the item, without "Input.".
    question, note
        The answer columns, without "Answer."; of a radio group (columns "Answer.label.yes", "Answer.label.no" with true
        and false) the part before the last dot.
    meanings
        What each word means, as 1, 0 or -1; by default common words are known (yes, no, unsure, ...).
    keep
        Takes each answer in place of the list; what it refuses is a defect of the answer's row.

    Examples
    --------
    >>> import io
    >>> table = "WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.id,Answer.label\nA1,Approved,12,7,yes\n"
    >>> import_answers(io.StringIO(table))[0].seconds
    12.0
    """
    header, rows = read_rows(source, delimiter=",")
    item_column, column = f"Input.{id_field}", f"Answer.{question}"
    radio = {name.removeprefix(column + "."): name for name in header if name.startswith(column + ".")}
    for needed, there in (("WorkerId", False), (item_column, False), (column, bool(radio))):
        if needed not in header and not there:
            known = ", ".join(map(repr, header[:40]))
            raise InvalidData(f"{name_of(source)} has no column '{needed}'; it has {known}.")

    def parse(row: Row) -> Iterator[Answer]:
        if row.value.get("AssignmentStatus") == "Rejected":
            return
        word = row.value[column] if column in header else _read_radio(row, radio)
        value = row.read(column, lambda given: read_value(given, meanings), word, "an answer")
        if value is None:
            return
        seconds = row.value.get("WorkTimeInSeconds")
        yield row.answer(
            item=row.name(item_column, row.value[item_column]),
            annotator=row.name("WorkerId", row.value["WorkerId"]),
            value=value,
            note=row.value.get(f"Answer.{note}", ""),
            seconds=row.read("WorkTimeInSeconds", read_seconds, seconds, "a number of seconds"),
            time=row.read("SubmitTime", _read_moment, row.value.get("SubmitTime"), "a time"),
        )

    return collect_answers(rows, parse, keep)


def _result_rows(tasks: list[Task], answers: list[Answer], names: list[str]) -> Iterator[list[Any]]:
    number = 0
    for task, mine in group_answers(tasks, answers):
        for answer in mine:
            number += 1
            head = [task.id, str(number), answer.annotator, "Submitted", _write_moment(answer.time), answer.seconds]
            inputs = [task.id, *(task.fields.get(name) for name in names)]
            yield [*head, *inputs, WORDS[answer.value], answer.note, "", ""]


def _read_radio(row: Row, radio: dict[str, str]) -> str:
    if set(radio) == {"label"}:  # a crowd-classifier
        return str(row.value[radio["label"]])
    chosen = [word for word, name in radio.items() if row.value[name].strip().lower() == "true"]
    if len(chosen) > 1:
        raise row.fail(radio[chosen[0]], "one choice", ", ".join(chosen))
    return chosen[0] if chosen else ""


def _read_moment(text: str | None) -> datetime | None:
    """Return the moment of "Sun Nov 15 09:30:00 PST 2026", whatever the machine's language, or of ISO 8601 text."""
    found = _MOMENT.fullmatch(text or "")
    if found is None:
        return read_time(text)
    month, day, hour, minute, second, zone, year = found.groups()
    if month not in _MONTHS or zone not in _ZONES:
        raise ValueError(text)
    clock = timezone(timedelta(hours=_ZONES[zone]))
    parts = int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second)
    return datetime(*parts, tzinfo=clock).astimezone(UTC)


def _write_moment(time: datetime | None) -> str:
    if time is None or time.microsecond:
        return write_time(time)
    return f"{_DAYS[time.weekday()]} {_MONTHS[time.month - 1]} {time:%d %H:%M:%S} UTC {time.year}"
