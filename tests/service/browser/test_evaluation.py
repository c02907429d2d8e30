"""A shared task in a real Chromium: submit, label by keyboard, watch the leaderboard; read a document in two."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from karat.cli.main import main
from karat.demo.relations import PREDICATES, make_corpus, make_systems
from karat.documents.relations import instance_id

SCRIPTS = Path(__file__).with_name("payloads.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def corpus():
    return make_corpus(25, seed=6)


@pytest.fixture
def shared(serve_made, corpus, tmp_path):
    """Serve an evaluation of relations with two documents to read; return the server and the systems' files."""
    lines = [{"id": d.name, "text": d.text, "mentions": [
        {"start": m.start, "end": m.end, "type": m.type, "text": d.text[m.start : m.end]} for m in d.mentions
    ]} for d in corpus.documents]  # fmt: skip
    write(tmp_path / "news.jsonl", lines)
    (tmp_path / "predicates.toml").write_text("".join(f'{name} = "{words}"\n' for name, words in PREDICATES.items()))
    (tmp_path / "guide.md").write_text("Right only if the *sentence itself* says so.\n")
    files = {name: write(tmp_path / f"{name}.jsonl", rows) for name, rows in make_systems(corpus, 3, seed=6).items()}
    server = serve_made("evaluation", "create", "News", "--documents", "news.jsonl", "--predicates", "predicates.toml",
                        "--votes", "1", "--price", "0.05", "--currency", "EUR", "--half-width", "0.2", "--guidelines",
                        "guide.md", "--read", "2", "--token-price", "0.01")  # fmt: skip
    return server, files


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def sign_in(page, server):
    page.goto(server.link)
    page.get_by_role("heading", name="My projects").wait_for()


def axe(page):
    page.wait_for_timeout(300)
    found = Axe().run(page).response["violations"]
    return [f"{v['id']}: {[n['html'][:120] for n in v['nodes']][:3]}" for v in found]


def answer_by_key(page, corpus):
    """Answer what is on the screen, truthfully, until nothing is left; return how many answers that took."""
    from playwright.sync_api import expect

    texts = {document.name: document.text for document in corpus.documents}
    n = 0
    either = page.locator(".task, .empty.finished").first
    either.wait_for()
    while page.locator(".task").count():
        name = page.locator(".provenance").get_attribute("aria-label").removeprefix("Document ")
        sentence = page.locator(".sentence").inner_text()
        subject = page.locator(".sentence mark.subject").inner_text()
        assert page.locator(".sentence mark.object").count() == 1
        assert sentence in texts[name]
        begin = texts[name].index(sentence)
        (row,) = [row for row in corpus.candidates if row["document"] == name and row["subject"] == subject
                  and begin <= row["subject_start"] < begin + len(sentence)]  # fmt: skip
        assert page.locator(".statement .relation").inner_text() == PREDICATES[row["predicate"]]
        page.keyboard.press("1" if corpus.truth[instance_id(row)] else "2")
        n += 1
        expect(page.locator("#count")).to_have_text(str(n))
        expect(page.locator(".status")).to_have_text("All saved")
        either.wait_for()
    return n


