"""A file as a table that knows its lines: CSV, TSV, JSONL, Parquet, TREC runs and qrels.

Every refusal names the file, the line and the reason.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from karat import _check, _sql
from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_CHUNK = 1 << 20
_GUESSED = re.compile(r'(DATE|TIME|TIMESTAMP|UUID)([ _].*)?|"NULL"')
TREC_SUFFIXES = (".run", ".trec")
QRELS_SUFFIXES = (".qrels", ".qrel")
DELIMITED = {".csv": ",", ".tsv": "\t"}
_JSON = (".jsonl", ".ndjson")
_KINDS = {list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false", type(None): "null"}
_SUFFIXES = (*DELIMITED, *_JSON, ".parquet", *TREC_SUFFIXES, *QRELS_SUFFIXES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file as a DuckDB relation with a running ``line`` column, and how its lines are called."""

    path: Path
    sql: str
    columns: tuple[str, ...]
    first_line: int

    def refuse(self, line: int | None, reason: str) -> InvalidData:
        """Word the refusal; ``line`` counts rows from 0."""
        if line is None:
            return InvalidData(f"{self.path.name}: {reason}")
        word = "row" if self.path.suffix.lower() == ".parquet" else "line"
        return InvalidData(f"{self.path.name}, {word} {line + self.first_line}: {reason}")

    def need(self, names: Sequence[str]) -> None:
        """Refuse the file unless it has these columns."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            mark = DELIMITED.get(self.path.suffix.lower())
            stuck = mark is not None and len(self.columns) == 1 and re.search(r"[;,\t|]", self.columns[0])
            hint = f" Cells must be separated by a {'comma' if mark == ',' else 'tab'}." if stuck else ""
            raise self.refuse(None, f"column '{missing[0]}' is missing; it has {', '.join(self.columns)}.{hint}")


def open_source(connection: duckdb.DuckDBPyConnection, path: Path) -> Source:
    """Look at a file: its format by its ending, its encoding, its columns."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidData(f"{path.name}: unknown ending; known are {', '.join(_SUFFIXES)}.")
    if not path.is_file():
        raise InvalidData(f"{path}: no such file.")
    if suffix != ".parquet":
        _check_encoding(path)
    name = _sql.text(path)
    first_line = 1
    if suffix in DELIMITED:
        table = _csv_table(path, delimiter=DELIMITED[suffix])
        first_line = 2
    elif suffix == ".parquet":
        table = f"read_parquet({name})"
    elif suffix in _JSON:
        table = _json_table(connection, path)
    else:
        table = _trec_table(name, qrels=suffix in QRELS_SUFFIXES)
    try:
        columns = tuple(str(row[0]) for row in connection.execute(f"DESCRIBE FROM {table}").fetchall())
    except duckdb.Error as error:
        raise unreadable(path, error) from None
    if suffix in _JSON and columns == ("json",) and (fault := _no_object(path)) is not None:
        raise fault
    sql = f"(SELECT row_number() OVER () - 1 AS line, * FROM {table})"
    source = Source(path=path, sql=sql, columns=columns, first_line=first_line)
    if suffix in TREC_SUFFIXES + QRELS_SUFFIXES:
        _check_trec(connection, source, n_fields=4 if suffix in QRELS_SUFFIXES else 6)
    return source


def _check_encoding(path: Path) -> None:
    """Refuse bytes that are not UTF-8, and name their line; a UTF-16 file is told by its mark."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                read, place = bytes(error.object), error.start  # with what the last chunk left over
                line += read[:place].count(b"\n")
                before = read[read.rfind(b"\n", 0, place) + 1 : place].decode("utf-8", "replace")
                reason = _check.no_utf8(read[place:], after=before)
                raise InvalidData(f"{path.name}, line {line}: {reason}") from None
            line += chunk.count(b"\n")
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise InvalidData(f"{path.name}, line {line}: {_check.no_utf8(error.object)}") from None


def _csv_table(path: Path, *, delimiter: str) -> str:
    """Read a CSV as its header says: left to guess, a reader might take a bad line for the header."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=delimiter), [])
    twice = [name for place, name in enumerate(header) if name in header[:place]]
    if not header or twice:
        reason = f"column '{twice[0]}' appears twice" if twice else "it is empty"
        raise InvalidData(f"{path.name}, line 1: {reason}.")
    columns = ", ".join(f"{_sql.text(name)}: 'VARCHAR'" for name in header)
    return (
        f"read_csv({_sql.text(path)}, header=true, auto_detect=false, columns={{{columns}}}, "
        f"delim={_sql.text(delimiter)}, quote='\"', escape='\"')"
    )


