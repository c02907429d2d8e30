"""A reader with no statistics finds the four answers on the report page, and they are those of the curve."""

from __future__ import annotations

import re

import builders
import numpy as np
import pytest

import karat
from karat.draws import Labels
from karat.report.answers import TOP, answer_all
from karat.report.page import render_report

N = 20_000
QUESTIONS = [
    "How good is the top 10,000?",
    "Where should I cut?",
    "How sure are we?",
    "What would 500 more labels buy?",
]


@pytest.fixture(scope="module")
def labels():
    return builders.falling_rate(N, np.random.default_rng(4))


@pytest.fixture(scope="module")
def design(labels):
    design = karat.Certify(budget=600).begin(N, seed=3)
    while len(ranks := design.ask(200)):
        design.tell(Labels.from_pairs(ranks, labels[ranks - 1]))
    return design


def test_the_answers_are_those_of_the_curve(design, labels):
    curve = design.curve()
    answers = {answer.question: answer.text for answer in answer_all(curve, design.draw)}
    assert list(answers) == QUESTIONS
    known = curve.at(TOP)
    assert f"Between {known.low:.1%} and {known.high:.1%} of the top 10,000 are right" in answers[QUESTIONS[0]]
    for kept, target in re.findall(r"Keep the first ([\d,]+) items .*? at least (\d+)%", answers[QUESTIONS[1]]):
        cut = int(kept.replace(",", ""))
        assert curve.at(cut).low >= int(target) / 100 - 1e-9
        assert labels[:cut].mean() >= int(target) / 100  # and it is true
    assert answers[QUESTIONS[2]].startswith("95%, for all ranges on this page together")
    before, after = re.search(r"from ([\d.]+) to about ([\d.]+) percentage points", answers[QUESTIONS[3]]).groups()
    assert float(before) == pytest.approx(100 * (known.high - known.low), abs=0.06)
    assert float(after) < float(before)


def test_more_labels_do_buy_about_that(design, labels):
    text = answer_all(design.curve(), design.draw)[3].text
    forecast = float(re.search(r"to about ([\d.]+)", text).group(1))
    widths = []
    for seed in range(5):
        curve, _ = karat.Certify(budget=1100).replay(labels, seed=seed)
        widths.append(100 * (curve.at(TOP).high - curve.at(TOP).low))
    assert forecast == pytest.approx(np.median(widths), rel=0.3)


def test_the_page_shows_questions_before_the_first_picture(design):
    page = render_report(design.curve(), draw=design.draw)
    places = [page.index(question) for question in QUESTIONS]
    assert places == sorted(places)
    assert places[-1] < page.index("<figure>")


def test_what_cannot_be_said_is_not_said(labels):
    paula = builders.curve_of(karat.Paula(epsilon=0.1, window=20), labels[::-1])
    texts = " ".join(answer.text for answer in answer_all(paula))
    assert "contradict" in texts
    whole = builders.curve_of(karat.Point(labels=300), labels[:300])
    assert answer_all(whole)[0].question == "How good is the list?"
    assert "there is nothing left to learn" in answer_all(whole)[3].text
    assert answer_all(whole)[2].text == "Certain: every item was labelled."
