"""Files that hold a table: which there are, of which kind, with which columns, and what is wrong with one."""

from __future__ import annotations

import csv
import glob
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from karat import _check, _sql
from karat.errors import InvalidData

Source = str | Path | Sequence[str | Path]

_KINDS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet",
          ".pq": "parquet", ".duckdb": "duckdb"}  # fmt: skip
_TABLE_MARK = ".duckdb::"
"""Between a DuckDB database and the name of one of its tables."""


def find_files(source: Source) -> list[Path]:
    """Return the files that a path, a glob pattern or a list of them names, in order."""
    wanted = [source] if isinstance(source, (str, Path)) else list(source)
    found: list[Path] = []
    for entry in wanted:
        path = Path(entry)
        if path.is_file() or (_TABLE_MARK in str(entry) and database_of(path).is_file()):
            found.append(path)
            continue
        matches = sorted(Path(match) for match in glob.glob(str(entry), recursive=True))
        if path.is_dir():
            matches = sorted(child for child in path.iterdir() if kind_of(child, strict=False))
        if not matches:
            raise InvalidData(f"No file matches '{entry}'.")
        found += matches
    if not found:
        raise InvalidData("No file was given.")
    return found


def database_of(path: Path) -> Path:
    """Return the database in 'kb.duckdb::facts'.

    Examples
    --------
    >>> str(database_of(Path("kb.duckdb::facts")))
    'kb.duckdb'
    """
    return Path(str(path).partition("::")[0]) if _TABLE_MARK in str(path) else path


def kind_of(path: Path, *, strict: bool = True) -> str:
    """Return how a file is read; nothing where its ending is unknown, unless that is refused."""
    suffixes = [suffix.lower() for suffix in database_of(path).suffixes]
    if suffixes and suffixes[-1] in {".gz", ".zst"}:
        suffixes.pop()
    kind = _KINDS.get(suffixes[-1] if suffixes else "", "")
    if not kind and strict:
        raise InvalidData(f"{path} is of no known kind; its name must end in {', '.join(_KINDS)} (or these plus .gz).")
    return kind


def header_of(path: Path) -> list[str]:
    """Return the columns that the first line of a delimited file names."""
    line = _first_line(path)
    names = next(csv.reader([line], delimiter=delimiter_of(path)), [])
    if not line.strip():
        raise InvalidData(f"{path} is empty: it has no header and no rows.")
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise InvalidData(f"{path} has the column {min(doubled)!r} twice in its header.")
    return names


def delimiter_of(path: Path) -> str:
    """Return what separates the cells: a tab in a .tsv, else the likeliest in the first line."""
    if ".tsv" in path.suffixes:
        return "\t"
    line = _first_line(path)
    return max(",;\t|", key=line.count)


def _first_line(path: Path) -> str:
    if path.suffix.lower() == ".zst":
        raw = _first_line_of_zstandard(path)
    else:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            raw = stream.readline(1_000_000)
    try:
        return raw.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidData(f"{path}, line 1: {_explain_byte(raw, error)}") from None


def _explain_byte(raw: bytes, error: UnicodeDecodeError) -> str:
    return _check.no_utf8(raw[error.start :], after=raw[: error.start].decode("utf-8-sig", "replace"))


def _first_line_of_zstandard(path: Path) -> bytes:
    query = (
        f"SELECT line FROM read_csv({_sql.text(path)}, auto_detect=false, header=false, delim='\\x01', quote='', "
        "escape='', columns={line: 'VARCHAR'}, compression='zstd', strict_mode=false) LIMIT 1"
    )
    try:
        found = duckdb.connect().execute(query).fetchall()
    except duckdb.Error as error:
        raise explain(path, error) from error
    return str(found[0][0]).encode() if found else b""


def explain(path: Path, error: duckdb.Error) -> InvalidData:
    """Find the line that DuckDB stumbled over and say what is wrong with it."""
    if kind_of(path, strict=False) in {"csv", "json"} and path.suffix.lower() not in {".gz", ".zst"}:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                    if kind_of(path) == "json" and text.strip():
                        json.loads(text)
                except UnicodeDecodeError as found:
                    return InvalidData(f"{path}, line {number}: {_explain_byte(raw, found)}")
                except json.JSONDecodeError as found:
                    return InvalidData(f"{path}, line {number}: expected a JSON object; {found.msg} at {found.colno}.")
    message = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", message)
    what = re.search(r"Expected Number of Columns: \d+ Found: \d+|[Vv]alue with unterminated quote", message)
    reason = what[0] if what else message.split("\n", maxsplit=1)[0].split(": ", 1)[-1]
    return InvalidData(f"{path}{f', line {line[1]}' if line else ''}: {reason}.")
