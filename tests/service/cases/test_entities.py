"""Readers and systems meet although some give links and others none; and somebody is told where they do not."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.service.cases.test_reading import TASK, TEXT, evaluation, gold, marked, mention, reading

from karat.documents.text import Document
from karat.pool.relation_ends import NOTHING_SAID, SystemsSay
from karat.service.assignment import Answer
from karat.service.entities import How, Reader, agreed_relations, meet, name_entity, other_names
from karat.service.evaluation_task import campaign_for
from karat.service.naming import Naming, describe_naming
from karat.store import people

__all__ = ["evaluation"]  # a fixture
ANN, ACME = ("d", 0, 7), ("d", 18, 22)


def says(ann=None, acme=None):
    """Return what a reader of "Ann Lee works for Acme." marks, with these links."""
    return reading(mention("Ann Lee", "person", canonical=0, link=ann),
                   mention("Acme", "organization", canonical=1, link=acme), relations=[(0, "employer", 1)])  # fmt: skip


def systems(links=None, names=None, links_of=None):
    """Return what numbered systems say: systems({ANN: ["a", "b"]}) is two systems that link the mention differently."""
    votes = [{place: {(str(number), name) for number, name in enumerate(each)} for place, each in (given or {}).items()}
             for given in (links, names)]  # fmt: skip
    return SystemsSay(*votes, links_of or {})


def name_of(document, reader, canonical, say=NOTHING_SAID):
    readers = [Reader(each["mentions"]) for each in document.readings]
    own = readers.pop(reader)
    return name_entity(document, own, canonical, readers, say).name


def names(*readings, say=NOTHING_SAID):
    return [each.relation for each in agreed_relations(marked(*readings), TASK, say)]


def test_a_reader_without_links_meets_one_who_gives_them():
    assert names(says("A", "C"), says()) == [("A", "employer", "C")]
    assert names(says("A"), says(None, "C")) == [("A", "employer", "C")]
    (found,) = agreed_relations(marked(says("A"), says(None, "C")), TASK)
    assert (found.subject.how, found.object.how) == (How.LINKED, How.LINKED)  # some reader linked each
    assert names(says("A", "C"), says("B", "C")) == []  # they mean different people


def test_of_two_links_that_equally_many_give_none_is_taken():
    assert names(says("A"), says("A"), says("B"), says(), says()) == [("A", "employer", "Acme")]
    assert names(says("A"), says("B"), says(), says(), says()) == [("Ann Lee", "employer", "Acme")]
    assert names(says(), say=systems({ANN: ["a", "b"]})) == [("Ann Lee", "employer", "Acme")]
    assert names(says(), say=systems({ANN: ["a", "b", "b"]})) == [("b", "employer", "Acme")]
    assert names(says(), say=systems(links_of={"Acme": {"c"}})) == [("Ann Lee", "employer", "c")]
    assert names(says(), say=systems(links_of={"Acme": {"c", "d"}})) == [("Ann Lee", "employer", "Acme")]


def test_the_nearest_source_of_a_link_counts_first():
    """Each step is used only where those before it say nothing; a tie says nothing."""
    say = systems({ACME: ["system"]}, links_of={"Acme": {"anywhere"}})
    assert names(says(None, "own"), say=say) == [("Ann Lee", "employer", "own")]
    assert names(says(None, "other"), says(), say=say) == [("Ann Lee", "employer", "other")]
    assert names(says(), says(), say=say) == [("Ann Lee", "employer", "system")]
    assert names(says(), says(), say=systems({ACME: ["a", "b"]}, links_of={"Acme": {"anywhere"}})) == [
        ("Ann Lee", "employer", "anywhere")
    ]
    assert names(says(), says(), say=systems({("e", 18, 22): ["elsewhere"]})) == [("Ann Lee", "employer", "Acme")]


def test_other_readers_give_the_same_words_in_other_spans_and_groups():
    """The mention most like it counts; an entity takes one link for all its mentions."""
    text = "Ann Lee of Ghent University is in Ghent. She works for Acme."
    she, ghent = text.index("She"), text.index("Ghent")

    def at(start, end, *, canonical, link=None):
        return {"start": start, "end": end, "type": "person", "canonical": canonical, "link": link}

    plain = reading(at(0, 7, canonical=0), at(she, she + 3, canonical=0), at(ghent, ghent + 5, canonical=2))
    linked = reading(at(4, 7, canonical=0, link="Ann"), at(ghent, ghent + 16, canonical=1, link="University"),
                     at(ghent, ghent + 5, canonical=2, link="City"),
                     at(she, she + 3, canonical=3, link="Eve"))  # fmt: skip
    document = marked(plain, linked)._replace(text=text)
    assert name_of(document, 0, 0) == "Ann"  # its canonical mention comes first
    assert name_of(document, 0, 2) == "City"
    assert name_of(document, 1, 3) == "Eve"
    only_she = reading(at(she, she + 3, canonical=0, link="Ann"))
    document = marked(plain, only_she)._replace(text=text)
    assert name_of(document, 0, 0) == "Ann"  # of another mention of it


def test_readers_links_give_way_to_the_names_by_which_systems_state_the_relation():
    found = agreed_relations(marked(says("A", "C")), TASK)
    say = systems(names={ANN: ["Ann Lee", "Ann Lee", "Bob"], ACME: ["Acme Inc."]})
    both = ("Ann Lee", "employer", "Acme Inc.")
    assert other_names(found[0], say) == [("A", "employer", "Acme Inc."), ("Ann Lee", "employer", "C"), both]
    assert other_names(found[0], systems(names={ANN: ["Ann", "Bob"]}))[-1] == ("Ann Lee", "employer", "Acme")
    (met,) = meet(found, say, {both, ("Bob", "employer", "C")})
    assert (met.relation, met.subject.how, met.object.how) == (both, How.CALLED, How.CALLED)
    (met,) = meet(found, say, {both, ("A", "employer", "C")})
    assert met == found[0]  # some system knows these links
    assert meet(found, say, {("Bob", "employer", "C")}) == found  # most systems do not call her so
    assert meet(found, systems(names={ANN: ["Eve", "Bob"]}), {("Bob", "employer", "C")}) == found  # a tie
    twice = [*found, *agreed_relations(marked(says()), TASK)]
    by_name = ("Ann Lee", "employer", "Acme")
    assert [each.relation for each in meet(twice, NOTHING_SAID, {by_name})] == [by_name]  # readers' own names serve too


def test_the_mention_most_like_the_words_against_a_loop():
    """Mentions nest and overlap; of equally like ones the later canonical number counts."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        spans = {tuple(sorted(pair)) for pair in rng.integers(0, 12, (6, 2)).tolist() if pair[0] != pair[1]}
        mentions = [{"start": low, "end": high, "canonical": place, "link": f"link {place}" if place % 3 else None}
                    for place, (low, high) in enumerate(sorted(spans, key=lambda _: rng.random()))]  # fmt: skip
        start, end = sorted(rng.choice(13, 2, replace=False).tolist())

        def likeness(mention, start=start, end=end):
            ours, theirs = set(range(start, end)), set(range(mention["start"], mention["end"]))
            return (len(ours & theirs) / len(ours | theirs), mention["canonical"])

        best = max(mentions, key=likeness, default=None)
        expected = best["link"] if best and likeness(best)[0] else None
        assert Reader(mentions).link_of_words([(start, end)]) == expected


