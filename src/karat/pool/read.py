"""Read submissions, labels and lists of ids: CSV, TSV, JSONL, Parquet, TREC runs and qrels.

Every refusal names the file, the line and the reason, and happens before anything is written.
"""

from __future__ import annotations

import codecs
import csv
import re
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import duckdb

from karat.errors import InvalidData
from karat.math.agreement.votes import UNSURE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_CHUNK = 1 << 20
TREC_SUFFIXES = (".run", ".trec")
QRELS_SUFFIXES = (".qrels", ".qrel")
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", *TREC_SUFFIXES, *QRELS_SUFFIXES)
NOT_SHOWN = ("id", "score", "probability", "label")
_NOTE = b"# {"
_DELIMITED = (".csv", ".tsv")
# what `karat.formats.formulas` puts before text that a spreadsheet would run; a sibling, so not imported from there
_MADE_HARMLESS = re.compile(r"'+[=+\-@\t\r\n]")
_ANSWERS = {"0": 0, "false": 0, "1": 1, "true": 1, "-1": UNSURE, "unsure": UNSURE}


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
            raise self.refuse(None, f"column '{missing[0]}' is missing; it has {', '.join(self.columns)}.")


def open_source(connection: duckdb.DuckDBPyConnection, path: Path) -> Source:
    """Look at a file: its format by its ending, its encoding, its columns."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidData(f"{path.name}: unknown ending; known are {', '.join(_SUFFIXES)}.")
    if not path.is_file():
        raise InvalidData(f"{path}: no such file.")
    if suffix != ".parquet":
        _check_encoding(path)
    name = _quoted(str(path))
    first_line = 1
    if suffix in {".csv", ".tsv"}:
        table = _csv_table(path, delimiter="\t" if suffix == ".tsv" else ",")
        first_line = 2
    elif suffix == ".parquet":
        table = f"read_parquet({name})"
    elif suffix in {".jsonl", ".ndjson"}:
        table = f"read_json({name}, format='newline_delimited')"
    else:
        table = _trec_table(name, qrels=suffix in QRELS_SUFFIXES)
    try:
        columns = tuple(str(row[0]) for row in connection.execute(f"DESCRIBE FROM {table}").fetchall())
    except duckdb.Error as error:
        raise _unreadable(path, error) from None
    sql = f"(SELECT row_number() OVER () - 1 AS line, * FROM {table})"  # noqa: S608
    source = Source(path=path, sql=sql, columns=columns, first_line=first_line)
    if suffix in TREC_SUFFIXES + QRELS_SUFFIXES:
        _check_trec(connection, source, n_fields=4 if suffix in QRELS_SUFFIXES else 6)
    return source


def load_submission(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    *,
    relation: Sequence[str],
    extra: Sequence[str],
    depth: int | None,
) -> Source:
    """Load a submission into the table ``submission(line, id, relation, score, payload, <extra>)``; check each row.

    ``payload`` holds the columns that say what the instance is, as JSON; it is NULL where there are none.
    """
    source = open_source(connection, path)
    source.need(["id", *relation, *extra])
    score = "TRY_CAST(score AS DOUBLE)" if "score" in source.columns else "NULL::DOUBLE"
    given = "CAST(score AS VARCHAR)" if "score" in source.columns else "NULL::VARCHAR"
    key = _joined(relation) if relation else "CAST(id AS VARCHAR)"
    more = "".join(f", {_name(column)}" for column in extra if column not in {"id", "score"})
    where = f"WHERE rank <= {depth}" if depth is not None and "rank" in source.columns else ""
    shown = [column for column in source.columns if column.lower() not in NOT_SHOWN]
    if path.suffix.lower() in TREC_SUFFIXES:
        shown = []
    fields = ", ".join(f"{_quoted(column)}: {_name(column)}" for column in shown)
    payload = f"CAST(to_json({{{fields}}}) AS VARCHAR)" if shown else "NULL::VARCHAR"
    try:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE submission AS SELECT line, CAST(id AS VARCHAR) AS id, {key} AS relation, "  # noqa: S608
            f"{score} AS score, {given} AS score_given, {payload} AS payload{more} FROM {source.sql} {where}"
        )
    except duckdb.Error as error:
        raise _unreadable(path, error) from None
    _check_rows(connection, source, relation)
    return source


def refuse_unknown(connection: duckdb.DuckDBPyConnection, source: Source, universe: Path) -> None:
    """Refuse the loaded submission if it names an id that the file of known ids does not hold."""
    unknown = connection.execute(
        f"SELECT line, id FROM submission ANTI JOIN read_parquet({_quoted(str(universe))}) u USING (id) "  # noqa: S608
        "ORDER BY line LIMIT 1"
    ).fetchone()
    if unknown:
        raise source.refuse(unknown[0], f"id '{unknown[1]}' is not known to this pool.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """Labels by id, and the line where each stands."""

    labels: dict[str, int]
    lines: dict[str, int]
    source: Source

    @property
    def is_graded(self) -> bool:
        """Whether they are qrels, which list what was ever judged, not what was asked for."""
        return self.source.path.suffix.lower() in QRELS_SUFFIXES


def load_labels(connection: duckdb.DuckDBPyConnection, path: Path, *, work: Path, least_grade: int = 1) -> LabelFile:
    """Read labels: columns ``id`` and ``label`` (0, 1 or unsure), or qrels, where a grade of ``least_grade`` is 1.

    In a CSV or TSV an apostrophe that keeps a spreadsheet from running an id is no part of it: so karat writes them. A
    first line that begins with "# {" says how labels were drawn, and is passed over by help of the folder ``work``.
    """
    plain = _without_note(path, work)
    source = open_source(connection, plain)
    if plain != path:
        source = replace(source, first_line=source.first_line + 1)
    source.need(["id", "label"])
    try:
        rows = connection.execute(
            f"SELECT line, CAST(id AS VARCHAR), CAST(label AS VARCHAR) FROM {source.sql} ORDER BY line"  # noqa: S608
        ).fetchall()
    except duckdb.Error as error:
        raise _unreadable(path, error) from None
    read = LabelFile(labels={}, lines={}, source=source)
    for line, item, label in rows:
        if item is None or item == "":
            raise source.refuse(line, "the id is empty.")
        if path.suffix.lower() in _DELIMITED and _MADE_HARMLESS.match(item):
            item = item[1:]  # noqa: PLW2901
        value = _grade(label, least_grade) if read.is_graded else _ANSWERS.get(_plain_number(label))
        if value is None:
            expected = "a whole number" if read.is_graded else "0, 1 or unsure"
            raise source.refuse(line, f"the label must be {expected}; got '{label or ''}'.")
        if read.labels.get(item, value) != value:
            raise source.refuse(line, f"id '{item}' is labelled twice, differently.")
        read.labels[item] = value
        read.lines.setdefault(item, line)
    return read


def _grade(label: str | None, least_grade: int) -> int | None:
    try:
        return int(int(label or "") >= least_grade)
    except ValueError:
        return None


def _plain_number(label: str | None) -> str:
    """Return an answer as it is looked up: 1.0 is 1."""
    text = (label or "").strip().lower()
    return text.removesuffix(".0")


def copy_ids(connection: duckdb.DuckDBPyConnection, path: Path, target: Path) -> None:
    """Copy the distinct ids of a file's column ``id`` into a Parquet file."""
    source = open_source(connection, path)
    source.need(["id"])
    try:
        connection.execute(
            f"COPY (SELECT DISTINCT CAST(id AS VARCHAR) AS id FROM {source.sql} ORDER BY id) "  # noqa: S608
            f"TO {_quoted(str(target))} (FORMAT parquet)"
        )
    except duckdb.Error as error:
        raise _unreadable(path, error) from None


