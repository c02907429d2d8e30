"""Judge models in a project: marked, kept apart from people's votes, counted only on the owner's word."""

from __future__ import annotations

import pytest
from chat_server import ChatServer, item_of
from sqlalchemy import select

from karat.errors import InvalidInput
from karat.judges import chat
from karat.judges.settings import Judge
from karat.service.assignment import Answer
from karat.service.installation import Installation
from karat.store import schema


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(chat, "_LONGEST_WAIT", 0.01)


@pytest.fixture
def server():
    made = ChatServer(lambda messages: "Yes." if int(item_of(messages)["subject"].split()[1]) <= 200 else "no")
    yield made
    made.close()


@pytest.fixture
def house(database_url, clock, server):
    judge = Judge(name="small", url=server.url, model="m", price=0.01, currency="EUR", tries=2, timeout=5.0)
    installation = Installation(database_url, clock=clock, judges={"small": judge})
    yield installation
    installation.close()


def vote(house, project, campaign, n=100):
    return house.judging.vote(project, campaign, "small", n=n, by=house.owner().id)


def let_count(house, project, campaign, counts):
    house.judging.let_count(project, campaign, "small", counts=counts, by=house.owner().id)


def everything(house, *names):
    with house.database.read() as connection:
        return [connection.execute(select(schema.metadata.tables[name])).all() for name in names]


def answer_all(house, project, campaign, user_id):
    while tasks := house.assignment.next_tasks(project, campaign, user_id=user_id, n=5).tasks:
        for task in tasks:
            word = "yes" if task.rank <= 200 else "no"
            house.assignment.answer(project, campaign, Answer(task.item_id, word, f"r{task.item_id}"), user_id=user_id)


def test_a_judge_says_much_and_changes_nothing(start, house, server):
    project, campaign = start()
    before = everything(house, "votes", "slots", "items")
    turn = vote(house, project, campaign, n=12)
    assert (turn.said, turn.failed, turn.left, turn.calls) == (12, 0, 18, 12)
    assert turn.cost == pytest.approx(0.12)
    assert vote(house, project, campaign).left == 0
    assert vote(house, project, campaign).said == 0
    assert everything(house, "votes", "slots", "items") == before
    guesses, users, ledger = everything(house, "guesses", "users", "ledger")
    assert len(guesses) == len(ledger) == 30
    assert [(user.name, user.kind) for user in users if user.kind != "person"] == [("small (model)", "model")]
    assert all(
        set(item_of(request["messages"])) <= {"id", "subject", "relation", "object"} for request in server.requests
    )
    assert house.progress.summary(project, campaign)["answers"] == 0


def test_its_agreement_with_people_is_shown(start, house):
    project, campaign = start()
    vote(house, project, campaign)
    answer_all(house, project, campaign, house.owner().id)
    (standing,) = house.judging.standings(project, campaign)
    assert (standing.said, standing.left, standing.counts, standing.compared) == (30, 0, False, 30)
    assert standing.agrees == 1.0


def test_it_counts_when_the_owner_says_so_and_no_longer(start, house):
    project, campaign = start(votes=2)
    vote(house, project, campaign, n=20)
    before = everything(house, "votes", "slots", "items")
    assert house.studies.curve(project).n_labels == 0
    let_count(house, project, campaign, counts=True)
    votes, slots = everything(house, "votes", "slots")
    assert len(votes) == 20
    assert sum(slot.state == "answered" for slot in slots) == 20
    vote(house, project, campaign)  # the rest, as votes at once
    assert len(everything(house, "votes")[0]) == 30
    answer_all(house, project, campaign, house.owner().id)
    assert {item.label for item in everything(house, "items")[0]} == {0, 1}  # one of them, one of us
    assert house.studies.curve(project).n_labels == 30
    let_count(house, project, campaign, counts=False)
    assert house.studies.curve(project).n_labels == 0
    votes, slots, items = everything(house, "votes", "slots", "items")
    assert {vote.user_id for vote in votes} == {house.owner().id}
    assert {item.label for item in items} == {None}
    assert len(slots) == len(before[1])
    let_count(house, project, campaign, counts=True)
    assert {item.label for item in everything(house, "items")[0]} == {0, 1}
    with house.database.read() as connection:
        actions = connection.scalars(select(schema.audit.c.action).order_by(schema.audit.c.id)).all()
    assert [action for action in actions if "judge" in action] == [
        "ask judge", "let judge count", "ask judge", "let judge not count", "let judge count"]  # fmt: skip


def test_unclear_replies_are_unsure_and_failures_stay_open(start, house, server):
    project, campaign = start()
    server.reply = lambda _: "It depends."
    turn = vote(house, project, campaign, n=5)
    assert (turn.said, turn.unclear) == (5, 5)
    assert {guess.value for guess in everything(house, "guesses")[0]} == {"unsure"}
    server.script = [500] * 100
    turn = vote(house, project, campaign, n=4)
    assert (turn.said, turn.failed, turn.calls, turn.left) == (0, 4, 8, 25)
    assert "status 500" in turn.problem


def test_only_judges_of_the_settings(start, house):
    project, campaign = start()
    with pytest.raises(InvalidInput, match="'judge' must be one of 'small'"):
        house.judging.vote(project, campaign, "http://evil.example", n=1, by=house.owner().id)
