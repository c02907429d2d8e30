"""Figures of crowd-kit and statsmodels (tools/make_votes_reference.py), of Krippendorff, and of real raters."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import pytest

from karat.math.agreement.chance import fleiss_kappa, krippendorff_alpha
from karat.math.agreement.consensus import majority
from karat.math.agreement.dawid_skene import fit_dawid_skene
from karat.math.agreement.disputes import find_disputes, votes_wanted
from karat.math.agreement.pairs import pairwise_agreement
from karat.math.agreement.votes import Votes
from karat.math.binomial import clopper_pearson

ROOT = Path(__file__).parents[2]
REFERENCE = json.loads(Path(__file__).with_name("votes.json").read_text(encoding="utf-8"))
CASES = REFERENCE["cases"]
CROWD_KIT = ("complete", "sparse", "even")
RATINGS = ROOT.parent / "shared" / "data" / "single_ppdb_paraphrase_hgb.parquet"


def votes_of(name: str) -> Votes:
    item, annotator, answer = CASES[name]["votes"]
    return Votes.from_arrays(item=item, annotator=annotator, answer=answer)


@pytest.mark.parametrize("name", CROWD_KIT)
def test_majority_is_crowd_kits(name):
    found = majority(votes_of(name))
    share = np.array(CASES[name]["majority"])
    np.testing.assert_allclose(found.probability, share, atol=1e-12)
    assert np.array_equal(found.label, np.select([share > 0.5, share < 0.5], [1, 0], default=-1))


@pytest.mark.parametrize("with_gold", [False, True])
@pytest.mark.parametrize("name", CROWD_KIT)
def test_dawid_skene_is_crowd_kits(name, with_gold):
    case, votes = CASES[name], votes_of(name)
    gold = dict(enumerate(case["gold"])) if with_gold else None
    oracle = case["dawid_skene_with_gold" if with_gold else "dawid_skene"]
    found = fit_dawid_skene(votes, gold=gold, prior_votes=0.0, most_steps=oracle["n_steps"], tolerance=1e-300)
    assert found.n_steps == oracle["n_steps"] or found.converged
    np.testing.assert_allclose(found.consensus.probability, oracle["probability"], atol=1e-6)
    further = fit_dawid_skene(votes, gold=gold, prior_votes=0.0, most_steps=20_000)
    assert further.converged
    assert further.log_likelihood >= found.log_likelihood - 1e-3


def test_kappas_are_statsmodels():
    case, votes = CASES["unsure"], votes_of("unsure")
    assert fleiss_kappa(votes.counts()).coefficient == pytest.approx(case["fleiss_kappa"], abs=1e-12)
    pairs = pairwise_agreement(votes)
    order = np.lexsort((pairs.second, pairs.first))
    np.testing.assert_allclose(pairs.kappa[order], case["cohens_kappa"], atol=1e-12)


def test_clopper_pearson_is_statsmodels():
    right, total = np.array(REFERENCE["clopper_pearson"]["trials"]).T
    limits = np.column_stack(clopper_pearson(right, total))
    np.testing.assert_allclose(limits, REFERENCE["clopper_pearson"]["limits"], atol=1e-12)


def test_fleiss_own_example():
    """Fleiss's table as it stands in textbooks: ten subjects, fourteen raters, five categories; kappa .210."""
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    found = fleiss_kappa(table)
    assert found.coefficient == pytest.approx(0.20993, abs=5e-6)
    assert found.observed == pytest.approx(0.378, abs=5e-4)
    assert found.expected == pytest.approx(0.213, abs=5e-4)


def count_units(*units: str) -> np.ndarray:
    """Units by categories, from one string a unit: one letter an observer, a dot where the observer said nothing."""
    kinds = sorted(set("".join(units)) - {"."})
    return np.array([[unit.count(kind) for kind in kinds] for unit in units])


def units_of(*observers: str) -> list[str]:
    return ["".join(values) for values in zip(*observers, strict=True)]