links = st.one_of(st.none(), st.sampled_from(["a", "b"]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(links, links), min_size=1, max_size=5), st.lists(st.sampled_from(["a", "b"]), max_size=3))
def test_naming_is_fair(pairs, votes):
    """Readers' order does not matter; own links are never overruled; a name is a link of somebody, or the words."""
    readings, say = [says(*pair) for pair in pairs], systems({ANN: votes} if votes else {})
    found = agreed_relations(marked(*readings), TASK, say)
    assert found == agreed_relations(marked(*readings[::-1]), TASK, say)
    assert len(found) <= 1
    each = [tuple(name_of(marked(*readings), reader, end, say) for end in (0, 1))
            for reader in range(len(pairs))]  # fmt: skip
    for named, own in zip(each, pairs, strict=True):
        for end in (0, 1):
            assert own[end] in {named[end], None}
            given_links = {pair[end] for pair in pairs} | (set(votes) if end == 0 else set())
            assert named[end] in {*given_links, ("Ann Lee", "Acme")[end]}
    most, count = Counter(each).most_common(1)[0]
    assert [(f.subject.name, f.object.name) for f in found] == ([most] if 2 * count > len(pairs) else [])


def test_what_was_done_is_counted_and_said():
    readings = [says("A", None), says("A", None)]
    found = agreed_relations(marked(*readings), TASK, systems({ACME: ["C"]}))
    here, there = found[0], found[0]._replace(document="e")
    naming = describe_naming([here, there], [here, there], systems({ACME: ["C"], ANN: ["Q1"]}))
    assert naming == Naming(ends=2, linked=1, taken=1, called=0, named=0, links=1, known=0)
    done = "readers linked 1; 1 took the link that other readers or systems give the same words."
    assert naming.sentence == f"Of 2 ends of relations, {done}"
    assert "Of 1 link that readers gave to words which systems link too, systems give 0" in naming.doubt
    assert describe_naming(found, found, systems({ANN: ["Q1", "A"]})).doubt is None
    assert describe_naming(found, found, systems(links_of={"Ann Lee": {"Q1"}})).doubt is not None
    assert describe_naming(found, found, systems()).doubt is None  # there is nothing to compare
    assert describe_naming([], [], systems()).sentence == "Readers agree on no relation yet."
    assert Naming(ends=9, linked=0, taken=0, called=8, named=1, links=4, known=2) .sentence == (
        "Of 9 ends of relations, 8 took the name that systems give the same words, unlinked; 1 keeps its name."
    )  # fmt: skip


