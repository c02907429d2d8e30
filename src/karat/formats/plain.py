"""Plain tables of answers by several annotators: CSV, TSV, JSON lines and Parquet, one row an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from karat import _check, _sql
from karat.errors import InvalidData, InvalidInput
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
from karat.formats.sizes import no_parquet, refuse_long_rows
from karat.formats.streams import PathOrStream, name_of
from karat.formats.strict_json import plain_fields, read_records, write_records

KINDS = ("csv", "tsv", "jsonl", "parquet")
_KIND_OF = {".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
            ".parquet": "parquet", ".pq": "parquet"}  # fmt: skip
RECOGNISED: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item", "item_id", "task", "task_id"),
    "annotator": ("annotator", "annotator_id", "worker", "worker_id", "workerid", "user", "user_id", "rater", "judge"),
    "label": ("label", "answer", "vote", "value", "judgement", "judgment"),
    "note": ("note", "comment", "remark"),
    "seconds": ("seconds", "duration", "lead_time", "worktimeinseconds"),
    "time": ("time", "timestamp", "created_at", "submitted_at"),
}
"""Names that columns are recognised by, whatever their case; the first one is written."""
_KNOWN = {word for words in RECOGNISED.values() for word in words}
_MOST_PARQUET_ROW = 50_000


def export_tasks(
    tasks: Iterable[Task], target: PathOrStream, *, answers: Iterable[Answer] = (), kind: str | None = None
) -> None:
    r"""Write one row a task with empty columns to answer in; with answers, one row an answer.

    Fields that are called like one of the columns written here (id, annotator, label, note, seconds, time) are left
    out.

    Parameters
    ----------
    kind
        "csv", "tsv", "jsonl" or "parquet"; by default what the target's name ends in says.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> export_tasks([Task(id="7", fields={"phrase": "a b"})], stream, kind="csv")
    >>> stream.getvalue()
    'id,phrase,annotator,label,note,seconds,time\r\n7,a b,,,,,\r\n'
    """
    kind = _kind(target, kind)
    listed = list(tasks)
    names = [name for name in dict.fromkeys(name for task in listed for name in task.fields) if name not in RECOGNISED]
    header = ["id", *names, "annotator", "label", "note", "seconds", "time"]
    rows = _rows(listed, answers, names)
    if kind == "jsonl":
        records = (dict(zip(header, row, strict=True)) for row in rows)
        write_records(target, (plain_fields(record) for record in records), as_array=False)
    elif kind == "parquet":
        _write_parquet(target, header, list(rows))
    else:
        write_rows(target, header, rows, delimiter="\t" if kind == "tsv" else ",")


def import_answers(
    source: PathOrStream,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    annotator: str | None = None,
    meanings: Mapping[str, int] | None = None,
    keep: Keep | None = None,
) -> list[Answer]:
    r"""Read a table with one row an answer; rows without an answer are passed over.

    Parameters
    ----------
    kind
        "csv", "tsv", "jsonl" or "parquet"; by default what the source's name ends in says.
    columns
        What the columns for id, annotator, label, note, seconds and time are called; the common names are recognised.
    annotator
        Who answered, where there is no such column.
    meanings
        What each word means, as 1, 0 or -1; by default common words are known (yes, no, unsure, ...).
    keep
        Takes each answer in place of the list; what it refuses is a defect of the answer's row.

    Examples
    --------
    >>> import io
    >>> table = "item,worker,vote\na,ann,yes\na,bob,no\nb,ann,\n"
    >>> [(answer.annotator, answer.value) for answer in import_answers(io.StringIO(table), kind="csv")]
    [('ann', 1), ('bob', 0)]
    """
    kind = _kind(source, kind)
    chosen = dict(columns or {})
    for name in chosen:
        _check.one_of("columns", name, RECOGNISED)
    header: list[str] | None = None
    if kind == "jsonl":
        rows = read_records(source)
    elif kind == "parquet":
        header, rows = read_parquet(source, lambda name: name in chosen.values() or name.lower() in _KNOWN)
    else:
        header, rows = read_rows(source, delimiter="\t" if kind == "tsv" else None)
    places = None if header is None else _places(header, chosen, name_of(source), annotator)

    def parse(row: Row) -> Iterator[Answer]:
        place = places if places is not None else _places(list(row.value), chosen, row.where, annotator)
        cell = {name: row.value.get(column) for name, column in place.items()}
        word = cell.get("label")
        value = row.read(place["label"], lambda given: read_value(given, meanings), word, "an answer")
        if value is None:
            return
        who = cell.get("annotator")
        yield row.answer(
            item=row.name(place["id"], cell["id"]),
            annotator=annotator if who in (None, "") and annotator else row.name(place.get("annotator", ""), who),
            value=value,
            note=cell.get("note") or "",
            seconds=row.read(place.get("seconds", ""), read_seconds, cell.get("seconds"), "a number of seconds"),
            time=row.read(place.get("time", ""), read_time, cell.get("time"), "a time such as 2026-01-31T12:00Z"),
        )

    return collect_answers(rows, parse, keep)


# --- inside


def _kind(place: PathOrStream, kind: str | None) -> str:
    if kind is not None:
        return _check.one_of("kind", kind, KINDS)
    found = _KIND_OF.get(Path(name_of(place)).suffix.lower())
    if found is None:
        raise InvalidInput(
            f"{name_of(place)} is of no known kind; give 'kind' or a name that ends in {', '.join(_KIND_OF)}."
        )
    return found


def _rows(tasks: list[Task], answers: Iterable[Answer], names: list[str]) -> Iterator[list[Any]]:
    for task, mine in group_answers(tasks, answers):
        head = [task.id, *(task.fields.get(name) for name in names)]
        if not mine:
            yield [*head, *[None] * 5]
        for answer in mine:
            time = write_time(answer.time) or None
            yield [*head, answer.annotator, WORDS[answer.value], answer.note or None, answer.seconds, time]


def _places(header: list[str], chosen: Mapping[str, str], where: str, annotator: str | None) -> dict[str, str]:
    """Return which column holds what; raise if one that is needed is not there."""
    lowered = {name.lower(): name for name in reversed(header)}
    places = {}
    for name, known in RECOGNISED.items():
        wanted = [chosen[name]] if name in chosen else [lowered[word] for word in known if word in lowered]
        found = [column for column in wanted if column in header]
        if found:
            places[name] = found[0]
    for name in ("id", "annotator", "label"):
        if name not in places and not (name == "annotator" and annotator is not None):
            missing = chosen.get(name, name)
            hint = " (or give 'annotator')" if name == "annotator" else ""
            raise InvalidData(f"{where} has no column '{missing}'{hint}; it has {', '.join(map(repr, header[:40]))}.")
    return places


def read_parquet(source: PathOrStream, wanted: Callable[[str], bool] | None = None) -> tuple[list[str], Iterator[Row]]:
    """Return the header and the rows of a Parquet file, all cells as text; only of columns that are ``wanted``.

    A row that is too long is refused before any is read: a file of a few kilobytes can hold gigabytes.
    """
    path = source if isinstance(source, (str, Path)) else getattr(source, "path", None)
    if path is None:
        raise _check.refuse("source", "a path, for Parquet", "a stream")
    name = name_of(source)
    database = duckdb.connect(config={"memory_limit": "128MB", "threads": 1})
    try:
        described = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
        header = [str(row[0]) for row in described]
        names = [column for column in header if wanted is None or wanted(column)]
        cells = [f"{_sql.name(column)}::VARCHAR" for column in names] or ["NULL::VARCHAR"]
        refuse_long_rows(database, path, cells, most_bytes=_MOST_PARQUET_ROW, name=name)
        found = database.execute(f"SELECT {', '.join(cells)} FROM read_parquet(?)", [str(path)])
    except duckdb.Error as error:
        raise no_parquet(path, error, name=name) from error

    def rows() -> Iterator[Row]:
        number = 0
        try:
            while batch := found.fetchmany(200):  # cells may be long
                for row in batch:
                    number += 1
                    value = dict(zip(names, row, strict=False))
                    yield Row(where=f"{name}, row {number}", value=value, line=number)
        except duckdb.Error as error:
            raise no_parquet(path, error, name=name) from error

    return header, rows()


def _write_parquet(target: PathOrStream, header: list[str], rows: list[list[Any]]) -> None:
    if not isinstance(target, (str, Path)):
        raise _check.refuse("target", "a path, for Parquet", "a stream")
    columns = {name: np.array([_cell(row[n]) for row in rows], dtype=object) for n, name in enumerate(header)}
    path = Path(target)
    part = path.with_name(f".{path.name}.part")
    database = duckdb.connect()
    kinds = {"seconds": "DOUBLE"}
    picked = ", ".join(f"{_sql.name(name)}::{kinds.get(name, 'VARCHAR')} AS {_sql.name(name)}" for name in header)
    try:
        database.register("answers", columns)
        database.execute(f"COPY (SELECT {picked} FROM answers) TO {_sql.text(part)} (FORMAT parquet)")
        part.replace(path)
    except (duckdb.Error, OSError) as error:
        raise InvalidInput(f"{path} cannot be written: {str(error).splitlines()[0]}.") from error
    finally:
        part.unlink(missing_ok=True)


def _cell(value: Any) -> str | None:
    return None if value is None else repr(value) if isinstance(value, float) else str(value)
