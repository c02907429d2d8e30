"""Export then import is the identity, for whatever a format has room for; so is import, export, import."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InvalidData
from karat.formats import argilla, label_studio, mturk, plain, prodigy, trec
from karat.formats.exchange import Answer, Task, latest_answers
from karat.formats.formulas import neutralise, restore

LETTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
DANGEROUS = st.sampled_from(
    ["=1+1", "'=1", "''-2", "+", "-5", "@x", "\tx", "\rx", "\nx", "'", "a,b;c", 'a "b"', "007", "7"]
)
NAMES = st.text(LETTERS, min_size=1, max_size=12) | DANGEROUS
WORDS = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=8).filter(
    lambda text: text.split() == [text]
)
TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2199, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
ANSWERS = st.builds(
    Answer,
    item=NAMES,
    annotator=NAMES,
    value=st.sampled_from([1, 0, -1]),
    note=st.just("") | st.text(LETTERS, max_size=20) | DANGEROUS,
    seconds=st.none() | st.floats(0, 1e6),
    time=st.none() | TIMES | TIMES.map(lambda time: time.replace(microsecond=0)),
)
VALUES = st.none() | st.text(LETTERS, max_size=10) | DANGEROUS | st.integers() | st.floats()
FIELDS = st.dictionaries(st.sampled_from(["phrase", "text", "other"]), VALUES, max_size=3)
TASKS = st.lists(st.builds(Task, id=NAMES, fields=FIELDS), max_size=4, unique_by=lambda task: task.id)


def by_item(answers: list[Answer]) -> list[Answer]:
    """Answers in the order that formats with one record an item give them back in."""
    first = {answer.item: place for place, answer in reversed(list(enumerate(answers)))}
    return sorted(answers, key=lambda answer: first[answer.item])


def trip(export: Callable, import_: Callable, tasks: list[Task], answers: list[Answer], **options) -> list[Answer]:
    stream = io.BytesIO()
    export(tasks, stream, answers=answers, **options)
    return import_(io.BytesIO(stream.getvalue()), **options)


def in_task_order(tasks: list[Task], answers: list[Answer]) -> list[Answer]:
    place = {task.id: n for n, task in enumerate(tasks)}
    return sorted(by_item(answers), key=lambda answer: place.get(answer.item, len(place)))


@pytest.mark.parametrize(
    ("module", "options"),
    [
        (label_studio, {}),
        (prodigy, {}),
        (mturk, {}),
        (plain, {"kind": "csv"}),
        (plain, {"kind": "tsv"}),
        (plain, {"kind": "jsonl"}),
    ],
    ids=lambda value: value.__name__.rsplit(".", 1)[-1] if hasattr(value, "__name__") else str(value.get("kind", "")),
)
@settings(max_examples=50, deadline=None)
@given(tasks=TASKS, answers=st.lists(ANSWERS, max_size=6))
def test_everything_comes_back(module, options, tasks, answers):
    if module is mturk and not answers:
        return  # a batch without results has no table of results
    once = trip(module.export_tasks, module.import_answers, tasks, answers, **options)
    assert once == in_task_order(tasks, answers)
    assert trip(module.export_tasks, module.import_answers, tasks, once, **options) == once


@settings(max_examples=25, deadline=None)
@given(tasks=TASKS, answers=st.lists(ANSWERS, max_size=6))
def test_parquet_comes_back(tmp_path_factory, tasks, answers):
    path = tmp_path_factory.mktemp("trip") / "answers.parquet"
    plain.export_tasks(tasks, path, answers=answers)
    assert plain.import_answers(path) == in_task_order(tasks, answers)


@settings(max_examples=50, deadline=None)
@given(tasks=TASKS, answers=st.lists(ANSWERS, max_size=6))
def test_argilla_keeps_all_but_seconds_and_times(tasks, answers):
    kept = [replace(answer, seconds=None, time=None) for answer in latest_answers(answers)]
    once = trip(argilla.export_tasks, argilla.import_answers, tasks, answers)
    assert once == in_task_order(tasks, kept)
    assert trip(argilla.export_tasks, argilla.import_answers, tasks, once) == once


@settings(max_examples=50, deadline=None)
@given(
    answers=st.lists(
        st.builds(
            Answer,
            item=st.tuples(WORDS, WORDS).map(" ".join),
            annotator=WORDS,
            value=st.sampled_from([1, 0, -1]),
        )
    )
)
def test_qrels_come_back(answers):
    stream = io.BytesIO()
    trec.export_answers(answers, stream)
    assert trec.import_answers(io.BytesIO(stream.getvalue())) == answers


@settings(max_examples=40, deadline=None)
@given(
    pairs=st.dictionaries(
        st.tuples(WORDS, WORDS).map(" ".join), st.floats(allow_nan=False, allow_infinity=False), min_size=1
    )
)
def test_runs_come_back(pairs):
    stream = io.StringIO()
    trec.export_tasks([Task(id=item, score=score) for item, score in pairs.items()], stream)
    lines = trec.import_run(io.StringIO(stream.getvalue()))
    assert {line.item: line.score for line in lines} == pairs
    for topic in {line.topic for line in lines}:
        mine = [line for line in lines if line.topic == topic]
        assert [line.rank for line in mine] == list(range(1, len(mine) + 1))
        assert [line.score for line in mine] == sorted((line.score for line in mine), reverse=True)


@given(st.text() | DANGEROUS)
def test_no_neutralised_cell_runs_and_each_is_restored(text):
    harmless = neutralise(text)
    assert not harmless.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert restore(harmless) == text


KEYS = st.sampled_from(["id", "value", "choices", "label", "email", "x"])
SOUP = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


WHOLE = [
    Answer(item="a", annotator="ann", value=1, note="n", seconds=1.5, time=datetime(2026, 1, 1, tzinfo=UTC)),
    Answer(item="a", annotator="7", value=0),
]


@st.composite
def damaged(draw, document):
    """A document with one of its parts, however deep, replaced by something else."""
    children = (
        list(document)
        if isinstance(document, dict)
        else list(range(len(document)))
        if isinstance(document, list)
        else []
    )
    if not children or draw(st.integers(0, 3)) == 0:
        return draw(SOUP)
    key = draw(st.sampled_from(children))
    copy = document.copy()
    copy[key] = draw(damaged(document[key]))
    return copy


@pytest.mark.parametrize("module", [label_studio, argilla, prodigy, plain], ids=lambda module: module.__name__[14:])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_record_gives_answers_or_a_named_defect(module, data):
    options = {"kind": "jsonl"} if module is plain else {}
    stream = io.StringIO()
    module.export_tasks([Task(id="a", fields={"text": "t"})], stream, answers=WHOLE, **options)
    text = stream.getvalue()
    records = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    broken = data.draw(damaged(records[0]))
    try:
        answers = module.import_answers(io.StringIO(json.dumps(broken)), **options)
    except InvalidData as error:
        assert "the stream" in str(error)  # noqa: PT017
    else:
        assert all(isinstance(answer, Answer) for answer in answers)


@pytest.mark.parametrize("module", [mturk, plain, trec, label_studio], ids=lambda module: module.__name__[14:])
@settings(max_examples=80, deadline=None)
@given(raw=st.binary(max_size=80))
def test_any_bytes_give_answers_or_a_defect(module, raw):
    options = {"kind": "csv"} if module is plain else {}
    try:
        assert isinstance(module.import_answers(io.BytesIO(raw), **options), list)
    except InvalidData as error:
        assert "the stream" in str(error)  # noqa: PT017
