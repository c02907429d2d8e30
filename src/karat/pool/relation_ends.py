"""Who the ends of relations are to the systems of a pool: by the links that they give mentions, else by names.

Predictions have, for each end, its canonical name (``subject``), where it stands (``document``, ``subject_start``,
``subject_end``) and perhaps a link (``subject_link``).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat import _sql
from karat.pool.tables import files, workspace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from karat.pool.pool import Pool
    from karat.pool.state import System

    Place = tuple[str, int, int]
    """A document, and the characters of a mention in it."""
    Votes = set[tuple[str, str]]
    """Which system says what."""

_ENDS = ("subject", "object")


class SystemsSay(NamedTuple):
    """What systems call the ends of their relations.

    Parameters
    ----------
    links
        Of mentions: the links that systems give them which compete now.
    names
        Of mentions that some system of the pool gives no link, retracted ones included: their canonical names.
    links_of
        Of canonical names, wherever they stand: the links that competing systems give them.
    """

    links: Mapping[Place, Votes]
    names: Mapping[Place, Votes]
    links_of: Mapping[str, set[str]]


NOTHING_SAID = SystemsSay({}, {}, {})


class LinksCompared(NamedTuple):
    """Canonical names that a submission shares with the systems before it.

    Parameters
    ----------
    names
        All that both have.
    lacking
        Those that it never links and some earlier system does.
    alone
        Those that it always links and no earlier system does.
    linked, known
        Those that both link, and of these those with a link in common.
    """

    names: int
    lacking: int
    alone: int
    linked: int
    known: int


def read_ends(pool: Pool, places: Collection[Place], names: Collection[str]) -> SystemsSay:
    """Return what a pool's systems say of mentions and of canonical names."""
    current, ever = _predictions(pool, pool.systems), _predictions(pool, pool.state.systems)
    links: dict[Place, Votes] = defaultdict(set)
    unlinked: dict[Place, Votes] = defaultdict(set)
    links_of: dict[str, set[str]] = defaultdict(set)
    with workspace(pool.folder) as (connection, _):
        if ever and places:
            _register(
                connection, "places", dict(zip(("document", "low", "high"), zip(*places, strict=True), strict=True))
            )
            rows = connection.execute(
                f"SELECT DISTINCT system, document, low, high, name, link FROM ({_ends_sql(_said(ever))}) "
                "SEMI JOIN (SELECT CAST(document AS VARCHAR) AS document, low, high FROM places) "
                "USING (document, low, high)"
            ).fetchall()
            competing = {str(path) for path in current}
            for system, document, low, high, name, link in rows:
                if link is None:
                    unlinked[document, low, high].add((system, name))
                elif system in competing:
                    links[document, low, high].add((system, link))
        if current and names:
            _register(connection, "names", {"name": names})
            rows = connection.execute(
                f"SELECT DISTINCT name, link FROM ({_ends_sql(_said(current))}) "
                "SEMI JOIN (SELECT CAST(name AS VARCHAR) AS name FROM names) USING (name) WHERE link IS NOT NULL"
            ).fetchall()
            for name, link in rows:
                links_of[name].add(link)
    return SystemsSay(dict(links), dict(unlinked), dict(links_of))


def find_stated(pool: Pool, relations: Collection[str]) -> set[str]:
    """Return those of the relations, named as `Pool.tell_truth` takes them, that any system of the pool states."""
    ever = _predictions(pool, pool.state.systems)
    if not ever or not relations:
        return set()
    with workspace(pool.folder) as (connection, _):
        _register(connection, "wanted", {"relation": relations})
        named = " || chr(31) || ".join(_field(name) for name in pool.state.settings.relation)
        rows = connection.execute(
            f"SELECT DISTINCT relation FROM (SELECT {named} AS relation FROM {files(ever)}) "
            "SEMI JOIN (SELECT CAST(relation AS VARCHAR) AS relation FROM wanted) USING (relation)"
        ).fetchall()
    return {row[0] for row in rows}


def compare_links(pool: Pool, predictions: Path, earlier: Sequence[System]) -> LinksCompared:
    """Compare a submission (JSON lines, or as the pool keeps it) with what others say of the same canonical names."""
    others = _predictions(pool, earlier)
    if not others:
        return LinksCompared(0, 0, 0, 0, 0)
    own = _said([predictions])
    if predictions.suffix != ".parquet":
        own = f"(SELECT json AS payload, NULL AS system FROM read_ndjson_objects({_sql.text(predictions)}))"
    here, there = (
        f"(SELECT name, list(DISTINCT link) FILTER (link IS NOT NULL) AS links, bool_and(link IS NOT NULL) AS always "
        f"FROM ({_ends_sql(table)}) GROUP BY name)"
        for table in (own, _said(others))
    )
    with workspace(pool.folder) as (connection, _):
        (counts,) = connection.execute(
            "SELECT count(*), count(*) FILTER (h.links IS NULL AND t.links IS NOT NULL), "
            "count(*) FILTER (h.always AND t.links IS NULL), "
            "count(*) FILTER (h.links IS NOT NULL AND t.links IS NOT NULL), "
            "count(*) FILTER (list_has_any(h.links, t.links)) "
            f"FROM {here} AS h JOIN {there} AS t USING (name)"
        ).fetchall()
    return LinksCompared(*counts)


def _ends_sql(table: str) -> str:
    """Word the SQL for ``(system, document, low, high, name, link)``: both ends of every prediction."""
    fields = [[end, f"{end}_start", f"{end}_end", f"{end}_link"] for end in _ENDS]
    paths = ", ".join(f"'$.{name}'" for name in ("document", *fields[0], *fields[1]))
    ends = ", ".join(
        f"{{name: said[{at}], low: CAST(said[{at + 1}] AS BIGINT), high: CAST(said[{at + 2}] AS BIGINT), "
        f"link: nullif(said[{at + 3}], '')}}"
        for at in (2, 2 + len(fields[0]))
    )
    parsed = f"SELECT system, json_extract_string(payload, [{paths}]) AS said FROM {table}"  # each line is read once
    return f"SELECT system, said[1] AS document, unnest([{ends}], recursive := true) FROM ({parsed})"


def _said(paths: Sequence[Path]) -> str:
    return files(paths, origin="system")


def _field(name: str) -> str:
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")  # RFC 6901: any name can be written so
    return f"json_extract_string(payload, {_sql.text(pointer)})"


def _predictions(pool: Pool, systems: Iterable[System]) -> list[Path]:
    paths = (pool.folder / system.folder / "payload.parquet" for system in systems if not system.is_judge)
    return [path for path in paths if path.is_file()]


def _register(
    connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Iterable[str] | Iterable[int]]
) -> None:
    given = {key: list(values) for key, values in columns.items()}
    connection.register(name, {key: np.array(values, dtype=object if isinstance(values[0], str) else np.int64)
                               for key, values in given.items()})  # fmt: skip