def _json_table(connection: duckdb.DuckDBPyConnection, path: Path) -> str:
    """Read JSON lines with text as it stands: left to guess, DuckDB makes times and UUIDs of it, respelt.

    All lines are looked at for their keys and types: one that comes late, or is null at first, counts as well.
    """
    table = f"read_json({_sql.text(path)}, format='newline_delimited'"
    try:
        described = connection.execute(f"DESCRIBE FROM {table}, sample_size=-1)").fetchall()
        _refuse_alike_keys(connection, path, [row[0] for row in described])
    except duckdb.Error as error:
        raise unreadable(path, error) from None
    types = {row[0]: "VARCHAR" if _GUESSED.fullmatch(row[1]) else row[1] for row in described}
    columns = ", ".join(f"{_sql.text(name)}: {_sql.text(type_)}" for name, type_ in types.items())
    return f"{table}, columns={{{columns}}})"


def _refuse_alike_keys(connection: duckdb.DuckDBPyConnection, path: Path, columns: list[str]) -> None:
    """Refuse keys that differ only in case: DuckDB would number them, and the second could not be named any more."""
    known = {name.lower() for name in columns}
    if not any((name := re.fullmatch(r"(.+)_\d+", each)) and name[1].lower() in known for each in columns):
        return
    rows = connection.execute(
        f"SELECT DISTINCT unnest(json_keys(json)) AS key FROM read_ndjson_objects({_sql.text(path)}) ORDER BY key"
    ).fetchall()
    seen: dict[str, str] = {}
    for (key,) in rows:
        if seen.setdefault(key.lower(), key) != key:
            raise InvalidData(f"{path.name}: the keys '{seen[key.lower()]}' and '{key}' differ only in case.")


def _trec_table(name: str, *, qrels: bool) -> str:
    """TREC lines split at blanks; an item is a topic and a document, and the topic is its subject."""
    lines = f"read_csv({name}, columns={{'text': 'VARCHAR'}}, header=false, delim='\\x01', quote='', escape='')"
    split = f"(SELECT string_split_regex(trim(text), '\\s+') AS part FROM {lines})"
    if qrels:
        fields = "part[1] AS subject, TRY_CAST(part[4] AS INTEGER) AS label"
    else:
        fields = "part[1] AS subject, TRY_CAST(part[4] AS INTEGER) AS rank, part[5] AS score"
    return f"(SELECT part[1] || ' ' || part[3] AS id, {fields}, len(part) AS n_fields FROM {split})"


def _check_trec(connection: duckdb.DuckDBPyConnection, source: Source, *, n_fields: int) -> None:
    try:
        bad = connection.execute(
            f"SELECT line, n_fields FROM {source.sql} WHERE n_fields <> {n_fields} ORDER BY line LIMIT 1"
        ).fetchone()
    except duckdb.Error as error:
        raise unreadable(source.path, error) from None
    if bad:
        raise source.refuse(bad[0], f"{n_fields} fields expected, {bad[1]} found.")


def unreadable(path: Path, error: duckdb.Error) -> InvalidData:
    """Say in our words what DuckDB stumbled over."""
    if path.suffix.lower() in _JSON and (fault := _no_object(path)) is not None:
        return fault
    text = str(error)
    line = re.search(r"[Ll]ine:? (\d+)", text)
    where = f", line {line.group(1)}" if line else ""
    reason = text.splitlines()[0].removeprefix("Invalid Input Error: ").rstrip(".")
    if cells := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        reason = f"expected {cells[1]} cells as in the header; got {cells[2]}"
    elif "unterminated quote" in text:
        reason = "a quote is not closed, or something follows it before the cell ends"
    return InvalidData(f"{path.name}{where}: {reason}.")


def _no_object(path: Path) -> InvalidData | None:
    """Return what is wrong with the first line that holds no JSON object; None if all do."""
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                value = json.loads(line) if line.strip() else {}
            except (ValueError, RecursionError) as error:
                reason = (
                    f"{error.msg} at character {error.colno}"
                    if isinstance(error, json.JSONDecodeError)
                    else "it is none"
                )
            else:
                reason = "" if isinstance(value, dict) else f"got {_KINDS.get(type(value), 'something else')}"
            if reason:
                return InvalidData(f"{path.name}, line {number}: expected a JSON object; {reason}.")
    return None
