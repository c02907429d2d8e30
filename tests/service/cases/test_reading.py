"""Reading documents: marks checked, agreement, what is agreed on, and recall that follows from it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from karat.demo.relations import PREDICATES, make_corpus
from karat.documents.text import Document, Mention, sentences_of
from karat.errors import InvalidInput
from karat.service.entities import agreed_relations
from karat.service.evaluation_task import EvaluationTask, campaign_for
from karat.service.marks import (
    Marked,
    agreed_mentions,
    agreement,
    check_annotation,
    count_linked,
    count_pairs,
    shares_found,
)
from karat.service.problems import Conflict, NotAllowed, NotFound
from karat.store import people, projects

TASK = EvaluationTask(kind="relations", predicates={"employer": "works for"}, types=("person", "organization"))
TEXT = "Ann Lee works for Acme. Bob left."


def mention(words, type_, *, canonical, link=None, text=TEXT):
    start = text.index(words)
    return {"start": start, "end": start + len(words), "type": type_, "canonical": canonical, "link": link}


def reading(*mentions, relations=()):
    return {"mentions": list(mentions), "relations": [
        {"subject": s, "predicate": p, "object": o} for s, p, o in relations
    ]}  # fmt: skip


ACME = ("Acme", "organization")
FULL = reading(mention("Ann Lee", "person", canonical=0), mention(*ACME, canonical=1, link="wiki/Acme"),
               mention("Bob", "person", canonical=2), relations=[(0, "employer", 1)])  # fmt: skip


def marked(*readings):
    return Marked("d", TEXT, list(readings), [f"r{k}" for k in range(len(readings))])


def agreed(*readings):
    return [each.relation for each in agreed_relations(marked(*readings), TASK)]


def test_marks_that_fit_are_taken():
    check_annotation(FULL, TEXT, TASK)


@pytest.mark.parametrize(("change", "message"), [
    (lambda r: r["mentions"][0].update(end=999), "'mention 1' must be inside the document's 33 characters"),
    (lambda r: r["mentions"][0].update(start=7), "'mention 1' must be inside"),
    (lambda r: r["mentions"][1].update(start=0, end=7), "'mention 2' must be marked"),
    (lambda r: r["mentions"][0].update(type="ship"), "'mention 1: type' must be one of"),
    (lambda r: r["mentions"][0].update(canonical=9), "'mention 1: canonical' must be the number"),
    (lambda r: (r["mentions"][0].update(canonical=1), r["mentions"][1].update(canonical=2)), "stands for itself"),
    (lambda r: r["mentions"][0].update(link="x" * 400), "'mention 1: link' must be text"),
    (lambda r: r["relations"][0].update(object=2), "'relation 1' must be between two mentions of one sentence"),
    (lambda r: r["relations"][0].update(object=0), "'relation 1' must be between two mentions"),
    (lambda r: r["relations"][0].update(predicate="eats"), "'relation 1: predicate' must be one of"),
    (lambda r: r["relations"].append(dict(r["relations"][0])), "'relation 2' must be stated once"),
])  # fmt: skip
def test_marks_that_do_not_are_refused(change, message):
    wrong = json.loads(json.dumps(FULL))
    change(wrong)
    with pytest.raises(InvalidInput, match=message):
        check_annotation(wrong, TEXT, TASK)


def test_pairs_against_all_pairs():
    """Mentions may reach over several sentences and between them; a pair counts once."""
    text = "Ann left.  Bob stayed. Cid ran. Dan sat down. "
    rng = np.random.default_rng(1)
    for _ in range(200):
        ends = np.sort(rng.integers(0, len(text) + 1, (6, 2)), axis=1)
        spans = [(int(low), int(high)) for low, high in ends if low < high]
        every = set()
        for low, high in sentences_of(text):
            inside = [k for k, span in enumerate(spans) if span[0] < high and low < span[1]]
            every |= {frozenset((one, other)) for one in inside for other in inside if one < other}
        marks = [{"start": low, "end": high} for low, high in spans]
        assert count_pairs(text, {"mentions": marks}) == len(every)


def test_a_sentence_with_thousands_of_mentions_is_refused():
    text = "word " * 2000
    many = reading(*({"start": k, "end": k + 1, "type": "person", "canonical": k, "link": None} for k in range(5000)))
    with pytest.raises(InvalidInput, match="'mentions' must be 500 at most in a sentence; got 5000"):
        check_annotation(many, text, TASK)
    assert count_pairs(text, many) == 5000 * 4999 // 2


def test_what_most_readers_say():
    other = reading(mention("Ann", "person", canonical=0), mention(*ACME, canonical=1, link="wiki/Acme"),
                    relations=[(0, "employer", 1)])  # fmt: skip
    nothing = reading()
    assert agreed_mentions(marked(FULL, FULL, nothing), TASK) == [
        (0, 7, "person"), (18, 22, "organization"), (24, 27, "person"),
    ]  # fmt: skip
    assert agreed_mentions(marked(FULL, other, other), TASK) == [(0, 3, "person"), (18, 22, "organization")]
    assert agreed(FULL, FULL, nothing) == [("Ann Lee", "employer", "wiki/Acme")]
    assert agreed(FULL, nothing, nothing) == []
    assert agreed(FULL, other) == []  # they call the subject by other names
    kappas = agreement([marked(FULL, FULL, FULL)])
    assert kappas == {"spans": pytest.approx(1), "canonical": pytest.approx(1), "links": pytest.approx(1)}
    assert agreement([marked(FULL)]) == dict.fromkeys(kappas)
    worse = agreement([marked(FULL, FULL, nothing)])
    assert 0 < worse["spans"] < 0.7


def test_how_many_mentions_each_reader_linked():
    again = reading(mention("Bob", "person", canonical=0), mention(*ACME, canonical=0, link="wiki/Bob"))
    found = count_linked([marked(FULL, reading()), marked(again)])  # one links all: what it stands for is linked by it
    assert found == [
        {"reader": "r0", "linked": 3, "mentions": 5}, {"reader": "r1", "linked": 0, "mentions": 0},
    ]  # fmt: skip


def test_share_of_the_experts_spans():
    known = {"d": [[0, 7, "person"], [18, 22, "organization"], [24, 27, "person"], [28, 32, "person"]]}
    half = reading(mention("Acme", "organization", canonical=0))
    found = shares_found([marked(FULL, half, half)], known, TASK)
    assert found["together"] == pytest.approx([(3 + 1 + 1) / 12, (3 + 3 + 1) / 12, 3 / 4])
    assert found["majority"] == 1 / 4
    assert shares_found([marked(FULL)], {}, TASK) is None


@pytest.fixture
def evaluation(house):
    corpus = make_corpus(40, seed=8)
    task = EvaluationTask(kind="relations", predicates=PREDICATES, token_price=0.01, pair_price=0.05)
    slug = house.evaluations.create("News", campaign_for(task), task, by=house.owner(), documents=corpus.documents,
                                    half_width=0.2)  # fmt: skip
    return house.project(slug), corpus


def gold(corpus, name):
    """Return a document as a perfect reader marks it."""
    rows = [row for row in corpus.candidates if row["document"] == name]
    spans, relations = {}, []
    for row in rows:
        ends = []
        for end, type_ in zip(("subject", "object"), _types(row["predicate"]), strict=True):
            key = (row[f"{end}_start"], row[f"{end}_end"])
            spans.setdefault(key, {"start": key[0], "end": key[1], "type": type_, "canonical": len(spans),
                                   "link": row[f"{end}_link"]})  # fmt: skip
            ends.append(list(spans).index(key))
        from karat.documents.relations import instance_id

        if corpus.truth[instance_id(row)]:
            relations.append({"subject": ends[0], "predicate": row["predicate"], "object": ends[1]})
    return {"mentions": list(spans.values()), "relations": relations}


def _types(predicate):
    return {
        "employer": ("person", "organization"),
        "birthplace": ("person", "place"),
        "seat": ("organization", "place"),
    }[predicate]


def test_from_reading_to_theta_with_the_law_corrected_for(house, evaluation, tmp_path):
    project, corpus = evaluation
    row = house.evaluations.row(project)
    slug = house.readings.create(project, row, by=house.owner(), n=12, law="entity", votes=2, seed=5)
    with pytest.raises(Conflict, match="drawn already"):
        house.readings.create(project, house.evaluations.row(project), by=house.owner(), n=1, seed=5)
    reading_project = house.project(slug)
    campaign = house.campaign(reading_project)
    row = house.evaluations.row(project)
    users = [house.owner(), house.add_user("second")]
    with house.database.write() as connection:
        people.set_member(connection, reading_project.id, users[1].id, role="annotator", now=house.clock())
    with pytest.raises(NotFound, match="in your hands"):
        house.readings.document(reading_project, row, 1, user_id=users[0].id)
    for user in users:
        for _ in range(12):
            (task,) = house.assignment.next_tasks(reading_project, campaign, user_id=user.id, n=1).tasks
            house.readings.annotate(reading_project, row, campaign, item_id=task.item_id, user_id=user.id, seconds=60,
                                    content=gold(corpus, task.name), request=f"a{task.item_id}")  # fmt: skip
        assert house.assignment.next_tasks(reading_project, campaign, user_id=user.id, n=1).tasks == []
    assert house.feeds.is_done(reading_project)
    summary = house.reading_results.summary(reading_project, row)
    assert summary["read"] == 12
    assert summary["agreement"]["spans"] == pytest.approx(1)
    assert summary["found"]["together"] == pytest.approx([1, 1])
    assert summary["spent"] == pytest.approx(0.01 * summary["tokens"] + 0.05 * summary["pairs"])
    # one system that finds about half of what is true
    lines = [line for k, line in enumerate(corpus.candidates) if k % 2]
    path = tmp_path / "half.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = house.submissions.submit(project, "half", path, by=house.owner(), name=path.name)
    main = house.campaign(project)
    house.submissions.accept(project, main, found.id, by=house.owner())
    told = house.reading_results.tell(row)
    assert told.relations == summary["relations"]
    assert house.reading_results.tell(row) == told  # again changes nothing
    with house.pools.use(row) as pool:
        state = pool.state
        events = pool.refresh()
    assert house.reading_results.tell(row) == told
    with house.pools.use(row) as pool:
        assert pool.refresh() == events
    with house.database.read() as connection:
        drawn = {each.name: json.loads(each.payload)["inclusion"]
                 for each in projects.item_rows(connection, reading_project.id)}  # fmt: skip
    assert len(drawn) == 12
    assert state.weights == pytest.approx([1 / drawn[name] for name in state.documents])
    # theta is the weighted share of true relations that the system holds
    held = {(line["subject_link"], line["predicate"], line["object_link"]) for line in lines}
    inside = np.array([tuple(relation.split(chr(31))) in held for relation in state.truth])
    weights = np.array(state.weights)
    for user in users[:1]:
        while tasks := house.assignment.next_tasks(project, main, user_id=user.id, n=20).tasks:
            from karat.service.assignment import Answer

            for task in tasks:
                value = "yes" if corpus.truth[task.name] else "no"
                house.assignment.answer(project, main, Answer(task.item_id, value, f"m{task.item_id}"), user_id=user.id)
    board = house.evaluations.leaderboard(project, metric="recall", for_user=None)
    assert board["pool_recall"] == pytest.approx(float(weights @ inside / weights.sum()))


def test_only_finished_readings_count(house, evaluation):
    project, corpus = evaluation
    row = house.evaluations.row(project)
    slug = house.readings.create(project, row, by=house.owner(), n=1, votes=1, seed=1)
    reading_project, row = house.project(slug), house.evaluations.row(project)
    campaign = house.campaign(reading_project)
    user = house.owner().id
    (task,) = house.assignment.next_tasks(reading_project, campaign, user_id=user, n=1).tasks
    house.readings.annotate(reading_project, row, campaign, item_id=task.item_id, user_id=user, request="a",
                            content=gold(corpus, task.name))  # fmt: skip
    assert len(house.reading_results.marked(row)) == 1
    house.assignment.undo(reading_project, campaign, request="u", user_id=user)
    assert house.reading_results.marked(row) == []
    # what was marked is still there to go on with
    kept = house.readings.document(reading_project, row, task.item_id, user_id=user)["annotation"]
    assert kept == gold(corpus, task.name)


def test_marks_and_answer_are_kept_together_or_not_at_all(house, evaluation):
    project, corpus = evaluation
    slug = house.readings.create(project, house.evaluations.row(project), by=house.owner(), n=1, votes=1, seed=1)
    reading_project, row = house.project(slug), house.evaluations.row(project)
    campaign, user = house.campaign(reading_project), house.owner().id
    (task,) = house.assignment.next_tasks(reading_project, campaign, user_id=user, n=1).tasks
    content, nothing = gold(corpus, task.name), reading()

    def annotate(content, request, state="open"):
        house.readings.annotate(reading_project._replace(state=state), row, campaign, item_id=task.item_id,
                                user_id=user, request=request, content=content)  # fmt: skip

    def kept():
        return house.readings.document(reading_project, row, task.item_id, user_id=user)["annotation"]

    with pytest.raises(NotAllowed, match="closed"):
        annotate(content, "a", state="closed")
    assert kept() == nothing
    annotate(content, "a")
    annotate(content, "a")
    with pytest.raises(Conflict, match="already used for other marks"):
        annotate(nothing, "a")
    assert kept() == content
    house.clock.now += 1
    annotate(nothing, "b")
    annotate(content, "a")  # came late: it is what that request said
    assert kept() == nothing


def test_documents_without_known_mentions_cannot_be_drawn_by_entity(house):
    documents = [Document(name="a", text="Ann."), Document(name="b", text="Bob.", mentions=(
        Mention(start=0, end=3, type="person"),))]  # fmt: skip
    task = EvaluationTask(kind="relations")
    project = house.project(house.evaluations.create("N", campaign_for(task), task, by=house.owner(),
                                                     documents=documents))  # fmt: skip
    row = house.evaluations.row(project)
    with pytest.raises(InvalidInput, match="they would never be drawn: 1, 'a' the first"):
        house.readings.create(project, row, by=house.owner(), n=1, law="entity", seed=0)
    assert house.readings.create(project, row, by=house.owner(), n=2, votes=1, seed=0) == "n-documents"
