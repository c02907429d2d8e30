"""Files as the foreign tools write them, the traps of each, and defects named by file, line and field."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from karat.errors import InvalidData, InvalidInput
from karat.formats import argilla, label_studio, mturk, plain, prodigy, trec
from karat.formats.exchange import Answer, Task, to_votes
from karat.math.agreement.consensus import majority


def brief(answers):
    return [(answer.item, answer.annotator, answer.value) for answer in answers]


# --- Label Studio


def choice(word, control="label"):
    return {"id": "x", "from_name": control, "to_name": "item", "type": "choices", "value": {"choices": [word]}}


def label_studio_file(*annotations, data=None):
    document = [{"id": 1, "project": 83, "data": data or {"id": "fact 1"}, "predictions": [{"result": [choice("no")]}],
                 "annotations": list(annotations)}]  # fmt: skip
    return io.StringIO(json.dumps(document, indent=2))


def test_label_studio_export_as_it_comes():
    answers = label_studio.import_answers(
        label_studio_file(
            {
                "id": 1001,
                "completed_by": 10,
                "lead_time": 4.288,
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2021-03-09T22:16:08.728353Z",
                "result": [choice("yes")],
            },
            {"completed_by": {"id": 4, "email": "ann@example.org"}, "result": [choice("unsure")]},
            {"completed_by": 11, "was_cancelled": True, "result": [choice("no")]},
            {"completed_by": 12, "result": []},
        )
    )
    assert brief(answers) == [("fact 1", "10", 1), ("fact 1", "ann@example.org", -1)]
    assert answers[0].seconds == 4.288
    assert answers[0].time == datetime(2021, 3, 9, 22, 16, 8, 728353, tzinfo=UTC)


def test_label_studio_export_says_ground_truth_false():
    """Left out, it would be imported as true."""
    stream = io.StringIO()
    label_studio.export_tasks([], stream, answers=[Answer(item="a", annotator="7", value=1)])
    annotation = json.loads(stream.getvalue())[0]["annotations"][0]
    assert annotation["ground_truth"] is False
    assert annotation["completed_by"] == 7


def test_label_studio_predictions_are_never_written():
    stream = io.StringIO()
    label_studio.export_tasks([Task(id="a", fields={"t": "x"}, score=0.9)], stream)
    assert json.loads(stream.getvalue()) == [{"data": {"t": "x", "id": "a"}}]


def test_label_studio_two_questions_must_be_told_apart():
    annotation = {"completed_by": 1, "result": [choice("yes", "fluent"), choice("no", "right")]}
    with pytest.raises(InvalidData, match=r"'question' to name one of fluent, right"):
        label_studio.import_answers(label_studio_file(annotation))
    assert brief(label_studio.import_answers(label_studio_file(annotation), question="right")) == [("fact 1", "1", 0)]


def test_label_studio_own_words():
    found = label_studio.import_answers(
        label_studio_file({"completed_by": 1, "result": [choice("Entailed")]}), meanings={"Entailed": 1, "Other": 0}
    )
    assert found[0].value == 1


def test_label_studio_config_is_xml_that_names_the_controls():
    view = ET.fromstring(label_studio.make_config(['a "b" & <c>', "d"], text="Right?"))  # noqa: S314
    assert [node.get("value") for node in view.iter("Text")] == ['$a "b" & <c>', "$d"]
    assert view.find("Choices").get("toName") == view.find("Text").get("name") == label_studio.SHOWN


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ({"completed_by": 1, "result": [choice("perhaps")]}, "field 'choices': expected an answer such as"),
        ({"result": [choice("yes")]}, "field 'annotations.completed_by': expected a user"),
        ({"completed_by": 1, "result": [choice("yes")], "lead_time": "fast"}, "field 'lead_time': expected a number"),
        ({"completed_by": 1, "result": [choice("yes")], "created_at": "today"}, "field 'created_at': expected a time"),
        ({"completed_by": 1, "result": "yes"}, "field 'annotations.result': expected a list"),
        ("yes", "field 'annotations': expected a list of mappings; got 'yes'"),
    ],
)
def test_label_studio_defects(annotation, said):
    with pytest.raises(InvalidData) as caught:
        label_studio.import_answers(label_studio_file(annotation))
    assert str(caught.value).startswith("the stream, line 2, ")
    assert said in str(caught.value)


# --- Argilla


def test_argilla_drafts_and_suggestions_are_no_answers():
    record = {
        "id": "r1",
        "fields": {"text": "x"},
        "suggestions": {"label": {"value": "yes", "score": 0.9, "agent": "model"}},
        "responses": {
            "label": [
                {"value": "no", "user_id": "u1"},
                {"value": "yes", "user_id": "u2", "status": "discarded"},
                {"value": "yes", "user_id": "u3", "status": "submitted"},
            ],
            "note": [{"value": "odd", "user_id": "u3"}],
        },
        "status": "completed",
    }
    answers = argilla.import_answers(io.StringIO(json.dumps([record, {"id": "r2", "responses": {}}])))
    assert brief(answers) == [("r1", "u1", 0), ("r1", "u3", 1)]
    assert [answer.note for answer in answers] == ["", "odd"]


# --- Prodigy


def test_prodigy_lines_as_db_out_writes_them():
    lines = [
        {"text": "a", "id": 5, "answer": "accept", "_annotator_id": "set-ann", "_session_id": "s",
         "_timestamp": 1700000000},
        {"text": "a", "meta": {"id": "6"}, "answer": "ignore", "_session_id": "set-bob"},
        {"text": "b", "id": 7, "options": [{"id": "yes"}, {"id": "no"}], "accept": ["no"], "answer": "accept",
         "_annotator_id": "c"},
        {"text": "b", "id": 8, "options": [{"id": "yes"}, {"id": "no"}], "accept": [], "answer": "reject",
         "_annotator_id": "c"},
    ]  # fmt: skip
    answers = prodigy.import_answers(io.StringIO("\n".join(map(json.dumps, lines))))
    assert brief(answers) == [("5", "set-ann", 1), ("6", "set-bob", -1), ("7", "c", 0), ("8", "c", -1)]
    assert answers[0].time == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_prodigy_wants_to_know_who():
    line = '{"text": "a", "id": 5, "answer": "accept"}'
    with pytest.raises(InvalidData, match="line 1, field '_annotator_id'"):
        prodigy.import_answers(io.StringIO(line))
    assert prodigy.import_answers(io.StringIO(line), annotator="me")[0].annotator == "me"


def test_prodigy_timestamps_are_exact_to_the_microsecond():
    rng = np.random.default_rng(0)
    moments = [
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(n)) for n in rng.integers(0, 7 * 10**15, 500)
    ]
    answers = [Answer(item="a", annotator=str(n), value=1, time=time) for n, time in enumerate(moments)]
    stream = io.StringIO()
    prodigy.export_tasks([], stream, answers=answers)
    assert [answer.time for answer in prodigy.import_answers(io.StringIO(stream.getvalue()))] == moments


# --- Mechanical Turk


MTURK = """\
HITId,HITTypeId,AssignmentId,WorkerId,AssignmentStatus,AcceptTime,SubmitTime,WorkTimeInSeconds,Input.id,Input.text,\
Answer.label,Approve,Reject
H1,T,A1,W1,Approved,Fri Nov 22 19:36:13 PST 2019,Fri Nov 22 19:37:13 PST 2019,60,7,"a, b",yes,X,
H1,T,A2,W2,Rejected,Fri Nov 22 19:36:13 PST 2019,Fri Nov 22 19:37:13 PST 2019,61,7,"a, b",no,,bad
H2,T,A3,W2,Submitted,Sat Jun 01 19:36:13 PDT 2019,Sat Jun 01 19:37:13 PDT 2019,62,8,"c",no,,
"""


def test_mturk_results_as_they_come():
    answers = mturk.import_answers(io.StringIO(MTURK))
    assert brief(answers) == [("7", "W1", 1), ("8", "W2", 0)]
    assert answers[0].time == datetime(2019, 11, 23, 3, 37, 13, tzinfo=UTC)
    assert answers[1].time == datetime(2019, 6, 2, 2, 37, 13, tzinfo=UTC)
    assert answers[1].seconds == 62.0


def test_mturk_radio_groups_and_classifiers():
    radio = "WorkerId,Input.id,Answer.label.yes,Answer.label.no\nW,1,true,false\nW,2,false,true\nW,3,false,false\n"
    assert brief(mturk.import_answers(io.StringIO(radio))) == [("1", "W", 1), ("2", "W", 0)]
    both = "WorkerId,Input.id,Answer.label.yes,Answer.label.no\nW,1,true,true\n"
    with pytest.raises(InvalidData, match=r"line 2, field 'Answer.label.yes': expected one choice"):
        mturk.import_answers(io.StringIO(both))
    classifier = "WorkerId,Input.id,Answer.label.label\nW,1,no\n"
    assert brief(mturk.import_answers(io.StringIO(classifier))) == [("1", "W", 0)]


def test_mturk_refuses_names_it_cannot_take_and_names_columns_it_misses():
    with pytest.raises(InvalidInput, match="named with letters, digits and underscores; got 'phrase 1'"):
        mturk.export_tasks([Task(id="1", fields={"phrase 1": "x"})], io.StringIO())
    with pytest.raises(InvalidData, match=r"has no column 'Input.id'; it has 'WorkerId', 'Answer.label'"):
        mturk.import_answers(io.StringIO("WorkerId,Answer.label\nW,yes\n"))


# --- TREC


def test_trec_grades():
    qrels = "1 0 d1 2\n1 0 d2 1\n1 0 d3 0\n1 0 d4 -2\n"
    assert [a.value for a in trec.import_answers(io.StringIO(qrels))] == [1, 1, 0, -1]
    assert [a.value for a in trec.import_answers(io.StringIO(qrels), positive_from=2)] == [1, 0, 0, -1]
    assert [a.value for a in trec.import_answers(io.StringIO(qrels), negative_grades="negative")] == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 Q0 d1 1 nan me\n", "line 1, field 'score': expected a finite number; got 'nan'"),
        ("1 Q0 d1 1 .5 me\n1 Q0 d1 2 .4 me\n", "line 2, field 'docid': expected each document once a topic"),
        ("1 Q0 d1 one .5 me\n", "line 1, field 'rank': expected a whole number"),
        ("1 Q0 d1\n", "line 1: expected 'topic Q0 docid rank score tag'; got 3 words"),
        ("\n", "is empty"),
    ],
)
def test_trec_run_defects(text, said):
    with pytest.raises(InvalidData) as caught:
        trec.import_run(io.StringIO(text))
    assert said in str(caught.value)


def test_trec_refuses_what_would_not_come_back():
    for answer in (Answer(item="no-topic", annotator="0", value=1), Answer(item="1 d", annotator="two words", value=1)):
        with pytest.raises(InvalidInput):
            trec.export_answers([answer], io.StringIO())
    with pytest.raises(InvalidInput, match="'tasks' must be scored"):
        trec.export_tasks([Task(id="1 d")], io.StringIO())


# --- plain tables


def test_plain_columns_are_recognised_or_given():
    table = "Task_ID;Worker;Judgement;Comment\n1;ann;correct;=SUM(A1)\n1;bob;?;\n2;ann;;\n"
    answers = plain.import_answers(io.StringIO(table), kind="csv")
    assert brief(answers) == [("1", "ann", 1), ("1", "bob", -1)]
    assert answers[0].note == "=SUM(A1)"
    odd = "wo,wer,was\n1,ann,ja\n"
    named = {"id": "wo", "annotator": "wer", "label": "was"}
    assert brief(plain.import_answers(io.StringIO(odd), kind="csv", columns=named, meanings={"ja": 1})) == [
        ("1", "ann", 1)
    ]
    with pytest.raises(InvalidData, match="has no column 'id'; it has 'wo', 'wer', 'was'"):
        plain.import_answers(io.StringIO(odd), kind="csv")
    single = "id,label\n1,yes\n"
    with pytest.raises(InvalidData, match=r"no column 'annotator' \(or give 'annotator'\)"):
        plain.import_answers(io.StringIO(single), kind="csv")
    assert brief(plain.import_answers(io.StringIO(single), kind="csv", annotator="me")) == [("1", "me", 1)]


def test_plain_kind_by_name(tmp_path):
    answers = [Answer(item="1", annotator="ann", value=0, seconds=2.0)]
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet"):
        plain.export_tasks([], tmp_path / name, answers=answers)
        assert plain.import_answers(tmp_path / name) == answers
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.jsonl", "a.parquet", "a.tsv"]
    with pytest.raises(InvalidInput, match="of no known kind"):
        plain.import_answers(tmp_path / "a.xlsx")
    with pytest.raises(InvalidData, match="cannot be read"):
        plain.import_answers(tmp_path / "absent.csv")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InvalidData, match="cannot be read as Parquet"):
        plain.import_answers(tmp_path / "b.parquet")


def test_nothing_half_written(tmp_path):
    def tasks():
        yield Task(id="1")
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        label_studio.export_tasks(tasks(), tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_every_defect_is_named_and_nothing_imported():
    table = "id,annotator,label\n1,ann,yes\n2,,no\n3,bob,perhaps\n4,ann\n5,ann,no\n"
    with pytest.raises(InvalidData) as caught:
        plain.import_answers(io.StringIO(table), kind="csv")
    assert str(caught.value).splitlines() == [
        "3 defects, nothing was imported:",
        "  the stream, line 3, field 'annotator': expected text or a whole number; got ''.",
        "  the stream, line 4, field 'label': expected an answer such as 1, 0, yes, no or unsure; got 'perhaps'.",
        "  the stream, line 5: expected 3 cells as in the header; got 2.",
    ]


def test_formulas_are_neutralised_in_every_csv():
    tasks = [Task(id="=1", fields={"text": "@cmd"})]
    answers = [Answer(item="=1", annotator="+x", value=1, note="-y")]
    for module, options in ((mturk, {}), (plain, {"kind": "csv"}), (plain, {"kind": "tsv"})):
        for given in ([], answers):
            stream = io.StringIO()
            module.export_tasks(tasks, stream, answers=given, **options)
            mark = "\t" if options.get("kind") == "tsv" else ","
            cells = [cell for row in csv.reader(io.StringIO(stream.getvalue()), delimiter=mark) for cell in row]
            assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
            assert "'=1" in cells


def test_from_foreign_votes_to_labels():
    table = "item,worker,vote\n" + "".join(f"{i},{w},{v}\n" for i, w, v in [("a", 1, 1), ("a", 2, 1), ("a", 3, 0)])
    votes = to_votes(plain.import_answers(io.StringIO(table), kind="csv"), items=["a", "b"])
    assert majority(votes).label.tolist() == [1, -1]
