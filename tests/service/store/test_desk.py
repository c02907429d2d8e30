"""Locks of slots on PostgreSQL: always in the same order, so that nobody waits in a circle."""

from __future__ import annotations

import threading
import time

import pytest
from sqlalchemy import select, text, update

import karat
from karat.service.campaign import Campaign
from karat.service.installation import Installation
from karat.store import desk, people, schema

slots = schema.slots


@pytest.mark.parametrize("act", ["renew", "release"])
def test_what_a_person_holds_is_locked_in_order(postgres_url, facts, act):
    """While the first slot is somebody else's for a moment, the second one is not locked yet."""
    house = Installation(postgres_url)
    engine = karat.open(facts, score="score", id="id", seed=3)
    method = karat.Point(rank=400, labels=30)
    project = house.create_project("Facts", engine, Campaign(), by=house.owner(), method=method)
    user = house.add_user("ann")
    with house.database.write() as connection:
        people.set_member(connection, project.id, user.id, role="annotator", now=0.0)
        held = select(slots.c.id).order_by(slots.c.id).limit(2)
        first, second = connection.scalars(held)
        for slot in (second, first):  # the first one now lies behind the second one on disk
            desk.lease(connection, slot, user.id, until=1e10)

    def run():
        with house.database.write() as connection:
            if act == "renew":
                desk.renew(connection, project.id, user.id, until=2e10)
            else:
                desk.release(connection, project.id, user.id)

    thread = threading.Thread(target=run)
    with house.database.write() as blocking:
        blocking.execute(update(slots).where(slots.c.id == first).values(turn=0))
        thread.start()
        waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        while not blocking.scalar(waiting):
            time.sleep(0.01)
        with house.database.write() as other:
            free = select(slots.c.id).where(slots.c.id == second).with_for_update(nowait=True)
            assert other.scalar(free) == second
    thread.join()
    with house.database.read() as connection:
        until = connection.scalars(select(slots.c.leased_until).where(slots.c.id.in_([first, second]))).all()
    assert until == [2e10 if act == "renew" else None] * 2
    house.close()
