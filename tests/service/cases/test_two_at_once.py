"""Several at once: lists keep nobody from a pool, files may go while they are looked at, and what two processes accept
comes into the pool once.

Where two meet is chosen by a step that lets the other one go first; the other one is a thread of the same process, or
an installation of its own on the same database.
"""

from __future__ import annotations

import json
import threading

import pytest
from tests.service.cases.test_prices import as_the_pool_says, price_of, send, stored, things
from tests.service.web.test_link_warnings import TASK, TEXT, line

from karat.documents.text import Document
from karat.pool import Pool
from karat.service import link_warnings
from karat.service.evaluation_task import campaign_for
from karat.service.installation import Installation
from karat.service.problems import Conflict
from karat.store import projects

__all__ = ["things"]
PATIENCE = 20.0
"""Seconds until somebody counts as kept waiting."""


@pytest.fixture
def other_house(house, clock):
    """Return another process's installation on the same database and pools."""
    url = house.database.url.render_as_string(hide_password=False)
    installation = Installation(url, pools=house.pools.home, clock=clock)
    yield installation
    installation.close()


@pytest.fixture
def first_do(monkeypatch):
    """Do something before or after the first call of a method or function: first_do(Pool, "add", before=...)."""

    def run(place, name, *, before=None, after=None):
        honest, done = getattr(place, name), []

        def step(*arguments, **options):
            is_first = not done
            done.append(name)
            if is_first and before:
                before()
            found = honest(*arguments, **options)
            if is_first and after:
                after()
            return found

        monkeypatch.setattr(place, name, step)
        return done

    return run


def events(house, project, kind):
    log = (house.pools.home / house.evaluations.row(project).folder / "log.jsonl").read_text().splitlines()
    found = [json.loads(line)["event"] for line in log]
    return [event for event in found if event["kind"] == kind]


def send_and_accept_one(house, things, tmp_path, *, n_waiting):
    """Send some systems that go on waiting, and one that is accepted: the others need new prices."""
    project, campaign = things
    waiting = [send(house, project, tmp_path, f"waiting{k}", range(100 * k, 100 * k + 300)) for k in range(n_waiting)]
    accepted = send(house, project, tmp_path, "accepted", range(200))
    house.submissions.accept(project, campaign, accepted.id, by=house.owner())
    return waiting


def is_kept_waiting(do):
    """Whether something in another thread is not done while the caller goes on holding what it holds."""
    other = threading.Thread(target=do, daemon=True)
    other.start()
    other.join(timeout=PATIENCE)
    return other.is_alive()


def test_a_list_that_finds_prices_keeps_nobody_from_the_pool(house, things, tmp_path, first_do):
    project, campaign = things
    waiting = send_and_accept_one(house, things, tmp_path, n_waiting=2)
    kept = []

    def use_the_pool():
        house.evaluations.describe(project, campaign)
        house.evaluations.leaderboard(project, metric="f1", for_user=None)
        house.evaluations.replenish(project, campaign)

    found = first_do(Pool, "preview", before=lambda: kept.append(is_kept_waiting(use_the_pool)))
    listed = house.submissions.list(project)
    assert kept == [False]
    assert len(found) == len(waiting)  # each is found once, and not again
    assert house.submissions.list(project) == listed
    assert len(found) == len(waiting)
    for each in waiting:
        (now,) = [other for other in listed if other.id == each.id]
        assert price_of(now) == as_the_pool_says(house, project, each)


def test_lists_of_two_people_take_turns_and_find_each_price_once(house, things, tmp_path, first_do):
    project, _ = things
    waiting = send_and_accept_one(house, things, tmp_path, n_waiting=3)
    lists = []
    others = [threading.Thread(target=lambda: lists.append(house.submissions.list(project))) for _ in range(2)]
    found = first_do(Pool, "preview", before=lambda: [other.start() for other in others])
    lists.append(house.submissions.list(project))
    for other in others:
        other.join()
    assert len(found) == len(waiting)
    assert lists[0] == lists[1] == lists[2]


def test_warnings_about_links_keep_nobody_from_the_pool(house, tmp_path, first_do):
    campaign = campaign_for(TASK, votes=1)
    documents = [Document(name="d", text=TEXT)]
    project = house.project(house.evaluations.create("News", campaign, TASK, by=house.owner(), documents=documents))
    for name, given in {"first": line("wiki/Ann", "wiki/Acme"), "bare": line()}.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps(given))
        found = house.submissions.submit(project, name, path, by=house.owner(), name=path.name)
        if name == "first":
            house.submissions.accept(project, campaign, found.id, by=house.owner())
    kept = []

    def use_the_pool():
        house.evaluations.describe(project, campaign)

    first_do(link_warnings, "compare_links", before=lambda: kept.append(is_kept_waiting(use_the_pool)))
    told = house.link_warnings.of(house.evaluations.row(project), house.submissions.list(project))
    assert kept == [False]
    assert [len(warnings) for warnings in told.values()] == [0, 1]


