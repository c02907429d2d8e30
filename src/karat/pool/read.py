"""Read submissions, labels and lists of ids, and check every row before anything is written."""

from __future__ import annotations

import codecs
import re
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import duckdb

from karat import _sql
from karat.math.agreement.votes import UNSURE
from karat.pool.source import DELIMITED, QRELS_SUFFIXES, TREC_SUFFIXES, Source, open_source, unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOT_SHOWN = ("id", "score", "probability", "label")
_NOTE = b"# {"
# what `karat.formats.formulas` puts before text that a spreadsheet would run; a sibling, so not imported from there
_MADE_HARMLESS = re.compile(r"'+[=+\-@\t\r\n]")
_ANSWERS = {"0": 0, "false": 0, "1": 1, "true": 1, "-1": UNSURE, "unsure": UNSURE}


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
    if "label" in source.columns and "score" not in source.columns:
        raise source.refuse(None, "it has a column 'label' and no 'score': labels are told, not submitted.")
    score = "TRY_CAST(score AS DOUBLE)" if "score" in source.columns else "NULL::DOUBLE"
    given = "CAST(score AS VARCHAR)" if "score" in source.columns else "NULL::VARCHAR"
    key = joined(relation) if relation else "CAST(id AS VARCHAR)"
    more = "".join(f", {_sql.name(column)}" for column in extra if column not in {"id", "score"})
    where = f"WHERE rank <= {depth}" if depth is not None and "rank" in source.columns else ""
    shown = [column for column in source.columns if column.lower() not in NOT_SHOWN]
    if path.suffix.lower() in TREC_SUFFIXES:
        shown = []
    fields = ", ".join(f"{_sql.text(column)}: {_sql.name(column)}" for column in shown)
    payload = f"CAST(to_json({{{fields}}}) AS VARCHAR)" if shown else "NULL::VARCHAR"
    try:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE submission AS SELECT line, CAST(id AS VARCHAR) AS id, {key} AS relation, "
            f"{score} AS score, {given} AS score_given, {payload} AS payload{more} FROM {source.sql} {where}"
        )
    except duckdb.Error as error:
        raise unreadable(path, error) from None
    _check_rows(connection, source, relation)
    return source


def refuse_unknown(connection: duckdb.DuckDBPyConnection, source: Source, universe: Path) -> None:
    """Refuse the loaded submission if it names an id that the file of known ids does not hold."""
    unknown = connection.execute(
        f"SELECT line, id FROM submission ANTI JOIN read_parquet({_sql.text(universe)}) u USING (id) "
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
            f"SELECT line, CAST(id AS VARCHAR), CAST(label AS VARCHAR) FROM {source.sql} ORDER BY line"
        ).fetchall()
    except duckdb.Error as error:
        raise unreadable(path, error) from None
    read = LabelFile(labels={}, lines={}, source=source)
    for line, item, label in rows:
        if item is None or item == "":
            raise source.refuse(line, "the id is empty.")
        if path.suffix.lower() in DELIMITED and _MADE_HARMLESS.match(item):
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
            f"COPY (SELECT DISTINCT CAST(id AS VARCHAR) AS id FROM {source.sql} ORDER BY id) "
            f"TO {_sql.text(target)} (FORMAT parquet)"
        )
    except duckdb.Error as error:
        raise unreadable(path, error) from None


def _check_rows(connection: duckdb.DuckDBPyConnection, source: Source, relation: Sequence[str]) -> None:
    def first(where: str, columns: str = "line, id") -> tuple[object, ...] | None:
        found: tuple[object, ...] | None = connection.execute(
            f"SELECT {columns} FROM submission WHERE {where} ORDER BY line LIMIT 1"
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


def _without_note(path: Path, work: Path) -> Path:
    """Return a file without the line by which the service says how labels were drawn: a copy, if it has one.

    DuckDB can skip lines, but minds the quotes in them and may then lose the rest of the file.
    """
    if not path.is_file() or path.suffix.lower() not in DELIMITED:
        return path
    with path.open("rb") as file:
        if not file.read(len(codecs.BOM_UTF8 + _NOTE)).removeprefix(codecs.BOM_UTF8).startswith(_NOTE):
            return path
        file.readline()
        copy = work / path.name
        with copy.open("wb") as target:
            shutil.copyfileobj(file, target)
    return copy


def joined(columns: Sequence[str]) -> str:
    """One key from several columns; the separator cannot occur in text, so no two keys collide."""
    return " || chr(31) || ".join(f"CAST({_sql.name(column)} AS VARCHAR)" for column in columns)
