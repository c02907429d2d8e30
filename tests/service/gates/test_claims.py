"""Gate: many people claim at once, leases run out meanwhile, and no slot is ever given twice or stuck.

A control that claims without a transaction must fail the same check.
"""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select, update

import karat
from karat.service.assignment import Answer
from karat.service.campaign import Campaign
from karat.store import people, schema


class Watch:
    """Notes who holds what, as the holders see it: two at once is a double."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders: dict[int, tuple[int, float]] = {}
        self.doubles: list[int] = []
        self.claims = 0

    def hold(self, item: int, user: int, until: float) -> None:
        with self.lock:
            self.claims += 1
            if until <= time.time():  # this thread slept so long that its lease is over: another's claim is right
                return
            other, theirs = self.holders.get(item, (user, 0.0))
            if other != user and theirs > time.time():
                self.doubles.append(item)
            self.holders[item] = (user, until)

    def answered(self, item: int, user: int) -> None:
        with self.lock:
            holder, until = self.holders.get(item, (user, 0.0))
            if holder == user and until > time.time():
                self.holders[item] = (user, float("inf"))


@pytest.fixture
def clock():
    return time.time


def crowd_at_work(house, project, campaign, users, *, take, seconds_to_forget=0.0):
    """Let every user claim and answer in a thread of their own until nothing is left."""
    watch, errors = Watch(), []
    rng = np.random.default_rng(0)
    forgetful = {user.id: rng.random(100_000) < 0.1 for user in users}

    def work(user):
        step = 0
        try:
            while True:
                tasks = take(user)
                if not tasks:
                    return
                for item, until in tasks:
                    watch.hold(item, user.id, until)
                step += 1
                if forgetful[user.id][step] and seconds_to_forget:
                    time.sleep(seconds_to_forget)  # walks away; the lease runs out
                    continue
                for number, (item, _) in enumerate(tasks):
                    answer = Answer(item, "yes", request=f"{step}-{number}-{item}")
                    house.assignment.answer(project, campaign, answer, user_id=user.id)
                    watch.answered(item, user.id)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return watch, errors


def begin(house, tmp_path, *, n_items, n_users, lease_seconds, votes=1):
    path = tmp_path / "many.csv"
    pd.DataFrame({"id": range(n_items), "text": "t", "score": range(n_items)}).to_csv(path, index=False)
    campaign = Campaign(lease_minutes=lease_seconds / 60, votes=votes)
    engine = karat.open(path, score="score", id="id")
    method = karat.Point(rank=n_items, labels=n_items)
    project = house.create_project("Many", engine, campaign, by=house.owner(), method=method)
    users = [house.add_user(f"user{number}") for number in range(n_users)]
    with house.database.write() as connection:
        for user in users:
            people.set_member(connection, project.id, user.id, role="annotator", now=house.clock())
    return project, campaign, users


@pytest.mark.parametrize(
    ("n_items", "n_users"), [(150, 8), pytest.param(20_000, 16, marks=[pytest.mark.long, pytest.mark.timeout(3600)])]
)
def test_no_slot_is_given_twice(house, tmp_path, n_items, n_users):
    project, campaign, users = begin(house, tmp_path, n_items=n_items, n_users=n_users, lease_seconds=1.0)

    def take(user):
        hand = house.assignment.next_tasks(project, campaign, user_id=user.id, n=2)
        while not hand.tasks and not hand.finished:  # others still hold some
            time.sleep(0.05)
            hand = house.assignment.next_tasks(project, campaign, user_id=user.id, n=2)
        return [(task.item_id, task.leased_until - 0.2) for task in hand.tasks]

    watch, errors = crowd_at_work(house, project, campaign, users, take=take, seconds_to_forget=1.2)
    assert errors == []
    assert watch.doubles == []
    with house.database.read() as connection:
        states = connection.scalars(select(schema.slots.c.state)).all()
        n_votes = len(connection.execute(select(schema.votes)).all())
    drawn = house.studies.design(project).draw.n_ranks
    assert set(states) == {"answered"}
    assert n_votes == len(states) >= drawn


def test_several_votes_an_item_do_not_block_each_other(house, tmp_path):
    """One person answers about an item while another is given it: neither transaction may wait for the other's end."""
    project, campaign, users = begin(house, tmp_path, n_items=60, n_users=6, lease_seconds=60.0, votes=5)
    late = time.time() + 50  # somebody who failed keeps what they hold

    def take(user):
        hand = house.assignment.next_tasks(project, campaign, user_id=user.id, n=2)
        while not hand.tasks and not hand.finished and time.time() < late:
            time.sleep(0.02)
            hand = house.assignment.next_tasks(project, campaign, user_id=user.id, n=2)
        return [(task.item_id, 0.0) for task in hand.tasks]

    _, errors = crowd_at_work(house, project, campaign, users, take=take)
    assert errors == []
    with house.database.read() as connection:
        assert len(connection.execute(select(schema.votes)).all()) == 60 * 5


def test_claiming_without_a_transaction_gives_slots_twice(house, tmp_path):
    """The control: look first, write later, in two transactions."""
    project, campaign, users = begin(house, tmp_path, n_items=150, n_users=8, lease_seconds=60.0)
    slots = schema.slots

    def take(user):
        with house.database.read() as connection:
            row = connection.execute(
                select(slots.c.id, slots.c.item_id).where(slots.c.state == "open").order_by(slots.c.turn).limit(1)
            ).one_or_none()
        if row is None:
            return []
        time.sleep(0.001)
        with house.database.write() as connection:
            until = house.clock() + 60
            values = {"state": "leased", "user_id": user.id, "leased_until": until}
            connection.execute(update(slots).where(slots.c.id == row.id).values(values))
        return [(row.item_id, until)]

    watch, _ = crowd_at_work(house, project, campaign, users, take=take)
    assert watch.doubles != []
