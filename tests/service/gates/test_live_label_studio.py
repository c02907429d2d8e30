"""A live Label Studio takes our tasks and answers, and what it exports is read back as it was."""

from __future__ import annotations

import importlib.util
import io
import json
import os
from pathlib import Path

import pytest

from karat.formats import label_studio
from karat.formats.exchange import Answer, Task

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("peer", ROOT / "benchmarks/label_studio.py")
    peer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peer)
    folder = tmp_path_factory.mktemp("studio")
    venv = Path(os.environ.get("KARAT_LABEL_STUDIO_VENV") or folder / "venv")
    with peer.LabelStudio(venv, folder / "data") as running:
        yield running


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_round_trip_through_the_live_thing(studio):
    tasks = [Task(id=f"f{number}", fields={"phrase": f"phrase {number} <b>&amp;</b> é"}) for number in range(5)]
    given = [
        Answer(item="f0", annotator="1", value=1, seconds=2.5),
        Answer(item="f1", annotator="1", value=0, note="not so"),
        Answer(item="f2", annotator="1", value=-1),
    ]
    stream = io.StringIO()
    label_studio.export_tasks(tasks, stream, answers=given)
    project = studio.new_project(label_studio.make_config(["phrase"]), json.loads(stream.getvalue()))
    open_task = next(task for task in studio.call("GET", f"/api/projects/{project}/export?exportType=JSON&"
                                                  "download_all_tasks=true") if task["data"]["id"] == "f3")  # fmt: skip
    result = [{"id": "x", "from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": ["no"]}}]
    studio.call("POST", f"/api/tasks/{open_task['id']}/annotations/", {"result": result, "lead_time": 4.0})
    exported = studio.call("GET", f"/api/projects/{project}/export?exportType=JSON")
    back = label_studio.import_answers(io.StringIO(json.dumps(exported)))
    found = {(answer.item, answer.value, answer.note) for answer in back}
    assert found == {("f0", 1, ""), ("f1", 0, "not so"), ("f2", -1, ""), ("f3", 0, "")}
    assert {answer.seconds for answer in back if answer.item in {"f0", "f3"}} == {2.5, 4.0}
    assert {task["data"]["phrase"] for task in exported} <= {task.fields["phrase"] for task in tasks}
