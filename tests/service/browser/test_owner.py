"""In a real Chromium: a project from nothing but the page, keys of one's own, every template, and nothing that runs."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.service.browser.conftest import Server
from tests.service.browser.test_page import SCRIPTS, expect_count, sign_in

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """Serve an empty folder, with another one whose tables may be named."""
    (tmp_path / "tables").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KARAT_FOLDER", "tables")
    server = Server(tmp_path)
    server.start()
    yield server
    server.stop()


def violations(page):
    page.wait_for_timeout(300)
    found = Axe().run(page).response["violations"]
    return [f"{entry['id']}: {[node['html'][:120] for node in entry['nodes']][:3]}" for entry in found]


def begin(page, path, *, template="fields"):
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Upload a file").set_input_files(path)
    page.get_by_label("Title", exact=True).wait_for()
    page.get_by_label("An item looks like").select_option(template)


def test_from_an_empty_folder_to_a_project_on_the_page(empty, facts_frame, open_page, tmp_path):
    from playwright.sync_api import expect

    facts_frame.to_csv(tmp_path / "facts.csv", index=False)
    facts_frame.assign(label=[int(n % 5 != 0) for n in facts_frame["id"]]).head(60).to_csv("gold.csv", index=False)
    page = open_page()
    sign_in(page, empty)
    begin(page, tmp_path / "facts.csv", template="triple")
    expect(page.locator(".sample")).to_contain_text("1 + 1 equals 2")
    page.get_by_label("Question", exact=True).fill("True?")
    page.get_by_label("Key", exact=True).first.fill("u")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("alert")).to_contain_text("'key' must be one character other than")
    page.get_by_label("Key", exact=True).first.fill("1")
    page.get_by_label("Precision within").fill("7")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("alert")).to_contain_text("Must be")
    assert violations(page) == []
    page.get_by_label("Precision within").fill("0.1")
    page.get_by_label("People an item").fill("2")
    page.get_by_label("More where they disagree").fill("1")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#headline")).to_contain_text("none of them labelled yet")
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Guidelines").fill("# Look twice")
    page.get_by_label("Share of gold questions").fill("0.2")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.get_by_label("Table").set_input_files(tmp_path / "gold.csv")
    page.get_by_role("button", name="Add them").click()
    expect(page.get_by_text("60 gold questions added.")).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    page.goto(f"{empty.url}/#/p/facts/label")
    page.locator(".task").wait_for()
    expect(page.locator("aside")).to_contain_text("Look twice")
    for number in range(1, 21):
        page.locator(".task").wait_for()
        page.keyboard.press("1")
        expect(page.locator("#count")).to_have_text(str(number))
    expect_count(page, 20)
    open_page.problems[:] = [text for text in open_page.problems if "status of 400" not in text]


def test_a_bad_table_is_explained(empty, open_page, tmp_path):
    from playwright.sync_api import expect

    (tmp_path / "tables/good.csv").write_text("id,text,score\n" + "".join(f"{n},t,{n}\n" for n in range(1, 40)))
    (tmp_path / "bad.csv").write_text("id,text,score\n1,a,0.5\n2,b,high\n")
    page = open_page()
    sign_in(page, empty)
    begin(page, tmp_path / "bad.csv")
    page.get_by_label("Ranked by").select_option("score")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "bad.csv, row 2, column 'score': expected a finite number; got 'high'"
    )
    page.get_by_label("or take one from the server's folder").select_option("good.csv")
    expect(page.get_by_role("heading", name="good.csv: 39 items")).to_be_visible()
    open_page.problems[:] = [text for text in open_page.problems if "status of 400" not in text]


def test_keys_of_ones_own(serve, facts_frame, open_page):
    from playwright.sync_api import expect

    server = serve(facts_frame, "--template", "triple", "--title", "Facts")
    page = open_page()
    sign_in(page, server)
    page.get_by_role("link", name="Label").click()
    page.locator(".task").wait_for()
    page.keyboard.press("?")
    page.get_by_role("button", name="Change my keys").click()
    page.get_by_label("Key for Right").fill("s")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("must be a key of its own")
    page.get_by_label("Key for Right").fill("j")
    page.get_by_label("Key for undo").fill("k")
    assert violations(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".answer.positive kbd")).to_have_text("j")
    page.keyboard.press("j")
    expect_count(page, 1)
    page.keyboard.press("u")  # means nothing any more
    page.keyboard.press("k")
    expect_count(page, 0)
    page.reload()
    page.locator(".task").wait_for()
    page.keyboard.press("j")
    expect_count(page, 1)
    open_page.problems[:] = [text for text in open_page.problems if "status of 400" not in text]


def test_spans_count_code_points_and_search_results_are_text(empty, open_page, tmp_path):
    from playwright.sync_api import expect

    text = "😀👍 Ada Lovelace wrote it in é 1843."
    start = text.index("Ada")  # as Python counts
    spans = [[start, start + 12, "person"], {"start": text.index("1843"), "end": text.index("1843") + 4}]
    rows = [{"id": n, "text": text, "spans": spans, "score": n / 40} for n in range(1, 40)]
    (tmp_path / "tables/spans.jsonl").write_text("\n".join(map(json.dumps, rows)))
    page = open_page(viewport={"width": 390, "height": 800})
    sign_in(page, empty)
    page.get_by_role("link", name="New project").click()
    page.get_by_label("or take one from the server's folder").select_option("spans.jsonl")
    page.get_by_label("An item looks like").select_option("spans")
    expect(page.locator(".sample mark").first).to_have_text("Ada Lovelaceperson")
    expect(page.locator(".sample mark").last).to_have_text("1843")
    page.get_by_label("An item looks like").select_option("search")
    expect(page.locator(".sample .query")).to_contain_text("Ada Lovelace")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # a phone needs no scrolling sideways
    assert violations(page) == []


def test_no_payload_runs_where_an_owner_writes(empty, open_page, tmp_path):
    """Payloads as column names, cells, title, question, answers, guidelines, currency, file and user names."""
    from playwright.sync_api import expect

    columns = {f"{script} {place}"[:200]: SCRIPTS for place, script in enumerate(SCRIPTS[:12])}
    pd.DataFrame({**columns, EVIL: range(len(SCRIPTS)), "score": range(len(SCRIPTS))}).to_csv("t.csv", index=False)
    page = open_page()
    sign_in(page, empty)
    begin(page, tmp_path / "t.csv")
    page.get_by_label("Title", exact=True).fill(EVIL)
    page.get_by_label("Question", exact=True).fill("<script>alert(1)</script>")
    page.get_by_label("Label", exact=True).first.fill("<svg onload=alert(1)>")
    page.get_by_label("Guidelines").fill("\n\n".join(SCRIPTS))
    page.get_by_label("Currency").fill("<b>")
    page.get_by_label("Price of an answer").fill("1")
    page.get_by_label("People an item").fill("2")
    for template in ("fields", "triple", "pair", "text", "spans", "search"):
        page.get_by_label("An item looks like").select_option(template)
        page.wait_for_timeout(50)
    page.get_by_role("button", name="Begin").click()
    page.locator("#headline").wait_for()
    address = page.url
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("#invitation").input_value()
    other = open_page()
    other.goto(link)
    other.get_by_label("Choose a name").fill("<b/onclick=alert(1)>")
    other.get_by_label("Choose a password").fill("long enough!")
    other.get_by_role("button", name="Join").click()
    other.get_by_role("heading", name="My projects").wait_for()
    for who in (page, other):
        who.goto(f"{empty.url}/#/p/img-src-x-onerror-alert-1/label")
        for number in range(1, 5):
            who.locator(".task").wait_for()
            who.keyboard.press("1" if who is page else "2")
            expect(who.locator("#count")).to_have_text(str(number))
        who.keyboard.press("?")
    page.goto(address)
    expect(page.locator("#people-title")).to_be_visible()
    expect(page.get_by_role("region", name="Annotators")).to_contain_text("<b/onclick=alert(1)>")
    page.goto(f"{address}/settings")
    expect(page.get_by_label("Title", exact=True)).to_have_value(EVIL)
    for who in (page, other):
        for tag in ("script", "iframe", "object", "embed", "svg", "video", "style", "b", "img[onerror]"):
            assert who.locator(f"main {tag}").count() == 0
        for place in who.locator("main a").all():
            assert not re.match(r"\s*(javascript|data):", place.get_attribute("href") or "", re.IGNORECASE)


def test_an_owner_takes_somebody_out(serve, facts_frame, open_page):
    """A role is changed, somebody is removed after a second thought, and is out at once; the owner stays."""
    from playwright.sync_api import expect

    server = serve(facts_frame, "--template", "triple", "--title", "Facts")
    page, other = open_page(), open_page()
    sign_in(page, server)
    page.goto(f"{server.url}/#/p/facts")
    page.get_by_role("button", name="Make a link").click()
    other.goto(page.locator("#invitation").input_value())
    other.get_by_label("Choose a name").fill("ann")
    other.get_by_label("Choose a password").fill("long enough!")
    other.get_by_role("button", name="Join").click()
    other.get_by_role("heading", name="My projects").wait_for()
    other.goto(f"{server.url}/#/p/facts/label")
    other.locator(".task").wait_for()
    other.keyboard.press("1")
    expect_count(other, 1)
    page.reload()
    members = page.get_by_role("region", name="Roles")
    expect(members).to_contain_text("ann")
    expect(members.get_by_role("row", name="owner")).to_contain_text("you")
    members.get_by_label("Role of ann").select_option("viewer")
    expect(page.get_by_text("ann is viewer now.")).to_be_visible()
    members.get_by_role("button", name="Remove ann").click()
    members.get_by_role("button", name="Keep").click()
    members.get_by_role("button", name="Remove ann").click()
    assert violations(page) == []
    members.get_by_role("button", name="Really remove").click()
    expect(page.get_by_text("ann is out; the answers stay.")).to_be_visible()
    expect(members).not_to_contain_text("ann")
    expect(page.get_by_role("region", name="Annotators")).to_contain_text("ann")
    other.goto(f"{server.url}/#/")
    other.reload()
    expect(other.get_by_role("heading", name="My projects")).to_be_visible()
    expect(other.get_by_role("heading", name="Facts")).to_have_count(0)
    open_page.problems[:] = [text for text in open_page.problems if "status of 40" not in text]


def test_the_curve_says_what_it_speaks_of(serve, facts_frame, open_page, tmp_path):
    """Of the labels as given, until gold questions are answered; then of the truth, and one can switch."""
    from playwright.sync_api import expect

    gold = facts_frame.assign(label=[int(number % 5 != 0) for number in facts_frame["id"]])
    gold = gold[gold["id"] % 5 < 2].head(200).copy()  # half of them right
    gold["id"] = [f"g{number}" for number in gold["id"]]
    gold.to_csv(tmp_path / "gold.csv", index=False)
    options = ("--template", "triple", "--title", "Facts", "--gold", "gold.csv", "--gold-label", "label")
    server = serve(facts_frame, *options, "--gold-share", "0.5", "--price", "0.1", "--currency", "EUR")
    page = open_page()
    sign_in(page, server)
    page.goto(f"{server.url}/#/p/facts/label")
    for number in range(1, 101):
        page.locator(".task").wait_for()
        text = page.locator(".item").inner_text()
        left, right = (int(word) for word in re.match(r"(\d+) \+ \d+\s+equals\s+(\d+)", text).groups())
        page.keyboard.press("1" if right == 2 * left else "2")
        expect(page.locator("#count")).to_have_text(str(number))
        if number == 1:
            page.goto(f"{server.url}/#/p/facts")
            expect(page.locator("#headline")).not_to_be_empty()
            if page.locator("#speaks-of").count():
                expect(page.locator("#speaks-of")).to_contain_text("speaks of the labels as people give them")
            page.goto(f"{server.url}/#/p/facts/label")
    page.goto(f"{server.url}/#/p/facts")
    expect(page.locator("#speaks-of")).to_contain_text("The curve speaks of the truth")
    expect(page.locator("main")).to_contain_text("All ranges hold at once at 94% confidence")
    page.get_by_role("button", name="Labels as given").click()
    expect(page.locator("#speaks-of")).to_contain_text("speaks of the labels as people give them")
    expect(page.locator("main")).to_contain_text("All ranges hold at once at 95% confidence")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