def test_a_file_that_goes_while_its_price_is_found_leaves_the_list_whole(
    house, other_house, things, tmp_path, first_do
):
    project, campaign = things
    waiting = send(house, project, tmp_path, "waiting", range(300))
    beside = send(house, project, tmp_path, "beside", range(50, 350))
    accepted = send(house, project, tmp_path, "accepted", range(200))
    house.submissions.accept(project, campaign, accepted.id, by=house.owner())
    before = stored(house, project, waiting)
    first_do(Pool, "preview", before=lambda: send(other_house, project, tmp_path, "waiting", range(310)))
    listed = {each.id: each for each in house.submissions.list(project)}
    assert listed[waiting.id] == before._replace(state="replaced")
    assert price_of(listed[beside.id]) == as_the_pool_says(house, project, beside)
    assert max(each.id for each in house.submissions.list(project)) > accepted.id  # the later version


def test_a_file_that_goes_while_it_is_accepted_is_told_without_a_path(house, other_house, things, tmp_path, first_do):
    project, campaign = things
    waiting = send(house, project, tmp_path, "waiting", range(300))
    first_do(Pool, "add", before=lambda: send(other_house, project, tmp_path, "waiting", range(310)))
    with pytest.raises(Conflict) as told:
        house.submissions.accept(project, campaign, waiting.id, by=house.owner())
    assert str(told.value) == "'waiting' was submitted again since; accept the latest."
    assert events(house, project, "add") == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_two_processes_accept_at_once_comes_into_the_pool_once(
    house, other_house, things, tmp_path, first_do, when
):
    project, campaign = things
    waiting = send(house, project, tmp_path, "waiting", range(300))
    theirs = []
    first_do(Pool, "add", **{when: lambda: theirs.append(
        other_house.submissions.accept(project, campaign, waiting.id, by=house.owner()))})  # fmt: skip
    mine = house.submissions.accept(project, campaign, waiting.id, by=house.owner())
    assert [mine] == theirs
    assert (mine.state, mine.version) == ("accepted", 1)
    assert len(events(house, project, "add")) == 1
    with house.database.read() as connection:
        entries = projects.list_audit(connection, project.id, most=10)
    assert sum(entry["action"] == "accept" for entry in entries) == 1


def test_what_the_owner_accepts_at_once_is_not_of_the_allowance(house, other_house, things, tmp_path, first_do):
    project, campaign = things
    waiting = send(house, project, tmp_path, "waiting", range(300))
    house.allowances.set(project, each=1000, in_all=1000, by=house.owner())
    first_do(Pool, "add", before=lambda: other_house.submissions.accept(project, campaign, waiting.id,
                                                                        by=house.owner()))  # fmt: skip
    assert house.submissions.accept_if_allowed(project, campaign, waiting.id, by=house.owner()).state == "accepted"
    assert house.evaluations.task(house.evaluations.row(project)).allowance.used == 0
    assert len(events(house, project, "add")) == 1


def test_a_process_that_breaks_off_while_it_accepts_leaves_nothing_stuck(house, things, tmp_path, first_do):
    project, campaign = things
    waiting = send(house, project, tmp_path, "waiting", range(300))

    def break_off():
        raise KeyboardInterrupt

    first_do(Pool, "add", after=break_off)
    with pytest.raises(KeyboardInterrupt):
        house.submissions.accept(project, campaign, waiting.id, by=house.owner())
    assert stored(house, project, waiting).state == "checked"
    accepted = house.submissions.accept(project, campaign, waiting.id, by=house.owner())
    assert (accepted.state, accepted.version) == ("accepted", 1)
    assert len(events(house, project, "add")) == 1


def test_what_is_retracted_while_it_is_accepted_does_not_stay_in_the_pool(
    house, other_house, things, tmp_path, first_do
):
    project, campaign = things
    waiting = send(house, project, tmp_path, "waiting", range(300))
    first_do(Pool, "add", after=lambda: other_house.submissions.retract(project, waiting.id, by=house.owner()))
    with pytest.raises(Conflict, match=r"^This submission was retracted\.$"):
        house.submissions.accept(project, campaign, waiting.id, by=house.owner())
    assert stored(house, project, waiting).state == "retracted"
    assert Pool(house.pools.home / house.evaluations.row(project).folder).systems == []
