"""What a submission that waits would cost: as things are now, not as they were when it came; money adds up."""

from __future__ import annotations

import json
import random
import threading

import pytest
from shared_task import ANN_WORKS, lines_of

from karat.documents.text import Document
from karat.pool import Pool
from karat.service import allowances, money
from karat.service.assignment import Answer
from karat.service.evaluation_task import EvaluationTask, campaign_for
from karat.service.installation import Installation
from karat.service.problems import Conflict
from karat.store import evaluations as rows
from karat.store import projects


@pytest.fixture
def things(house):
    """Return an evaluation of items and its campaign."""
    task = EvaluationTask(kind="items")
    campaign = campaign_for(task, votes=3, price=0.05, currency="EUR")
    slug = house.evaluations.create("Things", campaign, task, by=house.owner(), half_width=0.08, seed=2)
    return house.project(slug), campaign


def send(house, project, tmp_path, name, numbers):
    path = tmp_path / f"{name}.csv"
    path.write_text("id\n" + "".join(f"x{k}\n" for k in numbers))
    return house.submissions.submit(project, name, path, by=house.owner(), name=path.name)


def n_labels(house, project):
    """Return how many items were put before people."""
    with house.database.read() as connection:
        return sum(projects.count_labels(connection, project.id).values())


def answer_some(house, project, campaign, *, people, most=None):
    """Let all of these people answer an item each, by the toss of a coin, so many times or until nothing is asked."""
    coin, rounds = random.Random(5), 0
    while most is None or rounds < most:
        hands = [(user, house.assignment.next_tasks(project, campaign, user_id=user.id, n=1).tasks) for user in people]
        if not any(tasks for _, tasks in hands):
            return
        for user, tasks in hands:
            for task in tasks:
                answer = Answer(task.item_id, coin.choice(["yes", "no"]), request=f"{user.id}-{task.item_id}")
                house.assignment.answer(project, campaign, answer, user_id=user.id)
        rounds += 1


def as_the_pool_says(house, project, found):
    """Return the price of a waiting submission as a pool opened anew says it: the oracle of what is shown."""
    row = house.evaluations.row(project)
    (file,) = house.pools.incoming(row).glob(f"{found.id}.*")
    preview = Pool(house.pools.home / row.folder).preview(file)
    return preview.n_new, preview.first, preview.most


def price_of(found):
    return found.n_new, found.first_labels, found.most_labels


def stored(house, project, found):
    with house.database.read() as connection:
        return rows.list_submissions(connection, project.id, id=found.id)[0]


def test_a_price_falls_when_another_system_comes_into_the_pool(house, things, crowd, tmp_path):
    project, campaign = things
    people = crowd(project, 3)
    waiting = send(house, project, tmp_path, "waiting", range(100, 500))
    other = send(house, project, tmp_path, "other", range(400))
    before = price_of(waiting)
    assert before == as_the_pool_says(house, project, waiting)
    assert waiting.n_new == 400
    house.submissions.accept(project, campaign, other.id, by=house.owner())
    after_pilot = house.submissions.find(project, waiting.id)
    assert price_of(after_pilot) == as_the_pool_says(house, project, waiting)
    assert after_pilot.n_new == 100
    assert after_pilot.most_labels < waiting.most_labels
    assert stored(house, project, waiting) == after_pilot
    # answers to what was asked change no price: nothing is found anew
    answer_some(house, project, campaign, people=people, most=5)
    assert house.evaluations.describe(project, campaign)["answers"] == 15
    assert house.submissions.find(project, waiting.id) == after_pilot
    assert price_of(after_pilot) == as_the_pool_says(house, project, waiting)
    # the rest of the other system's labels does
    answer_some(house, project, campaign, people=people)
    assert house.evaluations.is_done(project)
    (listed,) = [each for each in house.submissions.list(project) if each.id == waiting.id]
    assert price_of(listed) == as_the_pool_says(house, project, waiting)
    assert listed.most_labels < after_pilot.most_labels
    asked = n_labels(house, project)
    accepted = house.submissions.accept(project, campaign, waiting.id, by=house.owner(), most=listed.most_labels)
    assert price_of(accepted) == price_of(listed)
    assert n_labels(house, project) - asked == accepted.first_labels  # what was said is what is asked
    answer_some(house, project, campaign, people=people)
    assert accepted.first_labels <= n_labels(house, project) - asked <= accepted.most_labels
    assert house.submissions.find(project, waiting.id) == accepted  # what was agreed to stays as it was
    assert house.allowances.beyond(project) == 0


def test_a_price_is_found_anew_after_a_restart_and_of_what_was_priced_before_prices_were_dated(house, things, tmp_path):
    project, campaign = things
    waiting = send(house, project, tmp_path, "waiting", range(300))
    other = send(house, project, tmp_path, "other", range(200))
    house.submissions.accept(project, campaign, other.id, by=house.owner())
    with house.database.write() as connection:
        rows.set_price(connection, waiting.id, was=waiting.priced_at, most_labels=299, priced_at=0)
    again = Installation(house.database.url.render_as_string(hide_password=False), pools=house.pools.home)
    assert price_of(again.submissions.find(project, waiting.id)) == as_the_pool_says(house, project, waiting)
    again.close()


