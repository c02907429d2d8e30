"""People are taken out of a project: their answers stay, what they hold is free again, an owner always remains."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from karat.service.assignment import Answer
from karat.service.problems import NotAllowed, NotFound
from karat.store import people, schema


def members(house, project):
    with house.database.read() as connection:
        return {name: role for _, name, role in people.list_members(connection, project.id)}


def held_by(house, user):
    with house.database.read() as connection:
        mine = (schema.slots.c.user_id == user.id, schema.slots.c.state == "leased")
        return len(connection.execute(select(schema.slots).where(*mine)).all())


@pytest.mark.parametrize("way", ["removed", "made a viewer", "made an owner"])
def test_what_somebody_holds_is_given_back_and_what_they_said_stays(house, start, crowd, way):
    project, campaign = start()
    ann, bob = crowd(project, 2)
    hand = house.assignment.next_tasks(project, campaign, user_id=ann.id, n=4)
    given = Answer(hand.tasks[0].item_id, "yes", request="r1")
    house.assignment.answer(project, campaign, given, user_id=ann.id)
    if way == "removed":
        house.membership.remove(project, ann.id, by=house.owner())
        assert ann.name not in members(house, project)
    else:
        role = way.split()[-1]
        house.membership.change_role(project, ann.id, role=role, by=house.owner())
        assert members(house, project)[ann.name] == role
    assert held_by(house, ann) == (3 if way == "made an owner" else 0)
    assert house.progress.summary(project, campaign)["labelled"] == 1
    if way != "made an owner":
        again = {task.item_id for task in house.assignment.next_tasks(project, campaign, user_id=bob.id, n=20).tasks}
        assert {task.item_id for task in hand.tasks[1:]} <= again


def test_an_owner_always_remains(house, start, crowd):
    project, _ = start()
    (ann,) = crowd(project, 1)
    other = house.add_user("other-admin", is_admin=True)
    owner = house.owner()
    for act in (
        lambda by: house.membership.remove(project, owner.id, by=by),
        lambda by: house.membership.change_role(project, owner.id, role="annotator", by=by),
    ):
        with pytest.raises(NotAllowed, match="needs an owner"):
            act(other)
        with pytest.raises(NotAllowed, match="your own role"):
            act(owner)
    house.membership.change_role(project, ann.id, role="owner", by=owner)
    house.membership.remove(project, owner.id, by=ann)
    assert members(house, project) == {ann.name: "owner"}
    with pytest.raises(NotFound, match="no member"):
        house.membership.remove(project, owner.id, by=ann)
