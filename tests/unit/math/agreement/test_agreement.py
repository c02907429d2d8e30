"""Each routine against a slow twin that follows the textbook, on votes with gaps and unsure answers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from karat.errors import InvalidInput
from karat.math.agreement.chance import fleiss_kappa, krippendorff_alpha
from karat.math.agreement.consensus import majority, weigh_by_gold
from karat.math.agreement.dawid_skene import fit_dawid_skene
from karat.math.agreement.disputes import find_disputes, votes_wanted
from karat.math.agreement.pairs import pairwise_agreement
from karat.math.agreement.quality import quality_against, quality_against_others
from karat.math.agreement.rates import LabelRates, label_rates, majority_rates
from karat.math.agreement.votes import Votes
from karat.math.binomial import clopper_pearson
from karat.math.certify.noise import LabelErrors


def make_votes(seed: int, *, n_items: int = 40, n_annotators: int = 7, unsure: float = 0.2) -> tuple[Votes, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_items)
    right = rng.uniform(0.6, 0.95, n_annotators)
    seen = rng.random((n_items, n_annotators)) < 0.6
    item, annotator = np.nonzero(seen)
    answer = np.where(rng.random(len(item)) < right[annotator], truth[item], 1 - truth[item])
    answer = np.where(rng.random(len(item)) < unsure, -1, answer)
    shuffled = rng.permutation(len(item))
    votes = Votes.from_arrays(
        item=item[shuffled], annotator=annotator[shuffled], answer=answer[shuffled], items=np.arange(n_items)
    )
    return votes, truth


def rows_of(votes: Votes) -> list[tuple[int, int, int]]:
    return list(zip(votes.item.tolist(), votes.annotator.tolist(), votes.answer.tolist(), strict=True))


# --- votes


def test_the_later_of_two_votes_counts():
    votes = Votes.from_arrays(item=["x", "y", "x"], annotator=["a", "a", "a"], answer=[1, 1, 0])
    assert votes.answer.tolist() == [0, 1]
    assert votes.items.tolist() == ["x", "y"]


def test_order_of_votes_does_not_matter():
    votes, _ = make_votes(3)
    back = Votes.from_arrays(
        item=votes.items[votes.item][::-1],
        annotator=votes.annotators[votes.annotator][::-1],
        answer=votes.answer[::-1],
        items=votes.items,
    )
    for name in ("item", "annotator", "answer"):
        assert np.array_equal(getattr(votes, name), getattr(back, name))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"item": [1, 2], "annotator": [1], "answer": [1, 1]}, "'item' and 'annotator' must have the same length"),
        ({"item": [1], "annotator": [1], "answer": [2]}, "'answer' must be made of 1 (positive), 0 (negative)"),
        ({"item": [1], "annotator": [1], "answer": [float("nan")]}, "'answer' must be made of 1 (positive)"),
        ({"item": [1], "annotator": [1], "answer": ["yes"]}, "'answer' must be made of 1, 0 and -1"),
        ({"item": [1, "1"], "annotator": [1, 1], "answer": [1, 1]}, "'item' must be all whole numbers or all texts"),
        ({"item": [1], "annotator": [1], "answer": [1], "items": [2]}, "'item' must be one of 'items'; got 1"),
        ({"item": [[1]], "annotator": [1], "answer": [1]}, "'item' must be one-dimensional"),
    ],
)
def test_bad_votes_are_refused(given, said):
    with pytest.raises(InvalidInput) as caught:
        Votes.from_arrays(**given)
    assert said in str(caught.value)


def test_truth_by_name_and_in_order():
    votes, _ = make_votes(1)
    named = votes.truth_of({5: 1, 9: 0, 999: 1})
    assert named[5] == 1
    assert named[9] == 0
    assert np.sum(named != -1) == 2
    assert np.array_equal(votes.truth_of(named), named)
    with pytest.raises(InvalidInput, match="both by text"):
        votes.truth_of({"5": 1})


# --- labels


@pytest.mark.parametrize("ties", ["unsure", "positive", "negative"])
@pytest.mark.parametrize("seed", range(4))
def test_majority_counts_by_hand(seed, ties):
    votes, _ = make_votes(seed)
    found = majority(votes, ties=ties)
    for item in range(votes.n_items):
        answers = [answer for i, _, answer in rows_of(votes) if i == item]
        yes, no = answers.count(1), answers.count(0)
        tie = {"unsure": -1, "positive": 1, "negative": 0}[ties] if yes else -1
        assert found.label[item] == (1 if yes > no else 0 if no > yes else tie)


def slow_dawid_skene(votes: Votes, truth: np.ndarray, prior_votes: float, n_steps: int) -> list[float]:
    """The paper's equations, vote by vote, in plain products."""
    rows = rows_of(votes)
    positive = []
    for item in range(votes.n_items):
        sure = [answer for i, _, answer in rows if i == item and answer != -1]
        positive.append(float(truth[item]) if truth[item] != -1 else sum(sure) / len(sure) if sure else 0.5)
    for _ in range(n_steps):
        base = sum(positive) / len(positive)
        chance = {}
        for j, t in itertools.product(range(votes.n_annotators), (0, 1)):
            cells = {a: prior_votes * (0.75 if a == t else 0.25 if a == 1 - t else 0.0) for a in (0, 1, -1)}
            for i, k, a in rows:
                if k == j:
                    cells[a] += positive[i] if t else 1 - positive[i]
            floored = {a: max(cell, 1e-10) for a, cell in cells.items()}
            for a, cell in floored.items():
                chance[j, t, a] = cell / sum(floored.values())
        for item in range(votes.n_items):
            mine = [(k, a) for i, k, a in rows if i == item]
            yes = base * math.prod(chance[k, 1, a] for k, a in mine)
            no = (1 - base) * math.prod(chance[k, 0, a] for k, a in mine)
            positive[item] = float(truth[item]) if truth[item] != -1 else yes / (yes + no)
    return positive


