"""Opening a resource: which engine ranks which source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from karat import _check
from karat.engines import spark
from karat.engines.frames import FrameScanner
from karat.engines.memory import MemoryEngine
from karat.engines.scanned import ScannedEngine
from karat.engines.sql import SqlScanner
from karat.errors import InvalidData, InvalidInput
from karat.formats.examine import find_defects
from karat.formats.frames import FrameTable
from karat.formats.scans import ScannedFiles

if TYPE_CHECKING:
    from karat.engines.base import Engine, Watch

ENGINES = ("auto", "memory", "duckdb", "spark")
MEMORY_ROWS = 1_000_000
"""Files of up to this many rows are sorted in memory: then every later question is free."""

_MASTER = "spark://"
_MASTERS = (_MASTER, "local")


def open_resource(
    source: Any,
    *,
    score: str,
    id: str | None = None,
    seed: int = 0,
    higher_is_better: bool = True,
    engine: str = "auto",
    check_ids: bool = False,
    memory_limit: str | None = None,
    spill_directory: str | Path | None = None,
    watch: Watch | None = None,
) -> Engine:
    """Rank a resource: files, a table in memory, or a lazy table of any size.

    Parameters
    ----------
    source
        CSV, TSV, JSON lines or Parquet by name, glob or list (also .gz and .zst); ``kb.duckdb::facts`` for a table of a
        DuckDB database; or a table: pandas, Polars (eager or lazy), PyArrow, PySpark, Ibis, DuckDB.
    score
        The column to rank by.
    id
        The column that names an item; row numbers if None.
    seed
        Decides the order of items with equal scores; it is the same in every engine.
    engine
        "auto": small files and tables in memory, large files with DuckDB, lazy tables where they are. "memory",
        "duckdb", "spark" or a Spark master ("spark://host:7077") say it outright.
    check_ids
        Look for missing and doubled ids in all of a large resource (in memory this is always done). Otherwise only
        among the items that are drawn.
    memory_limit, spill_directory
        How much memory DuckDB may take ("4GB"), and where it puts what does not fit.
    watch
        Called with what is being read and the share that is done (None if unknown): `karat.NotebookBar()`, say.

    Examples
    --------
    >>> import numpy, pandas
    >>> table = pandas.DataFrame({"fact": ["a", "b", "c"], "score": [0.2, 0.9, 0.5]})
    >>> open_resource(table, score="score", id="fact").ids_at(numpy.array([1, 2]))
    ['b', 'c']
    """
    if not engine.startswith(_MASTERS):
        _check.one_of("engine", engine, ENGINES)
    ranked: dict[str, Any] = {"seed": seed, "higher_is_better": higher_is_better}
    named: dict[str, Any] = {"score": score, "id": id}
    paths = find_paths(source)
    if paths is None:
        frame = _lazy_frame(source)
        if frame is None or engine == "memory":
            return MemoryEngine(FrameTable(source), **named, **ranked)
        return ScannedEngine(FrameScanner(frame, **named, check_ids=check_ids, watch=watch), **ranked)
    paths, engine = _split_master(paths, engine)
    if names_spark([], engine):
        texts = [str(path) for path in paths]
        frame = spark.read_parquet(texts, master=None if engine == "spark" else engine)
        name = texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more"
        where = {"source": texts, "engine": engine}
        scanner = FrameScanner(frame, **named, name=name, where=where, check_ids=check_ids, watch=watch)
        return ScannedEngine(scanner, **ranked)
    try:
        table = ScannedFiles(paths, memory_limit=memory_limit, spill_directory=spill_directory, watch=watch)
        if engine == "memory" or (engine == "auto" and table.n_rows <= MEMORY_ROWS):
            return MemoryEngine(table, **named, **ranked)
        return ScannedEngine(SqlScanner(table, **named, check_ids=check_ids), **ranked)
    except InvalidData as error:
        raise _with_all_defects(error, paths, score=score, id=id) from error


def _with_all_defects(error: InvalidData, paths: Sequence[str | Path], *, score: str, id: str | None) -> InvalidData:
    """Return the error with every defect of the files; the first one was found by whoever raised it."""
    try:
        found = find_defects(paths, score=score, id=id)
    except InvalidData:  # there is no such file, say
        return error
    if not found:
        return error
    if len(found) == 1:
        return InvalidData(str(error), defects=found)
    first, such = str(error), f"({len(found):,} such rows in all"
    if such in first:
        return InvalidData(first.replace(such, f"{such}; --json lists every one"), defects=found)
    first = re.sub(r" \([\d,]+ such rows in all\)", "", first)  # others have other defects
    return InvalidData(f"{first} ({len(found):,} defects in all; --json lists every one)", defects=found)


def names_spark(source: Sequence[str | Path], engine: str) -> bool:
    """Say whether files are to be read by Spark."""
    return engine == "spark" or engine.startswith(_MASTERS) or any(str(path).startswith(_MASTER) for path in source)


def find_paths(source: Any) -> Sequence[str | Path] | None:
    """Return the paths in a source, None if it is a table."""
    if isinstance(source, (str, Path)):
        return [source]
    if isinstance(source, (list, tuple)) and all(isinstance(entry, (str, Path)) for entry in source):
        return list(source)
    return None


def _lazy_frame(source: Any) -> Any:
    try:
        frame = nw.from_native(source)
    except TypeError:
        return None
    return source if isinstance(frame, nw.LazyFrame) else None


def _split_master(paths: Sequence[str | Path], engine: str) -> tuple[Sequence[str | Path], str]:
    """Read 'spark://host:7077/data/facts.parquet' as a master and a path."""
    named = [str(path) for path in paths if str(path).startswith(_MASTER)]
    if not named:
        return paths, engine
    masters = {path.removeprefix(_MASTER).partition("/")[0] for path in named}
    if len(masters) != 1 or len(named) != len(paths):
        raise InvalidInput("'source' must name one Spark master for all its paths.")
    inner = ["/" + path.removeprefix(_MASTER).partition("/")[2] for path in named]
    if "/" in inner:
        raise InvalidInput(f"'source' must name a path after the Spark master; got {named[0]!r}.")
    return inner, _MASTER + masters.pop()
