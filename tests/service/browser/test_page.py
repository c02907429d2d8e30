"""In a real Chromium: sign in, label by keyboard alone, undo, reload, two people at once, the owner watching."""

from __future__ import annotations

import json
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

from karat.cli.main import main

SCRIPTS = Path(__file__).with_name("payloads.txt").read_text(encoding="utf-8").splitlines()


def sign_in(page, server):
    page.goto(server.link)
    page.get_by_role("heading", name="My projects").wait_for()


def count(page):
    return int(page.locator("#count").inner_text().replace(",", ""))


def expect_count(page, n):
    from playwright.sync_api import expect

    expect(page.locator("#count")).to_have_text(f"{n:,}")
    expect(page.locator(".status")).to_have_text("All saved")


def label_by_key(page, n, *, from_=0):
    """Answer n items by the keyboard, truthfully; wait for each item to appear, as a person would."""
    from playwright.sync_api import expect

    for number in range(n):
        text = page.locator(".task .item p").inner_text()
        left, _, right = text.partition(" equals ")
        a, b = (int(part) for part in left.split(" + "))
        page.keyboard.press("1" if a + b == int(right) else "2")
        expect(page.locator("#count")).to_have_text(f"{from_ + number + 1:,}")
        if number < n - 1:
            expect(page.locator(".task .item p")).not_to_have_text(text)


