"""Argilla: records as JSON, one label question for the answer and one text question for a note.

A record has no room for how long an answer took or when it was given: those two are not kept. A user answers a record
once: of several answers by one annotator the last is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from karat.formats.exchange import (
    WORDS,
    Answer,
    Keep,
    Row,
    Task,
    collect_answers,
    group_answers,
    latest_answers,
    read_value,
)
from karat.formats.streams import PathOrStream
from karat.formats.strict_json import plain_fields, read_records, write_records

_NOT_SUBMITTED = ("draft", "discarded")


def export_tasks(
    tasks: Iterable[Task],
    target: PathOrStream,
    *,
    answers: Iterable[Answer] = (),
    question: str = "label",
    note: str = "note",
) -> None:
    """Write records, and answers as their responses, for `rg.Record(**record)`; the fields become texts.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> export_tasks([Task(id="7", fields={"phrase": "a b"})], stream)
    >>> print(stream.getvalue().strip())
    [
    {"id": "7", "fields": {"phrase": "a b"}, "metadata": {}, "suggestions": {}, "responses": {}, "status": "pending"}
    ]
    """
    grouped = group_answers(tasks, latest_answers(answers))
    write_records(target, (_record(task, mine, question, note) for task, mine in grouped), as_array=True)


def import_answers(
    source: PathOrStream,
    *,
    question: str = "label",
    note: str = "note",
    meanings: Mapping[str, int] | None = None,
    keep: Keep | None = None,
) -> list[Answer]:
    """Read the responses of records; drafts and discarded ones are passed over, suggestions are never answers.

    Parameters
    ----------
    question, note
        The questions that hold the answer and a note.
    meanings
        What each label means, as 1, 0 or -1; by default common words are known (yes, no, unsure, ...).
    keep
        Takes each answer in place of the list; what it refuses is a defect of the answer's row.

    Examples
    --------
    >>> import io
    >>> record = '{"id": "7", "responses": {"label": [{"value": "no", "user_id": "u1"}]}}'
    >>> [(answer.item, answer.annotator, answer.value) for answer in import_answers(io.StringIO(record))]
    [('7', 'u1', 0)]
    """

    def parse(row: Row) -> Iterator[Answer]:
        responses = row.value.get("responses") or {}
        if not isinstance(responses, dict):
            raise row.fail("responses", "a mapping from question to responses", responses)
        notes = {who: text for who, text in _responses(row, responses, note) if isinstance(text, str)}
        for who, word in _responses(row, responses, question):
            value = row.read(f"responses.{question}", lambda given: read_value(given, meanings), word, "an answer")
            if value is not None:
                item = row.name("id", row.value.get("id"))
                yield row.answer(item=item, annotator=who, value=value, note=notes.get(who, ""))

    return collect_answers(read_records(source), parse, keep)


def _record(task: Task, answers: list[Answer], question: str, note: str) -> dict[str, Any]:
    fields = {name: "" if value is None else str(value) for name, value in plain_fields(task.fields).items()}
    responses: dict[str, Any] = {}
    if answers:
        responses[question] = [{"value": WORDS[answer.value], "user_id": answer.annotator} for answer in answers]
    noted = [{"value": answer.note, "user_id": answer.annotator} for answer in answers if answer.note]
    if noted:
        responses[note] = noted
    status = "completed" if answers else "pending"
    head = {"id": task.id, "fields": fields, "metadata": {}, "suggestions": {}}
    return {**head, "responses": responses, "status": status}


def _responses(row: Row, responses: dict[str, Any], question: str) -> Iterator[tuple[str, Any]]:
    """Yield who answered a question and what, of the responses that were submitted."""
    given = responses.get(question) or []
    if not isinstance(given, list):
        raise row.fail(f"responses.{question}", "a list", given)
    for response in given:
        if not isinstance(response, dict):
            raise row.fail(f"responses.{question}", "a list of mappings", response)
        if response.get("status") in _NOT_SUBMITTED:
            continue
        who = row.name(f"responses.{question}.user_id", response.get("user_id"), "a user")
        yield who, response.get("value")
