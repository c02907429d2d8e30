"""A project from the page: upload or name a table, look at it, pick columns, begin; every mistake is named."""

from __future__ import annotations

import json
import time

import pytest
from starlette.testclient import TestClient

from karat.web.app import create_app
from karat.web.settings import Settings

TABLE = "key,claim,label,confidence\n" + "".join(f"k{n},claim {n},{n % 2},{n / 50}\n" for n in range(1, 51))
MANY = {"name": "certify", "parameters": {"from_rank": 20, "pilot": 10}}


def upload(client, text=TABLE, name="claims.csv"):
    return client.post("/api/uploads", params={"name": name}, content=text)


def test_upload_preview_begin_label(owner, house):
    found = upload(owner)
    assert found.status_code == 201, found.text
    shown = found.json()
    assert (shown["name"], shown["n_rows"], shown["columns"]) == ("claims.csv", 50, TABLE.split("\n")[0].split(","))
    assert (shown["score"], shown["id"], shown["numeric"]) == ("confidence", "key", ["label", "confidence"])
    assert shown["hidden"] == ["key", "label", "confidence"]
    assert shown["rows"][0] == {"key": "k1", "claim": "claim 1", "label": "1", "confidence": "0.02"}
    assert owner.get("/api/preview", params={"source": shown["source"]}).json() == shown
    body = {"title": "Claims", "source": shown["source"], "score": "confidence", "id": "key", "method": MANY,
            "settings": {"question": "True?", "votes": 2, "extra": 1, "template": "text", "price": 0.1}}  # fmt: skip
    made = owner.post("/api/projects", json=body)
    assert made.status_code == 201, made.text
    assert (made.json()["slug"], made.json()["votes"], made.json()["role"]) == ("claims", 2, "owner")
    hand = owner.post("/api/projects/claims/next", json={}).json()
    assert [cell["name"] for cell in hand["tasks"][0]["fields"]] == ["claim"]
    # the table is found again later, by a server that starts anew
    assert house.studies.resource_of(house.project("claims"))["source"]
    again = owner.post("/api/projects", json={**body, "title": "Second"})
    assert again.status_code == 404
    assert "upload the file first" in again.json()["detail"]


def test_a_table_of_the_folder(owner, tmp_path):
    (tmp_path / "tables/deep").mkdir()
    lines = [{"id": n, "text": f"t {n}", "score": n / 7} for n in range(1, 31)]
    (tmp_path / "tables/deep/t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "tables/notes.md").write_text("no table")
    (tmp_path / "secret.csv").write_text(TABLE)
    (tmp_path / "tables/link.csv").symlink_to(tmp_path / "secret.csv")
    assert [file["name"] for file in owner.get("/api/files").json()["files"]] == ["deep/t.jsonl"]
    found = owner.get("/api/preview", params={"source": "file:deep/t.jsonl"}).json()
    assert (found["score"], found["id"], found["n_rows"]) == ("score", "id", 30)
    for path in (
        "../secret.csv",
        str(tmp_path / "secret.csv"),
        "link.csv",
        "notes.md",
        "deep",
        "",
        "\x00.csv",
        "x" * 300 + ".csv",
    ):
        assert owner.get("/api/preview", params={"source": f"file:{path}"}).status_code == 404, path
    body = {"title": "T", "source": "file:deep/t.jsonl", "score": "score", "id": "id",
            "method": {"name": "point", "parameters": {"rank": 30, "labels": 10}}}  # fmt: skip
    assert owner.post("/api/projects", json=body).status_code == 201


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("a,a\n1,2\n", "t.csv", "'a' twice"),
        ("", "t.csv", "empty"),
        ("a,b\n", "t.csv", "no rows"),
        (b"a,b\n1,\xff\n", "t.csv", "line 2"),
        ('{"a": 1}\n{"a": \n', "t.jsonl", "line 2"),
        ("not parquet", "t.parquet", "t.parquet"),
        ("x", "t.exe", "ends in"),
        ("x", "t.csv.gz", "ends in"),
    ],
)
def test_bad_tables_are_refused_by_their_own_name_and_line(owner, tmp_path, text, name, said):
    found = upload(owner, text, name)
    assert found.status_code == 400
    assert said in found.json()["detail"]
    assert str(tmp_path) not in found.text
    assert [path for path in (tmp_path / "uploads").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("change", "status", "field", "said"),
    [
        ({"score": "claim"}, 400, None, "claims.csv, row 1, column 'claim': expected a finite number"),
        ({"score": "nothing"}, 400, None, "no column 'nothing'"),
        ({"id": "same"}, 400, None, "no column 'same'"),
        ({"title": ""}, 422, "title", "title"),
        ({"title": " "}, 400, "title", "title"),
        ({"settings": {"question": ""}}, 400, "question", "question"),
        ({"settings": {"votes": 0}}, 400, "votes", "votes"),
        ({"settings": {"votes": 1, "extra": 1}}, 400, "extra", "cannot disagree"),
        ({"settings": {"fields": ["claim", "colour"]}}, 400, "fields", "colour"),
        ({"settings": {"colour": 1}}, 400, "setting", "colour"),
        ({"settings": {"template": "free"}}, 400, "template", "free"),
        ({"method": {"name": "certify", "parameters": {"absolute": 7}}}, 400, "absolute", "absolute"),
        ({"method": {"name": "point", "parameters": {"window": 7}}}, 400, "parameter", "window"),
        ({"method": {"name": "guess"}}, 422, "name", "method"),
        ({"colour": 1}, 422, "colour", "colour"),
    ],
)
def test_every_mistake_is_named_and_the_upload_waits_for_a_better_try(owner, change, status, field, said):
    source = upload(owner).json()["source"]
    body = {"title": "Claims", "source": source, "score": "confidence", "id": "key", "method": MANY}
    refused = owner.post("/api/projects", json={**body, **change})
    assert (refused.status_code, refused.json()["field"]) == (status, field), refused.text
    assert said in refused.json()["detail"]
    assert owner.get("/api/projects").json() == []
    assert owner.post("/api/projects", json=body).status_code == 201