def test_three_systems_from_upload_to_a_settled_leaderboard(shared, corpus, open_page, tmp_path, capsys):
    from playwright.sync_api import expect

    server, files = shared
    page = open_page(viewport={"width": 1280, "height": 900})
    sign_in(page, server)
    page.get_by_role("link", name="Leaderboard").click()
    page.get_by_role("heading", name="News", exact=True).wait_for()
    first = corpus.candidates[0]
    bad = write(tmp_path / "bad.jsonl", [{**first, "document": "nowhere"}, first, {**first, "subject_start": 9_999}])
    for name, file in (("bad", bad), *files.items()):
        page.get_by_label("System").fill(name)
        page.get_by_label("Predictions").set_input_files(file)
        page.get_by_role("button", name="Check").press("Enter")
        if name == "bad":
            faults = page.get_by_role("alert").get_by_role("listitem")
            expect(faults).to_have_count(2)
            expect(faults.first).to_have_text("bad.jsonl, line 1: there is no document 'nowhere'.")
            expect(faults.last).to_contain_text("bad.jsonl, line 3: subject characters 9999 to")
            open_page.problems[:] = [text for text in open_page.problems if "400" not in text]
        else:
            expect(page.locator(".said")).to_contain_text(f"{name}: ")
            expect(page.locator(".said")).to_contain_text("EUR")
    expect(page.locator(".submissions li")).to_have_count(3)
    assert axe(page) == []
    for _ in files:
        before = page.get_by_role("button", name="Accept and pay").count()
        page.get_by_role("button", name="Accept and pay").first.press("Enter")
        expect(page.get_by_role("button", name="Accept and pay")).to_have_count(before - 1)
    page.goto(f"{server.url}/#/p/news/label")
    page.locator(".task").wait_for()
    assert axe(page) == []
    n = answer_by_key(page, corpus)
    page.goto(f"{server.url}/#/e/news")
    expect(page.locator(".board tbody tr")).to_have_count(3)
    expect(page.locator(".tiles")).to_contain_text(f"{0.05 * n:.2f} EUR")
    assert axe(page) == []
    page.emulate_media(color_scheme="dark")
    assert axe(page) == []
    page.get_by_label("ranked by").select_option("precision")
    # the page, the API and the command say the same
    (folder,) = (tmp_path / "karat-pools").iterdir()
    capsys.readouterr()
    assert main(["pool", "scores", str(folder), "--metric", "precision", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    for place, row in enumerate(rows):
        line = page.locator(".board tbody tr").nth(place)
        expect(line.locator("th")).to_have_text(row["system"])
        cells = line.locator("td").all_inner_texts()
        assert cells[0].lstrip("=") == str(row["rank"])
        for cell, metric in zip(cells[1:4], ("f1", "precision", "recall"), strict=True):
            score = row[metric]
            shown = [f"{score[side]:.3f}" for side in ("estimate", "low", "high")]
            assert re.findall(r"\d\.\d{3}", cell) == shown
    assert page.request.get(f"{server.url}/api/projects/news/leaderboard?metric=precision").json()["rows"] == rows


def control(page, name):
    """Return the input whose label begins so; a hint may follow."""
    return page.get_by_label(re.compile(f"^{re.escape(name)}"))


def press_tab_to(page, name):
    """Go on by Tab until the control of this name has the focus; return it."""
    wanted = control(page, name)
    for _ in range(40):
        page.keyboard.press("Tab")
        if wanted.evaluate("each => each === document.activeElement"):
            return wanted
    raise AssertionError(f"{name} is not reached by Tab")


def test_a_new_evaluation_from_the_page_by_keyboard(  # noqa: PLR0915  # one story
    serve_made, corpus, open_page, tmp_path
):
    from playwright.sync_api import expect

    server = serve_made("evaluation", "create", "Other", "--votes", "1")
    good = write(tmp_path / "news.jsonl", [{"id": d.name, "text": d.text} for d in corpus.documents])
    mention = {"start": 5, "end": 10, "type": "verb", "text": "sings"}
    bad = write(
        tmp_path / "bad.jsonl", [{"id": "a", "text": "Ann."}, {"id": "b", "text": "Zoë sings.", "mentions": [mention]}]
    )
    page = open_page(viewport={"width": 1280, "height": 900})
    sign_in(page, server)
    page.get_by_role("link", name="New evaluation").press("Enter")
    page.get_by_role("heading", name="New evaluation").wait_for()
    assert axe(page) == []
    page.get_by_label("Documents", exact=True).set_input_files(bad)
    expect(page.get_by_role("alert")).to_have_text(
        re.compile(r"^bad\.jsonl, line 2, mention 1: characters 5 to 10 read")
    )
    assert axe(page) == []
    page.get_by_label("Documents", exact=True).set_input_files(good)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".sample")).to_contain_text("25 documents")
    expect(page.get_by_label("Title")).to_have_value("news")
    for name, text in (("Title", "From the page"), ("Guidelines", "Right only if the *sentence* says so."),
                       ("Predicates", "employer = works for\nbirthplace = was born in\nseat = has its seat in"),
                       ("Precision known to within ±", "0,2"), ("People an item", "1"), ("Price of an answer", "much"),
                       ("Currency", "EUR"), ("How many", "3")):  # fmt: skip
        press_tab_to(page, name)
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(text)
    page.get_by_role("button", name="Begin").press("Enter")
    expect(page.locator("label", has_text="Precision known").get_by_role("alert")).to_have_text(
        "Must be a number with a point, as in 0.2; got '0,2'."
    )
    expect(page.locator("label", has_text="Price of an answer").get_by_role("alert")).to_have_text("Must be a number.")
    assert axe(page) == []
    page.emulate_media(color_scheme="dark")
    assert axe(page) == []
    page.emulate_media(color_scheme="light")
    page.get_by_label("Precision known to within ±").fill("0.2")
    control(page, "Price of an answer").fill("0.05")
    page.get_by_role("button", name="Begin").press("Enter")
    page.get_by_role("heading", name="From the page", exact=True).wait_for()
    expect(page.locator(".tiles")).to_contain_text("± 0.2")
    expect(page.get_by_role("link", name="Documents")).to_be_visible()
    page.get_by_label("System").fill("first")
    page.get_by_label("Predictions").set_input_files(
        write(tmp_path / "s.jsonl", make_systems(corpus, 1, seed=6)["system-01"])
    )
    page.get_by_role("button", name="Check").press("Enter")
    expect(page.locator(".said")).to_contain_text("EUR. It waits for the owner.")
    control(page, "Labels a submission may need").fill("1000")
    expect(page.get_by_text("Labels a submission may need (50.00 EUR)")).to_be_visible()
    control(page, "Labels of all of them together").fill("500")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("'in_all' must be as much as one submission may need")
    control(page, "Labels of all of them together").fill("1000")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator(".said")).to_contain_text("1,000 labels or fewer are accepted unasked")
    page.get_by_label("System").fill("second")
    page.get_by_label("Predictions").set_input_files(tmp_path / "s.jsonl")
    page.get_by_role("button", name="Check").press("Enter")
    expect(page.locator(".said")).to_contain_text("It is accepted.")
    expect(page.get_by_role("button", name="Accept and pay")).to_have_count(1)
    assert axe(page) == []
    open_page.problems[:] = [text for text in open_page.problems if "400" not in text and "422" not in text]


