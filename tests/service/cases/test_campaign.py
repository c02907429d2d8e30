"""What a campaign may be, how votes become labels, and what guidelines turn into."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InvalidInput
from karat.service.campaign import Campaign, Option, make_slug
from karat.service.guidelines import TAGS, render
from karat.service.votes import decide

YES, NO = (Option(value=v, label=v, key=k, meaning=m) for v, k, m in (("y", "1", "positive"), ("n", "2", "negative")))


@pytest.mark.parametrize(
    "change",
    [
        {"question": ""}, {"question": "x" * 3000}, {"votes": 0}, {"votes": 2.5}, {"tie": "coin"}, {"template": "free"},
        {"price": -1}, {"price": float("nan")}, {"ahead": 0}, {"lease_minutes": 0}, {"options": (YES,)},
        {"rule": "coin"}, {"votes": 1, "extra": 1}, {"votes": 2, "extra": -1}, {"gold_share": 0.6},
        {"gold_share": 0.1, "show_scores": True}, {"gold_share": 0.1, "show_votes": True},
        {"options": (YES, YES, NO)}, {"guidelines": "x" * 200_000}, {"question": "nul\x00"},
    ],
)  # fmt: skip
def test_bad_campaigns_are_refused(change):
    with pytest.raises(InvalidInput):
        Campaign(**change)


@pytest.mark.parametrize("key", ["", "ab", " ", "u", "S", "?"])
def test_keys_never_collide_with_the_screen(key):
    with pytest.raises(InvalidInput, match="key"):
        Option(value="v", label="l", key=key, meaning="unsure")


@pytest.mark.parametrize("document", [{"colour": 1}, {"options": [{"value": 1}]}, {"options": 3}, {"options": [[]]}])
def test_damaged_documents_are_refused(document):
    with pytest.raises(InvalidInput):
        Campaign.from_dict(document)


def test_a_document_comes_back():
    campaign = Campaign(options=(YES, NO), fields=("a", "b"), votes=4, tie="negative", price=0.1)
    assert Campaign.from_dict(json.loads(json.dumps(campaign.to_dict()))) == campaign


@pytest.mark.parametrize(("title", "slug"), [("A B!", "a-b"), ("日本", "project"), ("--x--", "x")])
def test_slugs(title, slug):
    assert make_slug(title) == slug


@pytest.mark.parametrize("votes", list(itertools.product((1, 0, -1), repeat=3)))
@pytest.mark.parametrize("tie", ["unsure", "positive", "negative"])
def test_three_votes(votes, tie):
    lead = votes.count(1) - votes.count(0)  # an unsure vote is an abstention
    tied = -1 if votes.count(-1) == 3 else {"unsure": -1, "positive": 1, "negative": 0}[tie]
    expected = 1 if lead > 0 else 0 if lead < 0 else tied
    assert decide(votes, wanted=3, tie=tie) == expected
    assert decide(votes[:2], wanted=3, tie=tie) is None


def flatten(nodes):
    for node in nodes:
        yield node
        if not isinstance(node, str):
            yield from flatten(node["children"])


@given(
    st.text(max_size=200)
    | st.sampled_from(["[a](javascript:b)", "<script>x</script>", "![i](http://x/y)", "[a](data:x)"])
)
@settings(max_examples=200)
def test_guidelines_are_harmless_whatever_is_written(markdown):
    for node in flatten(render(markdown)):
        if isinstance(node, str):
            continue
        assert node["tag"] in {*TAGS, "span"}
        assert set(node) <= {"tag", "children", "href"}
        assert node.get("href", "https:").split(":")[0].lower() in {"http", "https", "mailto"}


def test_guidelines_keep_what_markdown_means():
    nodes = render("# T\n\n- a\n- **b**\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n`c` [l](https://e.org)\n")
    assert [node["tag"] for node in nodes] == ["h1", "ul", "table", "p"]
    tags = [node["tag"] for node in flatten(nodes) if not isinstance(node, str)]
    assert {"li", "strong", "td", "code", "a"} <= set(tags)