# --- in the whole service, with the truth known


def read_all(house, project, corpus, *, links, n=12, votes=3):
    """Let perfect readers read documents; ``links`` says which of them link what they mark."""
    slug = house.readings.create(project, house.evaluations.row(project), by=house.owner(), n=n, votes=votes, seed=5)
    reading_project, row = house.project(slug), house.evaluations.row(project)
    campaign = house.campaign(reading_project)
    for number in range(votes):
        user = house.add_user(f"reader{number}")
        with house.database.write() as connection:
            people.set_member(connection, reading_project.id, user.id, role="annotator", now=house.clock())
        for _ in range(n):
            (task,) = house.assignment.next_tasks(reading_project, campaign, user_id=user.id, n=1).tasks
            content = gold(corpus, task.name)
            if not links[number]:
                content["mentions"] = [{**each, "link": None} for each in content["mentions"]]
            house.readings.annotate(reading_project, row, campaign, item_id=task.item_id, user_id=user.id,
                                    content=content, request=f"{number}-{task.item_id}")  # fmt: skip
    return reading_project, row


def submit(house, project, tmp_path, name, rows):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = house.submissions.submit(project, name, path, by=house.owner(), name=path.name)
    return house.submissions.accept(project, house.campaign(project), found.id, by=house.owner())


def label_all(house, project, corpus):
    from karat.documents.relations import instance_id

    right = {instance_id({**row, **links}): corpus.truth[instance_id(row)] for row in corpus.candidates
             for links in ({}, {"subject_link": None, "object_link": None})}  # fmt: skip
    campaign, user = house.campaign(project), house.owner().id
    while tasks := house.assignment.next_tasks(project, campaign, user_id=user, n=20).tasks:
        for task in tasks:
            value = "yes" if right[task.name] else "no"
            house.assignment.answer(project, campaign, Answer(task.item_id, value, f"m{task.item_id}"), user_id=user)


def bare(rows):
    return [{**row, "subject_link": None, "object_link": None} for row in rows]