def test_brat_files_from_the_page_and_documents_drawn_later(serve_made, open_page, tmp_path):
    from playwright.sync_api import expect

    server = serve_made("evaluation", "create", "Other", "--votes", "1")
    page = open_page(viewport={"width": 1280, "height": 900})
    sign_in(page, server)
    page.get_by_role("link", name="New evaluation").press("Enter")
    files = []
    for name in ("one", "two", "three"):
        text = f"Ann Lee of {name} works for Acme."
        start = text.index("Acme")
        (tmp_path / f"{name}.txt").write_text(text)
        (tmp_path / f"{name}.ann").write_text(f"T1\tperson 0 7\tAnn Lee\nT2\torganization {start} {start + 4}\tAcme\n")
        files += [tmp_path / f"{name}.txt", tmp_path / f"{name}.ann"]
    (tmp_path / "two.ann").write_text("T1\tperson 0 6\tAnn Lee\nT2\tperson 0\tAnn\n")
    chooser = page.get_by_label("Documents", exact=True)
    chooser.set_input_files(files)
    faults = page.get_by_role("alert").get_by_role("listitem")
    expect(faults).to_have_count(2)
    expect(faults.first).to_contain_text("two.ann, line 1: characters 0 to 6 read 'Ann Le', not 'Ann Lee'")
    expect(faults.last).to_contain_text("two.ann, line 2: expected 'T1<tab>Type start end<tab>text'")
    assert axe(page) == []
    open_page.problems[:] = [text for text in open_page.problems if "400" not in text]
    (tmp_path / "two.ann").unlink()
    chooser.set_input_files([file for file in files if file.exists()])
    expect(page.get_by_label("The documents")).to_contain_text("3 documents, 24 tokens, known mentions in 2.")
    page.get_by_label("Title").fill("Brat")
    page.get_by_role("button", name="Begin").press("Enter")
    page.get_by_role("heading", name="Documents to read, for recall").wait_for()
    assert axe(page) == []
    page.get_by_label("Drawn").select_option("entity")
    control(page, "How many").fill("2")
    page.get_by_role("button", name="Draw them").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text(
        "'law' must be uniform where some documents have no known mentions"
    )
    page.get_by_label("Drawn").select_option("uniform")
    page.get_by_role("button", name="Draw them").press("Enter")
    page.get_by_role("heading", name="Brat: documents").wait_for()
    expect(page.locator(".tiles")).to_contain_text("of 2, by 3 each")
    expect(page.get_by_role("link", name="The relations")).to_have_count(0)  # nothing is read yet
    assert axe(page) == []
    page.get_by_role("link", name="Leaderboard").press("Enter")
    expect(page.get_by_role("link", name="Documents")).to_be_visible()
    expect(page.get_by_role("button", name="Draw them")).to_have_count(0)
    open_page.problems[:] = [text for text in open_page.problems if "400" not in text]


