"""Tables in memory: pandas, Polars, PyArrow and whatever else narwhals reads, with the face of `FileTable`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class FrameTable:
    """A table in memory.

    Examples
    --------
    >>> import pandas
    >>> FrameTable(pandas.DataFrame({"score": [0.5, 0.9]})).numbers("score")
    array([0.5, 0.9])
    """

    name = "the table"
    paths: tuple[str, ...] = ()

    def __init__(self, native: Any) -> None:
        try:
            frame = nw.from_native(native)
        except TypeError:
            raise InvalidData(
                f"A resource must be a path, a glob, a list of them, or a table (pandas, Polars, PyArrow); got a "
                f"{type(native).__name__}."
            ) from None
        self._frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        self.columns = list(self._frame.columns)
        self.n_rows = len(self._frame)
        if self.n_rows == 0:
            raise InvalidData("The table is empty: it has no rows.")

    def require(self, column: str) -> None:
        if column not in self.columns:
            raise InvalidData(f"The table has no column '{column}'; it has {', '.join(map(repr, self.columns))}.")

    def numbers(self, column: str) -> NDArray[np.float64]:
        self.require(column)
        series = self._frame[column]
        try:
            values = series.cast(nw.Float64).to_numpy()
        except Exception as error:  # each library raises its own
            raise InvalidData(f"The table's column '{column}' must be numeric; it is {series.dtype}.") from error
        array = np.asarray(values, dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise self._defect(int(bad[0]), column, "a finite number", len(bad))
        return array

    def texts(self, column: str) -> list[Any]:
        self.require(column)
        return [_plain(value) for value in self._frame[column].to_list()]

    def id_numbers(self, column: str | None) -> tuple[NDArray[np.int64], bool]:
        if column is None:
            return np.arange(1, self.n_rows + 1), True
        values = self.texts(column)
        missing = [row for row, value in enumerate(values) if value is None]
        if missing:
            raise self._defect(missing[0], column, "an id", len(missing))
        texts = [str(value) for value in values]
        whole = all(_is_whole(text) for text in texts)  # as in files, where a column has no type of its own
        numbers = np.array([int(text) if whole else number_text(text) for text in texts], dtype=np.int64)
        seen: dict[Any, int] = {}
        if len(np.unique(numbers)) < len(numbers):
            for row, value in enumerate(values):
                if value in seen:
                    raise InvalidData(
                        f"The table, row {row + 1}, column '{column}': expected ids that differ; got {value!r}, "
                        f"which row {seen[value] + 1} has too."
                    )
                seen[value] = row
        return numbers, whole

    def rows(self, positions: NDArray[np.int64], columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        names = list(columns) if columns is not None else self.columns
        picked = self._frame.select(names)[positions.tolist()]
        return [{name: _plain(value) for name, value in row.items()} for row in picked.rows(named=True)]

    def _defect(self, row: int, column: str, expected: str, n_defects: int) -> InvalidData:
        value = self.texts(column)[row]
        got = "nothing" if value is None else repr(value)
        more = f" ({n_defects:,} such rows in all)" if n_defects > 1 else ""
        return InvalidData(f"The table, row {row + 1}, column '{column}': expected {expected}; got {got}{more}.")


def number_text(text: str) -> int:
    """Return the first 60 bits of a text's MD5, the number that stands for a text id in every engine."""
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:15], 16)


def _is_whole(text: str) -> bool:
    """Say whether a text is a whole number of 64 bits, written as usual."""
    return text.removeprefix("-").isdecimal() and str(int(text)) == text and -(2**63) <= int(text) < 2**63


def _plain(value: Any) -> Any:
    """Return a plain Python value, None for pandas' and numpy's missing ones."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    is_missing = value is None or type(value).__name__ in {"NAType", "NaTType"}
    return None if is_missing or (isinstance(value, float) and np.isnan(value)) else value