def _check_rows(connection: duckdb.DuckDBPyConnection, source: Source, relation: Sequence[str]) -> None:
    def first(where: str, columns: str = "line, id") -> tuple[object, ...] | None:
        found: tuple[object, ...] | None = connection.execute(
            f"SELECT {columns} FROM submission WHERE {where} ORDER BY line LIMIT 1"  # noqa: S608
        ).fetchone()
        return found

    if not connection.execute("SELECT count(*) FROM submission").fetchall()[0][0]:
        raise source.refuse(None, "it has no predictions.")
    if bad := first("id IS NULL OR id = ''"):
        raise source.refuse(_line(bad), "the id is empty.")
    if bad := first("relation IS NULL"):
        raise source.refuse(_line(bad), f"a part of the relation ({', '.join(relation)}) is empty.")
    if bad := first("score_given IS NOT NULL AND (score IS NULL OR NOT isfinite(score))", "line, score_given"):
        raise source.refuse(_line(bad), f"score '{bad[1]}' is not a finite number.")
    if first("score IS NULL") and first("score IS NOT NULL"):
        bad = first("score IS NULL")
        raise source.refuse(_line(bad), "the score is empty, but other lines have one.")
    twice = connection.execute(
        "SELECT id, min(line) AS line, max(line) FROM submission GROUP BY id HAVING count(*) > 1 ORDER BY 3 LIMIT 1"
    ).fetchone()
    if twice:
        raise source.refuse(twice[2], f"id '{twice[0]}' appears twice, first on line {twice[1] + source.first_line}.")


