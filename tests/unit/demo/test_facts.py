"""The demo's facts: readable, unique, right exactly where they say so."""

from __future__ import annotations

import numpy as np

from karat.demo.facts import N_FACTS, make_facts


def is_right(subject: str, relation: str, thing: str) -> bool:
    if relation == "equals":
        left, sign, right = subject.split(" ")
        value = int(left) + int(right) if sign == "+" else int(left) * int(right)
        return value == int(thing)
    if relation == "is greater than":
        return int(subject) > int(thing)
    if relation == "is divisible by":
        return int(subject) % int(thing) == 0
    if relation == "stands in the dictionary before":
        return subject.strip("“”") < thing.strip("“”")
    if relation == "has this many letters:":
        return len(subject.removeprefix("the word ").strip("“”")) == int(thing)
    days = {"January": 31, "March": 31, "April": 30, "May": 31, "June": 30, "July": 31, "August": 31, "September": 30,
            "October": 31, "November": 30, "December": 31}  # fmt: skip
    return days[subject] == int(thing)


def test_every_fact_is_labelled_as_a_person_would():
    facts = make_facts(20_000, seed=3)
    judged = [is_right(*fact) for fact in zip(facts.subject, facts.relation, facts.object, strict=True)]
    np.testing.assert_array_equal(judged, facts.label.astype(bool))
    assert len(set(zip(facts.subject, facts.relation, facts.object, strict=True))) == 20_000
    assert len(set(facts.id)) == 20_000


def test_the_resource_is_large_and_its_precision_falls():
    assert N_FACTS >= 200_000
    facts = make_facts(20_000, seed=3)
    ranked = facts.label[np.argsort(-facts.score, kind="stable")]
    assert ranked[:2000].mean() > ranked[10_000:].mean() + 0.05
    assert len(np.unique(facts.score)) < 20_000
    again = make_facts(20_000, seed=3)
    assert again.subject == facts.subject
    assert make_facts(100, seed=4).subject != make_facts(100, seed=5).subject