def test_an_upload_belongs_to_who_sent_it(client_of, house, owner):
    source = upload(owner).json()["source"]
    other = client_of(house.add_user("second", is_admin=True))
    assert other.get("/api/preview", params={"source": source}).status_code == 404
    assert owner.get("/api/preview", params={"source": source}).status_code == 200
    assert owner.get("/api/preview", params={"source": "upload:*"}).status_code == 404


def test_sizes_are_kept(house, tmp_path, clock):
    clock.now = time.time()  # files know the real time
    app = create_app(Settings(db="unused", uploads=str(tmp_path / "up"), most_upload=3000, most_body=1000), house=house)
    client = TestClient(app, raise_server_exceptions=False)
    secret = house.access.use_sign_in_link(house.access.make_sign_in_link(house.owner().id))
    client.cookies.set("karat_session", secret)
    assert upload(client).status_code == 201  # larger than another request may be

    def in_pieces():
        for _ in range(10):
            yield b"a,b\n" * 250

    for body in ("x" * 4000, in_pieces()):
        refused = upload(client, body)
        assert refused.status_code == 413
        assert "3,000" in refused.json()["detail"]
    assert len([path for path in (tmp_path / "up").rglob("*") if path.is_file()]) == 1
    assert client.get("/api/files").json() == {"files": None}


def test_uploads_that_nobody_uses_go_away(owner, clock):
    first = upload(owner).json()["source"]
    clock.now = time.time() + 25 * 3600
    upload(owner)
    assert owner.get("/api/preview", params={"source": first}).status_code == 404


def test_what_people_see_can_be_changed_but_not_what_answers_mean(owner, start):
    project, campaign = start()
    address = f"/api/projects/{project.slug}/settings"
    options = [{**vars_of(option), "label": option.label.upper(), "key": key}
               for option, key in zip(campaign.options, "jkl", strict=True)]  # fmt: skip
    change = {"title": "New", "settings": {"question": "Really?", "guidelines": "# Look", "options": options}}
    assert owner.patch(address, json=change).status_code == 200
    shown = owner.get(f"/api/projects/{project.slug}").json()
    assert [(o["label"], o["key"]) for o in shown["options"]] == [("RIGHT", "j"), ("WRONG", "k"), ("UNSURE", "l")]
    assert (shown["title"], shown["question"]) == ("New", "Really?")
    options[0]["meaning"], options[1]["meaning"] = "negative", "positive"
    refused = owner.patch(address, json={"settings": {"options": options}})
    assert (refused.status_code, refused.json()["field"]) == (400, "options")


