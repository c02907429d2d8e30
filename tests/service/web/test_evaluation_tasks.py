"""A new evaluation over HTTP: documents uploaded and checked, every mistake named, nothing left of what is refused."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from starlette.testclient import TestClient

from karat.demo.relations import PREDICATES, make_corpus, make_systems
from karat.store import people
from karat.web import guards
from karat.web.app import create_app
from karat.web.deps import COOKIE
from karat.web.settings import Settings

TEXT = "Zoë works for Élan."


def upload(client, lines, name="news.jsonl"):
    body = lines if isinstance(lines, bytes) else "".join(json.dumps(line) + "\n" for line in lines).encode()
    return client.post("/api/documents", params={"name": name}, content=body)


def waiting(tmp_path):
    return list((tmp_path / "uploads").rglob("*-news*"))


def test_from_documents_to_a_first_submission(owner, tmp_path):
    corpus = make_corpus(30, seed=2)
    lines = [{"id": d.name, "text": d.text, "mentions": [
        {"start": m.start, "end": m.end, "type": m.type, "text": d.text[m.start : m.end]} for m in d.mentions
    ]} for d in corpus.documents]  # fmt: skip
    found = upload(owner, lines).json()
    assert (found["name"], found["n_documents"], found["n_with_mentions"]) == ("news.jsonl", 30, 30)
    assert found["first"][0] == {"name": corpus.documents[0].name, "text": corpus.documents[0].text[:300]}
    body = {"title": "Relations in the news", "kind": "relations", "documents": found["source"], "votes": 3,
            "predicates": PREDICATES, "types": ["person", "firm"], "guidelines": "Read *well*.", "price": 0.05,
            "currency": "EUR", "half_width": 0.15, "confidence_level": 0.8, "read": 4, "read_law": "entity",
            "token_price": 0.01, "seed": 3}  # fmt: skip
    made = owner.post("/api/evaluations", json=body)
    assert made.status_code == 201, made.text
    assert made.json() == {"project": "relations-in-the-news", "reading": "relations-in-the-news-documents"}
    assert waiting(tmp_path) == []
    task = owner.get("/api/projects/relations-in-the-news/evaluation").json()
    expected = {"kind": "relations", "predicates": PREDICATES, "types": ["person", "firm"], "half_width": 0.15,
                "confidence_level": 0.8, "n_documents": 30, "price": 0.05, "currency": "EUR",
                "reading": "relations-in-the-news-documents"}  # fmt: skip
    assert task == task | expected
    assert owner.get("/api/projects/relations-in-the-news-documents/reading").json()["documents"] == 4
    assert owner.get("/api/projects/relations-in-the-news").json()["votes"] == 3
    rows = make_systems(corpus, 1, seed=2)["system-01"]
    sent = owner.post("/api/projects/relations-in-the-news/submissions", params={"system": "s", "file": "s.jsonl"},
                      content="".join(json.dumps(row) + "\n" for row in rows))  # fmt: skip
    assert sent.status_code == 201, sent.text


def test_items_need_no_documents(owner):
    made = owner.post("/api/evaluations", json={"title": "Matches", "question": "The same product?", "votes": 1})
    assert made.json() == {"project": "matches", "reading": None}
    assert owner.get("/api/projects/matches").json()["question"] == "The same product?"
    again = owner.post("/api/evaluations", json={"title": "Matches"})
    assert (again.status_code, again.json()["detail"]) == (409, "There is a project 'matches' already.")


@pytest.mark.parametrize(("name", "body", "message"), [
    ("news.jsonl", b'{"id": "a", "text": "t"}\n{"id": "b"}\n', "line 2: 'text' must be text; got NoneType."),
    ("news.jsonl", b'{"id": "a", "text": "t"}\n{"id": "b", "text": \n', "news.jsonl, line 2"),
    ("news.jsonl", b'{"id": "a", "text": "t"}\n{"id": "a", "text": "t"}\n', "line 2: document 'a' appears twice"),
    ("news.jsonl", b'{"id": "a", "text": " "}\n', "news.jsonl, line 1: document 'a' is empty."),
    ("news.jsonl", b'{"id": "a", "text": "\xe4"}\n', "UTF-8"),
    ("news.jsonl", b"", "news.jsonl: it has no documents."),
    ("news.txt", b"\xff\xfea\x00", "news.txt"),
    ("news.jsonl", json.dumps({"id": "a", "text": TEXT, "mentions": [
        {"start": 15, "end": 20, "type": "org", "text": "Élan"}]}).encode(),
     "the offsets seem to count bytes, not characters."),
    ("news.jsonl", json.dumps({"id": "a", "text": TEXT, "mentions": [
        {"start": 90, "end": 95, "type": "org", "text": "Élan"}]}).encode(), "news.jsonl, line 1, mention 1: "),
    ("news.csv", b"id,text\n", "'name' must be a file's name that ends in .txt, .jsonl, .ndjson, .json"),
])  # fmt: skip
def test_bad_documents_are_refused_with_line_and_reason(owner, tmp_path, name, body, message):
    said = upload(owner, body, name)
    assert said.status_code == 400, said.text
    assert message in said.json()["detail"]
    assert str(tmp_path) not in said.text
    assert waiting(tmp_path) == []


def packed(files, packing=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize(("body", "message"), [
    (packed({"a.txt": "Ann", "a.ann": "T1\tPER \u00b2 3\tAnn"}), "a.ann, line 1: expected"),
    (packed({"a.txt": "Ann", "a.ann": f"T1\tPER 0 {'9' * 5000}\tAnn"}), "a.ann, line 1: expected"),
    (packed({"a.txt": "Ann " * 500}, zipfile.ZIP_LZMA).replace(b"\x05\x00\x5d", b"\x05\x00\xff"),
     "news.zip: a.txt must be stored or packed by deflate"),
    (packed({"a\u00e9.txt": "Ann"}).replace(b"\xc3\xa9", b"\xff\xfe"), "news.zip cannot be unpacked: the name 'a\\xff"),
    (packed({"a.txt": "Ann", "b.csv": "id"}), "b.csv: unknown ending"),
])  # fmt: skip
def test_a_bad_zip_is_refused_with_file_and_line(owner, tmp_path, body, message):
    said = upload(owner, body, "news.zip")
    assert said.status_code == 400, said.text
    assert said.json()["detail"].startswith(message)
    assert waiting(tmp_path) == []


def test_files_of_every_kind_may_come_together(owner):
    body = packed({"a.txt": "Ann", "B.TXT": "Bob", "c.jsonl": b'{"id": "c", "text": "Cid"}\n',
                   "d.json": b'[{"id": "d", "text": "Dan"}]'})  # fmt: skip
    found = upload(owner, body, "documents.zip").json()
    assert (found["n_documents"], found["n_tokens"]) == (4, 4)


def test_a_text_file_is_named_as_its_sender_named_it(owner):
    found = upload(owner, TEXT.encode(), "the news.txt").json()
    assert [each["name"] for each in found["first"]] == ["the news"]


def test_each_of_several_mistakes_is_told_of_its_own_field(owner):
    said = owner.post("/api/evaluations", json={"title": "News", "price": "much", "half_width": "0,1"})
    assert said.status_code == 422
    assert said.json() == {
        "detail": "'price' must be a number. 'half_width' must be a number with a point, as in 0.1; got '0,1'.",
        "field": "price",
        "fields": {
            "price": "'price' must be a number.",
            "half_width": "'half_width' must be a number with a point, as in 0.1; got '0,1'.",
        },
    }


@pytest.mark.parametrize(("change", "field", "message"), [
    ({"half_width": 0.9}, "half_width", "'half_width' must be"),
    ({"half_width": "0,1"}, "half_width", "'half_width' must be a number with a point, as in 0.1; got '0,1'."),
    ({"price": "much"}, "price", "'price' must be a number."),
    ({"confidence_level": 1.5}, "confidence_level", "'confidence_level' must be"),
    ({"read": 9}, "read", "'read' must be"),
    ({"read": 1, "read_law": "entity"}, "read_law", "Under 'entity' they would never be drawn: 1, 'a' the first."),
    ({"documents": None}, "documents", "'documents' must be given for relations"),
    ({"kind": "items"}, "documents", "only for them"),
    ({"documents": "file:/etc/passwd"}, "documents", "'documents' must be an upload"),
    ({"types": ["a", "a"]}, "types", "'types' must be all different"),
    ({"predicates": {"a": " "}}, "predicates", "names of 1 to 100 characters"),
    ({"guidelines": "\x00"}, "guidelines", "'guidelines' must be"),
    ({"title": " "}, "title", "'title' must be"),
    ({"price": 1e300}, "price", "price"),
    ({"votes": 0}, "votes", "'votes' must be at least 1."),
    ({"votes": 1.5}, "votes", "'votes' must be a whole number."),
    ({"title": ""}, "title", "'title' must be text of length 1 or more."),
    ({"read_law": "luck"}, "read_law", "'read_law' must be one of 'uniform' or 'entity'."),
    ({"colour": 1}, "colour", "'colour' must be left out: it is not known here."),
])  # fmt: skip
def test_a_bad_plan_names_its_field_and_makes_nothing(owner, house, change, field, message):
    source = upload(owner, [{"id": "a", "text": TEXT}]).json()["source"]
    body = {"title": "News", "kind": "relations", "documents": source, **change}
    said = owner.post("/api/evaluations", json=body)
    assert said.status_code in {400, 422}, said.text
    assert (said.json()["field"], message in said.json()["detail"]) == (field, True), said.text
    assert owner.get("/api/projects").json() == []
    assert not house.pools.home.exists() or list(house.pools.home.iterdir()) == []
    good = owner.post("/api/evaluations", json={"title": "News", "kind": "relations", "documents": source})
    assert good.status_code == 201, good.text  # the upload went on waiting


def test_a_word_is_not_repeated_whatever_it_says(owner):
    said = owner.post("/api/evaluations", json={"title": "News", "kind": "items", "half_width": "my secret point"})
    assert (said.status_code, "secret" in said.text) == (422, False)


def test_a_reader_is_called_so(owner, house, client_of):
    source = upload(owner, [{"id": "a", "text": TEXT}]).json()["source"]
    owner.post("/api/evaluations", json={"title": "News", "kind": "relations", "documents": source, "read": 1})
    project = next(each for each in owner.get("/api/projects").json() if each["kind"] == "reading")["slug"]
    user = house.add_user("Ann")
    with house.database.write() as connection:
        people.set_member(connection, house.project(project).id, user.id, role="annotator", now=house.clock())
    said = client_of(user).post(f"/api/projects/{project}/reading/truth")
    assert (said.status_code, said.json()["detail"]) == (403, "As reader you cannot do this.")


def test_nothing_is_made_where_the_readings_name_is_taken(owner):
    owner.post("/api/evaluations", json={"title": "News documents"})
    source = upload(owner, [{"id": "a", "text": TEXT}]).json()["source"]
    said = owner.post("/api/evaluations", json={"title": "News", "kind": "relations", "documents": source, "read": 1})
    assert (said.status_code, said.json()["detail"]) == (409, "There is a project 'news-documents' already.")
    assert [each["slug"] for each in owner.get("/api/projects").json()] == ["news-documents"]


def test_another_ones_documents_are_not_to_be_had(owner, client_of, house):
    source = upload(owner, [{"id": "a", "text": TEXT}]).json()["source"]
    other = client_of(house.add_user("second", is_admin=True))
    said = other.post("/api/evaluations", json={"title": "News", "kind": "relations", "documents": source})
    assert said.status_code == 404


@pytest.mark.parametrize("announced", [True, False])
def test_too_large_a_file_of_documents_is_refused_early(house, tmp_path, monkeypatch, announced):
    monkeypatch.setattr(guards, "MOST_DOCUMENTS", 300_000)
    app = create_app(Settings(db="unused", uploads=str(tmp_path / "uploads")), house=house)
    client = TestClient(app, raise_server_exceptions=False)
    client.cookies.set(COOKIE, house.access.use_sign_in_link(house.access.make_sign_in_link(house.owner().id)))
    taken = 0

    def pieces():
        nonlocal taken
        while taken < 1_000_000_000:
            taken += 60_000
            yield b"\n" * 60_000

    headers = {"content-length": "1000000000"} if announced else {}
    said = client.post("/api/documents", params={"name": "news.jsonl"}, content=pieces(), headers=headers)
    assert (said.status_code, said.json()["detail"]) == (413, "A request may have 300,000 bytes at most.")
    assert waiting(tmp_path) == []
