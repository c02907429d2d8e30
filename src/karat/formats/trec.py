"""TREC: runs (`topic Q0 docid rank score tag`) and qrels (`topic 0 docid grade`).

An item is a topic and a document, named "topic docid". The second column of qrels, which evaluation tools pass over,
holds the annotator. Tools order a run by score and break ties by docid, whatever the rank says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from karat import _check
from karat.errors import InvalidData
from karat.formats.exchange import Answer, Row, Task, collect_answers
from karat.formats.streams import PathOrStream, find_bad_byte, name_of, read_lines, write_text

_GRADES = {1: "1", 0: "0", -1: "-1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One retrieved document."""

    topic: str
    docid: str
    rank: int
    score: float
    tag: str

    @property
    def item(self) -> str:
        return f"{self.topic} {self.docid}"


def export_tasks(tasks: Iterable[Task], target: PathOrStream, *, tag: str = "karat") -> None:
    r"""Write a run: the tasks of each topic by score, best first; every task needs a score.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> export_tasks([Task(id="1 d7", score=0.5), Task(id="1 d3", score=0.9)], stream)
    >>> stream.getvalue()
    '1 Q0 d3 1 0.9 karat\n1 Q0 d7 2 0.5 karat\n'
    """
    _word("tag", tag)
    by_topic: dict[str, list[tuple[float, str]]] = {}
    for task in tasks:
        topic, docid = _split(task.id)
        if task.score is None:
            raise _check.refuse("tasks", "scored, to make a run of them", task.id)
        by_topic.setdefault(topic, []).append((_check.number("score", task.score), docid))
    with write_text(target) as stream:
        for topic, scored in by_topic.items():
            for rank, (score, docid) in enumerate(sorted(scored, key=lambda pair: -pair[0]), start=1):
                stream.write(f"{topic} Q0 {docid} {rank} {score!r} {tag}\n")


def import_run(source: PathOrStream) -> list[RunLine]:
    r"""Read a run.

    Examples
    --------
    >>> import io
    >>> import_run(io.StringIO("1 Q0 d3 1 0.9 mine\n"))[0].item
    '1 d3'
    """
    name, lines, seen = name_of(source), [], set()
    for row, cells in _cells(source, ("topic", "Q0", "docid", "rank", "score", "tag")):
        topic, _, docid, rank, score, tag = cells
        line = RunLine(
            topic=topic,
            docid=docid,
            rank=row.read("rank", int, rank, "a whole number"),
            score=row.read("score", _finite, score, "a finite number"),
            tag=tag,
        )
        if (tag, line.item) in seen:
            raise row.fail("docid", "each document once a topic", docid)
        seen.add((tag, line.item))
        lines.append(line)
    if not lines:
        raise InvalidData(f"{name} is empty: it has no lines.")
    return lines


def export_answers(answers: Iterable[Answer], target: PathOrStream) -> None:
    r"""Write answers as qrels: grade 1 positive, 0 negative, -1 unsure. Notes, seconds and times are not kept.

    Most tools want one line a document: write labels, not votes, for them, with "0" as annotator.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> export_answers([Answer(item="1 d3", annotator="0", value=1)], stream)
    >>> stream.getvalue()
    '1 0 d3 1\n'
    """
    with write_text(target) as stream:
        for answer in answers:
            topic, docid = _split(answer.item)
            stream.write(f"{topic} {_word('annotator', answer.annotator)} {docid} {_GRADES[answer.value]}\n")


def import_answers(source: PathOrStream, *, positive_from: int = 1, negative_grades: str = "unsure") -> list[Answer]:
    r"""Read qrels.

    Parameters
    ----------
    positive_from
        The least grade that counts as positive.
    negative_grades
        What grades below 0 are: "unsure" (not judged, as -1 in pools) or "negative" (junk, as -2 in web tracks).

    Examples
    --------
    >>> import io
    >>> [answer.value for answer in import_answers(io.StringIO("1 0 d3 2\n1 0 d4 0\n1 0 d5 -1\n"))]
    [1, 0, -1]
    """
    _check.whole("positive_from", positive_from, least=1)
    below = {"unsure": -1, "negative": 0}[_check.one_of("negative_grades", negative_grades, ("unsure", "negative"))]
    names = ("topic", "iteration", "docid", "grade")

    def parse(row: Row) -> Iterator[Answer]:
        topic, annotator, docid, text = _of_length(row, names)
        grade = row.read("grade", int, text, "a whole number")
        value = 1 if grade >= positive_from else 0 if grade >= 0 else below
        yield row.answer(item=f"{topic} {docid}", annotator=annotator, value=value)

    return collect_answers(_rows(source), parse)


def _rows(source: PathOrStream) -> Iterator[Row]:
    name = name_of(source)
    for number, line in enumerate(read_lines(source), start=1):
        cells = line.split()
        if cells:
            defect = find_bad_byte(line, name, number)
            yield Row(where=f"{name}, line {number}", value={"cells": cells}, line=number, defect=defect)


def _cells(source: PathOrStream, names: tuple[str, ...]) -> Iterator[tuple[Row, list[str]]]:
    for row in _rows(source):
        if row.defect is not None:
            raise row.defect
        yield row, _of_length(row, names)


def _of_length(row: Row, names: tuple[str, ...]) -> list[str]:
    cells: list[str] = row.value["cells"]
    if len(cells) != len(names):
        raise InvalidData(
            f"{row.where}: expected '{' '.join(names)}'; got {len(cells)} word{'' if len(cells) == 1 else 's'}."
        )
    return cells


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _split(item: str) -> tuple[str, str]:
    words = item.split()
    if len(words) != 2 or " ".join(words) != item:
        raise _check.refuse("item", "a topic and a document with one space between", item)
    return words[0], words[1]


def _word(name: str, value: str) -> str:
    if value.split() != [value]:
        raise _check.refuse(name, "one word without blanks", value)
    return value
