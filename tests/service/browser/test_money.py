"""Counts and money of an evaluation: the page, the API and the commands say the same, to the cent."""

from __future__ import annotations

import json
import re

import pytest

from karat.cli.main import main
from karat.service.installation import Installation

PRICE, VOTES = 0.035, 3  # an answer costs three and a half cents: many amounts end in half a cent


@pytest.fixture
def things(serve_made, tmp_path, monkeypatch):
    """Serve an evaluation of items; its owner's token is in the environment."""
    server = serve_made("evaluation", "create", "Things", "--votes", str(VOTES), "--price", str(PRICE), "--currency",
                        "EUR", "--half-width", "0.12")  # fmt: skip
    for name, numbers in {"first": range(1500), "second": range(1000, 2500), "third": range(11)}.items():
        (tmp_path / f"{name}.csv").write_text("id\n" + "".join(f"x{k}\n" for k in numbers))
    house = Installation("karat.db")
    _, token = house.access.make_token(house.owner().id, name="t", scopes=["read", "submit", "manage"])
    house.close()
    monkeypatch.setenv("KARAT_TOKEN", token)
    return server


@pytest.fixture
def page(things, open_page):
    """Return the task's page, its owner signed in."""
    shown = open_page(viewport={"width": 1280, "height": 900})
    shown.goto(things.link)
    shown.get_by_role("link", name="Leaderboard").click()
    shown.get_by_role("heading", name="Things", exact=True).wait_for()
    return shown


@pytest.fixture
def command(things, capsys):
    """Run a command of `karat evaluation`; return what it prints."""

    def run(name, *words):
        capsys.readouterr()
        assert main(["evaluation", name, f"{things.url}/things", *words]) == 0
        return capsys.readouterr().out

    return run


def cost_of(answers):
    """Return what answers cost, counted in tenths of a cent: the oracle. Half a cent is one."""
    amount = (35 * answers + 5) // 10
    return f"{amount // 100:,}.{amount % 100:02d}"


def price_of(labels):
    return cost_of(VOTES * labels)


def asked(page, server, path):
    return page.request.get(f"{server.url}/api/projects/things/{path}").json()


def compare_submissions(page, server, command):
    """Compare what is said of each submission; return how many labels each needs at most."""
    from playwright.sync_api import expect

    page.reload()
    expect(page.locator(".submissions li")).to_have_count(3)
    listed = json.loads(command("submissions", "--json"))
    assert listed == asked(page, server, "submissions")
    table = command("submissions")
    for each in listed:
        first, most = each["first"], each["most"]
        low, high = price_of(first["labels"]), price_of(most["labels"])
        assert [json.dumps(cost["money"]) for cost in (first, most)] == [repr(float(text)) for text in (low, high)]
        assert most["answers"] == VOTES * most["labels"]
        (line,) = [line for line in table.splitlines() if f" {each['system']} " in line]
        assert f"{first['labels']:,} to {most['labels']:,}  {low} to {high} EUR" in line
        card = page.locator(".submissions li").filter(has=page.get_by_role("heading", name=each["system"]))
        expect(card).to_contain_text(f"{each['n_predictions']:,} predictions, {each['n_new']:,} new.")
        if each["state"] == "checked":
            expect(card).to_contain_text(f"{most['labels']:,} labels: {low} to {high} EUR.")
    return {each["system"]: each["most"]["labels"] for each in listed}


def test_what_a_submission_costs_is_the_same_everywhere(things, page, command, tmp_path):
    from playwright.sync_api import expect

    for name in ("first", "second"):
        page.get_by_label("System").fill(name)
        page.get_by_label("Predictions").set_input_files(tmp_path / f"{name}.csv")
        page.get_by_role("button", name="Check").click()
        expect(page.locator(".said")).to_contain_text(f"{name}: 1,500 predictions, 1,500 of them new.")
    said = command("submit", "third", "third.csv")
    first, most = (int(number) for number in re.findall(r"(\d+) labels at first and (\d+) at most", said)[0])
    assert f"({price_of(first)} to {price_of(most)} EUR)" in said
    before = compare_submissions(page, things, command)
    card = page.locator(".submissions li").filter(has=page.get_by_role("heading", name="first"))
    card.get_by_role("button", name="Accept and pay").click()
    expect(page.locator(".said")).to_contain_text("first is accepted")
    after = compare_submissions(page, things, command)
    assert after["first"] == before["first"]
    assert after["second"] < before["second"]  # a third of it is the first's
    assert after["third"] <= before["third"]


def test_what_was_spent_is_the_same_everywhere(things, page, command):
    from playwright.sync_api import expect

    command("submit", "first", "first.csv")
    assert "is accepted. It needs" in command("accept", "1")
    base, ours = f"{things.url}/api/projects/things", {"origin": things.url}
    tasks = page.request.post(f"{base}/next", data={"n": 7}, headers=ours).json()["tasks"]
    answers = [{"item": task["item"], "request": f"r{task['item']}", "value": "yes"} for task in tasks]
    taken = page.request.post(f"{base}/answers", data={"answers": answers}, headers=ours).json()["answers"]
    assert [each["accepted"] for each in taken] == [True] * 7
    status = json.loads(command("status", "--json"))
    assert status == asked(page, things, "evaluation")
    assert (status["answers"], status["spent"], status["label_price"]) == (7, float(cost_of(7)), 0.105)
    people = asked(page, things, "people")["annotators"]
    assert [(each["answers"], each["cost"]) for each in people] == [(7, float(cost_of(7)))]
    table = command("status")
    page.reload()
    for name, value in (("labels", f"{status['labelled']}"), ("answers", "7"), ("spent", f"{cost_of(7)} EUR")):
        assert re.search(rf"^{name}\s+{re.escape(value)}$", table, flags=re.MULTILINE)
        tile = page.locator(".tile").filter(has=page.locator("dt", has_text=re.compile(f"^{name}$")))
        expect(tile.locator("dd")).to_contain_text(value)
