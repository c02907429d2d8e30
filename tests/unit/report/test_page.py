"""The report: one page, no network, readable by a person in a hurry."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import builders
import numpy as np
import pytest

import karat
from karat.report.page import render_report


class Balanced(HTMLParser):
    """Raises if a tag is closed that was not opened last."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        if tag not in {"meta", "img", "br", "link"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def labels():
    return builders.falling_rate(20_000, np.random.default_rng(4))


@pytest.fixture(scope="module")
def page(labels):
    design = karat.Paula().begin(20_000, seed=5, resource={"source": ["facts.csv"], "score": "confidence"})
    builders.answer(design, labels)
    other = builders.curve_of(karat.Uniform(labels=3000), labels)
    return render_report(
        design.curve(), title="Is <it> good?", draw=design.draw, truth=labels, others=[other],
        commands=["karat curve draw.json labels.csv --html report.html"],
    )  # fmt: skip


def test_the_page_needs_no_network(page):
    assert page.startswith("<!doctype html>")
    assert not re.findall(r"(?:src|href)=[\"'](?!data:)", page)
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page
    assert page.count("data:image/png;base64,") >= 5
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []


def test_the_page_says_everything(page):
    text = re.sub(r"<[^>]+>", " ", page)
    assert re.search(r"between [\d.]+% and [\d.]+%|About [\d.]+% of 20,000 items", text)
    assert "Is &lt;it&gt; good?" in page
    for heading in ("How good are the first", "Where to cut", "The whole list", "Against other methods",
                    "What this rests on", "How to make this page again"):  # fmt: skip
        assert heading in text
    assert "seed 5" in text
    assert "facts.csv" in text
    assert "karat curve draw.json labels.csv" in text
    assert "The first 3,492 items are at least as good as their last 100" in text


def test_contradicted_assumptions_stand_at_the_top():
    labels = np.tile([1, 0], 10_000).astype(np.int8)
    labels[12_000:] = 1
    page = render_report(builders.curve_of(karat.Paula(), labels))
    warning = page.index('class="warn"')
    assert warning < page.index("<h2>")
    assert "The labels contradict an assumption" in page
    assert "nothing is certified" in page
    assert "not certified" in page


@pytest.mark.parametrize("labels", [[1], [0], [1, 0], [0] * 50, [1] * 50])
def test_tiny_and_one_sided_lists(labels):
    page = render_report(builders.curve_of(karat.Paula(), labels))
    assert "Every item was labelled: the numbers are exact." in page
    assert "nan" not in re.sub(r"base64,[^\"]+", "", page).lower()


def test_a_cut_that_keeps_a_handful_is_none():
    ranks = np.array([0, 1, 20_000])
    curve = karat.Curve(
        method="certify", n_items=20_000, n_labels=500, confidence_level=0.95, guarantee="finite-sample", ranks=ranks,
        yield_low=np.array([0.0, 1.0, 100.0]), yield_high=np.array([0.0, 1.0, 9000.0]),
        yield_estimate=np.array([0.0, 1.0, 5000.0]),
    )  # fmt: skip
    assert curve.cutoff(precision=0.99) == 1
    assert "<td>precision at least 99%</td><td>no cut is certain</td>" in render_report(curve)