def test_label_undo_reload_watch_with_two_people(serve, facts_frame, open_page, tmp_path, monkeypatch, capsys):
    from playwright.sync_api import expect

    server = serve(facts_frame, "--template", "triple", "--title", "Facts", "--price", "0.1", "--question", "True?",
                   "--absolute", "0.15", "--relative", "0.3", "--pilot", "20", "--from-rank", "500",
                   "--looks", "3")  # fmt: skip
    owner = open_page()
    sign_in(owner, server)
    owner.get_by_role("link", name="Label").click()
    owner.locator(".task").wait_for()
    label_by_key(owner, 50)
    expect_count(owner, 50)
    owner.keyboard.press("u")
    expect(owner.locator("#count")).to_have_text("49")
    owner.keyboard.press("u")
    expect(owner.locator("#count")).to_have_text("48")
    owner.reload()
    owner.locator(".task").wait_for()
    expect_count(owner, 48)
    owner.goto(f"{server.url}/#/p/facts")
    owner.get_by_role("button", name="Make a link").click()
    link = owner.locator("#invitation").input_value()

    second = open_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
    second.goto(link)
    second.get_by_label("Choose a name").fill("ada")
    second.get_by_label("Choose a password").fill("long enough!")
    second.get_by_role("button", name="Join").click()
    second.get_by_role("link", name="Label").click()
    second.locator(".task").wait_for()
    assert second.get_by_role("link", name="Watch").count() == 0
    label_by_key(second, 10)
    expect_count(second, 10)

    expect(owner.locator("#headline")).to_contain_text("58 labels", timeout=60_000)
    second.goto(f"{server.url}/#/")  # gives back what she holds
    owner.goto(f"{server.url}/#/p/facts/label")
    done = 48
    either = owner.locator(".task, .empty.finished").first
    either.wait_for()
    while owner.locator(".task").count():
        label_by_key(owner, 1, from_=done)
        done += 1
        either.wait_for(timeout=60_000)
    assert done < 400
    owner.goto(f"{server.url}/#/p/facts")
    expect(owner.locator("#met")).to_be_visible(timeout=60_000)
    headline = owner.locator("#headline").inner_text()

    monkeypatch.chdir(tmp_path)
    assert main(["export", "facts", "-o", "out"]) == 0
    capsys.readouterr()
    assert main(["curve", "out/draw.json", "out/labels.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    low, high = (found["summary"]["precision at 2,000"][side] for side in ("low", "high"))
    assert f"between {low:.1%} and {high:.1%} are right" in headline


def test_answers_wait_while_the_service_is_away(serve, facts_frame, open_page):
    from playwright.sync_api import expect

    server = serve(facts_frame, "--template", "triple", "--title", "Facts")
    page = open_page()
    sign_in(page, server)
    page.get_by_role("link", name="Label").click()
    page.locator(".task").wait_for()
    label_by_key(page, 3)
    expect_count(page, 3)
    server.stop()
    for number in range(3):
        page.keyboard.press("1")
        expect(page.locator("#count")).to_have_text(str(4 + number))
    expect(page.locator(".status")).to_contain_text("Offline – 3 waiting")
    page.keyboard.press("u")
    expect(page.locator(".status")).to_contain_text("2 waiting")
    server.start()
    expect_count(page, 5)
    page.reload()
    page.locator(".task").wait_for()
    expect_count(page, 5)
    open_page.problems[:] = [text for text in open_page.problems if "ERR_CONNECTION_REFUSED" not in text]


def test_accessible_on_every_screen(serve, facts_frame, open_page, tmp_path):
    (tmp_path / "guide.md").write_text("# Facts\n\nSay *right* only if it holds. See [more](https://example.org).\n")
    server = serve(facts_frame, "--template", "triple", "--title", "Facts", "--votes", "1", "--guidelines", "guide.md")
    for scheme in ("light", "dark"):
        page = open_page(color_scheme=scheme)
        found = {}

        def check(name, page=page, found=found, scheme=scheme):
            page.wait_for_timeout(300)
            result = Axe().run(page)
            violations = [
                f"{v['id']}: {[n['html'][:100] for n in v['nodes']][:3]}" for v in result.response["violations"]
            ]
            if violations:
                found[f"{scheme} {name}"] = violations

        page.goto(server.url)
        page.get_by_role("heading", name="Sign in").wait_for()
        check("sign in")
        if scheme == "dark":
            assert found == {}
            break
        sign_in(page, server)
        page.get_by_role("link", name="Label").wait_for()
        check("projects")
        for name, path, ready in (
            ("account", "#/me", "form"), ("label", "#/p/facts/label", ".task"), ("dashboard", "#/p/facts", "#headline"),
        ):  # fmt: skip
            for mode in ("light", "dark"):
                page.emulate_media(color_scheme=mode)
                page.goto(f"{server.url}/{path}")
                page.locator(ready).first.wait_for()
                if name == "label":
                    page.keyboard.press("n")
                    page.locator("textarea").wait_for()
                    page.keyboard.press("Escape")
                    page.keyboard.press("?")
                check(f"{name} {mode}")
        assert found == {}


def test_no_payload_runs(serve, facts_frame, open_page, tmp_path):
    """Payloads in every text that people or files bring in; a dialog, an error or a policy report fails the test."""
    from playwright.sync_api import expect

    assert len(SCRIPTS) >= 40
    facts_frame["subject"] = [SCRIPTS[number % len(SCRIPTS)] for number in range(len(facts_frame))]
    facts_frame["object"] = facts_frame["subject"]
    (tmp_path / "guide.md").write_text("\n\n".join(SCRIPTS))
    server = serve(facts_frame, "--title", "<img src=x onerror=alert(1)>", "--guidelines", "guide.md",
                   "--question", "<script>alert(1)</script>", "--currency", "<b>")  # fmt: skip
    page = open_page()
    sign_in(page, server)
    page.get_by_role("link", name="Label").click()
    page.locator(".task").wait_for()
    for number, script in enumerate(SCRIPTS):
        page.keyboard.press("n")
        page.locator("textarea").fill(script)
        page.locator("textarea").press("Escape")
        page.keyboard.press("3")
        expect(page.locator("#count")).to_have_text(str(number + 1))
    expect_count(page, len(SCRIPTS))
    page.keyboard.press("b")
    page.locator(".past li").first.wait_for()
    page.goto(f"{server.url}/#/p/img-src-x-onerror-alert-1")
    page.locator(".disputes li").first.wait_for()
    page.wait_for_timeout(500)
    for tag in ("main script", "main iframe", "main object", "main embed", "main svg", "main video", "main style"):
        assert page.locator(tag).count() == 0
    for link in page.locator("main a").all():
        assert not (link.get_attribute("href") or "").lower().startswith("javascript")


def test_the_page_is_served_from_here_alone(serve, facts_frame, open_page):
    server = serve(facts_frame, "--title", "Facts")
    page = open_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    page.get_by_role("heading", name="Sign in").wait_for()
    assert len(asked) >= 4
    assert all(url.startswith(server.url) for url in asked)
