"""import, labels, status and export against a running service."""

from __future__ import annotations

import json
import socket
import threading
import time

import pytest
import uvicorn

from karat.cli.main import main
from karat.web.app import create_app
from karat.web.settings import Settings


@pytest.fixture
def database_url(tmp_path):
    return str(tmp_path / "karat.db")


@pytest.fixture
def served(house, start, monkeypatch):
    """Serve a project on a port of its own; the owner's token is in the environment."""
    project, _ = start(votes=1, price=0.5, currency="EUR")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = uvicorn.Config(create_app(Settings(db="unused", port=port), house=house), port=port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    monkeypatch.setenv("KARAT_SERVER", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("KARAT_TOKEN", house.access.make_token(house.owner().id, name="t", scopes=["read", "manage"])[1])
    yield project
    server.should_exit = True
    thread.join()


@pytest.fixture
def answers(house, served, tmp_path):
    path = tmp_path / "answers.csv"
    lines = house.progress.items_jsonl(served).splitlines()
    rows = [f"{item['id']},ann,{'yes' if item['rank'] <= 200 else 'no'}" for item in map(json.loads, lines)]
    path.write_text("\n".join(["id,annotator,label", *rows]) + "\n")
    return path


def said(capsys):
    return capsys.readouterr().out


def test_import_labels_status_export(answers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["import", "facts", str(answers)]) == 0
    assert said(capsys) == "30 new answers, 0 changed, 0 known already, by 1 annotator.\n"
    assert main(["import", "facts", str(answers), "--json"]) == 0
    assert json.loads(said(capsys)) == {"new": 0, "changed": 0, "unchanged": 30, "annotators": ["ann"]}
    assert main(["labels", "facts", "-o", "labels.csv"]) == 0
    assert said(capsys) == "30 labels in labels.csv.\n"
    assert main(["labels", "facts", "--format", "jsonl"]) == 0
    lines = [json.loads(line) for line in said(capsys).splitlines()]
    assert len(lines) == 30
    assert all((line["label"] == "1") == (line["rank"] <= 200) for line in lines)
    assert main(["status", "facts"]) == 0
    text = said(capsys)
    assert "15.00 EUR" in text
    assert "the target is met" in text
    assert main(["status", "facts", "--watch"]) == 0  # it is done, so it ends
    assert "the target is met" in said(capsys)
    assert main(["status", "facts", "--json"]) == 0
    found = json.loads(said(capsys))
    assert (found["labelled"], found["done"]) == (30, True)
    assert main(["export", "facts", "-o", "far"]) == 0
    monkeypatch.delenv("KARAT_SERVER")
    assert main(["export", "facts", "-o", "near"]) == 0
    for name in ("draw.json", "labels.csv", "ledger.csv", "items.jsonl"):
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "near" / name).read_bytes()
    assert (tmp_path / "labels.csv").read_bytes() == (tmp_path / "near/labels.csv").read_bytes()
    said(capsys)
    assert main(["curve", "far/draw.json", "labels.csv", "--json"]) == 0


def test_watching_goes_on_until_the_target_is_met(answers, capsys):
    watcher: list[int] = []
    thread = threading.Thread(
        target=lambda: watcher.append(main(["status", "facts", "--watch", "--every", "0.2", "--json"]))
    )
    thread.start()
    time.sleep(1.0)
    assert main(["import", "facts", str(answers)]) == 0
    thread.join(30)
    assert watcher == [0]
    text = said(capsys)
    assert text.index('"done": false') < text.index('"done": true')


def test_every_defect_is_printed_and_nothing_imported(served, house, tmp_path, capsys):
    bad = tmp_path / "bad.csv"
    bad.write_text("id,annotator,label\n" + "nobody,ann,yes\n" * 25)
    assert main(["import", "facts", str(bad), "--json"]) == 1
    out, err = capsys.readouterr()
    defects = json.loads(out)["defects"]
    assert [defect["line"] for defect in defects] == list(range(2, 27))
    assert defects[0]["message"] == "bad.csv, line 2: expected an item of the project; got 'nobody'."
    assert err.startswith("karat: 25 defects, nothing was imported:")
    assert "and 15 more." in err
    assert house.progress.items_jsonl(served).count('"user"') == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["import", "facts", "export.json"], "may be in several formats"),
        (["import", "facts", "nowhere.csv"], "nowhere.csv cannot be read"),
        (["import", "facts", "answers.csv", "--format", "zip"], "'--format' must be one of"),
        (["import", "facts", "answers.csv", "--question", "q"], "the format 'csv' has no option 'question'"),
        (["import", "facts", "answers.csv", "--meaning", "x"], "WORD=positive"),
        (["import", "facts", "answers.csv", "--meaning", "x=fine"], "'positive', 'negative', 'unsure'"),
        (["labels", "nothing"], "no project 'nothing'"),
        (["labels", "facts", "--format", "xml"], "'csv', 'jsonl'"),
        (["status", "facts", "--token", "karat_wrong"], "Sign in first"),
        (["status", "facts", "--server", "example.org"], "http:// or https://"),
        (["status", "facts", "--server", "http://127.0.0.1:9"], "cannot be reached"),
        (["export", "facts", "--server", "http://127.0.0.1:9", "--db", "x.db"], "not both"),
    ],
)
@pytest.mark.usefixtures("answers")
def test_refusals(arguments, word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert word in capsys.readouterr().err


@pytest.mark.usefixtures("served")
def test_a_token_is_needed(monkeypatch, capsys):
    monkeypatch.delenv("KARAT_TOKEN")
    assert main(["status", "facts"]) == 1
    assert "API token" in capsys.readouterr().err


def test_a_token_that_reads_cannot_import(answers, house, capsys):
    _, secret = house.access.make_token(house.owner().id, name="r", scopes=["read"])
    assert main(["import", "facts", str(answers), "--token", secret]) == 1
    assert "no scope 'manage'" in capsys.readouterr().err
