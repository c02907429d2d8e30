"""How large a table is, found before it is read: a small file can fill the memory of whoever reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from karat.errors import InvalidData

if TYPE_CHECKING:
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
            quoted = ['"' + str(row[0]).replace('"', '""') + '"' for row in described]
            length = " + ".join(f"coalesce(strlen({name}::VARCHAR), 0)" for name in quoted)
            measure = f"SELECT max({length}), arg_max(file_row_number, {length}) FROM read_parquet(?)"  # noqa: S608 quoted
            ((longest, place),) = database.execute(measure, [str(path)]).fetchall()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].replace(str(path), path.name)
            raise InvalidData(f"{path.name} cannot be read as Parquet: {reason}.") from error
    if (longest or 0) > most_bytes:
        raise InvalidData(f"{path.name}, row {place + 1}: expected at most {most_bytes:,} bytes; got {longest:,}.")
