"""A reader with no statistics finds the four answers on the report page, and they are those of the curve."""

from __future__ import annotations

import re
from dataclasses import replace

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
    assert "there is nothing left to learn" in answer_to(whole, QUESTIONS[3])
    assert how_sure(whole) == "Certain: every item was labelled."


def answer_to(curve, question: str) -> str:
    return {answer.question: answer.text for answer in answer_all(curve)}[question]


def how_sure(curve) -> str:
    return answer_to(curve, "How sure are we?")


def test_only_the_rank_that_was_asked_about_is_spoken_of(labels):
    curve = builders.curve_of(karat.Point(rank=1000, labels=200), labels)
    assert curve.headline().startswith("Of the top 1,000 of 20,000 items, between ")
    assert [answer.question for answer in answer_all(curve)] == [
        "How good is the top 1,000?",
        "How sure are we?",
        "What would 500 more labels buy?",
    ]
    page = render_report(curve)
    assert "Where to cut" not in page
    assert "<figure>" not in page
    assert "top 10,000" not in page + str(curve)
    assert [found.name for found in curve.summary()] == ["precision at 1,000", "yield at 1,000"]
    assert curve.at(1000).estimated
    assert not curve.at(999).estimated


def test_no_guess_below_what_was_labelled(labels):
    curve, _ = karat.Certify(top=3000).replay(labels, seed=1)
    assert curve.headline().startswith("Of the top 3,000 of 20,000 items, between ")
    assert answer_all(curve)[0].question == "How good is the top 3,000?"
    assert curve.at(3000).estimated
    assert not curve.at(3001).estimated
    assert not curve.recall_at(3000).estimated
    assert curve.recall_at(3000, positives=15_000).estimated
    assert "precision at 20,000</td><td>–</td>" in render_report(curve)
    line = curve.plot("precision").get_lines()[0]
    assert max(line.get_xdata()) <= 3000
    assert not curve.plot("roc").get_lines()


def test_an_unfinished_draw_speaks_of_what_is_answered(labels):
    design = karat.Certify(budget=600).begin(N, seed=3)
    pilot = design.ask()
    design.tell(Labels.from_pairs(pilot, labels[pilot - 1]))
    assert design.curve().headline() == f"Nothing is certain about 20,000 items (certify, {len(pilot)} labels)."
    ranks = design.ask(200)
    design.tell(Labels.from_pairs(ranks, labels[ranks - 1]))
    reach = design.curve().reach
    assert max(ranks) <= reach < N
    later = design.ask(200)  # nothing is known of these yet
    assert design.curve().reach == reach < max(later) / 2


def test_a_top_that_is_labelled_in_full_is_certain(labels):
    curve = builders.curve_of(karat.Point(rank=50, labels=50), labels[:100])
    assert (curve.confidence_level, curve.guarantee) == (1.0, "finite-sample")
    assert how_sure(curve) == "Certain, for the ranks that were asked about."


@pytest.mark.parametrize(("level", "odds"), [(0.5, 2), (0.6, 2), (0.9, 10), (0.95, 20), (0.99, 100), (0.97, 33)])
def test_odds_are_never_better_than_the_level(design, level, odds):
    assert f"at most one of {odds} such" in how_sure(replace(design.curve(), confidence_level=level))


def test_the_sure_top_of_a_long_list_is_a_cut():
    """A fraud list: of 10 million the first 100,000 are good, and that is what its reader wants."""
    ranks = np.array([0, 100_000, 10_000_000])
    low = np.array([0, 99_000, 99_000])
    curve = karat.Curve(
        method="certify", n_items=10_000_000, n_labels=500, confidence_level=0.95, guarantee="finite-sample",
        ranks=ranks, yield_low=low, yield_high=low + 1000.0 * (ranks > 0), yield_estimate=low + 500.0 * (ranks > 0),
    )  # fmt: skip
    text = answer_all(curve)[1].text
    assert "Keep the first 100,000 items (1.0% of the list) to be sure that at least 99%" in text


def test_error_rates_are_what_it_rests_on(labels, design):
    wrong = builders.curve_of(karat.Certify(budget=300, sensitivity=0.95, specificity=0.95), labels[:3000])
    assert "being wrong no more often than stated" in how_sure(wrong)
    assert "being right" not in how_sure(wrong)
    assert "labels being right" in how_sure(design.curve())


def test_contradicted_bounds_are_not_stated_as_facts(design):
    doubt = karat.Assumption(statement="Precision falls", verdict="contradicted", finding="It rises.")
    text = answer_all(replace(design.curve(), assumptions=(doubt,)))[0].text
    assert text.startswith("We cannot say for sure: the labels contradict what certify takes for granted.")
    assert "at least" not in text


def test_an_unfinished_draw_is_told_to_be_finished(labels):
    design = karat.Certify(budget=600).begin(N, seed=3)
    ranks = design.ask(60)
    design.tell(Labels.from_pairs(ranks, labels[ranks - 1]))
    curve = design.curve()
    answers = {answer.question: answer.text for answer in answer_all(curve, design.draw)}
    assert "How good is the top 1?" not in answers
    text = answers[QUESTIONS[3]]
    assert text.startswith("This draw is not finished: what it still asks for comes first.")
    promised = float(re.search(r"about ([\d.]+) percentage points", text).group(1))
    while len(ranks := design.ask(200)):
        design.tell(Labels.from_pairs(ranks, labels[ranks - 1]))
    done = design.curve().at(TOP)
    assert promised == pytest.approx(100 * (done.high - done.low), rel=0.4)
    assert "takes no more" in answer_all(design.curve(), design.draw)[3].text


def test_a_cut_that_keeps_nearly_everything_is_none():
    good, _ = karat.Certify(budget=300).replay(np.ones(5000, np.int8), seed=1)
    assert answer_to(good, "Where should I cut?").count("Keep everything") == 1
    rare = np.zeros(5000, np.int8)
    rare[::50] = 1
    curve, _ = karat.Certify(budget=600).replay(rare, seed=1)
    kept = curve.cutoff(recall=0.9)
    assert 0.95 * 5000 < kept < 5000
    assert "lose at most a tenth" not in answer_to(curve, "Where should I cut?")
