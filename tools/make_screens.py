"""Take the pictures of the labelling service into docs/pictures: a campaign of four colleagues, in a real browser.

Needs Chromium: on the path, or named by KARAT_CHROMIUM.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from screen import PICTURES, keep, open_screen

from karat.demo.facts import make_facts
from karat.service.assignment import Answer
from karat.service.installation import Installation
from karat.store import people

if TYPE_CHECKING:
    from playwright.sync_api import Page

ACCURACY = {"ada": 0.97, "ben": 0.95, "chloe": 0.96, "dov": 0.8}
GUIDELINES = """A fact is **right** if it holds exactly.

- Sums, products and divisors: do the arithmetic.
- *stands in the dictionary before* means alphabetical order.

If you cannot tell, say *unsure*: it is an answer too.
"""


def main() -> None:
    with open_screen() as (page, house, url, folder):
        take_all(page, house, url, folder, write_tables(folder))


def write_tables(folder: Path) -> dict[str, int]:
    """Write the resource and a table of gold questions; return what is true."""
    facts = pd.DataFrame(make_facts(20_000)._asdict())
    truth = dict(zip(facts["id"], facts["label"].tolist(), strict=True))
    facts.drop(columns="label").to_csv(folder / "facts.csv", index=False)
    gold = pd.DataFrame(make_facts(60, seed=8)._asdict()).drop(columns="score")
    gold["id"] = [f"gold-{number}" for number in range(60)]
    gold.to_csv(folder / "gold.csv", index=False)
    return truth | dict(zip(gold["id"], gold["label"].tolist(), strict=True))


def take_all(page: Page, house: Installation, url: str, folder: Path, truth: dict[str, int]) -> None:
    page.goto(f"{url}/#/link/{house.access.make_sign_in_link(house.owner().id)}")
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Upload a file").set_input_files(folder / "facts.csv")
    page.get_by_label("Title", exact=True).fill("Facts")
    page.get_by_label("Question", exact=True).fill("Is this fact true?")
    page.get_by_label("Guidelines").fill(GUIDELINES)
    page.get_by_label("An item looks like").select_option("triple")
    page.get_by_label("Price of an answer").fill("0.05")
    page.get_by_label("Currency").fill("EUR")
    page.get_by_label("People an item").fill("2")
    page.get_by_label("More where they disagree").fill("1")
    page.get_by_label("Precision within").fill("0.1")
    page.get_by_label("or within this share of it").fill("0.2")
    keep(page, PICTURES / "service-new-project.png", whole=True)
    page.get_by_role("button", name="Begin").click()
    page.locator("#headline").wait_for()
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Share of gold questions").fill("0.1")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    page.get_by_label("Table").set_input_files(folder / "gold.csv")
    page.get_by_label("Column with the ids").fill("id")
    page.get_by_role("button", name="Add them").click()
    page.get_by_text("gold questions added").wait_for()
    keep(page, PICTURES / "service-settings.png", element="main > form:nth-of-type(2)")
    page.goto(f"{url}/#/p/facts/label")
    page.locator(".task").wait_for()
    keep(page, PICTURES / "service-labelling.png")
    page.keyboard.press("?")
    page.get_by_role("button", name="Change my keys").click()
    keep(page, PICTURES / "service-keys.png", element="aside")
    phone = page.context.browser.new_context(
        storage_state=page.context.storage_state(), locale="en-US", viewport={"width": 390, "height": 720},
        color_scheme="dark", device_scale_factor=1.5,
    ).new_page()  # fmt: skip
    page.goto(f"{url}/#/")
    phone.goto(f"{url}/#/p/facts/label")
    phone.locator(".task").wait_for()
    keep(phone, PICTURES / "service-phone.png")
    phone.goto(f"{url}/#/")
    phone.get_by_role("heading", name="My projects").wait_for()
    for share, name in ((0.35, "watching"), (1.0, "met")):
        work(house, truth, share=share)
        page.goto(f"{url}/#/p/facts")
        page.reload()
        page.locator("#people-title").wait_for()
        page.wait_for_timeout(3000)
        keep(page, PICTURES / f"service-{name}.png")
    page.locator("#met").wait_for()
    keep(page, PICTURES / "service-people.png", element="section[aria-labelledby=people-title]")
    keep(page, PICTURES / "service-disagreements.png", element="section[aria-labelledby=disputes-title]")


def work(house: Installation, truth: dict[str, int], *, share: float) -> None:
    """Let the colleagues answer, each as carefully as they are, up to a share of what the target may need."""
    project = house.project("facts")
    campaign = house.campaign(project)
    users = []
    for name in ACCURACY:
        with house.database.read() as connection:
            found = people.find_user(connection, name=name)
        users.append(found or house.add_user(name))
        with house.database.write() as connection:
            people.set_member(connection, project.id, users[-1].id, role="annotator", now=house.clock())
    rng, step, idle = np.random.default_rng(5), 0, 0
    while idle < 3 * len(users):
        if share < 1 and house.progress.summary(project, campaign)["labelled"] >= 600 * share:
            break
        user = users[int(rng.integers(len(users)))]
        hand = house.assignment.next_tasks(project, campaign, user_id=user.id, n=1)
        idle = 0 if hand.tasks else idle + 1
        step += 1
        for task in hand.tasks:
            right = rng.random() < ACCURACY[user.name]
            word = "yes" if bool(truth[task.name]) == bool(right) else "no"
            given: dict[str, Any] = {"request": f"{share} {step}", "seconds": float(rng.gamma(4.0, 0.8))}
            house.assignment.answer(project, campaign, Answer(task.item_id, word, **given), user_id=user.id)


if __name__ == "__main__":
    sys.exit(main())
