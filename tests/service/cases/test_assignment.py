"""Handing out items and taking answers, on both databases."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from sqlalchemy import select

import karat
from karat.errors import InvalidInput
from karat.service.assignment import Answer
from karat.service.problems import Conflict, NotAllowed, NotFound
from karat.store import answers, projects, schema

_numbers = itertools.count()


def say(house, project, campaign, user, item_id, value="yes", **more):
    answer = Answer(item_id, value, request=f"r{next(_numbers)}", **more)
    return house.assignment.answer(project, campaign, answer, user_id=user.id)


def take(house, project, campaign, user, n=3):
    return house.assignment.next_tasks(project, campaign, user_id=user.id, n=n).tasks


def state_of(house, *tables):
    """Return everything but the append-only tables and the leases' times."""
    found = {}
    with house.database.read() as connection:
        for table in tables or (schema.votes, schema.skips, schema.slots, schema.items, schema.adjudications):
            columns = [column for column in table.columns if column.name != "leased_until"]
            found[table.name] = sorted(connection.execute(select(*columns)).all(), key=str)
    return found


def test_everybody_gets_other_items_when_one_vote_is_wanted(house, start, crowd):
    project, campaign = start()
    people = crowd(project, 3)
    given = [{task.item_id for task in take(house, project, campaign, user, 5)} for user in people]
    assert [len(items) for items in given] == [5, 5, 5]
    assert len(set.union(*given)) == 15


def test_the_same_items_come_again_after_a_reload(house, start, crowd):
    project, campaign = start()
    (user,) = crowd(project, 1)
    assert take(house, project, campaign, user) == take(house, project, campaign, user)


def test_k_people_judge_an_item_and_nobody_twice(house, start, crowd):
    project, campaign = start(votes=3, method=karat.Point(rank=20, labels=20))
    people = crowd(project, 4)
    judged = {}
    for _ in range(100):
        for user in people:
            for task in take(house, project, campaign, user, 2):
                say(house, project, campaign, user, task.item_id)
                judged.setdefault(task.item_id, []).append(user.id)
    n_laid_out = len(judged)
    assert n_laid_out == house.studies.design(project).draw.n_ranks
    assert all(len(users) == len(set(users)) == 3 for users in judged.values())
    hand = house.assignment.next_tasks(project, campaign, user_id=people[0].id)
    assert (hand.finished, hand.for_good, hand.retry_after) == (True, True, None)


def test_nobody_is_told_that_all_is_over_while_others_still_answer(house, start, crowd):
    """Once they have, the design may ask for more."""
    project, campaign = start(votes=2, method=karat.Point(rank=20, labels=20))
    first, second = crowd(project, 2)
    for person, over in ((first, False), (second, True)):
        while tasks := take(house, project, campaign, person, 20):
            for task in tasks:
                say(house, project, campaign, person, task.item_id)
        hand = house.assignment.next_tasks(project, campaign, user_id=person.id)
        assert (hand.finished, hand.for_good, hand.retry_after is None) == (True, over, over)


def test_order_does_not_follow_the_rank(house, start, crowd):
    project, campaign = start(method=karat.Point(rank=400, labels=200))
    (user,) = crowd(project, 1)
    ranks = [task.rank for task in take(house, project, campaign, user, 20)]
    assert ranks != sorted(ranks)
    assert abs(np.corrcoef(ranks, np.arange(20))[0, 1]) < 0.8


def test_a_lease_that_ran_out_goes_to_somebody_else(house, start, crowd, clock):
    project, campaign = start(lease_minutes=5)
    early, late = crowd(project, 2)
    first = take(house, project, campaign, early, 1)[0]
    assert take(house, project, campaign, late, 1)[0].item_id != first.item_id
    clock.turn(301)
    assert first.item_id in {task.item_id for task in take(house, project, campaign, late, 2)}


