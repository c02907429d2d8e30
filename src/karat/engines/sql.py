"""Scans files with DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from karat.engines.bins import Histogram
from karat.engines.keys import COARSE_BITS, Key, LinearKey, TieKey
from karat.engines.scanned import Rows
from karat.engines.ties import KeySet, KeyTable, tie_keys

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from karat.engines.bins import Where
    from karat.math.path import Floats


class ScoredTable(Protocol):
    """What the scanner needs of a table of files: `FileTable` has it."""

    name: str
    paths: list[str]
    columns: list[str]
    n_rows: int

    def scored(self, *, score: str, id: str | None) -> tuple[str, bool]:
        """Return SQL with the columns place, score, id and number, and whether the ids are whole numbers."""
        ...

    def query(self, sql: str, *, what: str) -> dict[str, Any]:
        """Run SQL and return its columns as numpy arrays, None for a missing text."""
        ...

    def stream(self, sql: str, n_rows: int, *, what: str) -> Generator[dict[str, Any], None, None]:
        """Run SQL that ends in WHERE and give its rows, with places below n_rows, a few at a time."""
        ...

    def refuse_bad_numbers(self, column: str) -> None:
        """Raise if a value of the column is no finite number, naming the first."""
        ...

    def refuse_bad_ids(self, column: str) -> None:
        """Raise if an id is missing or stands twice, naming the first."""
        ...

    def rows(self, positions: NDArray[np.int64], columns: Sequence[str] | None = None) -> list[dict[str, Any]]: ...


class LabelledTable(ScoredTable, Protocol):
    """A table whose labels can be read too."""

    def labelled(self, *, score: str, label: str) -> list[tuple[str, int]]:
        """Return SQL for pieces with the columns place, score and label, and how many rows each has."""
        ...

    def refuse_bad_labels(self, column: str) -> None: ...


class SqlScanner:
    """Reads a table of files; a place is the position of a row."""

    def __init__(self, table: ScoredTable, *, score: str, id: str | None = None, check_ids: bool = False) -> None:
        self._table = table
        self.name = table.name
        self._score, self._id = score, id
        self._rows, self._ids_are_whole = table.scored(score=score, id=id)
        if check_ids and id is not None:
            table.refuse_bad_ids(id)

    def describe(self) -> dict[str, Any]:
        return {"source": list(self._table.paths), "score": self._score, "id": self._id}

    def extent(self) -> tuple[float, float]:
        found = self._query("SELECT min(score) AS low, max(score) AS high FROM rows", "reading the range of scores")
        low, high = (np.ma.filled(np.ma.asarray(found[name], dtype=np.float64), np.nan)[0] for name in ("low", "high"))
        if not (np.isfinite(low) and np.isfinite(high)):
            self._table.refuse_bad_numbers(self._score)
        return float(low), float(high)

    def count(self, key: LinearKey) -> NDArray[np.int64]:
        # A key of 16 bits lets DuckDB count in a plain array instead of a hash table: a third of the time.
        bin_ = f"TRY_CAST({key.of(Sql('score'), None, whole=_floor)} AS USMALLINT)"
        found = self._query(f"SELECT {bin_} AS bin, count(*) AS n FROM rows GROUP BY bin", "counting")
        bins = np.ma.asarray(found["bin"])
        if np.ma.getmaskarray(bins).any():
            self._table.refuse_bad_numbers(self._score)
        counts = np.zeros(2**key.bits, dtype=np.int64)
        counts[bins.filled(0).astype(np.int64)] = found["n"]
        return counts

    def histogram(self, where: Where, keys: Sequence[Key]) -> Histogram:
        *before, last = keys
        if isinstance(last, TieKey) and all(isinstance(key, TieKey) for key in before):  # each contains the one before
            return self._count_ties(where, last)
        names = [f"key{place}" for place in range(len(keys))]
        columns = ", ".join(f"{_sql_key(key)} AS {name}" for key, name in zip(keys, names, strict=True))
        found = self._query(
            f"SELECT {names[-1]} AS value, count(*) AS n, min(score) AS low, max(score) AS high "
            f"FROM (SELECT score, {columns} FROM rows WHERE {_sql_where(where)}) GROUP BY {', '.join(names)}",
            "counting full bins again",
        )
        return Histogram(
            np.asarray(found["value"], dtype=np.float64),
            np.asarray(found["n"], dtype=np.int64),
            np.asarray(found["low"], dtype=np.float64),
            np.asarray(found["high"], dtype=np.float64),
        )

    def fetch(self, where: Where) -> Rows:
        if self._ids_are_whole and any(isinstance(key, TieKey) for key, _ in where):
            return self._fetch_ties(where)
        found = self._query(f"SELECT score, id, place FROM rows WHERE {_sql_where(where)}", "fetching candidates")
        ids = np.ma.asarray(found["id"])
        if np.ma.getmaskarray(ids).any() and self._id is not None:
            self._table.refuse_bad_ids(self._id)
        plain = np.asarray(ids.data, dtype=np.int64 if self._ids_are_whole else object)
        return Rows(np.asarray(found["score"], dtype=np.float64), plain, np.asarray(found["place"], dtype=np.int64))

    def payload(self, places: NDArray[Any]) -> list[dict[str, Any]]:
        others = [name for name in self._table.columns if name not in {self._score, self._id}]
        return self._table.rows(places, others) if others else [{} for _ in places]

    def count_from(self, scores: Floats, *, above: bool) -> NDArray[np.int64]:
        sign = ">=" if above else "<="
        counts = ", ".join(
            f"count(*) FILTER (score {sign} {_literal(value)}) AS n{i}" for i, value in enumerate(scores)
        )
        found = self._query(f"SELECT {counts} FROM rows", "counting")
        return np.array([int(found[f"n{i}"][0]) for i in range(len(scores))], dtype=np.int64)

    def _count_ties(self, where: Where, key: TieKey) -> Histogram:
        table = KeyTable()
        for found in self._stream_ties("score, number", where, "counting full bins again"):
            table.add(tie_keys(key, found["score"], found["number"]), found["score"])
        return table.histogram()

    def _fetch_ties(self, where: Where) -> Rows:
        parts = [(found["score"], found["number"], found["place"])
                 for found in self._stream_ties("score, number, place", where, "fetching candidates")]  # fmt: skip
        scores, ids, places = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return Rows(scores, ids, places)

    def _stream_ties(self, columns: str, where: Where, what: str) -> Iterator[dict[str, Any]]:
        """Read columns of rows: DuckDB tests the scores, and what is compiled the hashes."""
        ties = [(key, KeySet(values)) for key, values in where if isinstance(key, TieKey)]
        on_scores = _sql_where([(key, values) for key, values in where if not isinstance(key, TieKey)]) or "true"
        sql = f"SELECT {columns} FROM ({self._rows}) WHERE {on_scores}"
        stream = self._table.stream(sql, self._table.n_rows, what=what)
        for found in stream:
            if np.ma.isMaskedArray(found["number"]) and self._id is not None:
                stream.close()
                self._table.refuse_bad_ids(self._id)
            kept = {name: np.asarray(column) for name, column in found.items()}
            for key, wanted in ties:
                inside = wanted.holds(tie_keys(key, kept["score"], kept["number"]))
                kept = {name: column[inside] for name, column in kept.items()}
            yield kept

    def _query(self, sql: str, what: str) -> dict[str, Any]:
        return self._table.query(f"WITH rows AS NOT MATERIALIZED ({self._rows}) {sql}", what=what)


class SqlLabels(SqlScanner):
    """Reads the scores and labels of a table of files."""

    def __init__(self, table: LabelledTable, *, score: str, label: str) -> None:
        self._table = self._labelled = table
        self.name = table.name
        self._score, self._label = score, label
        self._pieces = table.labelled(score=score, label=label)
        self._rows = " UNION ALL ".join(f"SELECT score, label FROM ({sql})" for sql, _ in self._pieces)
        self.n_rows = sum(n_rows for _, n_rows in self._pieces)

    def count_positives(self) -> int:
        return int(self._query("SELECT count(*) FILTER (label = 1) AS n FROM rows", "counting")["n"][0])

    def read(self, key: LinearKey, first: int, last: int) -> Iterator[tuple[Floats, NDArray[np.uint8]]]:
        """Read the scores and labels whose key is between two values, a few million at a time."""
        everything = first == 0 and last == 2**key.bits - 1
        inside = "true" if everything else f"{_sql_key(key)} BETWEEN {first} AND {last}"
        for sql, n_rows in self._pieces:
            rows = f"SELECT score, label FROM ({sql}) WHERE {inside}"
            stream = self._labelled.stream(rows, n_rows, what="reading")
            for found in stream:
                scores, labels = found["score"], found["label"]
                if np.ma.isMaskedArray(scores):
                    stream.close()
                    self.refuse_bad_scores()
                if np.ma.isMaskedArray(labels) or labels.max(initial=0) > 1:
                    stream.close()
                    self._labelled.refuse_bad_labels(self._label)
                yield np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=np.uint8)

    def refuse_bad_scores(self) -> None:
        self._table.refuse_bad_numbers(self._score)


class Sql:
    """SQL text that takes part in arithmetic, so that a key's formula is written once for all engines."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __mul__(self, other: Any) -> Sql:
        return self._with("*", other)

    def __add__(self, other: Any) -> Sql:
        return self._with("+", other)

    def __sub__(self, other: Any) -> Sql:
        return self._with("-", other)

    def __mod__(self, other: Any) -> Sql:
        return self._with("%", other)

    def __floordiv__(self, other: Any) -> Sql:
        return self._with("//", other)

    def _with(self, sign: str, other: Any) -> Sql:
        return Sql(f"({self} {sign} {other if isinstance(other, Sql) else _literal(other)})")


def _literal(value: float) -> str:
    """Return a number as SQL. A double goes in as text: a bare one would be a decimal, and a negative one a comment."""
    return f"{int(value)}::BIGINT" if isinstance(value, (int, np.integer)) else f"'{float(value)!r}'::DOUBLE"


def _floor(value: Any) -> Sql:
    return Sql(f"floor({value})")


def _sql_key(key: Key) -> str:
    value = key.of(Sql("score"), Sql("number"), whole=_floor)
    return f"CAST({value} AS {'USMALLINT' if key.bits <= COARSE_BITS else 'BIGINT'})" if key.whole else str(value)


def _sql_where(where: Where) -> str:
    tests = []
    for key, values in where:
        wanted = ", ".join(str(int(value)) if key.whole else _literal(float(value)) for value in values)
        tests.append(f"{_sql_key(key)} IN ({wanted})")
    return " AND ".join(tests)
