"""Known mentions of a document: checked against its text, and read from brat's stand-off files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from karat.documents.text import Mention, fault_of_span, shorten
from karat.errors import InvalidData
from karat.formats.streams import read_chunks, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karat.documents.files import File
    from karat.formats.defects import Defects

MOST_MENTIONS = 100_000
"""In one document."""
MOST_FAULTS = 1000
"""Of a collection; after so many the rest is not read."""
_MOST_OFFSET = 10**9
_BRAT = re.compile(r"T\S*\t(?P<type>\S+) (?P<start>[0-9]{1,9}) (?P<end>[0-9]{1,9})\t(?P<said>[^\t]*)")
_IN_PIECES = re.compile(r"[^\t]*\t[^\t]*;")


def read_mention(text: str, said: Any, *, start: Any, end: Any, type: Any, where: str) -> Mention:
    """Return a mention that reads as is said of it; ``where`` is where it stands."""
    whole = all(isinstance(place, int) and not isinstance(place, bool) and abs(place) < _MOST_OFFSET
                for place in (start, end))  # fmt: skip
    if not whole or not isinstance(type, str) or not isinstance(said, str):
        raise InvalidData(f"{where}: a mention needs 'start' and 'end' (whole numbers), 'type' and 'text'.")
    fault = fault_of_span(text, start, end, said)
    if fault is not None:
        raise InvalidData(f"{where}: {fault}")
    return Mention(start=start, end=end, type=type)


def read_brat(file: File, text: str, defects: Defects) -> Iterator[Mention]:
    """Yield the text-bound lines: ``T1<tab>Type start end<tab>text``; relations and notes are passed over."""
    with file.open() as stream:
        for number, line in enumerate(split_lines(read_chunks(stream), file.name), start=1):
            if len(defects) >= MOST_FAULTS:
                return
            if line.startswith("T"):
                with defects.caught(line=number):
                    yield _brat_mention(line.rstrip("\r\n"), text, f"{file.name}, line {number}")


def _brat_mention(line: str, text: str, where: str) -> Mention:
    found = _BRAT.fullmatch(line)
    if found is None and _IN_PIECES.match(line):
        raise InvalidData(f"{where}: a mention in several pieces cannot be read.")
    if found is None:
        raise InvalidData(f"{where}: expected 'T1<tab>Type start end<tab>text'; got {shorten(line, 60)!r}.")
    start, end = int(found["start"]), int(found["end"])
    return read_mention(text, found["said"], start=start, end=end, type=found["type"], where=where)