@pytest.mark.parametrize("prior_votes", [0.0, 4.0])
@pytest.mark.parametrize("with_gold", [False, True])
def test_dawid_skene_against_plain_products(prior_votes, with_gold):
    votes, truth = make_votes(5)
    gold = np.where(np.arange(votes.n_items) < 10, truth, -1) if with_gold else np.full(votes.n_items, -1)
    found = fit_dawid_skene(votes, gold=gold, prior_votes=prior_votes, most_steps=7, tolerance=1e-300)
    expected = slow_dawid_skene(votes, gold, prior_votes, 7)
    np.testing.assert_allclose(found.consensus.probability, expected, atol=1e-10)
    assert not found.converged
    np.testing.assert_allclose(found.confusion.sum(axis=2), 1.0)


def test_dawid_skene_climbs_at_every_step():
    votes, _ = make_votes(8)
    likelihoods = [
        fit_dawid_skene(votes, prior_votes=0.0, most_steps=k, tolerance=1e-300).log_likelihood for k in range(1, 40)
    ]
    assert np.all(np.diff(likelihoods) > -1e-9)
    assert likelihoods[-1] > likelihoods[0] + 1.0


def test_dawid_skene_is_stable_with_thousands_of_votes_an_item():
    """Plain products of 4,000 chances are 0/0."""
    rng = np.random.default_rng(0)
    truth = np.array([0, 1, 1])
    item = np.repeat([0, 1, 2], 4000)
    answer = np.where(rng.random(12_000) < 0.7, truth[item], 1 - truth[item])
    votes = Votes.from_arrays(item=item, annotator=np.tile(np.arange(4000), 3), answer=answer)
    found = fit_dawid_skene(votes)
    assert np.isfinite(found.log_likelihood)
    assert found.consensus.label.tolist() == [0, 1, 1]


def test_dawid_skene_finds_the_one_who_always_says_yes():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 300)
    item, annotator = np.divmod(np.arange(1500), 5)
    answer = np.where(rng.random(1500) < 0.85, truth[item], 1 - truth[item])
    answer[annotator >= 3] = 1  # two of five always say yes
    votes = Votes.from_arrays(item=item, annotator=annotator, answer=answer)
    found = fit_dawid_skene(votes)
    assert np.all(found.specificity[3:] < 0.1)
    assert np.all(found.specificity[:3] > 0.75)
    by_model = np.mean(found.consensus.label == truth)
    assert by_model > np.mean(majority(votes).label == truth) + 0.1


