"""Every defect of a resource's files, by line: what is looked for once opening them has failed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from karat.errors import InvalidData
from karat.formats.defects import MOST_DEFECTS, Defects
from karat.formats.files import find_files
from karat.formats.harmless_csv import read_rows
from karat.formats.plain import read_parquet
from karat.formats.strict_json import read_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from karat.formats.exchange import Row
    from karat.formats.files import Source

MOST_ROWS = 2_000_000


def find_defects(source: Source, *, score: str, id: str | None) -> Defects:
    """Return what is wrong: rows that cannot be read, scores that are no finite numbers, missing and double ids.

    Compressed files and databases are not looked into.
    """
    defects = Defects()
    seen: dict[int, str] = {}
    for path in find_files(source):
        try:
            for number, row in enumerate(_rows(path, (score, id))):
                if number == 0 and row.defect is None and not {score, id or score} <= set(row.value):
                    return defects  # a column is missing: that was said already
                if len(defects) >= MOST_DEFECTS or number >= MOST_ROWS:
                    defects.add(f"{row.where}: the rest was not looked at.", line=row.line)
                    return defects
                for message in _look(row, score, id, seen):
                    defects.add(message, line=row.line)
        except InvalidData as error:  # from here on the file cannot be read
            defects.add(str(error))
    return defects


def _rows(path: Path, columns: tuple[str | None, ...]) -> Iterator[Row]:
    kind = path.suffix.lower()
    if kind in {".csv", ".tsv", ".txt"}:
        return read_rows(path, delimiter="\t" if kind == ".tsv" else None)[1]
    if kind in {".jsonl", ".ndjson", ".json"}:
        return read_records(path)
    if kind in {".parquet", ".pq"}:
        return read_parquet(path, lambda name: name in columns)[1]
    return iter(())


def _look(row: Row, score: str, id: str | None, seen: dict[int, str]) -> Iterator[str]:
    if row.defect is not None:
        yield str(row.defect)
        return
    value = row.value.get(score)
    if not _is_finite(value):
        yield f"{row.where}, column '{score}': expected a finite number; got {_shown(value)}."
    if id is None:
        return
    name = row.value.get(id)
    if name is None or str(name).strip() == "":
        yield f"{row.where}, column '{id}': expected an id; got nothing."
        return
    first = seen.setdefault(hash(str(name)), row.where)
    if first != row.where:
        yield f"{row.where}, column '{id}': expected ids that differ; got {_shown(name)}, which {first} has too."


def _is_finite(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")
