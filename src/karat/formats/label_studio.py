"""Label Studio: tasks with annotations as JSON, one `choices` control for the answer and one `textarea` for a note.

Export from Label Studio as JSON: JSON_MIN and CSV drop skips. Predictions are never written, so that nobody is led by
a model, and never read as answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from karat import _check
from karat.formats.exchange import (
    WORDS,
    Answer,
    Keep,
    Row,
    Task,
    collect_answers,
    group_answers,
    read_seconds,
    read_time,
    read_value,
    write_time,
)
from karat.formats.streams import PathOrStream
from karat.formats.strict_json import plain_fields, read_records, write_records

SHOWN = "item"
"""The control that shows an item; Label Studio wants every result to name it."""


def make_config(
    fields: Iterable[str], *, question: str = "label", note: str = "note", text: str = "Is it right?"
) -> str:
    """Return the labelling interface that fits the tasks written here, to paste into Label Studio.

    Examples
    --------
    >>> print(make_config(["phrase"]))
    <View>
      <Header value="phrase"/><Text name="item" value="$phrase"/>
      <Choices name="label" toName="item" choice="single" required="true" title="Is it right?">
        <Choice value="yes" hotkey="1"/>
        <Choice value="no" hotkey="2"/>
        <Choice value="unsure" hotkey="3"/>
      </Choices>
      <TextArea name="note" toName="item" maxSubmissions="1"/>
    </View>
    """
    names = list(fields)
    if not names:
        raise _check.refuse("fields", "at least one field to show", names)
    shown = [
        f'  <Header value={quoteattr(name)}/><Text name="{SHOWN}{"" if n == 0 else n}" value={quoteattr("$" + name)}/>'
        for n, name in enumerate(names)
    ]
    choices = [f'    <Choice value="{word}" hotkey="{key}"/>' for key, word in enumerate(WORDS.values(), start=1)]
    head = f'name={quoteattr(question)} toName="{SHOWN}" choice="single" required="true" title={quoteattr(text)}'
    remark = f'  <TextArea name={quoteattr(note)} toName="{SHOWN}" maxSubmissions="1"/>'
    return "\n".join(["<View>", *shown, f"  <Choices {head}>", *choices, "  </Choices>", remark, "</View>"])


def export_tasks(
    tasks: Iterable[Task],
    target: PathOrStream,
    *,
    answers: Iterable[Answer] = (),
    id_field: str = "id",
    question: str = "label",
    note: str = "note",
) -> None:
    """Write tasks, and answers as their annotations, for Label Studio's import.

    Annotators that are whole numbers are written as user ids, others as e-mail addresses; Label Studio refuses those
    it has no user for.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> export_tasks([Task(id="7", fields={"phrase": "a b"})], stream)
    >>> print(stream.getvalue().strip())
    [
    {"data": {"phrase": "a b", "id": "7"}}
    ]
    """
    records = (_task(task, mine, id_field, question, note) for task, mine in group_answers(tasks, answers))
    write_records(target, records, as_array=True)


def import_answers(
    source: PathOrStream,
    *,
    id_field: str = "id",
    question: str | None = None,
    note: str = "note",
    meanings: Mapping[str, int] | None = None,
    annotator: str | None = None,
    keep: Keep | None = None,
) -> list[Answer]:
    """Read the answers of a JSON export; skipped ("cancelled") tasks and empty annotations are passed over.

    Parameters
    ----------
    id_field
        The key of a task's data that names the item.
    question
        The name of the choices control that holds the answer, where there are several.
    note
        The name of the text control that holds a note.
    meanings
        What each choice means, as 1, 0 or -1; by default common words are known (yes, no, unsure, ...).
    annotator
        Who answered where the file does not say.
    keep
        Takes each answer in place of the list; what it refuses is a defect of the answer's row.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> export_tasks([], stream, answers=[Answer(item="7", annotator="ann@example.org", value=1)])
    >>> import_answers(io.StringIO(stream.getvalue()))[0].annotator
    'ann@example.org'
    """

    def parse(row: Row) -> Iterator[Answer]:
        data = row.value.get("data")
        if not isinstance(data, dict):
            raise row.fail("data", "a mapping", data)
        annotations = row.value.get("annotations", [])
        if not isinstance(annotations, list):
            raise row.fail("annotations", "a list", annotations)
        for annotation in annotations:
            if not isinstance(annotation, dict):
                raise row.fail("annotations", "a list of mappings", annotation)
            if annotation.get("was_cancelled"):
                continue
            said = _results(row, annotation)
            value = _read_choice(row, said, question, meanings)
            if value is None:
                continue
            yield row.answer(
                item=row.name(f"data.{id_field}", data.get(id_field)),
                annotator=_read_annotator(row, annotation.get("completed_by"), annotator),
                value=value,
                note=_read_note(row, said, note),
                seconds=row.read("lead_time", read_seconds, annotation.get("lead_time"), "a number of seconds"),
                time=row.read(
                    "created_at", read_time, annotation.get("created_at"), "a time such as 2026-01-31T12:00Z"
                ),
            )

    return collect_answers(read_records(source), parse, keep)


# --- inside


def _task(task: Task, answers: list[Answer], id_field: str, question: str, note: str) -> dict[str, Any]:
    record: dict[str, Any] = {"data": {**plain_fields(task.fields), id_field: task.id}}
    if answers:
        record["annotations"] = [_annotation(answer, question, note) for answer in answers]
    return record


def _annotation(answer: Answer, question: str, note: str) -> dict[str, Any]:
    results = [_result("a", question, "choices", {"choices": [WORDS[answer.value]]})]
    if answer.note:
        results.append(_result("n", note, "textarea", {"text": [answer.note]}))
    number = answer.annotator
    whole = number.isascii() and number.isdigit() and str(int(number[:18])) == number
    annotation: dict[str, Any] = {
        "completed_by": int(number) if whole else {"email": number},
        "was_cancelled": False,
        "ground_truth": False,  # left out it would be imported as true
        "result": results,
    }
    if answer.seconds is not None:
        annotation["lead_time"] = answer.seconds
    if answer.time is not None:
        annotation["created_at"] = write_time(answer.time)
    return annotation


def _result(id_: str, control: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": id_, "from_name": control, "to_name": SHOWN, "type": kind, "value": value}


def _results(row: Row, annotation: dict[str, Any]) -> list[dict[str, Any]]:
    results = annotation.get("result") or []
    if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
        raise row.fail("annotations.result", "a list of mappings", results)
    return results


def _read_choice(
    row: Row, results: list[dict[str, Any]], question: str | None, meanings: Mapping[str, int] | None
) -> int | None:
    choices = [result for result in results if result.get("type") == "choices"]
    names = sorted({str(result.get("from_name")) for result in choices})
    if question is not None:
        choices = [result for result in choices if result.get("from_name") == question]
    elif len(names) > 1:
        raise row.fail("annotations.result", f"one question, or 'question' to name one of {', '.join(names)}", choices)
    if not choices:
        return None
    value = choices[-1].get("value")
    words = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(words, list) or len(words) > 1:
        raise row.fail("annotations.result.value.choices", "a list with one choice", words)
    return row.read("choices", lambda word: read_value(word, meanings), words[0], "an answer") if words else None


def _read_note(row: Row, results: list[dict[str, Any]], note: str) -> str:
    for result in results:
        if result.get("type") == "textarea" and result.get("from_name") == note:
            value = result.get("value")
            texts = value.get("text") if isinstance(value, dict) else None
            parts = [texts] if isinstance(texts, str) else texts
            if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
                raise row.fail("annotations.result.value.text", "a list of texts", texts)
            return "\n".join(parts)
    return ""


def _read_annotator(row: Row, who: Any, otherwise: str | None) -> str:
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    expected = "a user, or 'annotator' to say who it was"
    return row.name("annotations.completed_by", otherwise if who is None else who, expected)
