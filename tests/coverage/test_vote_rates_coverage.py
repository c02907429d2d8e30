"""Do the intervals for annotators and for majorities hold? Seeded simulations, with wrong variants that must fail.

A share of failures is compared with what is allowed plus four binomial standard deviations.
"""

from __future__ import annotations

import numpy as np
import pytest

from karat.math.agreement.consensus import majority
from karat.math.agreement.quality import quality_against
from karat.math.agreement.rates import label_rates, majority_rates
from karat.math.agreement.votes import Votes
from karat.math.binomial import clopper_pearson

N_RUNS = 400


def too_many(n_failures: int, allowed: float, n_runs: int) -> bool:
    return n_failures > n_runs * allowed + 4 * np.sqrt(n_runs * allowed * (1 - allowed))


def wald(n_right, n_total):
    share = n_right / n_total
    half = 1.96 * np.sqrt(share * (1 - share) / n_total)
    return share - half, share + half


def test_annotators_accuracy_is_covered():
    rng = np.random.default_rng(1)
    n_annotators, n_gold, right = 20_000, 40, 0.96
    item, annotator = np.divmod(np.arange(n_annotators * n_gold), n_annotators)
    truth = rng.integers(0, 2, n_gold)
    answer = np.where(rng.random(len(item)) < right, truth[item], 1 - truth[item])
    votes = Votes.from_arrays(item=item, annotator=annotator, answer=answer)
    found = quality_against(votes, truth)
    misses = int(np.sum((found.low > right) | (found.high < right)))
    assert not too_many(misses, 0.05, n_annotators)
    low, high = wald(found.n_right, found.n_sure)
    assert too_many(int(np.sum((low > right) | (high < right))), 0.05, n_annotators), "the textbook interval must fail"


def simulate_gold(rng, *, n_gold: int, n_votes: int, misleading: float) -> tuple[Votes, np.ndarray]:
    """Votes of which nine tenths are right; a share of items misleads everybody to be wrong four times in five."""
    truth = np.r_[np.ones(n_gold), np.zeros(n_gold)].astype(int)
    easy = (0.9 - 0.2 * misleading) / (1 - misleading)
    chance = np.where(rng.random(2 * n_gold) < misleading, 0.2, easy)
    item, annotator = np.divmod(np.arange(2 * n_gold * n_votes), n_votes)
    answer = np.where(rng.random(len(item)) < chance[item], truth[item], 1 - truth[item])
    return Votes.from_arrays(item=item, annotator=annotator, answer=answer), truth


def true_majority_of_three(misleading: float) -> float:
    easy = (0.9 - 0.2 * misleading) / (1 - misleading)
    return sum(share * (3 * p**2 - 2 * p**3) for share, p in ((misleading, 0.2), (1 - misleading, easy)))


@pytest.mark.parametrize("misleading", [0.0, 0.1])
def test_rates_of_a_majority_hold(misleading):
    rng = np.random.default_rng(7)
    level = 0.9
    value = true_majority_of_three(misleading)
    misses = dict.fromkeys(("direct", "independent", "any"), 0)
    for _ in range(N_RUNS):
        votes, truth = simulate_gold(rng, n_gold=200, n_votes=3, misleading=misleading)
        one = label_rates(votes.answer[::3], truth, confidence_level=level)
        found = {
            "direct": label_rates(majority(votes).label, truth, confidence_level=level),
            "independent": majority_rates(one, n_votes=3),
            "any": majority_rates(one, n_votes=3, dependence="any"),
        }
        for name, rates in found.items():
            ends = (rates.sensitivity, rates.specificity)
            misses[name] += not all(low <= value <= high for low, high in ends)
    assert not too_many(misses["direct"], 1 - level, N_RUNS)
    assert not too_many(misses["any"], 1 - level, N_RUNS)
    # Votes that err together are what the independent rule cannot stand: it must fail there, and only there.
    assert too_many(misses["independent"], 1 - level, N_RUNS) == (misleading > 0)


def test_all_votes_on_gold_taken_for_independent_fail():
    """Counting three votes on one gold item as three trials is wrong where items mislead: the control must fail."""
    rng = np.random.default_rng(8)
    misses = {"one an item": 0, "all": 0}
    for _ in range(N_RUNS):
        votes, truth = simulate_gold(rng, n_gold=200, n_votes=9, misleading=0.1)
        one = label_rates(votes.answer[::9], truth, confidence_level=0.9)
        every = label_rates(votes.answer, np.repeat(truth, 9), confidence_level=0.9)
        for name, rates in (("one an item", one), ("all", every)):
            misses[name] += not all(low <= 0.9 <= high for low, high in (rates.sensitivity, rates.specificity))
    assert not too_many(misses["one an item"], 0.1, N_RUNS)
    assert too_many(misses["all"], 0.1, N_RUNS)


def test_clopper_pearson_holds_for_every_chance():
    n = 30
    low, high = clopper_pearson(np.arange(n + 1), n, confidence_level=0.9)
    rng = np.random.default_rng(3)
    for chance in (0.01, 0.1, 0.5, 0.9, 0.99):
        drawn = rng.binomial(n, chance, 20_000)
        below, above = int(np.sum(low[drawn] > chance)), int(np.sum(high[drawn] < chance))
        assert not too_many(below, 0.05, 20_000)
        assert not too_many(above, 0.05, 20_000)
