"""From an invitation to a public leaderboard: what participants are told, what strangers see, what was spent."""

from __future__ import annotations

from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

SCRIPTS = Path(__file__).with_name("payloads.txt").read_text(encoding="utf-8").splitlines()
TITLE, SYSTEM = "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>"
SLUG = "img-src-x-onerror-alert-1"


def axe(page):
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(300)
        found += [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in Axe().run(page).response["violations"]]
    page.emulate_media(color_scheme="light")
    return found


def expect_harmless(page):
    """A dialog or an error fails the test anyway."""
    for tag in ("main script", "main iframe", "main object", "main embed", "main video", "main style", "main img"):
        assert page.locator(tag).count() == 0
    for link in page.locator("main a").all():
        assert not (link.get_attribute("href") or "").lower().startswith("javascript")


def judge_all(page, server):
    """Answer whatever is asked, as the owner."""
    base = f"{server.url}/api/projects/{SLUG}"
    n = 0
    while tasks := page.request.post(f"{base}/next", data={"n": 20}).json()["tasks"]:
        given = [{"item": task["item"], "value": "yes", "request": f"r{task['item']}"} for task in tasks]
        page.request.post(f"{base}/answers", data={"answers": given})
        n += len(tasks)
    return n


def test_a_participant_submits_and_a_stranger_reads_the_public_board(  # noqa: PLR0915  # one story
    serve_made, open_page, tmp_path
):
    from playwright.sync_api import expect

    (tmp_path / "guide.md").write_text("\n\n".join(SCRIPTS))
    server = serve_made("evaluation", "create", TITLE, "--votes", "1", "--price", "0.5", "--currency", "<b>",
                        "--half-width", "0.3", "--guidelines", "guide.md")  # fmt: skip
    owner = open_page()
    owner.goto(server.link)
    owner.get_by_role("heading", name="My projects").wait_for()
    owner.goto(f"{server.url}/#/e/{SLUG}")
    owner.get_by_role("button", name="Make a link").click()
    link = owner.locator("#invitation").input_value()

    team = open_page()
    team.goto(link)
    expect(team.get_by_role("heading", level=1)).to_have_text(f"You are invited: {TITLE}")
    expect(team.locator("main")).to_contain_text("As participant. You submit systems and see their scores")
    assert axe(team) == []
    team.get_by_label("Choose a name").fill("ada")
    team.get_by_label("Choose a password").fill("long enough!")
    team.get_by_role("button", name="Join").press("Enter")
    card = team.locator(".card")
    expect(card).to_contain_text("participant")
    expect(card).to_contain_text("You submit systems and see their scores")
    expect(card).not_to_contain_text("viewer")
    expect(card).not_to_contain_text("answers by you")
    assert axe(team) == []
    card.get_by_role("link", name="Submit, and see scores").press("Enter")
    expect(team.locator("main")).to_contain_text("All or nothing: a file with any fault is refused as a whole")
    (tmp_path / "ids.csv").write_text("id\n" + "".join(f"{number}\n" for number in range(40)))
    team.get_by_label("System").fill(SYSTEM)
    team.get_by_label("Predictions").set_input_files(tmp_path / "ids.csv")
    team.get_by_role("button", name="Check").press("Enter")
    expect(team.locator(".said")).to_contain_text("It waits for the owner.")
    team.get_by_role("button", name="Retract").press("Enter")  # asked, and not done: it only waits
    expect(team.get_by_role("button", name="Take this submission back?")).to_be_visible()
    owner.get_by_role("button", name="Accept and pay").press("Enter")
    expect(owner.get_by_role("button", name="Accept and pay")).to_have_count(0)
    n = judge_all(owner, server)
    assert n > 0
    judge = open_page(viewport={"width": 390, "height": 800})
    owner.get_by_label("Invite somebody as").select_option("annotator")
    owner.get_by_role("button", name="Make a link").click()
    expect(owner.locator("#invitation")).not_to_have_value(link)
    judge.goto(owner.locator("#invitation").input_value())
    judge.get_by_label("Choose a name").fill("joe")
    judge.get_by_label("Choose a password").fill("long enough!")
    judge.get_by_role("button", name="Join").press("Enter")
    judge.locator(".card").wait_for()
    judge.goto(f"{server.url}/#/e/{SLUG}")
    expect(judge.locator("main")).to_contain_text("1 system is scored; the scores are hidden until the owner publishes")
    expect(judge.locator("main")).not_to_contain_text("your own systems")

    stranger = open_page()
    address = f"{server.url}/#/board/{SLUG}"
    stranger.goto(address)
    nothing = stranger.get_by_role("status").filter(has_text="There is no public leaderboard")
    expect(nothing).to_be_visible()
    assert axe(stranger) == []
    owner.get_by_role("button", name="Publish scores").press("Enter")  # to members, unless something else is said
    expect(owner.locator(".said")).to_have_text("All members see all scores now.")
    expect(owner.get_by_role("link", name="See the public page")).to_have_count(0)
    stranger.reload()
    expect(nothing).to_be_visible()
    owner.get_by_role("button", name="Hide scores").press("Enter")
    owner.get_by_label("Publish to").select_option("anyone with the address")
    owner.get_by_role("button", name="Publish scores").press("Enter")
    expect(owner.get_by_text("Published to anyone with the address.")).to_be_visible()
    assert axe(owner) == []
    expect(judge.locator(".board tbody tr")).to_have_count(1)
    expect(judge.get_by_role("link", name="Labels and their probabilities")).to_be_visible()
    expect(judge.locator("main")).not_to_contain_text("karat pool scores")  # the pool is for owners
    assert judge.locator(".scroll").first.evaluate("each => each.scrollWidth <= each.clientWidth")  # whole on a phone
    assert axe(judge) == []
    assert owner.get_by_role("link", name="See the public page").get_attribute("href") == f"#/board/{SLUG}"

    stranger.reload()
    expect(stranger.get_by_role("heading", level=1)).to_have_text(TITLE)
    expect(stranger.locator(".board tbody tr")).to_have_count(1)
    expect(stranger.locator(".board tbody th")).to_have_text(SYSTEM)
    assert stranger.locator(".board tbody td").all_inner_texts() == owner.locator(".board tbody td").all_inner_texts()
    expect(stranger.locator(".tiles")).to_contain_text(f"spent{0.5 * n:.2f} <b>")
    expect(stranger.get_by_role("heading", name="What this assumes")).to_be_visible()
    stranger.get_by_label("ranked by").select_option("precision")
    expect(stranger.get_by_role("columnheader", name="precision")).to_have_attribute("aria-sort", "descending")
    for role in ("button", "textbox"):
        assert stranger.get_by_role(role).count() == 0
    assert stranger.locator("a").evaluate_all("all => all.map(each => each.getAttribute('href'))") == ["#/"]
    expect(stranger.locator("body")).not_to_contain_text("ada")
    assert axe(stranger) == []
    expect_harmless(stranger)
    asked = stranger.request.get(f"{server.url}/api/boards/{SLUG}")
    assert "script-src 'self'" in asked.headers["content-security-policy"]
    owner.get_by_role("button", name="Hide scores").press("Enter")
    expect(owner.get_by_role("button", name="Publish scores")).to_be_visible()
    stranger.reload()
    expect(nothing).to_be_visible()
    open_page.problems[:] = [text for text in open_page.problems if "404" not in text]