MARKS = (("Ann Lee", 1), ("Acme", 2), ("Bob Roy", 1), ("Acme", 2), ("Cairo", 3))


def mark_by_key(page, text, marks):
    """Move to each mention by the arrows, widen with Shift, and press its type's key."""
    tokens = [(m.start(), m.group()) for m in re.finditer(r"\w+|[^\w\s]", text)]
    at = begin = 0
    for words, key in marks:
        start = text.index(words, begin)
        begin = start + len(words)
        inside = [place for place, (offset, _) in enumerate(tokens) if start <= offset < begin]
        for _ in range(inside[0] - at):
            page.keyboard.press("ArrowRight")
        for _ in inside[1:]:
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press(str(key))
        at = inside[-1]


def test_two_people_read_a_document_and_agree(  # noqa: PLR0915  # one story
    serve_made, open_page, tmp_path
):
    from playwright.sync_api import expect

    text = "Ann Lee works for Acme. Bob Roy joined Acme as well. Acme has its seat in Cairo."
    write(tmp_path / "one.jsonl", [{"id": "one", "text": text}])
    (tmp_path / "predicates.toml").write_text('employer = "works for"\nseat = "has its seat in"\n')
    server = serve_made("evaluation", "create", "News", "--documents", "one.jsonl", "--predicates", "predicates.toml",
                        "--votes", "2", "--read", "1", "--token-price", "0.5", "--currency", "EUR")  # fmt: skip
    owner = open_page(viewport={"width": 1280, "height": 900})
    sign_in(owner, server)
    owner.goto(f"{server.url}/#/r/news-documents/results")
    expect(owner.get_by_role("button", name="Use for recall")).to_be_disabled()
    expect(owner.locator("#no-relations")).to_contain_text("once a document is read by all its readers")
    owner.get_by_role("button", name="Make a link").click()
    link = owner.locator("#invitation").input_value()
    second = open_page(viewport={"width": 1000, "height": 800})
    second.goto(link)
    second.get_by_label("Choose a name").fill("ada")
    second.get_by_label("Choose a password").fill("long enough!")
    second.get_by_role("button", name="Join").click()
    second.get_by_role("link", name="Read").wait_for()
    for person, page in enumerate((owner, second)):
        page.goto(f"{server.url}/#/r/news-documents")
        page.locator(".reader").wait_for()
        assert axe(page) == []
        page.keyboard.press("d")  # too early: nothing is marked yet, and nothing is saved
        expect(page.locator(".status")).to_contain_text("You marked nothing in this document")
        expect(page.locator(".reader")).to_be_visible()
        mark_by_key(page, text, MARKS)
        expect(page.get_by_role("button", name="Mentions (5)")).to_be_visible()
        page.keyboard.press("d")  # a slip: there are pairs, and the relations were not looked at
        expect(page.locator(".status")).to_have_text(
            "You stated no relation between 2 pairs: press d again if there is none."
        )
        expect(page.locator(".reader")).to_be_visible()
        page.keyboard.press("r")
        expect(page.locator(".status")).to_have_text("")  # what was said of mentions is over
        expect(page.locator(".token.subject.kind-1")).to_have_text(["Ann", "Lee"])  # a side, and still a person
        expect(page.locator(".token.object.kind-2")).to_have_text(["Acme"])
        page.keyboard.press("f")
        expect(page.locator(".token.subject.kind-2")).to_have_text(["Acme"])
        page.keyboard.press("f")
        # pairs in the order of the text: Ann-Acme, Bob-Acme; in the third sentence Acme is not marked yet
        page.keyboard.press("1")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("1")
        expect(page.get_by_role("button", name="Relations (2)")).to_be_visible()
        # the third sentence's Acme, by mouse; the one before it is the same
        page.locator(".token", has_text="Acme").nth(2).click()
        page.keyboard.press("2")
        expect(page.locator("select")).not_to_have_value("5")
        page.keyboard.press("l")
        page.keyboard.type("wiki/Acme")
        page.keyboard.press("Enter")
        page.keyboard.press("r")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("2")
        expect(page.get_by_role("button", name="Relations (3)")).to_be_visible()
        assert axe(page) == []
        if person == 1:  # a mistake: they do not agree on everything
            page.locator(".token", has_text="well").click()
            page.keyboard.press("3")
        if person == 0:
            page.reload()  # the draft survives
            expect(page.get_by_role("button", name="Relations (3)")).to_be_visible()
        page.keyboard.press("d")
        page.locator(".finished").wait_for()
        assert axe(page) == []
    owner.goto(f"{server.url}/#/r/news-documents/results")
    kappas = owner.locator("#kappa td")
    expect(kappas).to_have_count(3)
    spans, _, links = (float(text) for text in kappas.all_inner_texts())
    assert 0.7 < spans < 1
    assert links == 1
    expect(owner.locator("#linked")).to_contain_text("ada linked 3 of 7 mentions")
    expect(owner.locator("#no-relations")).to_have_count(0)
    expect(owner.locator(".tiles")).to_contain_text("relations agreed3")
    expect(owner.locator("#naming")).to_contain_text("Of 6 ends of relations, readers linked ")
    expect(owner.locator(".tiles")).to_contain_text("spent20.00 EUR")  # two people, 20 tokens, 0.50 each
    with owner.expect_download() as download:
        owner.get_by_role("link", name="The relations").click()
    table = download.value.path().read_text(encoding="utf-8").splitlines()
    assert table[0] == "subject,predicate,object,read_in,stated_in"
    for counts, said in ((["1", "1", "5"], "line 4, field 'stated_in'"), (["1", "1", "1"], "each counted once")):
        filled = [table[0], *(line + count for line, count in zip(table[1:], counts, strict=True))]
        (tmp_path / "counts.csv").write_text("\n".join(filled) + "\n", encoding="utf-8")
        owner.get_by_label("Filled in").set_input_files(tmp_path / "counts.csv")
        owner.get_by_role("button", name="Use these counts").press("Enter")
        expect(owner.locator(".said, .problem").filter(has_text=said)).to_be_visible()
        assert axe(owner) == []
    open_page.problems[:] = [text for text in open_page.problems if "400" not in text]
    assert axe(owner) == []
    owner.get_by_role("button", name="Use for recall").click()
    expect(owner.locator(".said")).to_contain_text("3 true relations told, each counted once")


