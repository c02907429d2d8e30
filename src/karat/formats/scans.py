"""Files too large for memory: their rows as SQL, for engines that scan instead of loading."""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from karat import _sql
from karat.errors import InvalidData, InvalidInput
from karat.formats.files import Source, explain, kind_of
from karat.formats.tables import FileTable

Watch = Callable[[str, float | None], None]

CHUNK_ROWS = 2**22
STREAMED_ROWS = 2**16
"""So few that they are still in the cache when they are looked at."""

_WHOLE_TYPES = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_NO_NUMBER = ("STRUCT", "MAP", "UNION", "BLOB", "DATE", "TIME", "UUID", "INTERVAL")


class ScannedFiles(FileTable):
    """A table of files that is never loaded as a whole.

    Parameters
    ----------
    source
        A path, a glob, or a list of them; ``kb.duckdb::facts`` names a table of a DuckDB database.
    memory_limit
        How much memory DuckDB may take, such as "4GB"; what does not fit is spilled.
    spill_directory
        Where spilled data go, into a folder of their own that is removed at the end.
    watch
        Told what is being read and how much of it is done.
    """

    def __init__(
        self,
        source: Source,
        *,
        memory_limit: str | None = None,
        spill_directory: str | Path | None = None,
        watch: Watch | None = None,
    ) -> None:
        super().__init__(source)
        self._watch = watch
        self._n_staged = 0
        self._set_limits(memory_limit, spill_directory)

    def scored(self, *, score: str, id: str | None) -> tuple[str, bool]:
        """Return SQL with the columns place (position), score, id and number (what is hashed in a tie).

        Also returns whether the ids are whole numbers. Text files are parsed once, into a temporary table.
        """
        self.require(score)
        self._refuse_type(score)
        if id is not None:
            self.require(id)
        whole = id is None or self._ids_are_whole(id)
        files = self.files
        if self._is_one_parquet():
            listed = ", ".join(_sql.text(path) for path in files)
            starts = np.cumsum([0, *self._sizes[:-1]]).tolist()
            start = "0" if len(files) == 1 else f"({starts}::BIGINT[])[(file_index + 1)::BIGINT]"
            columns = self._columns_of(files[0], score, id, whole=whole)
            parts = [f"SELECT {start} + file_row_number AS place, {columns} FROM read_parquet([{listed}])"]
        else:
            parts = []
            for path, start in zip(files, np.cumsum([0, *self._sizes[:-1]]).tolist(), strict=True):
                columns = self._columns_of(path, score, id, whole=whole)
                parts.append(
                    f"SELECT karat_row + {start} AS place, {columns} FROM ({self._numbered(path)})"
                )  # fmt: skip
        rows = " UNION ALL ".join(parts)
        if any(kind_of(path) != "parquet" for path in files):
            rows = f"FROM {self._stage(rows)}"
        if id is None:
            return f"SELECT place, score, place + 1 AS id, place + 1 AS number FROM ({rows})", True
        number = "id" if whole else "('0x' || substr(md5(id), 1, 15))::BIGINT"
        return f"SELECT place, score, id, {number} AS number FROM ({rows})", whole

    def query(self, sql: str, *, what: str) -> dict[str, Any]:
        """Run SQL and return its columns as numpy arrays."""
        with _Watching(self._database, self._watch, what):
            try:
                self._execute("SET preserve_insertion_order = false")
                return dict(self._execute(sql).fetchnumpy())
            except duckdb.OutOfMemoryException as error:
                raise InvalidData(f"{self.name} needs more than the memory limit: {_first_line(error)}") from error
            except duckdb.Error as error:
                raise explain(self._blamed(error), error) from error
            finally:
                self._execute("SET preserve_insertion_order = true")

    def rows(self, positions: NDArray[np.int64], columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return whole rows by position (the first row is 0), in the order asked for."""
        with _Watching(self._database, self._watch, "fetching items"):
            return super().rows(positions, columns)

    def stream(
        self, sql: str, n_rows: int, *, what: str, by_ranges: bool = find_spec("pyarrow") is None
    ) -> Generator[dict[str, Any], None, None]:
        """Read the rows of SQL ending in WHERE, with places counted from 0 and below n_rows, a few at a time.

        With PyArrow, DuckDB hands its rows over as it reads them; without, ranges of places are read one by one.
        """
        if by_ranges:
            for start in range(0, n_rows, CHUNK_ROWS):
                yield self.query(f"{sql} AND place >= {start} AND place < {start + CHUNK_ROWS}", what=what)
            return
        reader: Any = None
        with _Watching(self._database, self._watch, what):
            try:
                reader = self._database.sql(sql).to_arrow_reader(STREAMED_ROWS)
                for batch in reader:
                    yield {name: _to_numpy(column) for name, column in zip(batch.schema.names, batch, strict=True)}
            except duckdb.Error as error:
                raise explain(self._blamed(error), error) from error
            except RuntimeError as error:
                raise KeyboardInterrupt from error
            finally:
                del reader  # the connection takes no other query before

    def labelled(self, *, score: str, label: str) -> list[tuple[str, int]]:
        """Return SQL for pieces with the columns place, score and label, and how many rows each has.

        Places count from 0 in each piece; a label that is neither 0 nor 1 is NULL or above 1. A range of places is
        read without touching the rest.
        """
        self.require(score)
        self.require(label)
        self._refuse_type(score)
        self._refuse_type(label)
        parts = []
        for path in self.files:
            known = f"{self._as_label(path, label)}::UTINYINT AS label"
            parts.append(f"SELECT karat_row AS place, {self._as_number(path, score)} AS score, {known} "
                         f"FROM ({self._numbered(path)})")  # fmt: skip
        return [
            (part if kind_of(path) == "parquet" else f"FROM {self._stage(part)}", size)
            for path, part, size in zip(self.files, parts, self._sizes, strict=True)
        ]

    def refuse_bad_labels(self, column: str) -> None:
        """Raise if a value of the column is neither 0 nor 1, naming the first."""
        self._refuse_where(column, lambda path: f"coalesce({self._as_number(path, column)} NOT IN (0, 1), true)",
                           "0 or 1")  # fmt: skip

    def refuse_bad_numbers(self, column: str) -> None:
        """Raise if a value of the column is no finite number, naming the first."""
        self._refuse_where(column, lambda path: f"coalesce(NOT isfinite({self._as_number(path, column)}), true)",
                           "a finite number")  # fmt: skip

    def refuse_bad_ids(self, column: str) -> None:
        """Raise if an id is missing or stands twice, naming the first; DuckDB spills what does not fit."""
        self._refuse_where(column, lambda path: f"{self._as_text(path, column)} IS NULL", "an id")
        ids = " UNION ALL ".join(f"SELECT {self._as_text(path, column)} AS id FROM {self._scan(path)}"
                                 for path in self.files)  # fmt: skip
        found = self.query(f"SELECT id FROM ({ids}) GROUP BY id HAVING count(*) > 1 LIMIT 1", what="comparing ids")[
            "id"
        ]
        if not len(found):
            return
        twice = str(found[0])
        places: list[tuple[Path, int]] = []
        for path in self.files:
            same = f"{self._as_text(path, column)} = {_sql.text(twice)}"
            query = f"SELECT karat_row FROM ({self._numbered(path)}) WHERE {same} ORDER BY karat_row LIMIT 2"
            places += [(path, int(row[0])) for row in self._run(path, query).fetchall()]
        (first_path, first), (path, second) = places[:2]
        also = f"row {first + 1}" if first_path == path else f"{first_path}, row {first + 1}"
        raise InvalidData(
            f"{path}, row {second + 1}, column '{column}': expected ids that differ; got {twice!r}, "
            f"which {also} has too."
        )

    # --- inside

    def _set_limits(self, memory_limit: str | None, spill_directory: str | Path | None) -> None:
        parent = None if spill_directory is None else Path(spill_directory)
        if parent is not None and not parent.is_dir():
            raise InvalidInput(f"'spill_directory' must be a folder that exists; got {str(parent)!r}.")
        folder = tempfile.mkdtemp(prefix="karat-", dir=parent)
        weakref.finalize(self, _clean_up, self._database, folder)
        self._execute(f"SET temp_directory = {_sql.text(folder)}")
        if memory_limit is not None:
            try:
                self._execute(f"SET memory_limit = {_sql.text(memory_limit)}")
            except duckdb.Error:
                raise InvalidInput(f"'memory_limit' must be a size such as '4GB'; got {memory_limit!r}.") from None
        self._execute("SET perfect_ht_threshold = 17")  # counting by 16-bit keys needs no hash table
        if self._watch is not None:
            with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets: begin and end are told
                self._execute("SET enable_progress_bar = true")
                self._execute("SET enable_progress_bar_print = false")

    def _is_one_parquet(self) -> bool:
        """Say whether all files are Parquet of the same columns: then DuckDB reads them as one."""
        return all(kind_of(path) == "parquet" for path in self.files) and all(
            columns == self._columns[0] for columns in self._columns
        )

    def _columns_of(self, path: Path, score: str, id: str | None, *, whole: bool) -> str:
        number = self._as_number(path, score)
        if id is None:
            return f"{number} AS score"
        if whole and self._kind_of(path, id) in _WHOLE_TYPES:
            return f"{number} AS score, {_sql.name(id)}::BIGINT AS id"
        text = self._as_text(path, id)
        return f"{number} AS score, {f'TRY_CAST(trim({text}) AS BIGINT)' if whole else text} AS id"

    def _as_label(self, path: Path, column: str) -> str:
        """Return SQL for 0 or 1; whole numbers need no second look, and cost less without it."""
        if self._kind_of(path, column) in _WHOLE_TYPES | {"BOOLEAN"}:
            return f"TRY_CAST({_sql.name(column)} AS UTINYINT)"
        number = self._as_number(path, column)
        return f"CASE WHEN {number} = 0 THEN 0 WHEN {number} = 1 THEN 1 END"

    def _kind_of(self, path: Path, column: str) -> str:
        return self._columns[self.files.index(path)][column]

    def _ids_are_whole(self, id: str) -> bool:
        return all(
            self._kind_of(path, id) in _WHOLE_TYPES
            or self._fetch(path, f"count(*) FILTER ({self._not_whole(path, id)})")[0][0] == 0
            for path in self.files
        )

    def _refuse_type(self, column: str) -> None:
        for path in self.files:
            kind = self._kind_of(path, column)
            if kind.startswith(_NO_NUMBER) or kind.endswith("]"):
                raise InvalidData(f"{path}: column '{column}' must be numeric; it is {kind}.")

    def _refuse_where(self, column: str, defect: Callable[[Path], str], expected: str) -> None:
        for path in self.files:
            query = f"SELECT min(karat_row), count(*) FROM ({self._numbered(path)}) WHERE {defect(path)}"
            row, n_defects = self._run(path, query).fetchall()[0]
            if n_defects:
                raise self._defect(path, int(row), column, expected, int(n_defects))

    def _stage(self, rows: str) -> str:
        """Parse text files (and number the rows of database tables) once, into a temporary table."""
        self._n_staged += 1
        name = f"staged{self._n_staged}"
        with _Watching(self._database, self._watch, "reading"):
            self._run(self.files[0], f"CREATE TEMP TABLE {name} AS {rows}")
        return name

    def _blamed(self, error: duckdb.Error) -> Path:
        return next((path for path in self.files if str(path) in str(error)), self.files[0])


def _to_numpy(column: Any) -> Any:
    """Return an Arrow column as a numpy array, masked where it has NULLs."""
    if not column.null_count:
        try:
            return np.from_dlpack(column)  # numbers: Arrow's own way would import pandas first
        except TypeError:
            return column.to_numpy(zero_copy_only=False)
    return np.ma.masked_array(column.fill_null(0).to_numpy(zero_copy_only=False), column.is_null().to_numpy(False))


class _Watching:
    """Tells how far a query is, from another thread, while it runs."""

    def __init__(self, database: duckdb.DuckDBPyConnection, watch: Watch | None, what: str) -> None:
        self._database, self._watch, self._what = database, watch, what
        self._finished = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        if self._watch is None:
            return
        self._watch(self._what, 0.0)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._finished.set()
        if self._thread is not None:
            self._thread.join()
        if self._watch is not None:
            self._watch(self._what, 1.0)

    def _look(self) -> None:
        while not self._finished.wait(0.2):
            share = self._database.query_progress()
            if self._watch is not None and share > 0:
                self._watch(self._what, min(share / 100, 1.0))


def _clean_up(database: duckdb.DuckDBPyConnection, folder: str) -> None:
    database.close()
    shutil.rmtree(folder, ignore_errors=True)


def _first_line(error: duckdb.Error) -> str:
    return str(error).split("\n", maxsplit=1)[0]
