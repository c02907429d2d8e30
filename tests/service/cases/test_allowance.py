"""Submissions within the owner's allowance are accepted unasked; beyond it the owner is asked before it costs."""

from __future__ import annotations

import random
import threading

import pytest
from shared_task import ANN_WORKS, lines_of

from karat.documents.text import Document
from karat.errors import InvalidInput
from karat.service.assignment import Answer
from karat.service.evaluation_task import Allowance, EvaluationTask, campaign_for
from karat.store import projects


@pytest.fixture
def things(house):
    """Return an evaluation of items in which n predictions need n labels, and its campaign."""
    task = EvaluationTask(kind="items")
    campaign = campaign_for(task, votes=1, price=0.1, currency="EUR")
    slug = house.evaluations.create("Things", campaign, task, by=house.owner(), half_width=0.001)
    return house.project(slug), campaign


def send(house, things, tmp_path, name, n, *, by=None):
    """Submit n predictions of its own, all of which need a label, and accept them if allowed."""
    found = offer(house, things, tmp_path, name, n, by=by)
    assert found.most_labels == n
    return found


def offer(house, things, tmp_path, name, n, *, by=None):
    project, campaign = things
    user = by or house.owner()
    path = tmp_path / f"{name}.csv"
    path.write_text("id\n" + "".join(f"{name}-{k}\n" for k in range(n)))
    found = house.submissions.submit(project, name, path, by=user, name=path.name)
    return house.submissions.accept_if_allowed(project, campaign, found.id, by=user)


def allowance_of(house, project):
    return house.evaluations.task(house.evaluations.row(project)).allowance


def answer_all(house, project, campaign):
    """Answer everything that is asked, by the toss of a coin."""
    coin = random.Random(5)
    while (hand := house.assignment.next_tasks(project, campaign, user_id=house.owner().id, n=20)).tasks:
        for item in hand.tasks:
            answer = Answer(item.item_id, coin.choice(["yes", "no"]), request=f"{item.item_id}")
            house.assignment.answer(project, campaign, answer, user_id=house.owner().id)
    assert house.evaluations.is_done(project)


def n_asked(house, project):
    with house.database.read() as connection:
        return sum(projects.count_labels(connection, project.id).values())


def test_the_owner_is_always_asked_unless_something_else_is_said(house, things, tmp_path):
    assert send(house, things, tmp_path, "a", 5).state == "checked"
    assert n_asked(house, things[0]) == 0


def test_what_is_within_the_allowance_is_in_the_pool_at_once(house, things, tmp_path):
    project, campaign = things
    team = house.add_user("team")
    assert house.allowances.set(project, each=20, in_all=50, by=house.owner()) == Allowance(each=20, in_all=50)
    assert send(house, things, tmp_path, "small", 20, by=team).state == "accepted"
    assert n_asked(house, project) > 0
    assert send(house, things, tmp_path, "large", 21, by=team).state == "checked"
    assert send(house, things, tmp_path, "second", 20, by=team).state == "accepted"
    third = send(house, things, tmp_path, "third", 11, by=team)  # 10 are left of 50
    assert (third.state, allowance_of(house, project).used) == ("checked", 40)
    assert send(house, things, tmp_path, "fourth", 10, by=team).state == "accepted"
    assert house.submissions.accept(project, campaign, third.id, by=house.owner()).state == "accepted"
    assert allowance_of(house, project) == Allowance(each=20, in_all=50, used=50)  # what the owner accepts is not of it
    with house.database.read() as connection:
        kept = [entry["detail"] for entry in projects.list_audit(connection, project.id, most=50)
                if entry["action"] == "accept"]  # fmt: skip
    assert {detail["system"]: detail["unasked"] for detail in kept} == {"small": True, "second": True, "fourth": True,
                                                                        "third": False}  # fmt: skip


def test_what_is_used_stays_used(house, things, tmp_path):
    project, _ = things
    house.allowances.set(project, each=10, in_all=10, by=house.owner())
    found = send(house, things, tmp_path, "a", 10)
    house.submissions.retract(project, found.id, by=house.owner())
    assert send(house, things, tmp_path, "b", 5).state == "checked"
    assert house.allowances.set(project, each=10, in_all=20, by=house.owner()).used == 10
    assert send(house, things, tmp_path, "c", 10).state == "accepted"
    house.allowances.set(project, each=0, in_all=0, by=house.owner())
    assert send(house, things, tmp_path, "d", 1).state == "checked"


def test_what_could_not_be_accepted_is_given_back(house, things, tmp_path):
    project, campaign = things
    house.allowances.set(project, each=10, in_all=10, by=house.owner())
    path = tmp_path / "a.csv"
    path.write_text("id\na\n")
    found = house.submissions.submit(project, "a", path, by=house.owner(), name="a.csv")
    for file in house.pools.incoming(house.evaluations.row(project)).iterdir():
        file.unlink()
    with pytest.raises(InvalidInput, match="is gone"):
        house.submissions.accept_if_allowed(project, campaign, found.id, by=house.owner())
    assert allowance_of(house, project).used == 0


