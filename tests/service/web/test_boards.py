"""Public leaderboards: open to anyone only where the owner says so, and nothing but scores."""

from __future__ import annotations

import json

import pytest
from tests.service.web.test_evaluations import answer_all

from karat.store import people

SHOWN = {"title", "guidelines", "rows", "metric", "notes", "assumptions", "doubt", "n_labels", "confidence_level",
         "guarantee", "spent", "spent_judging", "spent_reading", "currency"}  # fmt: skip


@pytest.fixture
def address(shared_task):
    return f"/api/boards/{shared_task.slugs['evaluation']}"


@pytest.fixture
def judged(owner, base, shared_task):
    """Accept what waits, answer everything, and submit one more that goes on waiting."""
    waiting = next(each for each in owner.get(f"{base}/submissions").json() if each["state"] == "checked")
    assert owner.post(f"{base}/submissions/{waiting['id']}/accept").status_code == 200
    answer_all(owner, base, shared_task.corpus)
    lines = "".join(json.dumps(line) + "\n" for line in shared_task.systems["system-03"]).encode()
    sent = owner.post(f"{base}/submissions", params={"system": "secret-plan", "file": "p.jsonl"}, content=lines)
    assert sent.status_code == 201
    return waiting["id"]


def publish(owner, base, audience):
    body = {"published": audience != "nobody", **({} if audience == "nobody" else {"audience": audience})}
    assert owner.put(f"{base}/publication", json=body).status_code == 204
    said = owner.get(f"{base}/evaluation").json()
    assert (said["published"], said["public"]) == (audience != "nobody", audience == "anyone")


@pytest.mark.usefixtures("judged")
def test_anyone_sees_the_board_while_it_is_open_to_anyone(owner, base, address, client_of, cast):
    project, _, users = cast
    unknown = client_of().get("/api/boards/nothing-here")
    assert unknown.status_code == 404
    visitors = [client_of(), *(client_of(user) for user in users.values())]
    for audience, status in (("nobody", 404), ("anyone", 200), ("members", 404), ("anyone", 200), ("nobody", 404)):
        publish(owner, base, audience)
        for visitor in visitors:
            said = visitor.get(address)
            assert said.status_code == status, (audience, said.text)
            if status == 404:  # nobody learns that there is something to be hidden
                assert said.text.replace("shared", "nothing-here") == unknown.text
                assert sorted(said.headers) == sorted(unknown.headers)
    assert client_of().get(f"/api/boards/{project.slug}").status_code == 404  # no evaluation at all


@pytest.mark.usefixtures("judged")
def test_the_board_says_what_members_are_told_and_nothing_of_people(owner, base, address, client_of, shared_task):
    publish(owner, base, "anyone")
    said = client_of().get(address, params={"metric": "precision"})
    found = said.json()
    assert set(found) == SHOWN
    members = owner.get(f"{base}/leaderboard", params={"metric": "precision"}).json()
    for name in ("rows", "doubt", "assumptions", "confidence_level", "guarantee", "n_labels"):
        assert found[name] == members[name], name
    assert found["assumptions"]
    assert {row["system"] for row in found["rows"]} == {"system-01", "system-02"}
    assert found["spent"] == pytest.approx(0.1 * found["n_labels"])  # one answer each
    assert found["guidelines"] == [{"tag": "p", "children": ["Read ", {"tag": "em", "children": ["well"]}, "."]}]
    for hidden in ("secret-plan", "owner", "p.jsonl", "news-00", shared_task.corpus.documents[0].text[:30]):
        assert hidden not in said.text


def test_what_waits_in_the_pool_is_not_named(house, owner, base, address, client_of, shared_task):
    """Accepted, but not drawn yet: members are told its name once scores are published, strangers never are."""
    project_id = house.project(shared_task.slugs["evaluation"]).id
    some = owner.post(f"{base}/next", json={"n": 10}).json()["tasks"]
    given = [{"item": task["item"], "value": "yes", "request": f"r{task['item']}"} for task in some]
    owner.post(f"{base}/answers", json={"answers": given})
    waiting = next(each for each in owner.get(f"{base}/submissions").json() if each["state"] == "checked")
    assert owner.post(f"{base}/submissions/{waiting['id']}/accept").status_code == 200

    def told(user):
        found = client_of(user).get(f"{base}/leaderboard").json()
        return found["waiting"], "system-02" in json.dumps(found)

    team = house.add_user("team")
    with house.database.write() as connection:
        people.set_member(connection, project_id, team.id, role="viewer", now=house.clock())
    assert told(team) == ([], False)
    publish(owner, base, "anyone")
    assert told(team) == told(house.owner()) == (["system-02"], True)
    said = client_of().get(address)
    assert "waiting" not in said.json()
    assert [row["system"] for row in said.json()["rows"]] == ["system-01"]
    assert "system-02" not in said.text


def test_a_retracted_system_leaves_the_board(owner, base, address, judged, client_of):
    publish(owner, base, "anyone")
    assert owner.delete(f"{base}/submissions/{judged}").status_code == 204
    said = client_of().get(address)
    assert [row["system"] for row in said.json()["rows"]] == ["system-01"]
    assert "system-02" not in said.text


def test_a_board_without_scores_yet_is_a_board(owner, base, address, client_of):
    publish(owner, base, "anyone")
    found = client_of().get(address).json()
    assert (found["rows"], found["notes"]) == ([], ["No system has enough labels yet."])
    assert set(found) == SHOWN


def test_it_is_kept_nowhere_and_carries_the_policy(owner, base, address, client_of):
    publish(owner, base, "anyone")
    said, other = client_of().get(address), client_of().get("/healthz")
    for name in ("content-security-policy", "cache-control", "x-content-type-options", "cross-origin-resource-policy"):
        assert said.headers[name] == other.headers[name]
    assert said.headers["cache-control"] == "no-store"
    assert client_of().get(address, params={"metric": "luck"}).status_code == 422
    assert client_of().get(f"{address}%00").status_code in {404, 422}
    assert client_of().post(address).status_code == 405


def test_only_owners_open_it(owner, base, address, client_of, house, shared_task):
    user = house.add_user("team")
    with house.database.write() as connection:
        project = house.project(shared_task.slugs["evaluation"])
        people.set_member(connection, project.id, user.id, role="viewer", now=house.clock())
    refused = client_of(user).put(f"{base}/publication", json={"published": True, "audience": "anyone"})
    assert refused.status_code == 403
    assert client_of().get(address).status_code == 404
    assert owner.put(f"{base}/publication", json={"published": True, "audience": "all"}).status_code == 422