@pytest.mark.parametrize(
    ("units", "alpha"),
    [
        # Given there as coincidences: 10 of 0 with 0, 4 of 0 with 1 (and 1 with 0), 2 of 1 with 1.
        pytest.param(["00"] * 5 + ["01"] * 4 + ["11"], 0.095, id="A: binary, two observers"),
        pytest.param(units_of("aabbdcccedda", "babbbccceddd"), 0.692, id="B: nominal, two observers"),
        pytest.param(
            ["11.1", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", ".555", "..11", "..3."],
            0.743,
            id="C: nominal, four observers, missing values",
        ),
        pytest.param(
            units_of(".....34121133.3", "1.213343.......", "..21344.21133.4"),
            0.691,
            id="three coders, fifteen units, missing values",
        ),
    ],
)
def test_krippendorffs_examples(units, alpha):
    assert krippendorff_alpha(count_units(*units)).coefficient == pytest.approx(alpha, abs=5e-4)


@pytest.fixture(scope="module")
def raters() -> tuple[Votes, np.ndarray]:
    """Real ratings from 1 to 5, three and more counting as positive. The file sorts each item's ratings, so a rater
    here is only a place in that order: fine for what does not ask who voted.
    """
    if not RATINGS.exists():
        pytest.skip(f"{RATINGS} is absent")
    found = duckdb.sql(f"SELECT id, ratings, label FROM '{RATINGS}' ORDER BY id").fetchall()
    ratings = [[float(value) for value in row[1].split(",")] for row in found]
    item = np.repeat([row[0] for row in found], [len(values) for values in ratings])
    place = np.concatenate([np.arange(len(values)) for values in ratings])
    answer = (np.concatenate(ratings) >= 3).astype(int)
    return Votes.from_arrays(item=item, annotator=place, answer=answer), np.array([row[2] for row in found])


def test_real_raters(raters):
    votes, label = raters
    assert votes.n_items == 26_413
    by_majority = majority(votes)
    sure = by_majority.label != -1
    # The label is "mean of the ratings at least 3", which a majority of ratings mostly means too.
    assert np.mean(by_majority.label[sure] == label[sure]) > 0.85
    kappa, alpha = fleiss_kappa(votes.counts()), krippendorff_alpha(votes.counts())
    assert kappa.n_votes == alpha.n_votes == len(votes)
    twin = slow_alpha(votes)
    assert alpha.coefficient == pytest.approx(twin, abs=1e-10)
    assert 0.15 < alpha.coefficient < 0.6
    assert kappa.coefficient == pytest.approx(alpha.coefficient, abs=0.02)
    disputes = find_disputes(votes)
    counts = votes.counts()
    assert set(disputes) == set(np.flatnonzero((counts[:, 0] > 0) & (counts[:, 1] > 0)))


def test_real_raters_are_asked_only_where_needed(raters):
    """The labels of five votes for 3.6 votes an item, as the page says."""
    votes, _ = raters
    five = np.flatnonzero(votes.counts().sum(axis=1) == 5)
    answers = np.random.default_rng(1).permuted(votes.answer[np.isin(votes.item, five)].reshape(-1, 5), axis=1)
    given = np.zeros(len(five), dtype=int)
    while True:
        seen = np.arange(5) < given[:, None]
        item, place = np.nonzero(seen)
        asked = Votes.from_arrays(item=item, annotator=place, answer=answers[seen], items=np.arange(len(five)))
        more = votes_wanted(asked, n_votes=5)
        if not more.any():
            break
        given += more
    assert np.array_equal(majority(asked).label, (answers.sum(axis=1) >= 3).astype(int))
    assert np.mean(given) == pytest.approx(3.59, abs=0.02)


def slow_alpha(votes: Votes) -> float:
    """Krippendorff's coincidence matrix, item by item and pair by pair."""
    coincidences = np.zeros((2, 2))
    for start, stop in zip(
        *np.searchsorted(votes.item, [np.arange(votes.n_items), np.arange(1, votes.n_items + 1)]), strict=True
    ):
        answers = votes.answer[start:stop]
        for i, one in enumerate(answers):
            for j, other in enumerate(answers):
                if i != j:
                    coincidences[one, other] += 1 / (len(answers) - 1)
    margins, n = coincidences.sum(axis=0), coincidences.sum()
    return 1 - (n - 1) * (n - np.trace(coincidences)) / (n**2 - np.sum(margins**2))
