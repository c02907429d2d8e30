"""Relations that several documents state: with how many, each counts once in the recall of the pool."""

from __future__ import annotations

import json

import pytest
from tests.service.cases.test_reading import TASK, mention, reading

from karat.documents.text import Document
from karat.errors import InvalidData
from karat.service.assignment import Answer
from karat.service.evaluation_task import campaign_for
from karat.service.statements import read_counts

TEXTS = {**{f"a{k}": "Ann Lee works for Acme." for k in range(3)}, "b": "Bob Roy works for Bolt."}
ANN, BOB = ("Ann Lee", "employer", "Acme"), ("Bob Roy", "employer", "Bolt")


@pytest.fixture
def read(house, tmp_path):
    """Return an evaluation all of whose four documents are read; one system finds the relation that three state."""
    campaign = campaign_for(TASK, votes=1)
    documents = [Document(name=name, text=text) for name, text in TEXTS.items()]
    project = house.project(house.evaluations.create("News", campaign, TASK, by=house.owner(), documents=documents))
    slug = house.readings.create(project, house.evaluations.row(project), by=house.owner(), n=4, votes=1, seed=1)
    row, reading_project, user = house.evaluations.row(project), house.project(slug), house.owner().id
    reading_campaign = house.campaign(reading_project)
    for _ in TEXTS:
        (task,) = house.assignment.next_tasks(reading_project, reading_campaign, user_id=user, n=1).tasks
        text = TEXTS[task.name]
        subject, _, object_ = ANN if task.name.startswith("a") else BOB
        content = reading(mention(subject, "person", canonical=0, text=text),
                          mention(object_, "organization", canonical=1, text=text),
                          relations=[(0, "employer", 1)])  # fmt: skip
        house.readings.annotate(reading_project, row, reading_campaign, item_id=task.item_id, user_id=user,
                                content=content, request=f"r{task.item_id}")  # fmt: skip
    line = {"document": "a0", "subject": "Ann Lee", "predicate": "employer", "object": "Acme",
            "subject_mention": "Ann Lee", "subject_start": 0, "subject_end": 7, "object_mention": "Acme",
            "object_start": 18, "object_end": 22}  # fmt: skip
    path = tmp_path / "system.jsonl"
    path.write_text(json.dumps(line) + "\n")
    found = house.submissions.submit(project, "system", path, by=house.owner(), name=path.name)
    house.submissions.accept(project, campaign, found.id, by=house.owner())
    (task,) = house.assignment.next_tasks(project, campaign, user_id=user, n=1).tasks
    house.assignment.answer(project, campaign, Answer(task.item_id, "yes", "y"), user_id=user)
    return project, row


def test_a_relation_that_three_documents_state_counts_once(house, read):
    """Of two distinct relations the system finds one: half of the truth, though three of four statements are of it."""
    project, row = read

    def recall():
        return house.evaluations.leaderboard(project, metric="recall", for_user=None)["pool_recall"]

    assert house.reading_results.read_in(row) == {ANN: 3, BOB: 1}
    assert house.reading_results.tell(row)[:3] == (4, 0, 2)
    assert recall() == pytest.approx(3 / 4)  # over statements
    assert house.reading_results.tell(row, stated_in={ANN: 3, BOB: 1})[:3] == (4, 2, 0)
    assert recall() == pytest.approx(1 / 2)  # over distinct relations
    assert house.reading_results.tell(row)[:3] == (4, 2, 0)  # what was counted stays counted
    assert recall() == pytest.approx(1 / 2)
    told = house.reading_results.tell(row, stated_in={ANN: 6, BOB: 1})  # three more state it that were not read
    assert told[:3] == (4, 2, 0)
    assert recall() == pytest.approx(1 / 3)


