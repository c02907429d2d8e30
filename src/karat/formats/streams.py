"""Text in and out of paths and open streams, with a bound on how much is held at once."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from karat import _check
from karat.errors import InvalidData, InvalidInput

PathOrStream = str | Path | IO[str] | IO[bytes]

MOST_CHARACTERS = 2 * 2**20
"""The longest line or record that is read."""
_CHUNK = 1 << 16
_BAD_BYTE = re.compile("[\udc80-\udcff]")


def name_of(source: PathOrStream) -> str:
    """Return what to call a source in messages."""
    return str(source) if isinstance(source, (str, Path)) else str(getattr(source, "name", "the stream"))


def read_chunks(source: PathOrStream) -> Iterator[str]:
    """Yield the text of a source piece by piece; UTF-8, with or without a byte order mark.

    Bytes that are no UTF-8 come as lone surrogates, for `find_bad_byte`.
    """
    if isinstance(source, (str, Path)):
        try:
            with Path(source).open("rb") as stream:
                yield from _decode(stream)
        except OSError as error:
            raise InvalidData(f"{source} cannot be read: {error.strerror}.") from error
    else:
        yield from _decode(source)


def read_lines(source: PathOrStream) -> Iterator[str]:
    """Yield lines with their line ends (only a line feed ends a line); refuse one that is too long."""
    yield from split_lines(read_chunks(source), name_of(source))


def split_lines(chunks: Iterable[str], name: str) -> Iterator[str]:
    """Yield the lines of text that comes in pieces, as `read_lines` does."""
    number, rest = 1, ""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split("\n") if "\n" in chunk else [rest + chunk]
        for line in lines:
            yield line + "\n"
        number += len(lines)
        if len(rest) > MOST_CHARACTERS:
            raise InvalidData(f"{name}, line {number}: expected at most {MOST_CHARACTERS:,} characters; it is longer.")
    if rest:
        yield rest


@contextmanager
def write_text(target: PathOrStream) -> Iterator[IO[str]]:
    """Open a target for text; a file appears under its name only when it is complete."""
    if not isinstance(target, (str, Path)):
        yield _Encoding(target)  # type: ignore[misc]
        return
    path = Path(target)
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        part.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


class _Encoding:
    """Write text to a stream that takes text or bytes, whichever it is."""

    def __init__(self, stream: IO[Any]) -> None:
        self._stream = stream
        self._bytes = not hasattr(stream, "encoding")

    def write(self, text: str) -> int:
        self._stream.write(text.encode() if self._bytes else text)
        return len(text)


def find_bad_byte(text: str, name: str, line: int) -> InvalidData | None:
    """Return the error for the first byte of a text that was no UTF-8; ``line`` is where the text begins."""
    found = None if text.isascii() else _BAD_BYTE.search(text)
    if found is None:
        return None
    line += text.count("\n", 0, found.start())
    before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    raw = text[found.start() : found.start() + 2].encode("utf-8", "surrogateescape")
    return InvalidData(f"{name}, line {line}: {_check.no_utf8(raw, after=before)}")


def _decode(stream: IO[Any]) -> Iterator[str]:
    """Yield text; a byte that is no UTF-8 becomes a lone surrogate, so that whoever knows its line can name it."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    first = True
    while raw := stream.read(_CHUNK):
        text = raw if isinstance(raw, str) else decoder.decode(raw)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        yield text
    yield decoder.decode(b"", final=True)