def _line(row: tuple[object, ...] | None) -> int:
    return int(str(row[0])) if row else 0


def _check_encoding(path: Path) -> None:
    """Refuse bytes that are not UTF-8, and name their line; a UTF-16 file is told by its mark."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                line += chunk[: max(error.start, 0)].count(b"\n")
                raise InvalidData(f"{path.name}, line {line}: not UTF-8 text.") from None
            line += chunk.count(b"\n")
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise InvalidData(f"{path.name}, line {line}: not UTF-8 text.") from None


def _without_note(path: Path, work: Path) -> Path:
    """Return a file without the line by which the service says how labels were drawn: a copy, if it has one.

    DuckDB can skip lines, but minds the quotes in them and may then lose the rest of the file.
    """
    if not path.is_file() or path.suffix.lower() not in _DELIMITED:
        return path
    with path.open("rb") as file:
        if not file.read(len(codecs.BOM_UTF8 + _NOTE)).removeprefix(codecs.BOM_UTF8).startswith(_NOTE):
            return path
        file.readline()
        copy = work / path.name
        with copy.open("wb") as target:
            shutil.copyfileobj(file, target)
    return copy


def _csv_table(path: Path, *, delimiter: str) -> str:
    """Read a CSV as its header says: left to guess, a reader might take a bad line for the header."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=delimiter), [])
    twice = [name for place, name in enumerate(header) if name in header[:place]]
    if not header or twice:
        reason = f"column '{twice[0]}' appears twice" if twice else "it is empty"
        raise InvalidData(f"{path.name}, line 1: {reason}.")
    columns = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in header)
    return (
        f"read_csv({_quoted(str(path))}, header=true, auto_detect=false, columns={{{columns}}}, "
        f"delim={_quoted(delimiter)}, quote='\"', escape='\"')"
    )


def _trec_table(name: str, *, qrels: bool) -> str:
    """TREC lines split at blanks; an item is a topic and a document, and the topic is its subject."""
    lines = f"read_csv({name}, columns={{'text': 'VARCHAR'}}, header=false, delim='\\x01', quote='', escape='')"
    split = f"(SELECT string_split_regex(trim(text), '\\s+') AS part FROM {lines})"  # noqa: S608
    if qrels:
        fields = "part[1] AS subject, TRY_CAST(part[4] AS INTEGER) AS label"
    else:
        fields = "part[1] AS subject, TRY_CAST(part[4] AS INTEGER) AS rank, part[5] AS score"
    return f"(SELECT part[1] || ' ' || part[3] AS id, {fields}, len(part) AS n_fields FROM {split})"  # noqa: S608


def _check_trec(connection: duckdb.DuckDBPyConnection, source: Source, *, n_fields: int) -> None:
    try:
        bad = connection.execute(
            f"SELECT line, n_fields FROM {source.sql} WHERE n_fields <> {n_fields} ORDER BY line LIMIT 1"  # noqa: S608
        ).fetchone()
    except duckdb.Error as error:
        raise _unreadable(source.path, error) from None
    if bad:
        raise source.refuse(bad[0], f"{n_fields} fields expected, {bad[1]} found.")


def _unreadable(path: Path, error: duckdb.Error) -> InvalidData:
    text = str(error)
    line = re.search(r"[Ll]ine:? (\d+)", text)
    where = f", line {line.group(1)}" if line else ""
    reason = text.splitlines()[0].removeprefix("Invalid Input Error: ").rstrip(".")
    return InvalidData(f"{path.name}{where}: {reason}.")


def _joined(columns: Sequence[str]) -> str:
    """One key from several columns; the separator cannot occur in text, so no two keys collide."""
    return " || chr(31) || ".join(f"CAST({_name(column)} AS VARCHAR)" for column in columns)


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
