"""CSV in and out: cells that a spreadsheet would run as formulas are made harmless, and restored on the way back."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from karat.errors import InvalidData
from karat.formats.exchange import Row
from karat.formats.formulas import neutralise, restore
from karat.formats.streams import MOST_CHARACTERS, PathOrStream, find_bad_byte, name_of, read_lines, write_text


def write_rows(
    target: PathOrStream, header: Sequence[str], rows: Iterable[Sequence[Any]], *, delimiter: str = ","
) -> None:
    """Write a table; None becomes an empty cell."""
    with write_text(target) as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow([neutralise(name) for name in header])
        for row in rows:
            writer.writerow([neutralise(cell) for cell in row])


def read_rows(source: PathOrStream, *, delimiter: str | None = None) -> tuple[list[str], Iterator[Row]]:
    """Return the header and the rows of a table; a row of another length is yielded as a defect.

    Parameters
    ----------
    delimiter
        If None, the one of comma, semicolon, tab and bar that the header holds most of.
    """
    name = name_of(source)
    lines = _RecordLines(source)
    first = next(lines, "")
    if not first.strip():
        raise InvalidData(f"{name} is empty: it has no header and no rows.")
    mark = delimiter or max(",;\t|", key=first.count)
    reader = csv.reader(_put_back(first, lines), delimiter=mark, strict=True)
    records = _records(reader, lines, name)
    _, cells = next(records)
    assert isinstance(cells, list)  # noqa: S101
    broken = find_bad_byte("".join(cells), name, 1)
    if broken is not None:
        raise broken
    header = [restore(cell) for cell in cells]
    doubled = {column for column in header if header.count(column) > 1}
    if doubled:
        raise InvalidData(f"{name} has the column {min(doubled)!r} twice in its header.")
    return header, _rows(records, header, name)


class _RecordLines:
    """Lines of a source, refusing a record that goes on and on because its quotes are never closed."""

    def __init__(self, source: PathOrStream) -> None:
        self._lines = read_lines(source)
        self._name = name_of(source)
        self.held = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.held += len(line)
        if self.held > MOST_CHARACTERS:
            raise InvalidData(f"{self._name}: expected rows of at most {MOST_CHARACTERS:,} characters; one is longer.")
        return line


def _put_back(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _records(reader: Any, lines: _RecordLines, name: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    while True:
        start = reader.line_num + 1
        lines.held = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if start == 1 or "expected after" not in str(error):  # no header, or quotes that are never closed
                raise InvalidData(f"{name}, line {start}: expected a row of a CSV table; {error}.") from None
            yield start, error
            continue
        if cells:
            yield start, cells


def _rows(records: Iterator[tuple[int, list[str] | csv.Error]], header: list[str], name: str) -> Iterator[Row]:
    for number, cells in records:
        where = f"{name}, line {number}"
        if isinstance(cells, csv.Error):
            defect: InvalidData | None = InvalidData(f"{where}: expected a row of a CSV table; {cells}.")
        elif len(cells) != len(header):
            defect = InvalidData(f"{where}: expected {len(header)} cells as in the header; got {len(cells)}.")
        else:
            defect = find_bad_byte("".join(cells), name, number)
        if defect is not None or isinstance(cells, csv.Error):
            yield Row(where=where, value={}, line=number, defect=defect)
        else:
            yield Row(where=where, value=dict(zip(header, map(restore, cells), strict=True)), line=number)
