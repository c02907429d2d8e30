"""`karat evaluation`: from an empty folder to a submission on a server, by commands alone."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx2
import pytest
import uvicorn

from karat.cli.main import main
from karat.demo.relations import PREDICATES, make_corpus, make_systems
from karat.service.assignment import Answer
from karat.service.installation import Installation
from karat.web.app import create_app
from karat.web.settings import Settings


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus = make_corpus(30, seed=2)
    write(tmp_path / "news.jsonl", [{"id": d.name, "text": d.text} for d in corpus.documents])
    write(tmp_path / "good.jsonl", make_systems(corpus, 1, seed=2)["system-01"])
    write(tmp_path / "bad.jsonl", [{**corpus.candidates[0], "subject_end": 9999}])
    (tmp_path / "words.toml").write_text("".join(f'{name} = "{words}"\n' for name, words in PREDICATES.items()))
    return tmp_path


@pytest.fixture
def server(folder, capsys):
    """Create an evaluation by the command and serve it in this process; return its address."""
    assert main(["evaluation", "create", "News", "--documents", "news.jsonl", "--predicates", "words.toml", "--price",
                 "0.1", "--currency", "EUR", "--half-width", "0.2", "--json"]) == 0  # fmt: skip
    made = json.loads(capsys.readouterr().out)
    assert made["pool"].startswith(str(folder))
    assert (made["project"], made["n_documents"], made["reading"]) == ("news", 30, None)
    house = Installation("karat.db")
    _, secret = house.access.make_token(house.owner().id, name="t", scopes=["read", "submit", "manage"])
    running = uvicorn.Server(uvicorn.Config(create_app(Settings(), house=house), port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.02)
    port = running.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/news", secret
    running.should_exit = True
    thread.join()
    house.close()


def test_submit_accept_and_read_the_leaderboard(server, folder, capsys, monkeypatch):
    address, secret = server
    monkeypatch.setenv("KARAT_TOKEN", secret)
    assert main(["evaluation", "submit", address, "mine", "good.jsonl"]) == 0
    said = capsys.readouterr().out
    assert "mine: " in said
    assert "EUR" in said
    assert main(["evaluation", "submit", address, "mine", "bad.jsonl"]) == 1
    assert "bad.jsonl, line 1: subject characters" in capsys.readouterr().err
    assert main(["evaluation", "accept", address.replace("/news", "/#/e/news"), "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "accepted"
    assert main(["evaluation", "allow", address, "500", "1000"]) == 0
    assert "Up to 500 labels a submission, 1,000 more in all" in capsys.readouterr().out
    assert main(["evaluation", "submit", address, "second", "good.jsonl"]) == 0
    assert "It is accepted." in capsys.readouterr().out
    assert main(["evaluation", "scores", address]) == 0
    assert "No system has enough labels yet" in capsys.readouterr().out
    shown = {"anyone": (address.replace("/news", "/#/board/news"), 200), "members": ("All members", 404),
             "nobody": ("their own systems alone", 404)}  # fmt: skip
    for audience, (said, status) in shown.items():
        assert main(["evaluation", "publish", address, "--to", audience]) == 0
        assert said in capsys.readouterr().out
        with httpx2.Client() as stranger:
            assert stranger.get(address.replace("/news", "/api/boards/news")).status_code == status
    assert main(["evaluation", "publish", address, "--to", "all"]) == 1
    assert "'--to' must be one of" in capsys.readouterr().err
    assert main(["evaluation", "truth", address]) == 1
    assert "No documents were drawn" in capsys.readouterr().err
    assert (folder / "karat-pools").is_dir()
    assert main(["backup", "copy.db"]) == 0
    assert (folder / "copy-pools").is_dir()
    assert list((folder / "copy-pools").rglob("log.jsonl"))


def test_a_submission_is_replaced_and_retracted_by_commands(server, capsys, monkeypatch):
    address, secret = server
    monkeypatch.setenv("KARAT_TOKEN", secret)

    def run(command, *arguments):
        code = main(["evaluation", command, address, *arguments])
        said = capsys.readouterr()
        return code, said.out + said.err

    for empty in ("", "  "):
        code, said = run("submit", empty, "good.jsonl")
        assert (code, "must be a name of 1 to 100 characters; got ''." in said) == (1, True), said
    for _ in range(2):
        assert run("submit", "mine", "good.jsonl")[0] == 0
    assert run("accept", "2")[1].startswith("mine (version 1) is accepted. It needs ")
    assert run("submit", "mine", "good.jsonl")[0] == 0
    listed = [line.split()[:4] for line in run("submissions")[1].splitlines()[1:]]
    assert [(line[0], line[3]) for line in listed] == [("3", "waits"), ("2", "accepted"), ("1", "replaced")]
    code, said = run("retract", "mine")
    assert (code, "'mine' has the submissions 3 (waits) and 2 (accepted); say which by its number." in said) == (
        1,
        True,
    )
    assert run("retract", "3") == (0, "mine: submission 3 is retracted.\n")
    assert run("retract", "mine") == (0, "mine: submission 2 is retracted.\n")
    for gone in ("mine", "1", "9"):
        code, said = run("retract", gone)
        assert (code, f"waits or was accepted; got '{gone}'." in said) == (1, True)


def test_scores_say_ties_versions_labels_and_confidence(server, capsys, monkeypatch):
    """Two systems with the same predictions are a tie, whatever the labels say."""
    address, secret = server
    monkeypatch.setenv("KARAT_TOKEN", secret)
    assert main(["evaluation", "allow", address, "500", "1000"]) == 0
    for name in ("one", "two"):
        assert main(["evaluation", "submit", address, name, "good.jsonl"]) == 0
    house = Installation("karat.db")
    try:
        project = house.project("news")
        campaign = house.campaign(project)
        people = [house.add_user(name).id for name in ("a", "b", "c")]
        for person in people * 3:
            while tasks := house.assignment.next_tasks(project, campaign, user_id=person, n=20).tasks:
                for task in tasks:
                    answer = Answer(task.item_id, "yes" if task.item_id % 3 else "no", f"{person}-{task.item_id}")
                    house.assignment.answer(project, campaign, answer, user_id=person)
    finally:
        house.close()
    capsys.readouterr()
    assert main(["evaluation", "scores", address, "--json"]) == 0
    board = json.loads(capsys.readouterr().out)
    assert main(["evaluation", "scores", address]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["rank", "system", "version", "precision", "recall", "F1", "predictions", "labels"]
    for line, row in zip(lines[1:3], board["rows"], strict=True):
        cells = line.split()
        assert (cells[:3], cells[-1]) == (["=1", row["system"], "1"], str(row["n_labels"]))
    assert lines[3] == f"90% intervals (asymptotic); {board['n_labels']} labels in all; ranked by f1, = is a tie."


def test_links_that_do_not_meet_are_said(server, folder, capsys, monkeypatch):
    """Systems give links; one gives none, and is warned. The reader gives none, and is understood all the same."""
    address, secret = server
    monkeypatch.setenv("KARAT_TOKEN", secret)
    lines = [json.loads(line) for line in (folder / "good.jsonl").read_text(encoding="utf-8").splitlines()]
    write(folder / "bare.jsonl", [{**line, "subject_link": None, "object_link": None} for line in lines])
    write(folder / "half.jsonl", [{**line, "subject_link": None} for line in lines])
    names = {line[end] for line in lines for end in ("subject", "object")}
    assert main(["evaluation", "allow", address, "500", "1000"]) == 0
    assert main(["evaluation", "submit", address, "linked", "good.jsonl"]) == 0
    assert "Warning" not in capsys.readouterr().out
    assert main(["evaluation", "submit", address, "bare", "bare.jsonl"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"Warning: {len(names):,} of the {len(names):,} names that earlier systems have too come without a" in said
    assert main(["evaluation", "allow", address, "0", "0"]) == 0
    assert main(["evaluation", "submit", address, "half", "half.jsonl", "--json"]) == 0
    waiting = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert waiting["state"] == "checked"
    assert main(["evaluation", "accept", address, str(waiting["id"])]) == 0  # the owner is warned as well
    assert f"Warning: {waiting['warnings'][0]}" in capsys.readouterr().out
    house = Installation("karat.db")
    try:
        n_relations = _read_one_document(house, {line["document"]: line for line in lines})
    finally:
        house.close()
    assert n_relations == 1
    assert main(["evaluation", "truth", address]) == 0
    said = " ".join(capsys.readouterr().out.split())
    naming = "Of 2 ends of relations, 2 took the link that other readers or systems give the same words."
    assert said == f"1 true relation told. {naming}"
    assert main(["evaluation", "truth", address, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["naming"]["taken"] == 2


def _read_one_document(house, stated):
    """Read all documents, marking one relation in the first that a system finds one in; return how many there are."""
    project = house.project("news")
    slug = house.readings.create(project, house.evaluations.row(project), by=house.owner(), n=30, votes=1, seed=1)
    reading, row, user = house.project(slug), house.evaluations.row(project), house.owner().id
    campaign, left = house.campaign(reading), 1
    for _ in range(30):
        (task,) = house.assignment.next_tasks(reading, campaign, user_id=user, n=1).tasks
        content = {"mentions": [], "relations": []}
        if left and task.name in stated:
            line, left = stated[task.name], 0
            content["mentions"] = [
                {"start": line[f"{end}_start"], "end": line[f"{end}_end"], "type": "person", "canonical": place,
                 "link": None} for place, end in enumerate(("subject", "object"))
            ]  # fmt: skip
            content["relations"] = [{"subject": 0, "predicate": line["predicate"], "object": 1}]
        house.readings.annotate(reading, row, campaign, item_id=task.item_id, user_id=user, content=content,
                                request=str(task.item_id))  # fmt: skip
    return house.reading_results.tell(row).relations


@pytest.mark.parametrize(("arguments", "message"), [
    (["submit", "nowhere", "s", "good.jsonl", "--token", "t"], "'SERVER' must be like"),
    (["submit", "http://127.0.0.1:9/news", "s", "good.jsonl", "--token", "t"], "cannot be reached"),
    (["submit", "http://127.0.0.1:9/news", "s", "missing.jsonl", "--token", "t"], "missing.jsonl cannot be read"),
    (["create", "News", "--half-width", "0.9"], "'--half-width' must be in"),
    (["create", "News", "--half-width", "0,1"], "'--half-width' must be a number with a point, as in 0.1; got '0,1'."),
    (["create", "News", "--price=x"], "'--price' must be a number; got 'x'."),
    (["create", "News", "--votes", "1,5"], "'--votes' must be a whole number; got '1,5'."),
    (["create", "News", "--predicates", "news.jsonl"], "news.jsonl is no TOML"),
    (["create", "News", "--documents", "words.toml"], "unknown ending"),
    (["create", "News", "--documents", "news.jsonl", "--read", "99"], "'--read' must be a whole number"),
    (["create", "News", "--documents", "news.jsonl", "--read", "2", "--read-law", "entity"], "never be drawn: 30"),
    (["create", "News", "--documents", "news.jsonl", "--read", "2", "--read-law", "x"], "'--read-law' must be one of"),
])  # fmt: skip
def test_errors_name_the_option(folder, capsys, arguments, message):
    assert main(["evaluation", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not list(folder.rglob("log.jsonl"))  # and nothing was made


def test_the_token_does_not_follow_a_redirect(capsys):
    """A server that points elsewhere: nothing is asked there."""
    asked = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(307)
            self.send_header("location", f"http://localhost:{self.server.server_port}/stolen")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/news"
        assert main(["evaluation", "scores", address, "--token", "t", "--metric", "f1&x=1"]) == 1
        server.shutdown()
        thread.join()
    assert asked == ["/api/projects/news/leaderboard?metric=f1%26x%3D1"]
    assert "answered 307" in capsys.readouterr().err