def test_the_allowance_counts_what_is_needed_by_now(house, things, tmp_path):
    project, campaign = things
    waiting = send(house, project, tmp_path, "waiting", range(300))
    copy = send(house, project, tmp_path, "copy", range(300))
    house.submissions.accept(project, campaign, copy.id, by=house.owner())
    now = house.submissions.find(project, waiting.id)
    assert now.most_labels < waiting.most_labels
    house.allowances.set(project, each=now.most_labels, in_all=now.most_labels, by=house.owner())
    assert house.submissions.accept_if_allowed(project, campaign, waiting.id, by=house.owner()).state == "accepted"
    assert house.evaluations.task(house.evaluations.row(project)).allowance.used == now.most_labels


@pytest.fixture
def relations(house):
    """Return an evaluation of relations whose labels decide nothing about later ones, and its campaign."""
    task = EvaluationTask(kind="relations")
    campaign = campaign_for(task, votes=1)
    documents = [Document(name=f"{system}{k}-{j}", text=ANN_WORKS) for system in "abcd" for k in range(300)
                 for j in range(10)]  # fmt: skip
    slug = house.evaluations.create("News", campaign, task, by=house.owner(), documents=documents, half_width=0.08,
                                    learn=False)  # fmt: skip
    return house.project(slug), campaign


def send_relations(house, project, tmp_path, name, text):
    path = tmp_path / f"{name}.jsonl"
    path.write_text(text)
    return house.submissions.submit(project, name, path, by=house.owner(), name=path.name)


def test_a_price_that_rose_is_not_agreed_to(house, relations, tmp_path):
    """Ten instances of each of its relations came into the pool since: where one is drawn now, all are asked about."""
    project, campaign = relations
    waiting = send_relations(house, project, tmp_path, "few", lines_of("b", 300, 1))
    text = lines_of("c", 300, 10) + lines_of("d", 300, 10, relations="others")
    other = send_relations(house, project, tmp_path, "many", text)
    house.submissions.accept(project, campaign, other.id, by=house.owner())
    now = house.submissions.find(project, waiting.id)
    assert price_of(now) == as_the_pool_says(house, project, waiting)
    assert now.most_labels > waiting.most_labels
    asked = n_labels(house, project)
    with pytest.raises(Conflict, match=f"needs up to {now.most_labels:,} labels by now, not {waiting.most_labels:,}"):
        house.submissions.accept(project, campaign, waiting.id, by=house.owner(), most=waiting.most_labels)
    assert stored(house, project, waiting).state == "checked"
    assert n_labels(house, project) == asked
    accepted = house.submissions.accept(project, campaign, waiting.id, by=house.owner(), most=now.most_labels)
    assert (accepted.state, accepted.most_labels) == ("accepted", now.most_labels)


def test_what_is_drawn_meanwhile_cannot_be_missed_when_the_allowance_is_used(house, relations, tmp_path, monkeypatch):
    """Two at once: one submission asks for the allowance while a draw for others takes more than was said.

    Whoever reads first what draws took beyond that is held up until the other is done, if the other can be done.
    """
    project, campaign = relations
    owner = house.owner()
    first, few, many, late = (
        send_relations(house, project, tmp_path, name, text)
        for name, text in {
            "first": lines_of("a", 15, 1, relations="f"),
            "few": lines_of("b", 60, 1),
            "many": lines_of("c", 300, 10),
            "late": lines_of("d", 30, 1, relations="l"),
        }.items()
    )
    for each in (first, few, many):  # the second and third wait for the answers about the first: drawn together
        house.submissions.accept(project, campaign, each.id, by=owner)
    spare = 10
    house.allowances.set(project, each=late.most_labels, in_all=late.most_labels + spare, by=owner)
    tasks = house.assignment.next_tasks(project, campaign, user_id=owner.id, n=20).tasks
    assert len(tasks) == first.first_labels
    *most, last = [Answer(task.item_id, "yes", f"{task.item_id}") for task in tasks]
    for answer in most:
        house.assignment.answer(project, campaign, answer, user_id=owner.id)

    def draw_for_others():
        house.assignment.answer(project, campaign, last, user_id=owner.id)
        house.assignment.next_tasks(project, campaign, user_id=owner.id)

    other = threading.Thread(target=draw_for_others)
    honest = allowances.labels_beyond

    def slow(state, submissions):
        found = honest(state, submissions)
        if not other.ident:
            other.start()
            other.join(timeout=2.0)
        return found

    monkeypatch.setattr(allowances, "labels_beyond", slow)
    late = house.submissions.accept_if_allowed(project, campaign, late.id, by=owner)
    other.join()
    monkeypatch.undo()
    assert house.allowances.beyond(project) > spare  # had the draw come first, it would have been refused
    assert late.state == "accepted"
    log = (house.pools.home / house.evaluations.row(project).folder / "log.jsonl").read_text().splitlines()
    events = [json.loads(line)["event"] for line in log]
    added = next(place for place, event in enumerate(events) if event.get("name") == "late")
    drawn = [place for place, event in enumerate(events) if event["kind"] == "draw"]
    assert drawn[0] < added < drawn[1]


def test_money_is_what_whole_numbers_come_to():
    """The oracle counts in ten-thousandths; floating-point products do not pass."""
    dice = random.Random(3)
    wrong = 0
    for _ in range(2000):
        n, m = dice.randrange(5000), dice.randrange(5000)
        one, two = dice.randrange(10_000), dice.randrange(10_000)  # prices in ten-thousandths
        hundredths = (n * one + m * two + 50) // 100
        assert (
            f"{money.total((n, one / 10_000), (m, two / 10_000)):.2f}" == f"{hundredths // 100}.{hundredths % 100:02d}"
        )
        assert repr(money.multiply(n, one / 10_000)) == repr(float(f"{n * one}e-4"))
        wrong += n * (one / 10_000) + m * (two / 10_000) != hundredths / 100
    assert wrong > 1000
