"""Strict JSON, bad encodings, and bombs: refused, by name, without holding them in memory."""

from __future__ import annotations

import io
import itertools
import json
import tracemalloc

import pytest

from karat import _check
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


def test_a_hundred_thousand_bad_lines_are_all_named():
    lines = io.BytesIO(b'{"id": 1, "answer": "maybe"}\n' * 100_000)
    with pytest.raises(InvalidData) as caught:
        prodigy.import_answers(lines)
    said = str(caught.value)
    assert said.startswith("100,000 defects, nothing was imported:")
    assert said.endswith("and 99,990 more.")
    assert len(said.splitlines()) == 12
    assert [defect.line for defect in caught.value.defects] == list(range(1, 100_001))


def test_more_than_a_million_defects_are_not_read_on(monkeypatch):
    monkeypatch.setattr("karat.formats.exchange.MOST_DEFECTS", 100)
    stream = Endless(b"x\n", b"x\n")
    with pytest.raises(InvalidData) as caught:
        prodigy.import_answers(stream)
    assert len(caught.value.defects) == 101
    assert list(caught.value.defects)[-1].message.endswith("line 101: the rest was not read, after 100 defects.")
    assert stream.n_read < BOMB / 100


MIXED = b"""id,annotator,label
a,ann,yes
b,ann,maybe
c,ann
d,\xff,no
"e"x,ann,no
"f
g\xfe",ann,no
,ann,no
h,ann,no
"""


def test_every_kind_of_defect_is_named_by_its_line():
    with pytest.raises(InvalidData) as caught:
        plain.import_answers(io.BytesIO(MIXED), kind="csv")
    found = [(defect.line, defect.message.partition(": ")[2]) for defect in caught.value.defects]
    assert found == [
        (3, "expected an answer such as 1, 0, yes, no or unsure; got 'maybe'."),
        (4, "expected 3 cells as in the header; got 2."),
        (5, _check.no_utf8(b"\xff", after="d")),
        (6, "expected a row of a CSV table; ',' expected after '\"'."),
        (7, _check.no_utf8(b"\xfe", after="g")),
        (9, "expected text or a whole number; got ''."),
    ]
    assert "line 8: expected UTF-8" in list(caught.value.defects)[4].message  # the line of the byte itself


def test_defects_of_json_lines_and_arrays():
    lines = b'{"id": 1, "answer": "accept", "_annotator_id": "x"}\n{"id": 2,\n{"id": "\xff"}\n[1]\n'
    with pytest.raises(InvalidData) as caught:
        prodigy.import_answers(io.BytesIO(lines))
    assert [defect.line for defect in caught.value.defects] == [2, 3, 4]
    array = b'[{"id": "a\xff"},\n{"id": 2},\n7,\n{"id": '
    with pytest.raises(InvalidData) as caught:
        argilla.import_answers(io.BytesIO(array))
    assert [defect.line for defect in caught.value.defects] == [1, 3, None]


def test_what_the_caller_refuses_is_a_defect_of_its_row():
    def keep(answer):
        if answer.item == "b":
            raise InvalidData(f"expected another item; got {answer.item!r}")

    with pytest.raises(InvalidData, match=r"line 3: expected another item; got 'b'\."):
        plain.import_answers(io.StringIO("id,annotator,label\na,x,1\nb,x,1\n"), kind="csv", keep=keep)
