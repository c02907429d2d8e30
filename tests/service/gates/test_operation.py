"""A service as it is run: several processes share a PostgreSQL, a stop lets requests end, logs tell no secrets."""

from __future__ import annotations

import http.client
import json
import threading
import time

import pandas as pd
import pytest
from running_service import Person, Service, sign_in
from sqlalchemy import select

import karat
from karat.cli.main import main
from karat.service.campaign import Campaign
from karat.service.installation import Installation
from karat.store import schema


def test_several_processes_share_a_postgres(postgres_url, tmp_path):
    house = Installation(postgres_url)
    path = tmp_path / "many.csv"
    pd.DataFrame({"id": range(120), "text": "t", "score": range(120)}).to_csv(path, index=False)
    engine, method = karat.open(path, score="score", id="id"), karat.Point(rank=120, labels=120)
    project = house.create_project("Many", engine, Campaign(votes=2), by=house.owner(), method=method)
    cookies = sign_in(house, project, 6)
    service = Service(tmp_path, postgres_url, "--workers", "2", "--log", "json").start()
    given, errors, lock = [], [], threading.Lock()

    def work(number):
        try:
            step = 0
            while True:
                person = Person(service.port, "many", cookies[number])  # a new connection: any process may take it
                hand = person.post("next", {"n": 2})
                if not hand["tasks"]:
                    person.close()
                    if hand["finished"]:
                        return
                    time.sleep(0.1)
                    continue
                sent = [{"item": task["item"], "value": "yes", "request": f"{number}-{step}-{task['item']}"}
                        for task in hand["tasks"]]  # fmt: skip
                step += 1
                taken = person.post("answers", {"answers": sent})["answers"]
                person.close()
                with lock:
                    given.extend((number, task["item"]) for task in hand["tasks"])
                    errors.extend(entry for entry in taken if not entry["accepted"])
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        per_item = pd.Series([item for _, item in given]).value_counts()
        assert len(set(given)) == len(given) == 240
        assert set(per_item) == {2}
        with house.database.read() as connection:
            slots = connection.execute(select(schema.slots)).all()
        assert len(slots) == 240
        assert {slot.state for slot in slots} == {"answered"}
        lines = [json.loads(line) for line in service.log.read_text().splitlines() if line.startswith("{")]
        assert len({line["process"] for line in lines if line["message"] == "request"}) == 2
    finally:
        code = service.stop()
        house.close()
    assert code == 0


def test_sqlite_has_one_process(tmp_path, capsys):
    assert main(["serve", "--db", str(tmp_path / "karat.db"), "--workers", "2"]) == 1
    assert "'--workers' must be 1 on SQLite" in capsys.readouterr().err


def test_a_stop_lets_requests_end(tmp_path):
    """Told to stop in the middle of an upload, the service takes the rest, answers, and only then goes."""
    url = str(tmp_path / "karat.db")
    house = Installation(url)
    path = tmp_path / "many.csv"
    pd.DataFrame({"id": range(50), "text": "t", "score": range(50)}).to_csv(path, index=False)
    house.create_project("Many", karat.open(path, score="score", id="id"), Campaign(), by=house.owner(),
                         method=karat.Point(rank=50, labels=50))  # fmt: skip
    _, secret = house.access.make_token(house.owner().id, name="t", scopes=["manage"])
    service = Service(tmp_path, url).start()
    body = b"id,annotator,label\n" + b"".join(b"%d,ann,yes\n" % number for number in range(50))
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.putrequest("POST", "/api/projects/many/import?format=csv")
    connection.putheader("authorization", f"Bearer {secret}")
    connection.putheader("content-length", str(len(body)))
    connection.endheaders()
    connection.send(body[:200])
    time.sleep(1.0)
    codes = []
    stopper = threading.Thread(target=lambda: codes.append(service.stop()))
    stopper.start()
    time.sleep(1.5)
    with pytest.raises(ConnectionRefusedError):  # nobody new is let in
        http.client.HTTPConnection("127.0.0.1", service.port, timeout=5).request("GET", "/healthz")
    connection.send(body[200:])
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())["new"]) == (200, 50)
    connection.close()
    stopper.join()
    assert codes == [0]
    with house.database.read() as reading:
        assert len(reading.execute(select(schema.votes)).all()) == 50
    house.close()


def test_logs_are_json_lines_without_secrets(tmp_path):
    url, password = str(tmp_path / "karat.db"), "correct horse battery"
    house = Installation(url)
    house.access.set_password(house.owner().id, password)
    _, token = house.access.make_token(house.owner().id, name="t", scopes=["read"])
    link = house.access.make_sign_in_link(house.owner().id)
    house.close()
    service = Service(tmp_path, url, "--log", "json").start()
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    secrets = [password, token, link]

    def send(method, path, body=None, **headers):
        connection.request(method, path, None if body is None else json.dumps(body),
                           {"content-type": "application/json", **headers})  # fmt: skip
        response = connection.getresponse()
        response.read()
        secrets.extend(part.split(";")[0].split("=", 1)[1] for part in [response.getheader("set-cookie")] if part)
        return response.status

    try:
        assert send("POST", "/api/session", {"name": "owner", "password": password}) == 204
        assert send("POST", "/api/session", {"name": "owner", "password": password + "x"}) == 401
        assert send("POST", "/api/session/link", {"link": link}) == 204
        assert send("GET", "/api/projects?q=hidden-in-query", authorization=f"Bearer {token}") == 200
        assert send("POST", "/api/session", [password]) == 422
    finally:
        connection.close()
        assert service.stop() == 0
    text = service.log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    requests = [line for line in lines if line["message"] == "request" and line["path"] != "/healthz"]
    assert [(line["method"], line["path"], line["status"]) for line in requests] == [
        ("POST", "/api/session", 204), ("POST", "/api/session", 401), ("POST", "/api/session/link", 204),
        ("GET", "/api/projects", 200), ("POST", "/api/session", 422)]  # fmt: skip
    assert all(line["milliseconds"] > 0 and line["time"].endswith("+00:00") for line in requests)
    assert len(secrets) == 5
    for secret in (*secrets, "hidden-in-query"):
        assert secret not in text