def test_the_table_goes_out_and_comes_back(house, read, client_of, tmp_path):
    project, row = read
    client = client_of(house.owner())
    base = f"/api/projects/{project.slug}/reading"
    table = client.get(f"{base}/relations.csv").text
    assert table.splitlines() == ["subject,predicate,object,read_in,stated_in", "Ann Lee,employer,Acme,3,",
                                  "Bob Roy,employer,Bolt,1,"]  # fmt: skip
    path = tmp_path / "mine.csv"
    for bad, message in (
        (
            table.replace("3,", "3,x"),
            "line 2, field 'stated_in': expected nothing, or a whole number of at least 3 and",
        ),
        ("", "mine.csv is empty: it has no header and no rows."),
        (
            table.replace("3,", "3,2").replace("Roy", "Ray"),
            "line 3: readers found no relation Bob Ray | employer | Bolt.",
        ),
        (table.replace("3,", "3,2").replace("Roy", "Ray"), "no line for the relation Bob Roy | employer | Bolt"),
        (table.replace("3,", "3,2"), "got '2'"),
        (
            table.replace("3,", "3,6"),
            "line 2, field 'stated_in': expected nothing, or a whole number of at least 3 and at most 4",
        ),
        (table.replace("3,", "3,50000000000"), "got '50000000000'"),
        (table.replace("3,", f"3,{'0' * 5000}4"), "line 2, field 'stated_in'"),
        (table.replace("3,", "3,\u00b3"), "line 2, field 'stated_in'"),
        (
            table.replace("3,", "3,3").replace("1,", "1,2") + "Ann Lee,employer,Acme,3,5\n",
            "line 4: the relation Ann Lee | employer | Acme stands already in line 2.",
        ),
        (table.replace("3,", "3,4").replace("Bob Roy,employer,Bolt,1,\r\n", ""), "no line for the relation Bob Roy"),
        ("subject,object\n", "line 1: 'predicate' is missing"),
    ):
        path.write_text(bad, newline="")
        with pytest.raises(InvalidData) as caught:
            read_counts(path, house.reading_results.read_in(row), n_documents=4)
        assert message in str(caught.value)
        answer = client.post(f"{base}/counted-truth?file=mine.csv", content=bad.encode(),
                             headers={"content-type": "application/octet-stream"})  # fmt: skip
        assert answer.status_code == 400
        assert answer.json()["detail"] == str(caught.value).replace(str(path), "mine.csv")
    with house.pools.use(row) as pool:
        assert not pool.state.truth
    filled = table.replace("3,", "3,4").replace("1,\r", "1,2\r")
    answer = client.post(f"{base}/counted-truth", content=filled.encode(),
                         headers={"content-type": "application/octet-stream"})  # fmt: skip
    told = answer.json()
    assert (told["relations"], told["counted"], told["uncounted"]) == (4, 2, 0)
    assert told["naming"]["sentence"] == "Of 4 ends of relations, 4 keep their names."
    assert told["naming"]["doubt"] is None
    assert client.post(f"{base}/truth").json() == answer.json()
    assert client.get(f"{base}/relations.csv").text == filled  # what was filled in is there the next time
    with house.pools.use(row) as pool:
        assert sorted(pool.state.weights) == pytest.approx([1 / 4] * 3 + [1 / 2])
    emptied = client.post(f"{base}/counted-truth", content=table.replace("3,", "3,4").encode(),
                          headers={"content-type": "application/octet-stream"})  # fmt: skip
    assert (emptied.json()["counted"], emptied.json()["uncounted"]) == (1, 1)
    with house.pools.use(row) as pool:
        assert sorted(pool.state.weights) == pytest.approx([1 / 4] * 3 + [1])


def test_a_relation_that_nobody_counted_counts_as_stated_once_and_is_said(house, read):
    """A document may be finished after the table was taken away, or be read again with other marks."""
    _, row = read
    assert house.reading_results.tell(row, stated_in={ANN: 4})[:3] == (4, 1, 1)
    with house.pools.use(row) as pool:
        state = pool.state
    stated = {
        tuple(relation.split(chr(31))): count for relation, count in zip(state.truth, state.stated_in, strict=True)
    }
    assert stated == {ANN: 4, BOB: None}
    assert sorted(state.weights) == pytest.approx([1 / 4] * 3 + [1])


def test_a_count_that_reading_has_disproved_is_no_longer_kept(house, read):
    _, row = read
    assert house.reading_results.tell(row, stated_in={ANN: 2, BOB: 1})[:3] == (4, 2, 0)
    assert house.reading_results.tell(row)[:3] == (4, 1, 1)  # three documents read state what two were said to
