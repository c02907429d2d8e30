"""Tables in files: CSV, TSV, JSON lines and Parquet, one file or many, read with DuckDB.

Every defect is named by file, row (the first item is row 1) and column before anything is done with the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from karat import _sql
from karat.errors import InvalidData, InvalidInput
from karat.formats.files import Source, database_of, delimiter_of, explain, find_files, header_of, kind_of


class FileTable:
    r"""One table made of one or more files with the same columns.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "facts.csv")
    >>> _ = path.write_text("id,score\na,0.5\nb,0.9\n")
    >>> FileTable(path).numbers("score")
    array([0.5, 0.9])
    """

    def __init__(self, source: Source) -> None:
        self.files = find_files(source)
        self.name = str(self.files[0]) if len(self.files) == 1 else f"{self.files[0]} and {len(self.files) - 1} more"
        self.paths = [str(path) for path in self.files]
        self._database = duckdb.connect()
        self._attached: dict[Path, str] = {}
        self._columns = [self._read_columns(path) for path in self.files]
        self.columns = list(self._columns[0])
        self._sizes = [int(self._fetch(path, "count(*)")[0][0]) for path in self.files]
        self.n_rows = sum(self._sizes)
        if self.n_rows == 0:
            raise InvalidData(f"{self.name} is empty: it has no rows.")

    def require(self, column: str) -> None:
        """Raise unless every file has the column."""
        for path, columns in zip(self.files, self._columns, strict=True):
            if column not in columns:
                raise InvalidData(f"{path} has no column '{column}'; it has {', '.join(map(repr, columns))}.")

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return a column of finite numbers."""
        self.require(column)
        parts = []
        for path in self.files:
            values = self._array(path, f"{self._as_number(path, column)}")
            array = np.ma.filled(values.astype(np.float64), np.nan)
            bad = np.flatnonzero(~np.isfinite(array))
            if bad.size:
                raise self._defect(path, int(bad[0]), column, "a finite number", len(bad))
            parts.append(array)
        return np.concatenate(parts)

    def texts(self, column: str) -> list[Any]:
        """Return a column as Python values, None where empty."""
        self.require(column)
        return [row[0] for path in self.files for row in self._fetch(path, self._as_text(path, column))]

    def id_numbers(self, column: str | None) -> tuple[NDArray[np.int64], bool]:
        """Return the ids as whole numbers and whether they are their own; text gets the first 60 bits of its MD5.

        Without a column the row numbers are the ids. Missing and duplicate ids are refused.
        """
        if column is None:
            return np.arange(1, self.n_rows + 1), True
        self.require(column)
        whole = all(self._fetch(path, f"count(*) FILTER ({self._not_whole(path, column)})")[0][0] == 0
                    for path in self.files)  # fmt: skip
        parts = []
        for path in self.files:
            text = self._as_text(path, column)
            number = f"TRY_CAST(trim({text}) AS BIGINT)" if whole else f"('0x' || substr(md5({text}), 1, 15))::BIGINT"
            values = self._array(path, number)
            missing = np.flatnonzero(np.ma.getmaskarray(values))
            if missing.size:
                raise self._defect(path, int(missing[0]), column, "an id", len(missing))
            parts.append(np.asarray(values, dtype=np.int64))
        numbers = np.concatenate(parts)
        self._refuse_duplicates(column, numbers)
        return numbers, whole

    def rows(self, positions: NDArray[np.int64], columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return whole rows by position (the first row is 0), in the order asked for."""
        names = list(columns) if columns is not None else self.columns
        found: dict[int, dict[str, Any]] = {}
        start = 0
        for path, size in zip(self.files, self._sizes, strict=True):
            inside = positions[(positions >= start) & (positions < start + size)] - start
            if inside.size:
                self._execute("CREATE OR REPLACE TEMP TABLE wanted (karat_row BIGINT)")
                self._execute("INSERT INTO wanted SELECT unnest(?)", [np.unique(inside).tolist()])
                selected = ", ".join(_sql.name(name) for name in names)
                query = f"SELECT karat_row, {selected} FROM ({self._numbered(path)}) SEMI JOIN wanted USING (karat_row)"
                for number, *values in self._run(path, query).fetchall():
                    found[start + number] = dict(zip(names, values, strict=True))
            start += size
        return [found[int(position)] for position in positions]

    def head(self, n: int) -> list[dict[str, Any]]:
        """Return the first rows."""
        path = self.files[0]
        found = self._run(path, f"SELECT * FROM {self._scan(path)} LIMIT {int(n)}").fetchall()
        return [dict(zip(self.columns, row, strict=True)) for row in found]

    def each_row(self) -> Iterator[dict[str, Any]]:
        """Yield the rows one by one, in order."""
        for path in self.files:
            try:
                found = self._database.cursor().execute(f"SELECT * FROM {self._scan(path)}")
                names = [str(column[0]) for column in found.description or ()]
                while some := found.fetchmany(1000):
                    for row in some:
                        yield dict(zip(names, row, strict=True))
            except duckdb.Error as error:
                raise explain(path, error) from error

    def write_with_column(self, target: Path, name: str, values: Sequence[float]) -> None:
        """Write the table with one more column of numbers as Parquet; it appears when it is complete."""
        part = target.with_name(f".{target.name}.part")
        start, parts = 0, []
        for path, size in zip(self.files, self._sizes, strict=True):
            parts.append(f"SELECT * REPLACE (karat_row + {start} AS karat_row) FROM ({self._numbered(path)})")
            start += size
        added = {"karat_row": np.arange(len(values)), "value": np.asarray(values, dtype=np.float64)}
        query = (
            f"SELECT * EXCLUDE (karat_row, value), value AS {_sql.name(name)} "
            f"FROM ({' UNION ALL BY NAME '.join(parts)}) JOIN karat_values USING (karat_row) ORDER BY karat_row"
        )
        try:
            self._database.register("karat_values", added)
            self._execute(f"COPY ({query}) TO {_sql.text(part)} (FORMAT parquet)")
            part.replace(target)
        except (duckdb.Error, OSError) as error:
            raise InvalidInput(f"{target} cannot be written: {str(error).splitlines()[0]}.") from error
        finally:
            part.unlink(missing_ok=True)

    # --- inside

    def _numbered(self, path: Path) -> str:
        """Return SQL for a file with its rows numbered from 0."""
        if kind_of(path) == "parquet":  # the reader knows the number, and can skip what is not wanted
            return f"SELECT *, file_row_number AS karat_row FROM {self._scan(path)}"
        return f"SELECT *, row_number() OVER () - 1 AS karat_row FROM {self._scan(path)}"

    def _scan(self, path: Path) -> str:
        kind = kind_of(path)
        if kind == "parquet":
            return f"read_parquet({_sql.text(path)})"
        if kind == "duckdb":
            return self._attach(path)
        if kind == "json":
            return f"read_json({_sql.text(path)}, format='newline_delimited', sample_size=-1)"
        names = ", ".join(f"{_sql.text(name)}: 'VARCHAR'" for name in header_of(path))
        return (
            f"read_csv({_sql.text(path)}, auto_detect=false, header=true, delim={_sql.text(delimiter_of(path))}, "
            f"quote='\"', escape='\"', columns={{{names}}})"
        )

    def _attach(self, path: Path) -> str:
        """Open a DuckDB database for reading and return its table: the one named, or the only one."""
        if path not in self._attached:
            database = database_of(path)
            alias = f"attached{len(self._attached)}"
            try:
                self._execute(f"ATTACH {_sql.text(database)} AS {alias} (READ_ONLY)")
            except duckdb.Error as error:
                raise explain(database, error) from error
            tables = [str(row[0]) for row in self._execute(
                "SELECT table_name FROM information_schema.tables WHERE table_catalog = ? ORDER BY ALL", [alias]
            ).fetchall()]  # fmt: skip
            name = str(path).partition("::")[2] or (tables[0] if len(tables) == 1 else "")
            if name not in tables:
                listed = ", ".join(map(repr, tables)) or "no table"
                wanted = f"no table '{name}'" if name else "more than one table, or none"
                raise InvalidData(f"{database} has {wanted}; it has {listed}. Name one: '{database}::NAME'.")
            self._attached[path] = f"{alias}.{_sql.name(name)}"
        return self._attached[path]

    def _read_columns(self, path: Path) -> dict[str, str]:
        if kind_of(path) == "csv":
            return dict.fromkeys(header_of(path), "VARCHAR")
        described = self._run(path, f"DESCRIBE SELECT * FROM {self._scan(path)}").fetchall()
        columns = {str(row[0]): str(row[1]) for row in described}
        if kind_of(path) == "json" and list(columns) == ["json"] and path.stat().st_size == 0:
            raise InvalidData(f"{path} is empty: it has no rows.")
        return columns

    def _as_text(self, path: Path, column: str) -> str:
        name, kind = _sql.name(column), self._columns[self.files.index(path)][column]
        return f"json_extract_string({name}, '$')" if kind == "JSON" else f"{name}::VARCHAR"

    def _as_number(self, path: Path, column: str) -> str:
        kind = self._columns[self.files.index(path)][column]
        if kind in {"VARCHAR", "JSON"}:  # trim() also keeps DuckDB from moving the cast into its CSV reader
            return f"TRY_CAST(trim({self._as_text(path, column)}) AS DOUBLE)"
        return f"TRY_CAST({_sql.name(column)} AS DOUBLE)"

    def _not_whole(self, path: Path, column: str) -> str:
        text = self._as_text(path, column)
        return f"{text} IS NOT NULL AND TRY_CAST(trim({text}) AS BIGINT)::VARCHAR IS DISTINCT FROM {text}"

    def _refuse_duplicates(self, column: str, numbers: NDArray[np.int64]) -> None:
        for first, second in find_duplicates(numbers):
            one, other = (row[column] for row in self.rows(np.array([first, second]), [column]))
            if one == other:  # not just two texts with the same number
                path, row = self.locate(second)
                other_path, other_row = self.locate(first)
                where = f"row {other_row}" if other_path == path else f"{other_path}, row {other_row}"
                raise InvalidData(
                    f"{path}, row {row}, column '{column}': expected ids that differ; got {other!r}, "
                    f"which {where} has too."
                )

    def locate(self, position: int) -> tuple[Path, int]:
        """Return the file of a row by position (the first row is 0), and the number of the row in it, from 1 on."""
        for path, size in zip(self.files, self._sizes, strict=True):
            if position < size:
                return path, position + 1
            position -= size
        raise IndexError(position)

    def _defect(self, path: Path, row: int, column: str, expected: str, n_defects: int) -> InvalidData:
        start = sum(self._sizes[: self.files.index(path)])
        value = self.rows(np.array([start + row]), [column])[0][column]
        got = "nothing" if value is None else repr(value)
        more = f" ({n_defects:,} such rows in all)" if n_defects > 1 else ""
        return InvalidData(f"{path}, row {row + 1}, column '{column}': expected {expected}; got {got}{more}.")

    def _fetch(self, path: Path, expression: str) -> list[tuple[Any, ...]]:
        return self._run(path, f"SELECT {expression} FROM {self._scan(path)}").fetchall()

    def _array(self, path: Path, expression: str) -> NDArray[Any]:
        try:
            values = self._run(path, f"SELECT {expression} AS value FROM {self._scan(path)}").fetchnumpy()["value"]
            return np.ma.asarray(values)
        except duckdb.Error as error:
            raise explain(path, error) from error

    def _run(self, path: Path, query: str) -> duckdb.DuckDBPyConnection:
        try:
            return self._execute(query)
        except duckdb.Error as error:
            raise explain(path, error) from error

    def _execute(self, query: str, parameters: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
        try:
            return self._database.execute(query, list(parameters))
        except RuntimeError as error:  # so DuckDB reports that somebody pressed Ctrl-C
            raise KeyboardInterrupt from error


def find_duplicates(numbers: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the positions of equal neighbours in sorted order, the earlier one first."""
    order = np.argsort(numbers, kind="stable")
    same = np.flatnonzero(numbers[order][1:] == numbers[order][:-1])
    yield from zip(order[same].tolist(), order[same + 1].tolist(), strict=True)
