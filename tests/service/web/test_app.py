"""The rim: headers, cookies, shapes, throttling, links, and the whole way of an answer."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

import karat
from karat.draws import Draw
from karat.formats.answers import read_answers
from karat.service.access import BRAKE_SECONDS, NOTED_EVERY, TRIES_OF_NAME
from karat.web.app import create_app
from karat.web.deps import COOKIE
from karat.web.settings import Settings

PASSWORD = "correct horse battery"  # noqa: S105


def test_every_response_carries_the_policy(client_of):
    for path in ("/", "/healthz", "/api/session", "/nowhere"):
        headers = client_of().get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "style-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(client_of, house):
    link = house.access.make_sign_in_link(house.owner().id)
    response = client_of().post("/api/session/link", json={"link": link})
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie


def test_cookies_go_over_https_only_where_wanted(house):
    client = TestClient(create_app(Settings(db="unused", secure_cookies=True), house=house))
    link = house.access.make_sign_in_link(house.owner().id)
    assert "secure" in client.post("/api/session/link", json={"link": link}).headers["set-cookie"].lower()


def test_a_link_works_once_and_not_for_ever(client_of, house, clock):
    link = house.access.make_sign_in_link(house.owner().id)
    assert client_of().post("/api/session/link", json={"link": link}).status_code == 204
    assert client_of().post("/api/session/link", json={"link": link}).status_code == 401
    late = house.access.make_sign_in_link(house.owner().id)
    clock.turn(3 * 3600)
    assert client_of().post("/api/session/link", json={"link": late}).status_code == 401


def test_secrets_are_not_in_the_database(client_of, house, tmp_path):
    link = house.access.make_sign_in_link(house.owner().id)
    client = client_of()
    client.post("/api/session/link", json={"link": link})
    token = client.post("/api/tokens", json={"name": "t"}).json()["secret"]
    client.put("/api/session/password", json={"password": PASSWORD})
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("karat.db*"))
    for secret in (link, token, client.cookies[COOKIE], PASSWORD):
        assert secret.encode() not in stored
    assert b"owner" in stored


def test_a_token_says_when_it_was_used(client_of, house, clock):
    owner, other = client_of(house.owner()), client_of()
    made = owner.post("/api/tokens", json={"name": "t"}).json()
    assert owner.get("/api/tokens").json()[0]["used_at"] is None
    other.headers["authorization"] = f"Bearer {made['secret']}"
    clock.turn(100)
    first = clock()
    for wait, noted in ((0, first), (NOTED_EVERY - 1, first), (1, first + NOTED_EVERY)):
        clock.turn(wait)
        assert other.get("/api/session").json()["name"] == "owner"
        assert owner.get("/api/tokens").json()[0]["used_at"] == noted


def test_sessions_end(client_of, house, clock):
    client, other = client_of(house.owner()), client_of(house.owner())
    ids = [row["id"] for row in client.get("/api/sessions").json() if not row["current"]]
    assert client.delete(f"/api/sessions/{ids[0]}").status_code == 204
    assert other.get("/api/session").json() is None
    assert client.delete("/api/session").status_code == 204
    assert client.get("/api/session").json() is None
    late = client_of(house.owner())
    clock.turn(31 * 86_400)
    assert late.get("/api/session").json() is None


def test_a_new_password_ends_other_sessions(client_of, house):
    client, other = client_of(house.owner()), client_of(house.owner())
    assert client.put("/api/session/password", json={"password": PASSWORD}).status_code == 204
    assert client.get("/api/session").json()["has_password"]
    assert other.get("/api/session").json() is None


def test_somebody_shut_out_is_out(client_of, cast):
    _, _, users = cast
    client, admin = client_of(users["annotator"]), client_of(users["admin"])
    assert client.get("/api/session").json()["name"] == "annotator1"
    assert admin.delete(f"/api/users/{users['annotator'].id}").status_code == 204
    assert client.get("/api/session").json() is None
    assert admin.delete(f"/api/users/{users['admin'].id}").status_code == 403


# --- throttling


def sign_in(client, name, password, address="10.0.0.1"):
    client._transport.client = (address, 1234)  # noqa: SLF001  # the test client's own address
    return client.post("/api/session", json={"name": name, "password": password}).status_code


def test_guessing_is_braked_without_locking_the_owner_out(client_of, house, clock):
    house.access.set_password(house.owner().id, PASSWORD)
    guesser = client_of()
    assert [sign_in(guesser, "owner", "wrong", "6.6.6.6") for _ in range(TRIES_OF_NAME)] == [401] * TRIES_OF_NAME
    assert sign_in(guesser, "owner", PASSWORD, "6.6.6.6") == 429
    assert sign_in(client_of(), "owner", PASSWORD, "10.0.0.1") == 204  # the owner, elsewhere
    clock.turn(BRAKE_SECONDS + 1)
    assert sign_in(guesser, "owner", PASSWORD, "6.6.6.6") == 204


def test_guessing_names_is_braked_too(client_of):
    guesser = client_of()
    codes = [sign_in(guesser, f"name{number}", "wrong") for number in range(55)]
    assert codes[:50] == [401] * 50
    assert set(codes[50:]) == {429}


def test_unknown_names_and_wrong_passwords_look_alike(client_of, house):
    house.access.set_password(house.owner().id, PASSWORD)
    said = [client_of().post("/api/session", json={"name": name, "password": "wrong"}).text for name in ("owner", "no")]
    assert said[0] == said[1]


# --- shapes


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1", "1e999", '"3"x'])
def test_no_number_that_is_none_comes_in(client_of, cast, number):
    project, _, users = cast
    body = f'{{"answers": [{{"item": 1, "value": "yes", "request": "r", "seconds": {number}}}]}}'
    response = client_of(users["annotator"]).post(
        f"/api/projects/{project.slug}/answers", content=body, headers={"content-type": "application/json"}
    )
    assert response.status_code == 422
    assert "detail" in response.json()


def test_a_request_that_is_too_large_is_refused(client_of):
    assert client_of().post("/api/session", content=b"x" * 1_000_001).status_code == 413

    def parts():
        for _ in range(20):
            yield b"x" * 100_000

    assert client_of().post("/api/session", content=parts()).status_code == 413


def test_errors_do_not_repeat_what_was_sent(client_of):
    response = client_of().post("/api/session", json={"name": "x", "password": ["hunter2hunter2"]})
    assert response.status_code == 422
    assert "hunter2" not in response.text


@pytest.mark.parametrize(
    "headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}]
)
def test_other_sites_cannot_act(client_of, house, headers):
    client = client_of(house.owner())
    assert client.delete("/api/session", headers=headers).status_code == 403
    assert client.delete("/api/session", headers={"origin": "http://testserver"}).status_code == 204


# --- the whole way


def test_invite_join_label_watch_export(client_of, cast, tmp_path):
    project, _, users = cast
    base = f"/api/projects/{project.slug}"
    owner = client_of(users["owner"])
    link = owner.post(f"{base}/invitations", json={"role": "annotator"}).json()["link"]
    invitation = link.rsplit("/", 1)[1]
    newcomer = client_of()
    for _ in range(2):  # to look at it does not use it up
        said = newcomer.post("/api/session/invitation", json={"invitation": invitation})
        assert said.json() == {"title": project.title, "kind": "campaign", "role": "annotator"}
    body = {"invitation": invitation, "name": "New.One", "password": PASSWORD}
    assert newcomer.post("/api/session/join", json=body).status_code == 204
    assert client_of().post("/api/session/join", json={**body, "name": "second"}).status_code == 404
    assert client_of().post("/api/session/invitation", json={"invitation": invitation}).status_code == 404
    annotator = client_of(users["annotator"])
    for client, word in ((newcomer, "yes"), (annotator, "no")):
        hand = client.post(f"{base}/next", json={"n": 2}).json()
        assert [set(task) for task in hand["tasks"]] == [{"item", "fields", "score", "rank", "votes"}] * 2
        assert all(task["score"] is None and task["rank"] is None and task["votes"] is None for task in hand["tasks"])
        sent = {"answers": [{"item": task["item"], "value": word, "request": f"{word}{task['item']}"}
                            for task in hand["tasks"]], "want": 2}  # fmt: skip
        taken = client.post(f"{base}/answers", json=sent).json()
        assert [entry["accepted"] for entry in taken["answers"]] == [True, True]
        again = client.post(f"{base}/answers", json=sent).json()
        assert [entry["accepted"] for entry in again["answers"]] == [True, True]
        assert taken["hand"]["my_answers"] == again["hand"]["my_answers"] == 2
    progress = owner.get(f"{base}/progress").json()
    assert (progress["answers"], progress["unsure"], progress["labelled"]) == (4, 2, 0)
    people = owner.get(f"{base}/people").json()
    assert people["agreement"] == 0
    assert {person["name"] for person in people["annotators"]} == {"new.one", "annotator1"}
    queue = owner.get(f"{base}/disagreements").json()
    assert len(queue) == 2
    for entry in queue:
        ruling = {"item": entry["item"], "value": "yes", "request": f"rule{entry['item']}", "note": "looked it up"}
        assert owner.post(f"{base}/adjudications", json=ruling).status_code == 204
    assert owner.get(f"{base}/progress").json()["labelled"] == 2
    (tmp_path / "labels.csv").write_text(owner.get(f"{base}/export/labels.csv").text)
    draw = Draw.from_dict(owner.get(f"{base}/export/draw.json").json())
    curve = karat.curve_from(draw, read_answers(str(tmp_path / "labels.csv"), draw))
    shown = owner.get(f"{base}/curve").json()
    assert shown["points"] == curve.to_dict()["points"]
    assert shown["n_labels"] == 2
    assert owner.get(f"{base}/audit").json()[0]["action"] in {"join", "invite"}
    ledger = owner.get(f"{base}/export/ledger.csv").text.splitlines()
    assert len(ledger) == 1 + 4 + 2


def test_one_bad_answer_does_not_hold_back_the_others(client_of, cast):
    project, _, users = cast
    client = client_of(users["annotator"])
    task = client.post(f"/api/projects/{project.slug}/next", json={}).json()["tasks"][0]
    sent = [{"item": 99_999, "value": "yes", "request": "a"}, {"item": task["item"], "value": "yes", "request": "b"},
            {"item": task["item"], "value": "maybe", "request": "c"}]  # fmt: skip
    taken = client.post(f"/api/projects/{project.slug}/answers", json={"answers": sent}).json()["answers"]
    assert [entry["accepted"] for entry in taken] == [False, True, False]
    assert "maybe" in taken[2]["detail"]


def test_what_would_give_the_answer_away_is_hidden(house, client_of, tmp_path):
    import pandas as pd

    path = tmp_path / "r.csv"
    pd.DataFrame({"id": range(30), "text": "t", "label": 1, "judge": 0.5, "score": range(30)}).to_csv(path, index=False)
    from karat.service.campaign import Campaign

    engine = karat.open(path, score="score", id="id")
    project = house.create_project("Hidden", engine, Campaign(), by=house.owner(), proxy="judge",
                                   method=karat.Certify(from_rank=10))  # fmt: skip
    hand = client_of(house.owner()).post(f"/api/projects/{project.slug}/next", json={}).json()
    assert [cell["name"] for cell in hand["tasks"][0]["fields"]] == ["text"]


def test_cutoff_in_words(client_of, cast):
    project, _, users = cast
    said = client_of(users["viewer"]).get(f"/api/projects/{project.slug}/cutoff", params={"precision": 0.9}).json()
    assert said["rank"] is None
    assert "so far" in said["sentence"]
    assert client_of(users["viewer"]).get(f"/api/projects/{project.slug}/cutoff").status_code == 400


def test_cells_that_a_spreadsheet_would_run_are_defused(house, start, client_of):
    project, _ = start()
    owner = client_of(house.owner())
    base = f"/api/projects/{project.slug}"
    task = owner.post(f"{base}/next", json={}).json()["tasks"][0]
    for number, note in enumerate(("=1+1", "+1", "-1", "@x", "\tx", "\rx")):
        sent = {"answers": [{"item": task["item"], "value": "yes", "request": f"n{number}", "note": note}]}
        assert owner.post(f"{base}/answers", json=sent).json()["answers"][0]["accepted"]
    notes = [
        line.split(",")[7]
        for line in owner.get(f"{base}/export/ledger.csv").text.replace("\rx", "CRx").splitlines()[1:]
    ]
    assert all(note.lstrip('"').startswith("'") for note in notes)


def test_metrics_count(client_of):
    client = client_of()
    client.get("/healthz")
    text = client.get("/metrics").text
    assert 'karat_requests_total{method="GET",status="200"} 1' in text