def test_links_that_do_not_meet_are_told_before_a_submission_is_accepted(serve_made, open_page, tmp_path):
    from playwright.sync_api import expect

    write(tmp_path / "one.jsonl", [{"id": "one", "text": "Ann Lee works for Acme."}])
    server = serve_made("evaluation", "create", "News", "--documents", "one.jsonl", "--votes", "1")
    line = {"document": "one", "subject": "Ann Lee", "predicate": "employer", "object": "Acme",
            "subject_mention": "Ann Lee", "subject_start": 0, "subject_end": 7, "object_mention": "Acme",
            "object_start": 18, "object_end": 22}  # fmt: skip
    page = open_page(viewport={"width": 1280, "height": 900})
    sign_in(page, server)
    page.goto(f"{server.url}/#/e/news")
    for system, links in (("linked", {"subject_link": "wiki/Ann", "object_link": "wiki/Acme"}), ("bare", {})):
        page.get_by_label("System").fill(system)
        page.get_by_label("Predictions").set_input_files(write(tmp_path / f"{system}.jsonl", [{**line, **links}]))
        page.get_by_role("button", name="Check").click()
        card = page.locator(".submissions .card", has=page.get_by_role("heading", name=system))
        card.wait_for()
        if system == "linked":
            expect(card.locator(".note")).to_have_count(0)
            card.get_by_role("button", name="Accept and pay").click()
            expect(card).to_contain_text("Accepted.")
    expect(card.locator(".note")).to_contain_text("2 of the 2 names that earlier systems have too come without a link")
    expect(page.locator(".said")).to_contain_text("The same relation then counts as two.")
    assert axe(page) == []


