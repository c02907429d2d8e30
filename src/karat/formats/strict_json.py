"""JSON records from others: an array of objects or one object a line, read one by one.

NaN and infinite numbers, deep nesting and huge records are refused; no more than one record is held at once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from karat.errors import InvalidData
from karat.formats.exchange import Row, shorten
from karat.formats.streams import (
    MOST_CHARACTERS,
    PathOrStream,
    find_bad_byte,
    name_of,
    read_chunks,
    split_lines,
    write_text,
)

_BLANK = " \t\r\n"


class _RefusedNumberError(ValueError):
    pass


def _refuse_constant(word: str) -> float:
    raise _RefusedNumberError(f"expected a finite number; got {word}")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_constant(text[:20])


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def read_records(source: PathOrStream, *, name: str | None = None) -> Iterator[Row]:
    r"""Yield the objects of a JSON array or of JSON lines; a bad line is yielded as a defect.

    ``name``: what to call the source in messages, where that is not its own name.

    Examples
    --------
    >>> import io
    >>> [row.where for row in read_records(io.StringIO('{"a": 1}\n\n{"a": 2}\n'))]
    ['the stream, line 1', 'the stream, line 3']
    """
    name = name_of(source) if name is None else name
    chunks = _Peeked(read_chunks(source), name)
    return _read_array(chunks, name) if chunks.first == "[" else _read_objects(chunks, name)


class _Peeked:
    """Chunks of text whose first character other than blanks is known before they are read."""

    def __init__(self, chunks: Iterator[str], name: str) -> None:
        self._chunks = chunks
        self._ahead = ""
        while not self._ahead.strip(_BLANK) and (chunk := next(chunks, "")):
            self._ahead += chunk
            if len(self._ahead) > MOST_CHARACTERS:
                raise InvalidData(f"{name}, line 1: expected JSON; got {len(self._ahead):,} blanks and more.")
        self.first = self._ahead.strip(_BLANK)[:1]

    def __iter__(self) -> Iterator[str]:
        yield self._ahead
        yield from self._chunks

    def read(self) -> str:
        """Return the next chunk, "" at the end."""
        if self._ahead:
            ahead, self._ahead = self._ahead, ""
            return ahead
        return next(self._chunks, "")


def _read_objects(chunks: _Peeked, name: str) -> Iterator[Row]:
    for number, line in enumerate(split_lines(chunks, name), start=1):
        if not line.strip(_BLANK):
            continue
        where = f"{name}, line {number}"
        broken = find_bad_byte(line, name, number)
        if broken is not None:
            yield Row(where=where, value={}, line=number, defect=broken)
            continue
        try:
            value = _decode_whole(line.strip(_BLANK))
        except InvalidData as error:
            yield Row(where=where, value={}, line=number, defect=InvalidData(f"{where}: {error}."))
            continue
        yield _as_row(value, where, number)


def _decode_whole(text: str) -> Any:
    try:
        value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        raise InvalidData(f"expected a JSON object; {error.msg} at character {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidData(_reason(error)) from None
    if end != len(text):
        raise InvalidData(f"expected one JSON object a line; more follows at character {end + 1}")
    return value


def _read_array(chunks: _Peeked, name: str) -> Iterator[Row]:
    reader = _ArrayReader(chunks, name)
    reader.expect("[")
    if reader.peek() == "]":
        reader.expect("]")
    else:
        while True:
            line = reader.line
            row = _as_row(reader.value(), f"{name}, line {line}", line)
            yield row if reader.broken is None else replace(row, value={}, defect=reader.broken)
            if reader.peek() != ",":
                break
            reader.expect(",")
        reader.expect("]")
    if reader.peek():
        raise reader.fail("the end of the file")


class _ArrayReader:
    """A buffer over chunks that decodes one value at a time, reading on only when it must."""

    def __init__(self, chunks: _Peeked, name: str) -> None:
        self._chunks = chunks
        self._name = name
        self._buffer = ""
        self._place = 0
        self._lines = 1  # up to the start of the buffer
        self.broken: InvalidData | None = None
        """The first bad byte of the value read last."""

    @property
    def line(self) -> int:
        self.peek()
        return self._lines + self._buffer.count("\n", 0, self._place)

    def peek(self) -> str:
        """Return the next character that is not blank, "" at the end."""
        while True:
            while self._place < len(self._buffer) and self._buffer[self._place] in _BLANK:
                self._place += 1
            if self._place < len(self._buffer):
                return self._buffer[self._place]
            if not self._read_on(1):
                return ""

    def expect(self, character: str) -> None:
        if self.peek() != character:
            raise self.fail(repr(character))
        self._place += 1

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._place)
            except json.JSONDecodeError as error:
                held = len(self._buffer) - self._place
                if held > MOST_CHARACTERS:
                    text = f"expected records of at most {MOST_CHARACTERS:,} characters, or {error.msg.lower()}"
                    raise InvalidData(f"{self._name}, line {self.line}: {text}.") from None
                # Twice as much, so that a long record is decoded a few times only, but never far beyond the bound.
                if not self._read_on(min(held, MOST_CHARACTERS + 1 - held)):
                    self._raise_bad_byte()
                    line = self._lines + self._buffer.count("\n", 0, error.pos)
                    raise InvalidData(f"{self._name}, line {line}: expected a JSON object; {error.msg}.") from None
            except (ValueError, RecursionError) as error:
                raise InvalidData(f"{self._name}, line {self.line}: {_reason(error)}.") from None
            else:
                self.broken = find_bad_byte(self._buffer[self._place : end], self._name, self.line)
                self._place = end
                return value

    def _raise_bad_byte(self) -> None:
        broken = find_bad_byte(self._buffer[self._place :], self._name, self.line)
        if broken is not None:
            raise broken

    def fail(self, expected: str) -> InvalidData:
        return InvalidData(f"{self._name}, line {self.line}: expected {expected}; got {shorten(self.peek() or None)}.")

    def _read_on(self, least: int) -> bool:
        parts, size = [], 0
        while size < least and (chunk := self._chunks.read()):
            parts.append(chunk)
            size += len(chunk)
        self._lines += self._buffer.count("\n", 0, self._place)
        self._buffer = self._buffer[self._place :] + "".join(parts)
        self._place = 0
        return size > 0


def _as_row(value: Any, where: str, line: int) -> Row:
    if isinstance(value, dict):
        return Row(where=where, value=value, line=line)
    defect = InvalidData(f"{where}: expected a JSON object; got {shorten(value)}.")
    return Row(where=where, value={}, line=line, defect=defect)


def _reason(error: Exception) -> str:
    if isinstance(error, _RefusedNumberError):
        return str(error)
    return "expected JSON that is nested less deeply" if isinstance(error, RecursionError) else "a number is too long"


def write_records(target: PathOrStream, records: Iterable[dict[str, Any]], *, as_array: bool) -> None:
    """Write objects as a JSON array with one object a line, or as JSON lines."""
    with write_text(target) as stream:
        if as_array:
            stream.write("[")
        for number, record in enumerate(records):
            if as_array:
                stream.write(",\n" if number else "\n")
            stream.write(json.dumps(record, ensure_ascii=False, allow_nan=False, default=str))
            if not as_array:
                stream.write("\n")
        if as_array:
            stream.write("\n]\n")


def plain_fields(fields: Any) -> dict[str, Any]:
    """Return an item's fields as JSON can hold them: no NaN, dates and the like as text."""
    return {str(name): _plain(value) for name, value in fields.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return plain_fields(value)
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, (str, int)):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)
