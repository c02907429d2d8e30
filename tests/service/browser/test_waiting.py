"""Who has nothing to do is told so, and the page goes on by itself when more comes."""

from __future__ import annotations

import time

import pytest
from axe_playwright_python.sync_playwright import Axe


@pytest.fixture
def evaluation(serve_made):
    """Serve an evaluation of items."""
    return serve_made("evaluation", "create", "Matches", "--votes", "1", "--half-width", "0.4")


def submit(page, server, name, ids):
    """Submit a system as the owner, and accept it."""
    base = f"{server.url}/api/projects/matches/submissions"
    body = "id\n" + "".join(f"{each}\n" for each in ids)
    sent = page.request.post(f"{base}?system={name}&file={name}.csv", data=body.encode())
    assert sent.status == 201, sent.text()
    assert page.request.post(f"{base}/{sent.json()['id']}/accept").status == 200


def answer_all(page):
    from playwright.sync_api import expect

    either = page.locator(".task, .empty.finished").first
    either.wait_for()
    while page.locator(".task").count():
        count = int(page.locator("#count").inner_text())
        page.keyboard.press("1")
        expect(page.locator("#count")).to_have_text(str(count + 1))
        expect(page.locator(".status")).to_have_text("All saved")
        either.wait_for()


@pytest.mark.parametrize("sign", ["the clock", "the focus"])
def test_judging_goes_on_when_another_system_is_accepted(evaluation, open_page, sign):
    from playwright.sync_api import expect

    page = open_page()
    page.goto(evaluation.link)
    page.get_by_role("heading", name="My projects").wait_for()
    submit(page, evaluation, "first", range(40))
    page.goto(f"{evaluation.url}/#/p/matches/label")
    answer_all(page)
    waiting = page.get_by_role("status").filter(has_text="Nothing to judge right now")
    expect(waiting).to_contain_text("This page goes on by itself when more comes.")
    assert Axe().run(page).response["violations"] == []
    began = time.monotonic()
    submit(page, evaluation, "second", range(1000, 1040))
    if sign == "the focus":
        page.evaluate("dispatchEvent(new Event('focus'))")
    page.locator(".task").wait_for()
    if sign == "the focus":
        assert time.monotonic() - began < 12  # the clock alone may take 15 seconds
    expect(page.locator("[aria-live=polite]")).to_contain_text("There is more to judge")
    expect(waiting).to_have_count(0)
    answer_all(page)
    expect(waiting).to_have_count(1)


def test_what_is_over_for_good_is_said_to_be(evaluation, open_page):
    from playwright.sync_api import expect

    page = open_page()
    page.goto(evaluation.link)
    page.get_by_role("heading", name="My projects").wait_for()
    page.goto(f"{evaluation.url}/#/p/matches/label")
    expect(page.get_by_role("status").filter(has_text="Nothing to judge right now")).to_be_visible()
    settings = f"{evaluation.url}/api/projects/matches/settings"
    for state, said in (("paused", "The project is paused"), ("closed", "All done – thank you")):
        assert page.request.patch(settings, data={"state": state}).status == 200
        page.evaluate("dispatchEvent(new Event('focus'))")
        expect(page.get_by_role("status").filter(has_text=said)).to_be_visible()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.wait_for_timeout(5000)
    assert asked == []


def test_reading_goes_on_when_somebody_gives_a_document_back(serve_made, open_page, tmp_path):
    from playwright.sync_api import expect

    (tmp_path / "one.jsonl").write_text('{"id": "one", "text": "Ann Lee works for Acme."}\n')
    server = serve_made("evaluation", "create", "News", "--documents", "one.jsonl", "--votes", "1", "--read", "1")
    first = open_page()
    first.goto(server.link)
    first.get_by_role("heading", name="My projects").wait_for()
    base = f"{server.url}/api/projects/news-documents"
    link = first.request.post(f"{base}/invitations", data={"role": "annotator"}).json()["link"]
    first.goto(f"{server.url}/#/r/news-documents")
    first.locator(".reader").wait_for()
    second = open_page()
    second.goto(link)
    expect(second.locator("main")).to_contain_text("As reader. You read documents and mark what they say.")
    second.get_by_label("Choose a name").fill("ada")
    second.get_by_label("Choose a password").fill("long enough!")
    second.get_by_role("button", name="Join").click()
    second.get_by_role("link", name="Read").click()
    expect(second.get_by_role("status").filter(has_text="Others are finishing theirs")).to_be_visible()
    assert Axe().run(second).response["violations"] == []
    first.goto(f"{server.url}/#/")
    first.request.post(f"{base}/release")
    second.evaluate("dispatchEvent(new Event('focus'))")
    second.locator(".reader").wait_for()
    second.keyboard.press("1")
    second.keyboard.press("d")
    expect(second.get_by_role("status").filter(has_text="All done – thank you")).to_be_visible()
    first.goto(f"{server.url}/#/r/news-documents")
    expect(first.get_by_role("status").filter(has_text="All done – thank you")).to_be_visible()