def test_no_payload_runs_while_an_evaluation_is_made(serve_made, open_page, tmp_path):
    """Payloads in every field of the form, in the documents and their file's name, and in what is refused."""
    from playwright.sync_api import expect

    server = serve_made("evaluation", "create", "Other", "--votes", "1")
    page = open_page()
    sign_in(page, server)
    page.goto(f"{server.url}/#/new/evaluation")
    scripts = [script for script in SCRIPTS if len(script) < 90]
    bad = write(tmp_path / "<img src=x onerror=alert(1)>.jsonl", [{"id": scripts[0], "text": " "}])
    page.get_by_label("Documents", exact=True).set_input_files(bad)
    expect(page.get_by_role("alert")).to_contain_text("<img src=x onerror=alert(1)>.jsonl, line 1: ")
    good = write(tmp_path / "<svg onload=alert(1)>.jsonl", [{"id": s, "text": "\n".join(SCRIPTS)} for s in scripts[:5]])
    page.get_by_label("Documents", exact=True).set_input_files(good)
    expect(page.locator(".sample")).to_contain_text("<svg onload=alert(1)>.jsonl: 5 documents")
    for name, text in (("Title", scripts[1]), ("Guidelines", "\n\n".join(SCRIPTS)), ("Question", scripts[2]),
                       ("Predicates", f"p = {scripts[3]}\n{scripts[4]}"),
                       ("Kinds of mentions", scripts[5].replace(",", " ")), ("Currency", "<b>x</b>"),
                       ("How many", "2")):  # fmt: skip
        control(page, name).fill(text)
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("heading", name=scripts[1], exact=True).wait_for()
    for tag in ("main script", "main iframe", "main object", "main embed", "main video", "main style", "main img"):
        assert page.locator(tag).count() == 0
    open_page.problems[:] = [text for text in open_page.problems if "400" not in text]


def test_no_payload_runs_in_an_evaluation(serve_made, open_page, tmp_path):
    """Payloads in titles, names, documents, predicates, links, file names; a dialog or an error fails the test."""
    from playwright.sync_api import expect

    scripts = [script for script in SCRIPTS if len(script) < 90]
    assert len(scripts) >= 25
    text = "\n".join(scripts)
    write(tmp_path / "docs.jsonl", [{"id": scripts[0], "text": text}])
    words = json.dumps(scripts[1])
    (tmp_path / "predicates.toml").write_text(f"{json.dumps(scripts[2])} = {words}\n")
    (tmp_path / "guide.md").write_text("\n\n".join(SCRIPTS))
    server = serve_made("evaluation", "create", "<img src=x onerror=alert(1)>", "--documents", "docs.jsonl",
                        "--predicates", "predicates.toml", "--guidelines", "guide.md", "--votes", "1", "--currency",
                        "<b>", "--price", "1", "--read", "1", "--type", "<script>alert(1)</script>")  # fmt: skip
    rows, begin = [], 0
    for number in range(0, len(scripts) - 1, 2):
        one, other = scripts[number], scripts[number + 1]
        at = text.index(one, begin)
        then = text.index(other, at + len(one))
        begin = then + len(other)
        rows.append({"document": scripts[0], "predicate": scripts[2], "subject": one, "object": other,
                     "subject_mention": one, "object_mention": other, "subject_start": at, "subject_end": at + len(one),
                     "object_start": then, "object_end": begin, "subject_link": "javascript:alert(1)",
                     "object_link": other})  # fmt: skip
    page = open_page()
    sign_in(page, server)
    page.get_by_role("link", name="Leaderboard").click()
    page.get_by_label("System").fill(scripts[3])
    file = write(tmp_path / "<svg onload=alert(1)>.jsonl", rows)
    page.get_by_label("Predictions").set_input_files(file)
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Accept and pay").click()
    expect(page.get_by_role("button", name="Accept and pay")).to_have_count(0)
    slug = "img-src-x-onerror-alert-1"
    page.goto(f"{server.url}/#/p/{slug}/label")
    either = page.locator(".task, .empty.finished").first
    either.wait_for()
    number = 0
    while page.locator(".task").count():
        for link in page.locator("main a").all():
            assert not (link.get_attribute("href") or "").lower().startswith("javascript")
        page.keyboard.press("5" if number % 3 == 0 else "1")
        number += 1
        expect(page.locator("#count")).to_have_text(str(number))
        expect(page.locator(".status")).to_have_text("All saved")
        either.wait_for()
    assert number >= 5
    page.goto(f"{server.url}/#/e/{slug}")
    page.locator(".disputes li").first.wait_for()
    page.goto(f"{server.url}/#/r/{slug}-documents")
    page.locator(".reader").wait_for()
    page.keyboard.press("1")
    page.locator(".detail").wait_for()
    for tag in ("main script", "main iframe", "main object", "main embed", "main video", "main style", "main img"):
        assert page.locator(tag).count() == 0
