"""API tokens on the account's page, by keyboard alone."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe


def axe(page):
    page.wait_for_timeout(300)
    return [each["id"] for each in Axe().run(page).response["violations"]]


def test_make_copy_use_and_revoke_a_token_by_keyboard(serve_made, open_page):
    from playwright.sync_api import expect

    server = serve_made("evaluation", "create", "Matches", "--votes", "1")
    page = open_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(server.link)
    page.get_by_role("heading", name="My projects").wait_for()
    page.goto(f"{server.url}/#/me")
    name = "<img src=x onerror=alert(1)>"
    page.get_by_label("Name of a new token").fill(name)
    read, submit = page.get_by_label("read what I can read"), page.get_by_label("submit systems")
    expect(read).to_be_checked()
    read.press("Space")
    page.get_by_role("button", name="Make a token").press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Choose what the token may do.")
    submit.press("Space")
    page.get_by_role("button", name="Make a token").press("Enter")
    shown = page.get_by_label(f"Token {name}")
    expect(shown).to_be_focused()
    secret = shown.input_value()
    assert secret.startswith("karat_")
    expect(page.get_by_role("status").filter(has_text="it is not shown again")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.locator(".scroll").evaluate("each => each.scrollWidth <= each.clientWidth")  # whole on a phone
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe(page) == []

    stranger = open_page()  # without a cookie: the token alone opens, and as far as it should
    headers = {"authorization": f"Bearer {secret}"}
    base = f"{server.url}/api/projects/matches"
    assert stranger.request.get(f"{base}/evaluation", headers=headers).status == 403
    assert stranger.request.get(f"{base}/submissions", headers=headers).status == 200
    page.reload()
    line = page.get_by_role("row").filter(has_text=name)
    expect(line).to_contain_text("submit")
    expect(line).not_to_contain_text("never")
    expect(page.get_by_label(f"Token {name}")).to_have_count(0)
    assert secret not in page.content()
    line.get_by_role("button", name=f"Revoke {name}").press("Enter")
    line.get_by_role("button", name="Keep").press("Enter")
    line.get_by_role("button", name=f"Revoke {name}").press("Enter")
    line.get_by_role("button", name="Really revoke").press("Enter")
    expect(page.get_by_role("table")).to_have_count(0)
    assert stranger.request.get(f"{base}/submissions", headers=headers).status == 401