def test_an_answer_after_the_lease_is_not_lost(house, start, crowd, clock):
    project, campaign = start()
    early, late = crowd(project, 2)
    task = take(house, project, campaign, early, 1)[0]
    clock.turn(301)
    assert take(house, project, campaign, late, 1)[0].item_id == task.item_id
    say(house, project, campaign, early, task.item_id, "no")
    say(house, project, campaign, late, task.item_id, "no")
    with house.database.read() as connection:
        assert answers.votes_on(connection, task.item_id) == ["no", "no"]


def test_asking_again_extends_the_lease(house, start, crowd, clock):
    project, campaign = start()
    busy, other = crowd(project, 2)
    mine = {task.item_id for task in take(house, project, campaign, busy, 1)}
    for _ in range(5):
        clock.turn(200)
        take(house, project, campaign, busy, 1)
    assert not mine & {task.item_id for task in take(house, project, campaign, other, 5)}


def test_what_is_given_back_is_free_at_once(house, start, crowd):
    project, campaign = start()
    one, other = crowd(project, 2)
    mine = [task.item_id for task in take(house, project, campaign, one, 2)]
    assert house.assignment.release(project, user_id=one.id) == 2
    assert [task.item_id for task in take(house, project, campaign, other, 2)] == mine


def test_the_same_request_counts_once(house, start, crowd):
    project, campaign = start()
    (user,) = crowd(project, 1)
    task = take(house, project, campaign, user, 1)[0]
    answer = Answer(task.item_id, "yes", request="mine")
    first = house.assignment.answer(project, campaign, answer, user_id=user.id)
    before = state_of(house, schema.ledger, schema.votes)
    assert house.assignment.answer(project, campaign, answer, user_id=user.id).id == first.id
    assert state_of(house, schema.ledger, schema.votes) == before
    with pytest.raises(Conflict):
        house.assignment.answer(project, campaign, answer._replace(value="no"), user_id=user.id)


def test_undo_is_exact(house, start, crowd):
    """After any answers and as many undos everything is as it was before, label and vote included."""
    project, campaign = start(votes=2)
    one, other = crowd(project, 2)
    for user in (one, other):
        take(house, project, campaign, user, 5)
    items = [task.item_id for task in take(house, project, campaign, one, 5)]
    say(house, project, campaign, other, items[0], "no")
    states = [state_of(house)]
    say(house, project, campaign, one, items[0], "yes")
    states.append(state_of(house))
    say(house, project, campaign, one, items[0], "no", note="on second thought")
    states.append(state_of(house))
    say(house, project, campaign, one, items[1], "unsure")
    states.append(state_of(house))
    for number, expected in enumerate(reversed(states[:-1])):
        house.assignment.undo(project, campaign, request=f"undo {number}", user_id=one.id)
        assert state_of(house) == expected
    assert house.assignment.undo(project, campaign, request="nothing left", user_id=one.id) is None


def test_an_undo_sent_twice_undoes_once(house, start, crowd):
    project, campaign = start()
    (user,) = crowd(project, 1)
    for task in take(house, project, campaign, user, 2):
        say(house, project, campaign, user, task.item_id)
    for _ in range(2):
        house.assignment.undo(project, campaign, request="once", user_id=user.id)
    with house.database.read() as connection:
        assert answers.count_votes(connection, project.id) == 1


def test_skipped_items_go_to_others_and_can_be_taken_back(house, start, crowd):
    project, campaign = start()
    one, other = crowd(project, 2)
    task = take(house, project, campaign, one, 1)[0]
    house.assignment.skip(project, campaign, item_id=task.item_id, request="s", user_id=one.id)
    assert task.item_id not in {t.item_id for t in take(house, project, campaign, one, 20)}
    house.assignment.undo(project, campaign, request="u", user_id=one.id)
    assert task.item_id in {t.item_id for t in take(house, project, campaign, one, 20)}
    house.assignment.skip(project, campaign, item_id=task.item_id, request="s2", user_id=one.id)
    assert task.item_id in {t.item_id for t in take(house, project, campaign, other, 1)}