def test_submissions_at_once_never_use_more_than_is_allowed(house, things, tmp_path):
    project, campaign = things
    house.allowances.set(project, each=10, in_all=25, by=house.owner())
    waiting = []
    for k in range(6):
        path = tmp_path / f"s{k}.csv"
        path.write_text("id\n" + "".join(f"s{k}-{i}\n" for i in range(10)))
        waiting.append(house.submissions.submit(project, f"s{k}", path, by=house.owner(), name=path.name))
    threads = [threading.Thread(target=house.submissions.accept_if_allowed, args=(project, campaign, each.id),
                                kwargs={"by": house.owner()}) for each in waiting]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    states = [each.state for each in house.submissions.list(project)]
    assert (states.count("accepted"), allowance_of(house, project).used) == (2, 20)


def test_systems_of_unequal_sizes_drawn_together_need_no_more_than_they_were_counted_with(house, tmp_path):
    """Six systems of 70 predictions beside one of 4,000, no prediction shared, people who toss coins."""
    task = EvaluationTask(kind="items")
    campaign = campaign_for(task, votes=1)
    slug = house.evaluations.create("Things", campaign, task, by=house.owner(), half_width=0.1, seed=4)
    project = house.project(slug)
    house.allowances.set(project, each=100, in_all=1000, by=house.owner())
    sizes = {"first": 40, "large": 4000, **{f"small {k}": 70 for k in range(6)}}
    # the first is asked about at once; the others wait for its answers and are then drawn together
    found = [offer(house, (project, campaign), tmp_path, name, n) for name, n in sizes.items()]
    assert all(each.state == "accepted" for each in found)
    used = allowance_of(house, project).used
    assert used == sum(each.most_labels for each in found) < sum(sizes.values()) / 10
    answer_all(house, project, campaign)
    assert n_asked(house, project) <= used


@pytest.mark.slow
def test_what_systems_need_together_beyond_what_each_was_said_to_need_is_used_too(house, tmp_path):
    """B's 60 relations are C's as well, which has ten instances of each: those of B's draw are asked about too."""
    sizes = {"first": (30, 1, "f"), "A": (300, 1, "a"), "B": (60, 1, "b"), "C": (300, 10, "b")}
    documents = [Document(name=f"{system}{k}-{j}", text=ANN_WORKS)
                 for system, (n, m, _) in sizes.items() for k in range(n) for j in range(m)]  # fmt: skip
    documents += [Document(name=f"late{k}-0", text=ANN_WORKS) for k in range(30)]
    task = EvaluationTask(kind="relations")
    campaign = campaign_for(task, votes=1)
    project = house.project(house.evaluations.create("News", campaign, task, by=house.owner(), documents=documents,
                                                     half_width=0.08, learn=False))  # fmt: skip
    in_all = 1000
    house.allowances.set(project, each=in_all, in_all=in_all, by=house.owner())

    def submit(system, n, m, relations):
        path = tmp_path / f"{system}.jsonl"
        path.write_text(lines_of(system, n, m, relations=relations))
        found = house.submissions.submit(project, system, path, by=house.owner(), name=path.name)
        return house.submissions.accept_if_allowed(project, campaign, found.id, by=house.owner())

    found = [submit(system, *size) for system, size in sizes.items()]  # all but the first are drawn together
    assert all(each.state == "accepted" for each in found)
    used = allowance_of(house, project).used
    assert used == sum(each.most_labels for each in found)
    assert house.allowances.beyond(project) == 0  # what waits is not drawn yet
    answer_all(house, project, campaign)
    asked = n_asked(house, project)
    assert asked > used + 100
    assert house.allowances.beyond(project) == asked - used
    described = house.evaluations.describe(project, campaign)["allowance"]
    assert described == {"each": in_all, "in_all": in_all, "used": used, "beyond": asked - used}
    house.allowances.set(project, each=30, in_all=asked, by=house.owner())
    late = submit("late", 30, 1, "l")
    for more, state in ((late.most_labels - 1, "checked"), (late.most_labels, "accepted")):
        house.allowances.set(project, each=30, in_all=asked + more, by=house.owner())
        late = house.submissions.accept_if_allowed(project, campaign, late.id, by=house.owner())
        assert late.state == state  # by what was counted alone it would have been let in before
    assert allowance_of(house, project).used == used + late.most_labels


@pytest.mark.parametrize(("each", "in_all", "message"), [
    (-1, 5, "'each' must be"), (5, 4, "'in_all' must be as much as one submission may need"), (1, 10**10, "'in_all'"),
])  # fmt: skip
def test_a_bad_allowance_is_refused(house, things, each, in_all, message):
    with pytest.raises(InvalidInput, match=message):
        house.allowances.set(things[0], each=each, in_all=in_all, by=house.owner())
    assert allowance_of(house, things[0]) == Allowance()
