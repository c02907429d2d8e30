"""What was spent: answers that were given and documents that were read, each at its price."""

from __future__ import annotations

import pytest

from karat.documents.text import Document
from karat.service.evaluation_task import EvaluationTask, campaign_for

TEXT = "Ann Lee works for Acme. Bob met Ann in Cairo."  # 6 tokens and 6


def mention(words, place):
    start = TEXT.index(words)
    return {"start": start, "end": start + len(words), "type": "person", "canonical": place}


@pytest.fixture
def evaluation(house):
    task = EvaluationTask(kind="relations", predicates={"employer": "works for"}, token_price=0.5, pair_price=10.0)
    campaign = campaign_for(task, votes=1, price=100.0, currency="EUR")
    slug = house.evaluations.create("News", campaign, task, by=house.owner(),
                                    documents=[Document(name="one", text=TEXT)], half_width=0.2)  # fmt: skip
    project = house.project(slug)
    house.readings.create(project, house.evaluations.row(project), by=house.owner(), n=1, votes=1, seed=1)
    return slug


def test_judging_and_reading_and_their_sum(client_of, house, evaluation):
    client = client_of(house.owner())
    base, reading = f"/api/projects/{evaluation}", f"/api/projects/{evaluation}-documents"

    def spent(judging, read):
        found = client.get(f"{base}/evaluation").json()
        assert (found["spent_judging"], found["spent_reading"], found["spent"]) == (judging, read, judging + read)
        assert client.get(f"{reading}/reading").json()["spent"] == read

    spent(0, 0)
    (task,) = client.post(f"{reading}/next", json={"n": 1}).json()["tasks"]
    mentions = [mention(words, place) for place, words in enumerate(("Ann Lee", "Acme", "Bob", "Cairo"))]
    for n_mentions, pairs in ((4, 2), (3, 1)):  # two sentences with a pair each; then one: the later reading counts
        body = {"item": task["item"], "request": f"r{n_mentions}",
                "annotation": {"mentions": mentions[:n_mentions], "relations": []}}  # fmt: skip
        assert client.post(f"{reading}/annotations", json=body).status_code == 204
        spent(0, 12 * 0.5 + pairs * 10)
    for number in range(2):
        assert client.post(f"{reading}/undo", json={"request": f"u{number}"}).status_code == 200
    spent(0, 0)  # nobody has read it any more


def test_answers_cost_as_well(client_of, house, evaluation):
    client = client_of(house.owner())
    base = f"/api/projects/{evaluation}"
    line = {"document": "one", "predicate": "employer", "subject": "Ann", "subject_mention": "Ann Lee",
            "subject_start": 0, "subject_end": 7, "object": "Acme", "object_mention": "Acme", "object_start": 18,
            "object_end": 22}  # fmt: skip
    table = ",".join(line) + "\n" + ",".join(str(value) for value in line.values()) + "\n"
    sent = client.post(f"{base}/submissions", params={"system": "s", "file": "s.csv"}, content=table.encode())
    assert sent.status_code == 201, sent.text
    assert client.post(f"{base}/submissions/{sent.json()['id']}/accept").status_code == 200
    (task,) = client.post(f"{base}/next", json={}).json()["tasks"]
    client.post(f"{base}/answers", json={"answers": [{"item": task["item"], "value": "yes", "request": "a"}]})
    found = client.get(f"{base}/evaluation").json()
    assert (found["spent_judging"], found["spent_reading"], found["spent"]) == (100, 0, 100)
