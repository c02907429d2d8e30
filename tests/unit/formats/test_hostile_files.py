"""Strict JSON, bad encodings, and bombs: refused, by name, without holding them in memory."""

from __future__ import annotations

import io
import itertools
import json
import tracemalloc

import pytest

from karat.errors import InvalidData
from karat.formats import argilla, label_studio, mturk, plain, prodigy, trec
from karat.formats.strict_json import read_records

MEGABYTE = 2**20
BOMB = 100 * MEGABYTE
MOST_MEMORY = 80 * MEGABYTE


class Endless(io.RawIOBase):
    """A head and then a pattern, over and over, for as long as a bomb is."""

    def __init__(self, head: bytes, pattern: bytes) -> None:
        self._chunks = itertools.chain([head], itertools.repeat(pattern * (65_536 // len(pattern))))
        self.n_read = 0

    def readable(self) -> bool:
        return True

    def read(self, _size: int = -1) -> bytes:
        if self.n_read > BOMB:
            return b""
        chunk = next(self._chunks)
        self.n_read += len(chunk)
        return chunk


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("shape", ['[{"id": "a", "score": %s}]', '{"id": "a", "score": %s}'])
def test_json_with_nan_is_refused(shape, text):
    with pytest.raises(InvalidData, match=f"line 1: expected a finite number; got {text}"):
        argilla.import_answers(io.StringIO(shape % text))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'[{"id": 1},\n{"id": 2}', "line 2: expected ']'; got nothing"),
        (b'[{"id": 1}\n{"id": 2}]', "line 2: expected ']'; got '{'"),
        (b'[{"id": 1},\n\n{"id" 2}]', "line 3: expected a JSON object; Expecting ':' delimiter"),
        (b'[{"id": 1}] x', "expected the end of the file; got 'x'"),
        (b"[1]", "line 1: expected a JSON object; got 1"),
        (b'{"id": 1}\n{"id": 2} {}\n', "line 2: expected one JSON object a line; more follows at character 10"),
        (b'{"id": 1}\n\xff\n', "line 2: expected UTF-8 text; got the byte 0xff"),
        (b'[{"id": "\xc3', "line 1: expected UTF-8 text; got the byte 0xc3"),
        (b'{"id": ' + b"9" * 5000 + b"}", "line 1: a number is too long"),
    ],
)
def test_broken_json(raw, said):
    with pytest.raises(InvalidData) as caught:
        label_studio.import_answers(io.BytesIO(raw))
    assert said in str(caught.value)


def test_byte_order_mark_and_empty_arrays():
    assert argilla.import_answers(io.BytesIO(b"\xef\xbb\xbf[ ]\n")) == []
    assert argilla.import_answers(io.BytesIO(b"")) == []


def test_lone_surrogates_and_nul_are_refused():
    for bad in ("\\ud800", "\\u0000"):
        line = f'{{"id": "a{bad}", "answer": "accept", "_annotator_id": "x"}}'
        with pytest.raises(InvalidData, match="line 1: 'item' must be text without NUL and lone surrogates"):
            prodigy.import_answers(io.StringIO(line))


def test_records_across_chunks_are_whole():
    """Records longer and shorter than a chunk, with characters of several bytes at the seams."""
    records = [{"id": i, "text": "é€😀" * (i * 997 % 40_000)} for i in range(60)]
    for text in (
        json.dumps(records, ensure_ascii=False),
        "\n".join(json.dumps(r, ensure_ascii=False) for r in records),
    ):
        assert [row.value for row in read_records(io.BytesIO(text.encode()))] == records


HOSTILE = {
    "brackets": (label_studio, {}, b"[", b"["),
    "mappings": (argilla, {}, b"[", b'{"a":'),
    "one long line": (prodigy, {}, b'{"text": "', b"x"),
    "one long record": (label_studio, {}, b'[{"data": "', b"x"),
    "one record of many small things": (label_studio, {}, b'[{"data": [', b"{},"),
    "blanks": (prodigy, {}, b" ", b" "),
    "quotes never closed": (mturk, {}, b'WorkerId,Input.id,Answer.label\n"', b"x\n"),
    "cells without end": (plain, {"kind": "csv"}, b"id,annotator,label\n", b'"\n",'),
    "one long row": (plain, {"kind": "csv"}, b"id,annotator,label\n", b"x,"),
    "one long header": (plain, {"kind": "csv"}, b"id,", b"x,"),
    "a long qrels line": (trec, {}, b"1 0 ", b"x"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bombs_are_refused_within_bounded_memory(name):
    module, options, head, pattern = HOSTILE[name]
    stream = Endless(head, pattern)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidData):
            module.import_answers(stream, **options)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY
    assert stream.n_read < BOMB / 4


def test_a_hundred_thousand_bad_lines_keep_ten_messages():
    lines = io.BytesIO(b'{"id": 1, "answer": "maybe"}\n' * 100_000)
    with pytest.raises(InvalidData) as caught:
        prodigy.import_answers(lines)
    said = str(caught.value)
    assert said.startswith("100,000 defects, nothing was imported:")
    assert said.endswith("and 99,990 more.")
    assert len(said.splitlines()) == 12