def vars_of(option):
    return {name: getattr(option, name) for name in ("value", "label", "key", "meaning")}


# --- keys


def test_keys_of_ones_own(client_of, cast):
    project, _, users = cast
    one, other = client_of(users["annotator"]), client_of(users["owner"])
    assert (
        one.put("/api/session/keys", json={"keys": {"answer 1": "J", "answer 2": "k", "undo": ";"}}).status_code == 204
    )
    shown = one.get(f"/api/projects/{project.slug}").json()
    assert [option["key"] for option in shown["options"]] == ["j", "k", "3"]
    assert (shown["keys"]["undo"], shown["keys"]["skip"]) == (";", "s")
    assert one.get("/api/session").json()["keys"] == {"answer 1": "j", "answer 2": "k", "undo": ";"}
    assert [o["key"] for o in other.get(f"/api/projects/{project.slug}").json()["options"]] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("keys", "field", "said"),
    [
        ({"undo": "s"}, "skip", "It is the key of 'undo'"),
        ({"answer 1": "x", "answer 2": "X"}, "answer 2", "It is the key of 'answer 1'"),
        ({"skip": "1"}, "answer 1", "in 'Facts'"),
        ({"skip": ""}, "skip", "one character"),
        ({"skip": "ab"}, "skip", "one character"),
        ({"jump": "a"}, "keys", "jump"),
    ],
)
def test_keys_that_do_two_things_are_refused(client_of, cast, keys, field, said):
    _, _, users = cast
    client = client_of(users["annotator"])
    refused = client.put("/api/session/keys", json={"keys": keys})
    assert (refused.status_code, refused.json()["field"]) == (400, field), refused.text
    assert said in refused.json()["detail"]
    assert client.get("/api/session").json()["keys"] == {}


# --- gold questions


def test_gold_questions_look_like_all_others(client_of, cast):
    project, _, users = cast
    owner, annotator = client_of(users["owner"]), client_of(users["annotator"])
    base = f"/api/projects/{project.slug}"
    table = "id,subject,relation,object,truth\n" + "".join(
        f"g{n},a,b,c,{'yes' if n % 2 else 'no'}\n" for n in range(50)
    )
    given = {"name": "gold.csv", "truth": "truth", "id": "id"}
    assert owner.post(f"{base}/gold", params=given, content=table).json() == {"added": 50}
    assert owner.patch(f"{base}/settings", json={"settings": {"gold_share": 0.5}}).status_code == 200
    shapes, n_gold = set(), 0
    for number in range(30):
        task = annotator.post(f"{base}/next", json={"n": 1}).json()["tasks"][0]
        shapes.add(json.dumps([sorted(task), [cell["name"] for cell in task["fields"]], task["rank"], task["score"]]))
        n_gold += task["fields"][0]["value"] == "a"
        sent = {"answers": [{"item": task["item"], "value": "yes", "request": f"g{number}"}]}
        assert annotator.post(f"{base}/answers", json=sent).json()["answers"][0]["accepted"]
    assert len(shapes) == 1
    assert n_gold > 3
    seen = {who: {p["name"]: p["on_gold"] for p in client_of(users[who]).get(f"{base}/people").json()["annotators"]}
            for who in ("owner", "viewer")}  # fmt: skip
    assert seen["owner"]["annotator1"]["answers"] == n_gold
    assert seen["viewer"]["annotator1"] is None
    bad = owner.post(f"{base}/gold", params=given, content=table.replace("yes", "maybe", 1))
    assert bad.status_code == 400
    assert "gold.csv, row 2, column 'truth'" in bad.json()["detail"]


def test_every_bad_line_of_a_table_is_named(owner, tmp_path):
    bad = upload(owner, "key,claim,score\na,x,1\nb,y,high\nc,z,2\na,x,\n", "bad.csv").json()
    body = {"title": "Bad", "source": bad["source"], "score": "score", "id": "key", "method": MANY}
    refused = owner.post("/api/projects", json=body)
    assert refused.status_code == 400
    said = [defect["message"] for defect in refused.json()["defects"]]
    assert len(said) == 3, refused.text
    assert all("bad.csv" in message for message in said)
    assert str(tmp_path) not in refused.text