def test_answers_nobody_asked_for_are_refused(house, start, crowd):
    project, campaign = start()
    one, other = crowd(project, 2)
    task = take(house, project, campaign, one, 1)[0]
    with pytest.raises(NotAllowed, match="not handed out"):
        say(house, project, campaign, other, task.item_id)
    with pytest.raises(NotFound):
        say(house, project, campaign, one, 999_999)
    with pytest.raises(InvalidInput, match="value"):
        say(house, project, campaign, one, task.item_id, "perhaps")
    with pytest.raises(InvalidInput, match="seconds"):
        say(house, project, campaign, one, task.item_id, seconds=float("nan"))


def test_items_of_another_project_are_out_of_reach(house, start, crowd):
    project, campaign = start()
    second, _ = start("Other")
    (one,) = crowd(project, 1)
    (stranger,) = crowd(second, 1)
    task = take(house, project, campaign, one, 1)[0]
    with pytest.raises(NotFound):
        say(house, second, campaign, stranger, task.item_id)


def test_a_paused_project_hands_out_nothing_and_a_closed_one_takes_nothing(house, start, crowd):
    project, campaign = start()
    (user,) = crowd(project, 1)
    task = take(house, project, campaign, user, 1)[0]
    paused = house.change_project(project, {}, by=house.owner(), state="paused")
    assert take(house, paused, campaign, user) == []
    closed = house.change_project(project, {}, by=house.owner(), state="closed")
    with pytest.raises(NotAllowed, match="closed"):
        say(house, closed, campaign, user, task.item_id)


def test_votes_and_labels_are_what_the_ledger_adds_up_to(house, start, crowd):
    """A slow twin: fold the ledger by hand after a random session of three people."""
    project, campaign = start(votes=2, method=karat.Point(rank=40, labels=40))
    people = crowd(project, 3)
    rng = np.random.default_rng(5)
    for step in range(150):
        user = people[rng.integers(3)]
        tasks = take(house, project, campaign, user, 2)
        action = rng.integers(10)
        if action == 0:
            house.assignment.undo(project, campaign, request=f"u{step}", user_id=user.id)
        elif action == 1 and tasks:
            house.assignment.skip(project, campaign, item_id=tasks[0].item_id, request=f"s{step}", user_id=user.id)
        elif tasks:
            say(house, project, campaign, user, tasks[0].item_id, str(rng.choice(["yes", "no", "unsure"])))
    stacks: dict[tuple[int, int], list] = {}
    order: dict[int, list] = {}
    with house.database.read() as connection:
        lines = connection.execute(select(schema.ledger).order_by(schema.ledger.c.id)).all()
        votes = connection.execute(select(schema.votes)).all()
        labels = {row.id: row.label for row in projects.item_rows(connection, project.id)}
    for line in lines:
        if line.kind == "undo":
            undone = order[line.user_id].pop()
            assert undone.id == line.undoes
            stacks[undone.item_id, undone.user_id].pop()
        else:
            order.setdefault(line.user_id, []).append(line)
            stacks.setdefault((line.item_id, line.user_id), []).append(line)
    standing = {key: stack[-1] for key, stack in stacks.items() if stack and stack[-1].kind == "answer"}
    assert {(vote.item_id, vote.user_id): vote.value for vote in votes} == {k: v.value for k, v in standing.items()}
    assert len(lines) > 100
    for item_id, label in labels.items():
        meanings = sorted(campaign.meaning(line.value) for (item, _), line in standing.items() if item == item_id)
        lead = meanings.count(1) - meanings.count(0)
        if len(meanings) < 2:
            assert label is None
        else:
            assert label == (1 if lead > 0 else 0 if lead < 0 else -1)


def test_payload_is_kept_as_drawn(house, start, facts, crowd):
    project, campaign = start()
    (user,) = crowd(project, 1)
    task = take(house, project, campaign, user, 1)[0]
    row = next(line for line in facts.read_text().splitlines() if line.startswith(f"{task.name},"))
    assert list(task.payload.values()) == row.split(",")[1:4]
    assert json.dumps(task.payload)
