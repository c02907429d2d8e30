"""Take the pictures of the evaluation service into docs/pictures: a shared task of five systems, in a real browser.

With a folder as argument, more of them are taken there, to be looked at: dark, on a phone, from right to left, long.
Needs Chromium: on the path, or named by KARAT_CHROMIUM.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from screen import PICTURES, keep, open_screen

from karat.demo.relations import PREDICATES, Corpus, make_corpus, make_systems
from karat.documents.text import Document
from karat.service.assignment import Answer
from karat.service.evaluation_beginning import EvaluationPlan, begin_evaluation
from karat.service.evaluation_task import EvaluationTask
from karat.service.installation import Installation
from karat.store import people

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Page

ACCURACY = 0.9
GUIDELINES = "Right only if the *sentence itself* says so. A denial is not a statement.\n"
RIGHT_TO_LEFT = (
    "יעל כהן עובדת אצל אקמה. היא נולדה בחיפה.\nمريم علي تعمل في شركة أكمي.\nÅsa Öberg (e\u0301lan) joined Acme."
)


def main(looked_at: Path | None) -> None:
    with open_screen() as (page, house, url, folder):
        page.goto(f"{url}/#/link/{house.access.make_sign_in_link(house.owner().id)}")
        take_all(page, house, url, folder)
        if looked_at is not None:
            look_around(page, house, url, looked_at)


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def take_all(page: Page, house: Installation, url: str, folder: Path) -> None:
    corpus = make_corpus(120, seed=3)
    page.get_by_role("link", name="New evaluation").click()
    rows = [{"id": document.name, "text": document.text} for document in corpus.documents]
    page.get_by_label("Documents", exact=True).set_input_files(write(folder / "news.jsonl", rows))
    page.locator(".sample").wait_for()
    words = "\n".join(f"{name} = {words}" for name, words in PREDICATES.items())
    for name, text in (("Title", "Relations in the news"), ("Guidelines", GUIDELINES), ("Predicates", words),
                       ("Precision known to within", "0.1"), ("Price of an answer", "0.05"), ("Currency", "EUR"),
                       ("How many", "10"), ("Price of a token", "0.0075"), ("Price of a pair", "0.05")):  # fmt: skip
        page.get_by_label(name).fill(text)
    keep(page, PICTURES / "new-evaluation.png", whole=True)
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("heading", name="Relations in the news").wait_for()
    project = house.project("relations-in-the-news")
    campaign = house.campaign(project)
    for place, (name, lines) in enumerate(make_systems(corpus, 5, seed=3).items()):
        path = write(folder / f"{name}.jsonl", lines)
        found = house.submissions.submit(project, name, path, by=house.owner(), name=path.name)
        if place < 4:
            house.submissions.accept(project, campaign, found.id, by=house.owner())
    page.goto(f"{url}/#/p/relations-in-the-news/label")
    page.locator(".task").wait_for()
    keep(page, PICTURES / "instance.png")
    page.goto(f"{url}/#/e/relations-in-the-news")
    page.request.post(f"{url}/api/projects/relations-in-the-news/release")  # others shall answer what was shown here
    work(house, corpus)
    page.reload()
    page.locator(".board").wait_for()
    page.locator(".submissions").wait_for()
    page.set_viewport_size({"width": 1000, "height": 1150})
    keep(page, PICTURES / "leaderboard.png")
    house.evaluations.publish(house.project("relations-in-the-news"), audience="anyone", by=house.owner())
    stranger = page.context.browser.new_context(locale="en-US", viewport={"width": 1000, "height": 860}).new_page()
    stranger.goto(f"{url}/#/board/relations-in-the-news")
    stranger.locator(".board").wait_for()
    keep(stranger, PICTURES / "public-board.png")
    stranger.context.close()
    page.set_viewport_size({"width": 1000, "height": 720})
    page.goto(f"{url}/#/r/relations-in-the-news-documents")
    page.locator(".reader").wait_for()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("1")
    page.locator(".detail").wait_for()
    keep(page, PICTURES / "reading.png")


def work(house: Installation, corpus: Corpus) -> None:
    """Let three people answer, each as carefully as they are, until nothing is left."""
    project = house.project("relations-in-the-news")
    campaign = house.campaign(project)
    users = [house.add_user(name) for name in ("ada", "ben", "chloe")]
    with house.database.write() as connection:
        for user in users:
            people.set_member(connection, project.id, user.id, role="annotator", now=house.clock())
    rng, idle = np.random.default_rng(5), 0
    while idle < len(users):
        for user in users:
            hand = house.assignment.next_tasks(project, campaign, user_id=user.id, n=20)
            idle = 0 if hand.tasks else idle + 1
            for task in hand.tasks:
                word = "yes" if bool(corpus.truth[task.name]) == (rng.random() < ACCURACY) else "no"
                answer = Answer(task.item_id, word, f"{user.id} {task.item_id}", None, float(rng.gamma(4.0, 0.8)))
                house.assignment.answer(project, campaign, answer, user_id=user.id)


def look_around(page: Page, house: Installation, url: str, folder: Path) -> None:
    """Take every screen dark and on a phone, a document from right to left, and a long one scrolled to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    long = " ".join(document.text for document in make_corpus(400, seed=9).documents)
    for name, text in (("aside", RIGHT_TO_LEFT), ("long", long)):
        plan = EvaluationPlan(title=name, task=EvaluationTask(kind="relations", predicates=PREDICATES), read=1,
                              documents=[Document(name=name, text=text)])  # fmt: skip
        begin_evaluation(house, plan, by=house.owner())
    reading = "r/relations-in-the-news-documents"
    screens = {"new": "new/evaluation", "board": "e/relations-in-the-news", "results": f"{reading}/results",
               "reading": reading, "aside": "r/aside-documents", "long": "r/long-documents",
               "projects": "", "public": "board/relations-in-the-news", "me": "me"}  # fmt: skip
    state = page.context.storage_state()
    for size, view in {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 760}}.items():
        for scheme in ("light", "dark"):
            context = page.context.browser.new_context(
                storage_state=state, locale="en-US", viewport=view, color_scheme=scheme
            )
            other = context.new_page()
            for name, path in screens.items():
                other.goto(f"{url}/#/{path}")
                other.wait_for_timeout(1500)
                if name == "long":
                    other.locator(".reader").evaluate("each => each.scrollTo(0, each.scrollHeight)")
                keep(other, folder / f"{name}-{size}-{scheme}.png", whole=name in {"new", "board", "results", "public"})
            context.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
