"""Documents, spans in them counted in Unicode code points, and what can be wrong with a span."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_CHARACTERS = 1_000_000
MOST_NAME = 200
_NO_CHARACTER = re.compile("[\x00\ud800-\udfff]")
_SENTENCE_END = re.compile(r"(?:[.!?…؟]+[\"'”’»)\]]*(?=\s)|[。！？]+[”’」』）]*|\n)")
_NO_END = {
    "mr",
    "mrs",
    "ms",
    "dr",
    "prof",
    "st",
    "sr",
    "jr",
    "no",
    "vs",
    "inc",
    "ltd",
    "co",
    "corp",
    "e.g",
    "i.e",
    "cf",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A span of a document: code points ``start`` up to, not including, ``end``."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text under a name, with the mentions that are known in it."""

    name: str
    text: str
    mentions: tuple[Mention, ...] = ()


def check_document(where: str, name: str, text: str) -> None:
    """Refuse a name or a text that people could not read."""
    if not 1 <= len(name) <= MOST_NAME or not name.isprintable():
        got = shorten(name)
        raise InvalidData(f"{where}: a document's name must have 1 to {MOST_NAME} printable characters; got {got!r}.")
    if not text.strip():
        raise InvalidData(f"{where}: document {name!r} is empty.")
    if len(text) > MOST_CHARACTERS:
        raise InvalidData(f"{where}: document {name!r} has {len(text):,} characters; {MOST_CHARACTERS:,} is the most.")
    bad = _NO_CHARACTER.search(text)
    if bad is not None:
        raise InvalidData(f"{where}: document {name!r} has no character at {bad.start()}, but half of one or a NUL.")


def fault_of_span(text: str, start: int, end: int, mention: str) -> str | None:
    """Say what is wrong with a span that is said to read ``mention``; None if nothing is.

    Examples
    --------
    >>> fault_of_span("Zoë met Ann.", 8, 11, "Ann")
    >>> fault_of_span("Zoë met Ann.", 9, 12, "Ann")
    "characters 9 to 12 read 'nn.', not 'Ann'; the offsets seem to count bytes, not characters."
    >>> fault_of_span("Zoë met Ann.", 9, 13, "Ann.")
    'characters 9 to 13 are not in the document, which has 12; the offsets seem to count bytes, not characters.'
    >>> fault_of_span("Zoë met Ann.", 8, 8, "Ann")
    'characters 8 to 8 hold nothing: the end must be greater than the start.'
    """
    if start >= end:
        return f"characters {start} to {end} hold nothing: the end must be greater than the start."
    inside = start >= 0 and end <= len(text)
    if inside and text[start:end] == mention:
        return None
    hint = "."
    for encoding, unit in (("utf-8", "bytes"), ("utf-16-le", "UTF-16 units")):
        data, size = text.encode(encoding, "surrogatepass"), 2 if encoding == "utf-16-le" else 1
        if start >= 0 and data[size * start : size * end] == mention.encode(encoding, "surrogatepass"):
            hint = f"; the offsets seem to count {unit}, not characters."
            break
    if not inside:
        return f"characters {start} to {end} are not in the document, which has {len(text)}{hint}"
    return f"characters {start} to {end} read {shorten(text[start:end])!r}, not {shorten(mention)!r}{hint}"


def tokens_of(text: str) -> list[tuple[int, int]]:
    r"""Return the spans of words (letters with their combining marks, and digits) and of single other characters.

    Examples
    --------
    >>> text = "Zoe\u0308's 2 cats"
    >>> tokens_of(text)
    [(0, 4), (4, 5), (5, 6), (7, 8), (9, 13)]
    """
    return list(_tokens(text))


def count_tokens(text: str) -> int:
    """Return how many there are; their spans, which take far more room than the text, are not held."""
    return sum(1 for _ in _tokens(text))


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    begin: int | None = None
    for place, character in enumerate(text):
        if unicodedata.category(character)[0] in "LNM" or character in "_\u200c\u200d":
            begin = place if begin is None else begin
            continue
        if begin is not None:
            yield begin, place
            begin = None
        if not character.isspace():
            yield place, place + 1
    if begin is not None:
        yield begin, len(text)


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences, without the blanks around them.

    Examples
    --------
    >>> text = "Dr. Ann left. Bob stayed!"
    >>> [text[start:end] for start, end in sentences_of(text)]
    ['Dr. Ann left.', 'Bob stayed!']
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if _ends_here(text, match)]
    spans = []
    begin = 0
    for end in [*ends, len(text)]:
        piece = text[begin:end]
        start = begin + len(piece) - len(piece.lstrip())
        if piece.strip():
            spans.append((start, start + len(piece.strip())))
        begin = end
    return spans


def sentence_around(sentences: list[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Return the stretch of whole sentences that holds a span."""
    touched = [(low, high) for low, high in sentences if low < end and start < high]
    return (min([start, *(low for low, _ in touched)]), max([end, *(high for _, high in touched)]))


def shorten(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _ends_here(text: str, match: re.Match[str]) -> bool:
    if not match.group().startswith("."):
        return True
    before = re.search(r"[\w.]+$", text[max(0, match.start() - 12) : match.start()])
    word = before.group().lower() if before else ""
    after = text[match.end() :].lstrip()[:1]
    return word not in _NO_END and not (len(word) == 1 and word.isalpha()) and not after.islower()