def slow_weighing(votes: Votes, gold: dict[int, int], base_rate: float, prior_votes: float) -> list[float]:
    rows = rows_of(votes)
    odds = []
    crowd = {}
    for t, a in itertools.product((0, 1), (0, 1, -1)):
        told = [answer for i, _, answer in rows if gold.get(i) == t]
        crowd[t, a] = (told.count(a) + 1) / (len(told) + 3)
    for item in range(votes.n_items):
        ratio = base_rate / (1 - base_rate)
        for _, j, answer in [row for row in rows if row[0] == item]:
            chance = []
            for t in (0, 1):
                told = [a for i, k, a in rows if k == j and gold.get(i) == t]
                chance.append((told.count(answer) + prior_votes * crowd[t, answer]) / (len(told) + prior_votes))
            ratio *= chance[1] / chance[0]
        odds.append(float(gold[item]) if item in gold else ratio / (1 + ratio))
    return odds


def test_weighing_against_plain_products():
    votes, truth = make_votes(6)
    gold = {i: int(truth[i]) for i in range(15)}
    found = weigh_by_gold(votes, gold, base_rate=0.3, prior_votes=2.0)
    np.testing.assert_allclose(found.probability, slow_weighing(votes, gold, 0.3, 2.0), atol=1e-12)


def test_weighing_without_gold_says_nothing():
    votes, _ = make_votes(6)
    assert np.allclose(weigh_by_gold(votes, {}).probability, 0.5)


# --- agreement


def slow_kappa(counts: np.ndarray) -> float:
    pairs_that_agree, answers = [], []
    for row in counts:
        given = [kind for kind, n in enumerate(row) for _ in range(n)]
        if len(given) >= 2:
            pairs = list(itertools.permutations(given, 2))
            pairs_that_agree.append(sum(a == b for a, b in pairs) / len(pairs))
            answers += given
    expected = sum((answers.count(kind) / len(answers)) ** 2 for kind in set(answers))
    return (np.mean(pairs_that_agree) - expected) / (1 - expected)