@pytest.mark.parametrize(("systems_link", "readers_link"), [
    (True, (True, True, True)), (True, (False, False, False)), (True, (True, False, False)),
    (False, (True, False, True)),
])  # fmt: skip
def test_theta_is_the_same_whoever_gives_links(house, evaluation, tmp_path, systems_link, readers_link):
    """The truth: two systems that together hold two thirds of the candidates, so of the true relations too.

    In the wrong variant nothing is resolved, and readers and systems meet only where both give links, or neither.
    """
    project, corpus = evaluation
    rows = corpus.candidates
    for name, some in (("one", rows[::3]), ("two", rows[1::3])):
        submit(house, project, tmp_path, name, some if systems_link else bare(some))
    reading_project, row = read_all(house, project, corpus, links=readers_link)
    told = house.reading_results.tell(row)
    label_all(house, project, corpus)
    theta = house.evaluations.leaderboard(project, metric="recall", for_user=None)["pool_recall"]

    def triple(row, *, linked):
        ends = [row[f"{end}_link"] if linked else row[end] for end in ("subject", "object")]
        return (ends[0], row["predicate"], ends[1])

    held = {triple(line, linked=True) for k, line in enumerate(rows) if k % 3 < 2}
    documents = house.reading_results.marked(row)
    perfect = [(document.name, each) for document in documents for each in true_relations(corpus, document.name)]
    expected = sum(each in held for _, each in perfect) / len(perfect)
    assert 0.4 < expected < 0.95
    assert told.relations == len(perfect)
    assert theta == pytest.approx(expected)

    named = {triple(line, linked=systems_link) for k, line in enumerate(rows) if k % 3 < 2}
    unresolved = [each.relation for document in documents
                  for reading_alone in document.readings  # each reader as if alone: nobody to take a link from
                  for each in agreed_relations(document._replace(readings=[reading_alone]), house.evaluations.task(row))
                  ]  # fmt: skip
    wrong = sum(each in named for each in unresolved) / len(unresolved)
    if set(readers_link) == {systems_link}:
        assert wrong == pytest.approx(expected)
    else:
        assert wrong < 0.8 * expected
    assert told.naming == house.reading_results.summary(reading_project, row)["naming"]
    assert told.naming.ends == 2 * len({each for _, each in perfect})
    assert told.naming.doubt is None


def true_relations(corpus, name):
    from karat.documents.relations import instance_id

    return {(row["subject_link"], row["predicate"], row["object_link"]) for row in corpus.candidates
            if row["document"] == name and corpus.truth[instance_id(row)]}  # fmt: skip


def test_links_of_another_kind_are_told(house, evaluation, tmp_path):
    project, corpus = evaluation
    numbers = {}

    def number(name):
        return f"Q{numbers.setdefault(name, len(numbers))}"

    rows = [{**row, "subject_link": number(row["subject"]), "object_link": number(row["object"])}
            for row in corpus.candidates]  # fmt: skip
    submit(house, project, tmp_path, "numbers", rows)
    _, row = read_all(house, project, corpus, links=[True], n=5, votes=1)
    naming = house.reading_results.tell(row).naming
    assert naming.known == 0
    assert naming.links > 5
    assert "the links may be of different kinds" in naming.doubt


def test_what_readers_agree_on_follows_the_systems(house, tmp_path):
    """A system that comes later with links is found; one that is retracted no longer gives any."""
    campaign = campaign_for(TASK, votes=1)
    project = house.project(house.evaluations.create("N", campaign, TASK, by=house.owner(),
                                                     documents=[Document(name="d", text=TEXT)]))  # fmt: skip
    slug = house.readings.create(project, house.evaluations.row(project), by=house.owner(), n=1, votes=1, seed=1)
    reading_project, row, user = house.project(slug), house.evaluations.row(project), house.owner().id
    reading_campaign = house.campaign(reading_project)
    (task,) = house.assignment.next_tasks(reading_project, reading_campaign, user_id=user, n=1).tasks
    house.readings.annotate(reading_project, row, reading_campaign, item_id=task.item_id, user_id=user, request="r",
                            content=says())  # fmt: skip
    results = house.reading_results
    assert results.read_in(row) == {("Ann Lee", "employer", "Acme"): 1}
    line = {"document": "d", "subject": "Ann Lee", "predicate": "employer", "object": "Acme",
            "subject_mention": "Ann Lee", "subject_start": 0, "subject_end": 7, "object_mention": "Acme",
            "object_start": 18, "object_end": 22, "subject_link": "wiki/Ann", "object_link": "wiki/Acme"}  # fmt: skip
    found = submit(house, project, tmp_path, "linking", [line])
    assert results.read_in(row) == {("wiki/Ann", "employer", "wiki/Acme"): 1}
    house.submissions.retract(project, found.id, by=house.owner())
    assert results.read_in(row) == {("Ann Lee", "employer", "Acme"): 1}
