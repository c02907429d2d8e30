"""Scans lazy tables with narwhals: Polars, PySpark, Ibis, DuckDB relations. Only candidates come to the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from karat import _sql
from karat.engines.base import number_texts
from karat.engines.bins import Histogram
from karat.engines.keys import Key, LinearKey
from karat.engines.scanned import Rows
from karat.errors import InvalidData, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from karat.engines.base import Watch
    from karat.engines.bins import Where
    from karat.math.path import Floats

_SCORE, _NUMBER, _ROW, _WANTED = "karat_score", "karat_number", "karat_row", "karat_wanted"


class FrameScanner:
    """Reads a lazy table; a place is the id of a row."""

    def __init__(
        self,
        native: Any,
        *,
        score: str,
        id: str | None = None,
        name: str = "the table",
        where: dict[str, Any] | None = None,
        check_ids: bool = False,
        ids_are_labels: bool = False,
        watch: Watch | None = None,
    ) -> None:
        frame = nw.from_native(native)
        if not isinstance(frame, nw.LazyFrame):
            frame = frame.lazy()
        self.name, self._watch = name, watch
        self.n_rows = 0
        """Known once the extent is."""
        self._where = where or {"source": []}
        self._score, self._id = score, id
        self._kind = frame.implementation
        if id is None:
            if not self._kind.is_polars():
                raise InvalidInput(f"'id' must name a column: the rows of {name} have no order to number them by.")
            frame = nw.from_native(frame.to_native().with_row_index(_ROW, offset=1))
        key = _ROW if id is None else id
        schema = frame.collect_schema()
        self._others = [column for column in schema.names() if column not in {score, key}]
        for column in (score, key):
            if column not in schema:
                listed = ", ".join(map(repr, schema.names()))
                raise InvalidData(f"{self._named} has no column '{column}'; it has {listed}.")
        if not (schema[score].is_numeric() or schema[score] == nw.Boolean):
            raise InvalidData(f"{self._named}'s column '{score}' must be numeric; it is {schema[score]}.")
        self._ids_are_whole = schema[key].is_integer()
        if not (self._ids_are_whole or ids_are_labels) and schema[key] != nw.String:
            raise InvalidData(f"{self._named}'s column '{key}' must hold whole numbers or texts; it is {schema[key]}.")
        self._key = key
        self._frame: nw.LazyFrame[Any] = frame.with_columns(nw.col(score).cast(nw.Float64).alias(_SCORE))
        if self._ids_are_whole:
            self._frame = self._frame.with_columns(nw.col(key).cast(nw.Int64).alias(_NUMBER))
        if check_ids:
            self._refuse_bad_ids()

    def describe(self) -> dict[str, Any]:
        return {**self._where, "score": self._score, "id": self._id}

    def extent(self) -> tuple[float, float]:
        score = nw.col(_SCORE)
        found = self._collect(
            self._frame.select(
                score.min().alias("low"),
                score.max().alias("high"),
                score.is_finite().cast(nw.Int64).sum().alias("fine"),
                nw.len().alias("n"),
            ),
            "reading the range of scores",
        )
        self.n_rows = int(found["n"][0])
        if self.n_rows == 0:
            raise InvalidData(f"{self._named} is empty: it has no rows.")
        n_bad = self.n_rows - int(found["fine"][0] or 0)
        if n_bad:
            self._refuse_bad_numbers(n_bad)
        return float(found["low"][0]), float(found["high"][0])

    def count(self, key: LinearKey) -> NDArray[np.int64]:
        bins = self._frame.select(self._key_of(key).alias("bin")).group_by("bin").agg(nw.len().alias("n"))
        found = self._collect(bins, "counting")
        counts = np.zeros(2**key.bits, dtype=np.int64)
        counts[_array(found["bin"], np.int64)] = _array(found["n"], np.int64)
        return counts

    def histogram(self, where: Where, keys: Sequence[Key]) -> Histogram:
        names = [f"karat_key{place}" for place in range(len(keys))]
        columns = [self._key_of(key).alias(name) for key, name in zip(keys, names, strict=True)]
        frame = self._with_numbers([*keys, *(key for key, _ in where)])
        bins = (
            frame.filter(*self._conditions(where))
            .select(_SCORE, *columns)
            .group_by(*names)
            .agg(nw.len().alias("n"), nw.col(_SCORE).min().alias("low"), nw.col(_SCORE).max().alias("high"))
        )
        found = self._collect(bins, "counting full bins again")
        return Histogram(
            _array(found[names[-1]], np.float64),
            _array(found["n"], np.int64),
            _array(found["low"], np.float64),
            _array(found["high"], np.float64),
        )

    def fetch(self, where: Where) -> Rows:
        frame = self._with_numbers([key for key, _ in where]).filter(*self._conditions(where))
        found = self._collect(frame.select(_SCORE, self._key), "fetching candidates")
        if found[self._key].null_count():
            self._refuse_bad_ids()
        ids = found[self._key]
        values = _array(ids, np.int64) if self._ids_are_whole else np.array(ids.to_list(), dtype=object)
        return Rows(_array(found[_SCORE], np.float64), values, values)

    def payload(self, places: NDArray[Any]) -> list[dict[str, Any]]:
        if not self._others:
            return [{} for _ in places]
        wanted = list(dict.fromkeys(places.tolist()))
        native = keep_ids(self._frame.select(self._key, *self._others), self._key, wanted)
        found = self._collect(native, "fetching items")
        rows = {row.pop(self._key): row for row in found.rows(named=True)}
        if len(rows) != len(found):
            self._refuse_bad_ids()
        return [rows[place] for place in places.tolist()]

    def count_from(self, scores: Floats, *, above: bool) -> NDArray[np.int64]:
        score = nw.col(_SCORE)
        tests = [(score >= float(value)) if above else (score <= float(value)) for value in scores]
        named = [test.cast(nw.Int64).sum().alias(f"n{place}") for place, test in enumerate(tests)]
        found = self._collect(self._frame.select(*named), "counting")
        return np.array([int(found[f"n{place}"][0]) for place in range(len(scores))], dtype=np.int64)

    # --- inside

    @property
    def _named(self) -> str:
        return self.name[:1].upper() + self.name[1:]

    def _key_of(self, key: Key) -> Any:
        value = key.of(nw.col(_SCORE), nw.col(_NUMBER), whole=_floor)
        return value.cast(nw.Int64) if key.whole else value

    def _conditions(self, where: Where) -> list[Any]:
        return [
            self._key_of(key).is_in([int(value) if key.whole else float(value) for value in values])
            for key, values in where
        ]

    def _with_numbers(self, keys: Sequence[Key]) -> nw.LazyFrame[Any]:
        """Add the number of a text id where a key asks for it."""
        if self._ids_are_whole or not any(key.of_ties for key in keys):
            return self._frame
        numbered: nw.LazyFrame[Any] = number_text_ids(self._frame, self._key, name=_NUMBER)
        return numbered

    def _collect(self, frame: nw.LazyFrame[Any], what: str) -> nw.DataFrame[Any]:
        if self._watch is not None:
            self._watch(what, None)
        try:
            return frame.collect(engine="streaming") if self._kind.is_polars() else frame.collect()
        except Exception as error:  # each library raises its own
            raise InvalidData(f"{self._named} cannot be read: {_reason(error)}") from error

    def _refuse_bad_numbers(self, n_bad: int) -> None:
        score = nw.col(_SCORE)
        bad = self._frame.filter(score.is_null() | ~score.is_finite()).select(self._key, _SCORE).head(1)
        found = self._collect(bad, "looking for what is wrong")
        value, id_ = found[_SCORE][0], found[self._key][0]
        got = "nothing" if value is None else repr(float(value))
        more = f" ({n_bad:,} such rows in all)" if n_bad > 1 else ""
        raise InvalidData(
            f"{self._named}, id {id_!r}, column '{self._score}': expected a finite number; got {got}{more}."
        )

    def _refuse_bad_ids(self) -> None:
        missing = self._collect(self._frame.select(nw.col(self._key).is_null().cast(nw.Int64).sum().alias("n")), "ids")
        n_missing = int(missing["n"][0])
        if n_missing:
            raise InvalidData(f"{self._named}, column '{self._key}': expected ids; {n_missing:,} rows have none.")
        twice = self._frame.group_by(self._key).agg(nw.len().alias("n")).filter(nw.col("n") > 1).head(1)
        found = self._collect(twice, "comparing ids")
        if len(found):
            raise InvalidData(
                f"{self._named}, column '{self._key}': expected ids that differ; got {found[self._key][0]!r} "
                f"{int(found['n'][0])} times."
            )


class FrameLabels(FrameScanner):
    """Reads the scores and labels of a lazy table."""

    def __init__(self, native: Any, *, score: str, label: str, watch: Watch | None = None) -> None:
        super().__init__(native, score=score, id=label, watch=watch, ids_are_labels=True)
        self._label = label

    def count_positives(self) -> int:
        is_right = nw.col(self._label).cast(nw.Float64) == 1.0
        return int(self._collect(self._frame.select(is_right.cast(nw.Int64).sum().alias("n")), "counting")["n"][0])

    def read(self, key: LinearKey, first: int, last: int) -> Iterator[tuple[Floats, NDArray[np.uint8]]]:
        """Read the scores and labels whose key is between two values."""
        inside = self._frame.filter(self._key_of(key).is_between(first, last))
        found = self._collect(inside.select(_SCORE, nw.col(self._label).cast(nw.Float64)), "reading")
        labels = _array(found[self._label], np.float64)
        bad = labels[(labels != 0) & (labels != 1)]
        if len(bad):
            got = "nothing" if np.isnan(bad[0]) else f"{bad[0]:g}"
            raise InvalidData(f"{self._named}, column '{self._label}': expected 0 or 1; got {got}.")
        yield _array(found[_SCORE], np.float64), labels.astype(np.uint8)

    def refuse_bad_scores(self) -> None:
        self.extent()


def number_text_ids(frame: nw.LazyFrame[Any], column: str, *, name: str) -> Any:
    """Add the first 60 bits of the MD5 of a text column, computed where the data are."""
    kind, native = frame.implementation, frame.to_native()
    if kind.is_pyspark() or kind.is_pyspark_connect():
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        digits = F.substring(F.md5(F.col(column).cast("binary")), 1, 15)
        return nw.from_native(native.withColumn(name, F.conv(digits, 16, 10).cast("bigint")))
    if kind.is_polars():
        import polars as pl  # noqa: PLC0415

        def numbered(texts: pl.Series) -> pl.Series:
            return pl.Series(number_texts(texts.to_list()), dtype=pl.Int64)

        column_of = pl.col(column).map_batches(numbered, return_dtype=pl.Int64, is_elementwise=True)
        return nw.from_native(native.with_columns(column_of.alias(name)))
    if kind.is_duckdb():
        number = f"('0x' || substr(md5({_sql.name(column)}), 1, 15))::BIGINT"
        return nw.from_native(native.project(f"*, {number} AS {name}"))
    raise InvalidInput(
        f"'id' must hold whole numbers in a table of {kind.name.lower()} with this many equal scores; got texts."
    )


def keep_ids(frame: nw.LazyFrame[Any], column: str, wanted: Sequence[Any]) -> Any:
    """Keep the rows with these ids, by a join where the library takes a small table from the client."""
    kind, native = frame.implementation, frame.to_native()
    if kind.is_pyspark() or kind.is_pyspark_connect():
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        type_ = dict(native.dtypes)[column]
        small = native.sparkSession.createDataFrame([(value,) for value in wanted], f"`{column}` {type_}")
        return nw.from_native(native.join(F.broadcast(small), on=column, how="left_semi"))
    if kind.is_polars():
        import polars as pl  # noqa: PLC0415

        small_frame = pl.LazyFrame({column: pl.Series(wanted, dtype=native.collect_schema()[column])})
        return nw.from_native(native.join(small_frame, on=column, how="semi"))
    if kind.is_ibis():
        import ibis  # noqa: PLC0415

        table = ibis.memtable({_WANTED: list(wanted)})
        return nw.from_native(native.semi_join(table, native[column] == table[_WANTED]))
    return frame.filter(nw.col(column).is_in(list(wanted)))


def _floor(value: Any) -> Any:
    return value.floor()


def _array(series: Any, dtype: Any) -> NDArray[Any]:
    return np.asarray(series.to_numpy(), dtype=dtype)


def _reason(error: Exception) -> str:
    """Return the first line of another library's complaint."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if text.endswith(".") else f"{text}."
