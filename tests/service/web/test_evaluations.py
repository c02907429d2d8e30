"""Evaluations over HTTP: uploads, who sees what, files to take away."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest
from starlette.testclient import TestClient

from karat.pool import Pool
from karat.store import people
from karat.web.app import create_app
from karat.web.deps import COOKIE
from karat.web.settings import Settings


@pytest.fixture
def team(house, shared_task):
    """Return a participant."""
    user = house.add_user("team")
    with house.database.write() as connection:
        project = house.project(shared_task.slugs["evaluation"])
        people.set_member(connection, project.id, user.id, role="viewer", now=house.clock())
    return user


def upload(client, base, name, lines, *, file="predictions.jsonl"):
    body = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    return client.post(f"{base}/submissions", params={"system": name, "file": file}, content=body)


def answer_all(client, base, corpus):
    """Answer by item: the payload says which instance it is."""
    while True:
        tasks = client.post(f"{base}/next", json={"n": 20}).json()["tasks"]
        if not tasks:
            return
        answers = []
        for task in tasks:
            shown = {cell["name"]: cell["value"] for cell in task["fields"]}
            answers.append({"item": task["item"], "request": f"r{task['item']}", "value": said(shown, corpus)})
        taken = client.post(f"{base}/answers", json={"answers": answers}).json()
        assert all(each["accepted"] for each in taken["answers"])


def said(shown, corpus):
    (line,) = [row for row in corpus.candidates if row["document"] == shown["document"]
               and shown["text"][shown["subject"]["start"] : shown["subject"]["end"]] == row["subject_mention"]
               and _at(row, shown, corpus)]  # fmt: skip
    from karat.documents.relations import instance_id

    return "yes" if corpus.truth[instance_id(line)] else "no"


def _at(row, shown, corpus):
    text = next(document.text for document in corpus.documents if document.name == row["document"])
    return text.index(shown["text"]) + shown["subject"]["start"] == row["subject_start"]


def test_the_page_the_api_and_the_folder_say_the_same(owner, base, shared_task, house):
    waiting = next(each for each in owner.get(f"{base}/submissions").json() if each["state"] == "checked")
    assert waiting["first"]["money"] == pytest.approx(0.1 * waiting["first"]["labels"])
    assert owner.post(f"{base}/submissions/{waiting['id']}/accept").json()["state"] == "accepted"
    third = upload(owner, base, "system-03", shared_task.systems["system-03"])
    assert third.status_code == 201, third.text
    assert owner.post(f"{base}/submissions/{third.json()['id']}/accept").status_code == 200
    answer_all(owner, base, shared_task.corpus)
    board = owner.get(f"{base}/leaderboard", params={"metric": "precision"}).json()
    assert len(board["rows"]) == 3
    folder = house.pools.home / house.evaluations.row(house.project(shared_task.slugs["evaluation"])).folder
    assert Pool(folder).scores("precision").to_dict()["rows"] == board["rows"]
    archive = zipfile.ZipFile(io.BytesIO(owner.get(f"{base}/export/pool.zip").content))
    assert any(name.endswith("log.jsonl") for name in archive.namelist())
    assert not any("incoming" in name for name in archive.namelist())
    labels = list(csv.DictReader(owner.get(f"{base}/label-pool.csv").text.splitlines()[1:]))
    assert len(labels) == board["n_labels"]
    task = owner.get(f"{base}/evaluation").json()
    assert task["answers"] == board["n_labels"]
    assert task["reading"] == shared_task.slugs["reading"]


def test_a_participant_sees_their_own_alone(owner, client_of, team, base, shared_task):
    client = client_of(team)
    mine = upload(client, base, "mine", shared_task.systems["system-02"])
    assert mine.status_code == 201, mine.text
    assert [each["system"] for each in client.get(f"{base}/submissions").json()] == ["mine"]
    others = [each["id"] for each in owner.get(f"{base}/submissions").json() if each["system"] != "mine"]
    assert client.delete(f"{base}/submissions/{others[0]}").status_code == 404
    assert client.post(f"{base}/submissions/{mine.json()['id']}/accept").status_code == 403
    assert owner.post(f"{base}/submissions/{mine.json()['id']}/accept").status_code == 200
    answer_all(owner, base, shared_task.corpus)
    board = client.get(f"{base}/leaderboard").json()
    assert [row["system"] for row in board["rows"]] == ["mine"]
    assert board["rows"][0]["rank"] is None
    assert client.get(f"{base}/label-pool.csv").status_code == 404
    assert owner.put(f"{base}/publication", json={"published": True}).status_code == 204
    assert len(client.get(f"{base}/leaderboard").json()["rows"]) == 2
    assert client.get(f"{base}/label-pool.csv").status_code == 200
    assert client.delete(f"{base}/submissions/{mine.json()['id']}").status_code == 204
    assert [row["system"] for row in owner.get(f"{base}/leaderboard").json()["rows"]] == ["system-01"]


def test_within_the_allowance_nobody_is_asked(owner, client_of, team, base, shared_task):
    client = client_of(team)
    assert client.put(f"{base}/allowance", json={"each": 10**6, "in_all": 10**6}).status_code == 403
    assert upload(client, base, "before", shared_task.systems["system-02"]).json()["state"] == "checked"
    refused = owner.put(f"{base}/allowance", json={"each": 9, "in_all": 8})
    assert (refused.status_code, refused.json()["field"]) == (400, "in_all")
    assert owner.put(f"{base}/allowance", json={"each": 10**6, "in_all": 10**6}).json()["used"] == 0
    sent = upload(client, base, "after", shared_task.systems["system-03"]).json()
    assert (sent["state"], sent["version"]) == ("accepted", 1)
    said = client.get(f"{base}/evaluation").json()
    assert said["allowance"] == {"each": 10**6, "in_all": 10**6, "used": sent["most"]["labels"], "beyond": 0}
    assert said["label_price"] * sent["most"]["labels"] == pytest.approx(sent["most"]["money"])


def test_a_token_of_the_right_scope_submits(client_of, house, team, base, shared_task):
    for scope, status in (("read", 403), ("submit", 201)):
        _, secret = house.access.make_token(team.id, name=scope, scopes=[scope])
        client = client_of(None)
        client.headers["authorization"] = f"Bearer {secret}"
        assert upload(client, base, "by token", shared_task.systems["system-01"]).status_code == status


@pytest.mark.parametrize(("file", "body", "message"), [
    ("a.exe", b"id\n1\n", "a.exe: unknown ending; known are .csv, .tsv, .jsonl."),
    ("wrong.zip", b"no zip", "wrong.zip: unknown ending; known are .csv, .tsv, .jsonl."),
    ("no ending", b"id\n1\n", "no ending: unknown ending"),
    ("\u0000/<b>.csv", b"id\n1\n", "<b>.csv, line 1: 'document' is missing"),
    ("../../etc/x.jsonl", b"{}\n", "x.jsonl, line 1: 'document' is missing"),
    ("bad.csv", "document,subject\nä\n".encode("latin-1"), "bad.csv"),
    ("x.jsonl", b"\xff\xfe\x00", "UTF-8"),
    ("x.jsonl", b"", "it has no predictions"),
    ("x.jsonl", b"[1, 2", "x.jsonl"),
])  # fmt: skip
def test_bad_files_are_refused_and_leave_nothing(owner, base, house, shared_task, file, body, message):
    row = house.evaluations.row(house.project(shared_task.slugs["evaluation"]))
    before = sorted(house.pools.incoming(row).rglob("*"))
    n_before = len(owner.get(f"{base}/submissions").json())
    said = owner.post(f"{base}/submissions", params={"system": "bad", "file": file}, content=body)
    assert said.status_code == 400, said.text
    assert message in said.json()["detail"]
    assert str(house.pools.home) not in said.text
    assert len(owner.get(f"{base}/submissions").json()) == n_before
    assert sorted(house.pools.incoming(row).rglob("*")) == before


def test_a_form_is_not_taken_for_a_file(owner, base, shared_task):
    body = "".join(json.dumps(line) + "\n" for line in shared_task.systems["system-02"])
    files = {"file": ("x.jsonl", body)}
    for path, query in ((f"{base}/submissions", {"system": "x", "file": "x.jsonl"}),
                        ("/api/documents", {"name": "x.jsonl"}), ("/api/uploads", {"name": "x.jsonl"}),
                        (f"{base}/import", {"format": "csv"})):  # fmt: skip
        said = owner.post(path, params=query, files=files)
        assert said.status_code == 400, said.text
        assert "as `curl --data-binary @FILE` sends it; got a form." in said.json()["detail"]


@pytest.mark.parametrize("announced", [True, False])
def test_a_huge_upload_is_refused_and_leaves_nothing(house, shared_task, announced):
    """A gigabyte, announced or in pieces without end; what came before the limit would be a valid file."""
    app = create_app(Settings(db="unused", most_upload=300_000), house=house)
    client = TestClient(app, raise_server_exceptions=False)
    secret = house.access.use_sign_in_link(house.access.make_sign_in_link(house.owner().id))
    client.cookies.set(COOKIE, secret)
    base = f"/api/projects/{shared_task.slugs['evaluation']}"
    line = json.dumps(shared_task.corpus.candidates[0]).encode() + b"\n"
    taken = 0

    def pieces():
        nonlocal taken
        yield line
        while taken < 1_000_000_000:
            taken += 60_000
            yield b"\n" * 60_000

    headers = {"content-length": "1000000000"} if announced else {}
    said = client.post(f"{base}/submissions", params={"system": "huge", "file": "huge.jsonl"}, content=pieces(),
                       headers=headers)  # fmt: skip
    assert said.status_code == 413, said.text
    assert len(client.get(f"{base}/submissions").json()) == 2
    row = house.evaluations.row(house.project(shared_task.slugs["evaluation"]))
    assert [path.name for path in house.pools.incoming(row).iterdir() if path.is_dir()] == []


def test_other_kinds_of_projects_say_so(owner, base, cast):
    project, _, _ = cast
    said = owner.get(f"/api/projects/{project.slug}/leaderboard")
    assert (said.status_code, "is no evaluation" in said.text) == (404, True)
    for path in ("curve", "progress", "forecast", "report", "export/draw.json"):
        said = owner.get(f"{base}/{path}")
        assert (said.status_code, "no draw" in said.text) == (400, True), path
    kinds = {each["slug"]: each["kind"] for each in owner.get("/api/projects").json()}
    assert kinds == {"facts": "campaign", "other": "campaign", "shared": "evaluation", "shared-documents": "reading"}


def test_participants_do_not_see_who_judges(client_of, owner, base, team):
    assert owner.get(f"{base}/people").status_code == 200
    refused = client_of(team).get(f"{base}/people")
    assert (refused.status_code, refused.json()["detail"]) == (403, "As participant you cannot do this.")
