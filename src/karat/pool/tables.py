"""The pool's tables: Parquet files that DuckDB reads in one streaming pass, never whole into memory.

A unit's 64-bit ``key`` is a hash of the pool's seed and the unit's name. Its upper 53 bits are the unit's permanent
random number and its lower ones choose the fold, so nothing about the draw needs to be stored. (Two of 100 million
units share a key with probability 3e-4; they would be drawn together.)
"""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from karat import _sql
from karat.math.pooled.proxy import N_FOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

UNIFORM = "((key >> 11)::DOUBLE / 9007199254740992.0)"
FOLD = f"((key & 2047) % {N_FOLDS})::INTEGER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Systems drawn together: ``pi(x) >= min(1, sqrt(sum of their (coefficient * mass)^2))``.

    The coefficients, one a system, are ``known`` for units that some earlier system predicts, ``new`` for others.
    """

    systems: tuple[int, ...]
    known: tuple[float, ...]
    new: tuple[float, ...]


def connect(work: Path) -> duckdb.DuckDBPyConnection:
    """Open DuckDB with bounded memory; what does not fit goes to the scratch folder."""
    connection = duckdb.connect()
    connection.execute("SET memory_limit = '2GB'")
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() != (False,):
        connection.execute("SET enable_progress_bar = false")  # DuckDB refuses the word itself in a plain notebook
    connection.execute(f"SET temp_directory = '{str(work / 'spill').replace(chr(39), chr(39) * 2)}'")
    return connection


@contextmanager
def workspace(folder: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Give a connection and a scratch folder that is gone afterwards."""
    work = Path(tempfile.mkdtemp(prefix="tmp-", dir=folder))
    try:
        with connect(work) as connection:
            yield connection, work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def files(paths: Sequence[Path], *, origin: str | None = None) -> str:
    """Several Parquet files as one table; a column named ``origin`` says from which file a row comes."""
    names = ", ".join(_sql.text(path) for path in paths)
    return f"read_parquet([{names}]{'' if origin is None else f', filename = {_sql.text(origin)}'})"


def write_instances(connection: duckdb.DuckDBPyConnection, path: Path, *, mass: NDArray[np.float64], seed: int) -> None:
    """Write the checked table ``submission`` as instances: key, id, mass under the system's law, relative score.

    ``mass`` has one number a prediction, in line order. Scores become ranks in (0, 1], 0 where there are none.
    """
    connection.register("law", {"line_order": np.arange(mass.size), "mass": mass})
    copy(
        connection,
        f"""WITH ordered AS (SELECT *, row_number() OVER (ORDER BY line) - 1 AS line_order,
                                rank() OVER (ORDER BY score) / count(*) OVER () AS relative FROM submission)
        SELECT md5_number_lower('{seed}:' || relation) AS key, id, law.mass,
               CASE WHEN score IS NULL THEN 0.0 ELSE relative END AS score
        FROM ordered JOIN law USING (line_order) ORDER BY key, id""",
        path,
    )
    connection.unregister("law")
    connection.execute("DROP TABLE submission")


def write_payload(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write what the checked table ``submission`` says about its instances, if it says anything, for people to see."""
    if connection.execute("SELECT count(payload) FROM submission").fetchall()[0][0]:
        copy(connection, "SELECT id, payload FROM submission ORDER BY id", path)


def read_payload(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[Path], ids: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return what the first of the files that knows an id says about it."""
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        missing = [name for name in ids if name not in found]
        if not missing or not path.is_file():
            continue
        connection.register("wanted", {"id": np.array(missing, dtype=object)})
        rows = connection.execute(
            f"SELECT id, payload FROM {files([path])} SEMI JOIN (SELECT CAST(id AS VARCHAR) AS id FROM wanted) USING (id)"  # noqa: E501
        ).fetchall()
        connection.unregister("wanted")
        found.update({name: json.loads(payload) for name, payload in rows})
    return found


def find_strangers(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path], ids: Sequence[str]) -> list[str]:
    """Return the ids that none of the instance files holds, in the order given."""
    if not paths:
        return list(ids)
    connection.register("wanted", {"id": np.array(list(ids), dtype=object)})
    rows = connection.execute(
        f"SELECT CAST(id AS VARCHAR) AS id FROM wanted SEMI JOIN (SELECT id FROM {files(paths)}) i USING (id)"
    ).fetchall()
    connection.unregister("wanted")
    known = {row[0] for row in rows}
    return [name for name in ids if name not in known]


def inclusion_sql(batches: Sequence[Batch], units: str) -> str:
    """Word the SQL for ``(key, inclusion)``: the largest probability that any batch gives the unit."""
    rows = ", ".join(
        f"({system}, {number}, {known!r}::DOUBLE, {new!r}::DOUBLE)"
        for number, batch in enumerate(batches)
        for system, known, new in zip(batch.systems, batch.known, batch.new, strict=True)
    )
    table = f"(VALUES {rows}) AS b(system, batch, known, fresh)"
    if all(len(batch.systems) == 1 for batch in batches):
        # A batch of one: no sum over its systems, so one pass is enough.
        return (
            f"SELECT key, max(least(1.0, CASE WHEN novel THEN fresh ELSE known END * mass)) AS inclusion "
            f"FROM {units} u JOIN {table} USING (system) GROUP BY key"
        )
    return f"""SELECT key, max(least(1.0, size)) AS inclusion FROM (
        SELECT key, batch,
               sqrt(CASE WHEN bool_or(novel) THEN sum((fresh * mass) ** 2) ELSE sum((known * mass) ** 2) END) AS size
        FROM {units} u JOIN {table} USING (system) GROUP BY key, batch) GROUP BY key"""


def copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Write the rows of a query to a Parquet file."""
    connection.execute(f"COPY ({query}) TO {_sql.text(path)} (FORMAT parquet, COMPRESSION zstd)")
