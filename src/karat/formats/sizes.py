"""How large a table is, found before it is read: a small file can fill the memory of whoever reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from karat import _sql
from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MOST_COLUMNS = 1000
_PARQUET = (".parquet", ".pq")
_DELIMITERS = {".csv": b",", ".tsv": b"\t"}


def refuse_oversize(path: Path, *, most_rows: int, most_bytes: int = 100_000) -> None:
    """Refuse a table with too many rows or columns, or with a row of too many bytes; little of it is held in memory."""
    suffix = path.suffix.lower()
    if suffix in _PARQUET:
        _refuse_parquet(path, most_rows, most_bytes)
        return
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(most_bytes + 2):
            number += 1
            if len(line) > most_bytes + 1:
                raise InvalidData(f"{path.name}, line {number}: expected at most {most_bytes:,} bytes; it is longer.")
            if number == 1 and suffix in _DELIMITERS:
                _refuse_columns(path, 1 + line.count(_DELIMITERS[suffix]))
            if number > most_rows + 1:  # there may be a header
                raise InvalidData(f"{path.name}: expected at most {most_rows:,} rows; it has more.")


def _refuse_columns(path: Path, n_columns: int) -> None:
    if n_columns > MOST_COLUMNS:
        raise InvalidData(f"{path.name}: expected at most {MOST_COLUMNS:,} columns; it has {n_columns:,}.")


def _refuse_parquet(path: Path, most_rows: int, most_bytes: int) -> None:
    with duckdb.connect(config={"memory_limit": "128MB", "threads": 1}) as database:
        try:
            described = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
            _refuse_columns(path, len(described))
            ((n_rows,),) = database.execute("SELECT count(*) FROM read_parquet(?)", [str(path)]).fetchall()
            if n_rows > most_rows:
                raise InvalidData(f"{path.name}: expected at most {most_rows:,} rows; it has {n_rows:,}.")
            cells = [f"{_sql.name(row[0])}::VARCHAR" for row in described]
            refuse_long_rows(database, path, cells, most_bytes=most_bytes, name=path.name)
        except duckdb.Error as error:
            raise no_parquet(path, error, name=path.name) from error


def refuse_long_rows(
    database: duckdb.DuckDBPyConnection, path: str | Path, cells: Sequence[str], *, most_bytes: int, name: str
) -> None:
    """Refuse a Parquet file with a row whose cells (SQL for texts) hold too many bytes together."""
    length = " + ".join(f"coalesce(strlen({cell}), 0)" for cell in cells)
    measure = f"SELECT max({length}), arg_max(file_row_number, {length}) FROM read_parquet(?)"
    ((longest, place),) = database.execute(measure, [str(path)]).fetchall()
    if (longest or 0) > most_bytes:
        raise InvalidData(f"{name}, row {place + 1}: expected at most {most_bytes:,} bytes; got {longest:,}.")


def no_parquet(path: str | Path, error: duckdb.Error, *, name: str) -> InvalidData:
    """Say why DuckDB cannot read a file as Parquet, without the path of this machine."""
    reason = str(error).splitlines()[0].replace(str(path), name)
    return InvalidData(f"{name} cannot be read as Parquet: {reason}.")