def slow_alpha(counts: np.ndarray) -> float:
    """From the pairs within units and the pairs of all votes, as Krippendorff words it."""
    units = [[kind for kind, n in enumerate(row) for _ in range(n)] for row in counts]
    units = [unit for unit in units if len(unit) >= 2]
    everything = [kind for unit in units for kind in unit]
    observed = sum(sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    expected = sum(a != b for a, b in itertools.permutations(everything, 2)) / (len(everything) - 1)
    return 1 - observed / expected


@pytest.mark.parametrize("unsure", ["category", "missing"])
@pytest.mark.parametrize("seed", range(4))
def test_coefficients_against_pairs(seed, unsure):
    counts = make_votes(seed)[0].counts(unsure=unsure)
    assert fleiss_kappa(counts).coefficient == pytest.approx(slow_kappa(counts), abs=1e-12)
    assert krippendorff_alpha(counts).coefficient == pytest.approx(slow_alpha(counts), abs=1e-12)


@pytest.mark.parametrize("coefficient", [fleiss_kappa, krippendorff_alpha])
def test_coefficients_at_the_ends(coefficient):
    assert coefficient([[3, 0], [0, 2]]).coefficient == 1.0
    assert coefficient([[3, 0], [2, 0]]).coefficient is None  # nobody ever said anything else
    assert coefficient([[1, 0], [0, 1]]).coefficient is None  # no two votes on an item
    assert coefficient(np.zeros((0, 3))).coefficient is None
    for bad in ([[-1, 2]], [[0.5, 1]], [[float("nan"), 1]], [1, 2]):
        with pytest.raises(InvalidInput, match="'counts' must be"):
            coefficient(bad)


@pytest.mark.parametrize("unsure", ["category", "missing"])
def test_pairs_against_loops(unsure):
    votes, _ = make_votes(9)
    found = pairwise_agreement(votes, unsure=unsure)
    said = {(i, j): a for i, j, a in rows_of(votes) if unsure == "category" or a != -1}
    expected = {}
    for one, other in itertools.combinations(range(votes.n_annotators), 2):
        both = [(said[i, one], said[i, other]) for i in range(votes.n_items) if (i, one) in said and (i, other) in said]
        if both:
            share = sum(a == b for a, b in both) / len(both)
            chance = sum(
                sum(a == kind for a, _ in both) * sum(b == kind for _, b in both) / len(both) ** 2
                for kind in (0, 1, -1)
            )
            expected[one, other] = (len(both), share, (share - chance) / (1 - chance))
    pairs = zip(found.first.tolist(), found.second.tolist(), strict=True)
    figures = zip(found.n_common.tolist(), found.share.tolist(), found.kappa.tolist(), strict=True)
    for pair, (n_common, share, kappa) in zip(pairs, figures, strict=True):
        n, wanted_share, wanted_kappa = expected.pop(pair)
        assert n == n_common
        assert share == pytest.approx(wanted_share)
        assert kappa == pytest.approx(wanted_kappa, abs=1e-12)
    assert not expected
    assert np.all((found.low <= found.share) & (found.share <= found.high))


def test_pairs_without_variation_and_without_votes():
    same = Votes.from_arrays(item=[1, 1, 2, 2], annotator=[1, 2, 1, 2], answer=[1, 1, 1, 1])
    found = pairwise_agreement(same)
    assert found.kappa_defined.tolist() == [False]
    assert found.kappa.tolist() == [0.0]
    alone = Votes.from_arrays(item=[1, 2], annotator=[1, 2], answer=[1, 0])
    assert len(pairwise_agreement(alone).first) == 0


# --- annotators


def test_quality_against_loops():
    votes, truth = make_votes(11)
    gold = {i: int(truth[i]) for i in range(25)}
    found = quality_against(votes, gold)
    others = quality_against_others(votes)
    for j in range(votes.n_annotators):
        told = [(gold[i], a) for i, k, a in rows_of(votes) if k == j and i in gold]
        sure = [(t, a) for t, a in told if a != -1]
        assert found.accuracy[j] == pytest.approx(np.mean([t == a for t, a in sure]))
        assert found.n_unsure[j] == len(told) - len(sure)
        assert found.n_right[j] == sum(t == a for t, a in sure)
        low, high = clopper_pearson(found.n_right[j], len(sure))
        assert (found.low[j], found.high[j]) == (low, high)
        right = total = 0
        for i, k, a in rows_of(votes):
            rest = [b for m, q, b in rows_of(votes) if m == i and q != j]
            if k == j and a != -1 and rest.count(1) != rest.count(0):
                total += 1
                right += a == int(rest.count(1) > rest.count(0))
        assert (others.n_right[j], others.n_sure[j]) == (right, total)


def test_an_annotator_without_gold_gets_the_whole_interval():
    votes = Votes.from_arrays(item=[1, 2], annotator=["a", "b"], answer=[1, 0])
    found = quality_against(votes, {1: 1})
    assert found.low.tolist() == pytest.approx([0.025, 0.0])
    assert found.high.tolist() == [1.0, 1.0]


# --- rates for certify


def test_label_rates_are_those_certify_learns_itself():
    label = np.r_[np.ones(91), np.zeros(9), np.zeros(180), np.ones(20)]
    gold = np.r_[np.ones(100), np.zeros(200)]
    found = label_rates(label, gold, confidence_level=0.995)
    own = LabelErrors.from_gold((91, 100), (180, 200), delta=0.005)
    assert found.sensitivity == pytest.approx(own.sensitivity)
    assert found.specificity == pytest.approx(own.specificity)


def test_unsure_labels_widen_the_rates_both_ways():
    label, gold = [1] * 80 + [-1] * 10 + [0] * 10, [1] * 100
    found = label_rates(label, gold)
    assert found.sensitivity[0] == label_rates([1] * 80 + [0] * 20, gold).sensitivity[0]
    assert found.sensitivity[1] == label_rates([1] * 90 + [0] * 10, gold).sensitivity[1]
    assert found.specificity == (0.0, 1.0)


def exact_chances(n_votes: int, chances: tuple[float, float, float], ties: str, own: int) -> tuple[float, float]:
    """Chance that the label is the item's own truth, and that it is that or unsure, over all 3^k outcomes."""
    surely = possibly = 0.0
    for outcome in itertools.product((0, 1, -1), repeat=n_votes):
        votes = Votes.from_arrays(item=[0] * n_votes, annotator=range(n_votes), answer=outcome)
        label = majority(votes, ties=ties).label[0]
        chance = math.prod(chances[answer] for answer in outcome)
        surely += chance * (label == own)
        possibly += chance * (label in {own, -1})
    return surely, possibly


@pytest.mark.parametrize("ties", ["unsure", "positive", "negative"])
@pytest.mark.parametrize("n_votes", [1, 2, 3, 4])
def test_majority_rates_hold_the_exact_chances(n_votes, ties):
    right, unsure = 0.8, 0.07
    one = LabelRates(
        sensitivity=(right, right + unsure), specificity=(right, right + unsure), confidence_level=0.99, assumption=""
    )
    wrong = 1 - right - unsure
    for own, chances in ((1, (wrong, right, unsure)), (0, (right, wrong, unsure))):
        surely, possibly = exact_chances(n_votes, chances, ties, own)
        for dependence in ("independent", "any"):
            found = majority_rates(one, n_votes=n_votes, ties=ties, dependence=dependence)
            low, high = found.sensitivity if own else found.specificity
            assert low <= surely + 1e-12
            # Below, an unsure label counts as wrong: only the chance of a sure one must stay under the upper end.
            assert surely <= high + 1e-12
            if ties == "unsure":
                assert possibly <= high + 1e-12


@pytest.mark.parametrize("ties", ["unsure", "positive", "negative"])
@pytest.mark.parametrize("n_votes", [1, 2, 3, 4, 5])
def test_majority_rates_are_exact_where_nobody_is_unsure(n_votes, ties):
    one = LabelRates(sensitivity=(0.8, 0.8), specificity=(0.9, 0.9), confidence_level=0.99, assumption="")
    found = majority_rates(one, n_votes=n_votes, ties=ties)
    surely, possibly = exact_chances(n_votes, (0.2, 0.8, 0.0), ties, 1)
    assert found.sensitivity == pytest.approx((surely, possibly if ties == "unsure" else surely))
    surely, possibly = exact_chances(n_votes, (0.9, 0.1, 0.0), ties, 0)
    assert found.specificity == pytest.approx((surely, possibly if ties == "unsure" else surely))


# --- disputes


def test_disputes_are_the_split_and_the_unsure():
    votes, _ = make_votes(4)
    found = find_disputes(votes, least_votes=2)
    counts = votes.counts()
    for item, (no, yes, unsure) in enumerate(counts.tolist()):
        wanted = no + yes + unsure >= 2 and ((no > 0 and yes > 0) or 2 * unsure >= no + yes + unsure)
        assert (item in found) == wanted
    lead = np.abs(counts[:, 1] - counts[:, 0]) / np.maximum(counts.sum(axis=1), 1)
    assert np.all(np.diff(lead[found]) >= 0)
    by_model = find_disputes(votes, probability=np.linspace(0, 1, votes.n_items))
    assert sorted(by_model) == sorted(found)
    assert np.all(np.diff(np.abs(np.linspace(0, 1, votes.n_items) - 0.5)[by_model]) >= 0)


@pytest.mark.parametrize("n_votes", [1, 2, 3, 4, 5])
def test_asking_only_where_needed_changes_no_label(n_votes):
    """For every sequence of answers: stopping when no more are wanted gives the label of all votes, never too early."""
    n_saved = 0
    for outcome in itertools.product((0, 1, -1), repeat=n_votes):
        given = 0
        while True:
            votes = Votes.from_arrays(item=[0] * given, annotator=range(given), answer=outcome[:given], items=[0])
            more = int(votes_wanted(votes, n_votes=n_votes)[0])
            assert given + more <= n_votes
            if more == 0:
                break
            given += more
        whole = Votes.from_arrays(item=[0] * n_votes, annotator=range(n_votes), answer=outcome, items=[0])
        assert majority(votes).label[0] == majority(whole).label[0]
        n_saved += n_votes - given
    assert (n_saved > 0) == (n_votes >= 3)


def test_ties_are_asked_again_up_to_the_most():
    votes = Votes.from_arrays(item=[1, 1, 2, 2, 2, 2], annotator=[1, 2, 1, 2, 3, 4], answer=[1, 0, 1, 0, 1, 0])
    assert votes_wanted(votes, n_votes=2).tolist() == [0, 0]
    assert votes_wanted(votes, n_votes=2, most_votes=4).tolist() == [1, 0]
    assert votes_wanted(votes, n_votes=2, most_votes=5).tolist() == [1, 1]
