"""The labels' own scatter, and the curve of the truth behind labels that are wrong now and then: both hold at all ranks
at once as often as they say, and what leaves a step out does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import karat
from karat.draws import Labels
from karat.math.agreement.rates import label_rates
from karat.math.label_noise import drift
from karat.service.truth import correct

N = 4000


def exceeded(bound, *, chance, n_paths=400):
    """Return how often the partial sums of 0s and 1s leave their expectation by more than the bound, anywhere."""
    rng = np.random.default_rng(5)
    ranks = np.arange(1, N + 1)
    paths = np.cumsum((rng.random((n_paths, N)) < chance) - chance, axis=1)
    return float(np.mean(np.any(np.abs(paths) > bound(ranks), axis=1)))


@pytest.mark.parametrize("chance", [0.5, 0.9, 0.99])
def test_the_scatter_stays_inside_at_all_ranks_at_once(chance):
    variance, delta = chance * (1 - chance), 0.2
    most = delta + 3 * np.sqrt(delta * (1 - delta) / 400)
    assert exceeded(lambda ranks: drift(ranks, variance=variance, delta=delta), chance=chance) <= most

    def at_one_rank(ranks):  # the tempting one: right at each rank, not at all of them
        return stats.norm.ppf(1 - delta / 2) * np.sqrt(variance * ranks) + 0.5

    assert exceeded(at_one_rank, chance=chance) > most


def one_study(seed, *, sensitivity, specificity, n_gold):
    """Return the true yields, and the curves of the labels as given and of the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random(N) < np.linspace(0.95, 0.5, N)

    def label(true):
        return np.where(rng.random(len(true)) < np.where(true, sensitivity, specificity), true, ~true).astype(np.int8)

    given = label(truth)
    design = karat.Certify(absolute=0.1, relative=0.15, from_rank=400).begin(N, seed=seed)
    while len(ranks := design.ask(40)):
        design.tell(Labels.from_pairs(ranks, given[ranks - 1]))
    gold = np.repeat([True, False], n_gold)
    rates = label_rates(label(gold), gold.astype(int))
    curve = design.curve()
    return np.cumsum(truth), curve, correct(curve, rates)


def covers(curve, yields):
    _, low, high = curve.yields(np.arange(1, N + 1))
    return bool(np.all((low <= yields) & (yields <= high)))


def test_the_curve_of_the_truth_covers_it():
    """94% at all ranks at once, and it says something: less than half of the width there is. As given it misses."""
    n = 60
    found = [one_study(seed, sensitivity=0.95, specificity=0.85, n_gold=400) for seed in range(n)]
    hits = [covers(true, yields) for yields, _, true in found]
    level = found[0][2].confidence_level
    assert level == pytest.approx(0.94)
    assert np.mean(hits) >= level - 3 * np.sqrt(level * (1 - level) / n)
    assert np.mean([covers(given, yields) for yields, given, _ in found]) < 0.5
    widths = [true.at(N).high - true.at(N).low for _, _, true in found]
    assert np.median(widths) < 0.5


def test_labels_no_better_than_chance_say_nothing():
    yields, _, true = one_study(1, sensitivity=0.5, specificity=0.5, n_gold=100)
    assert covers(true, yields)
    assert true.at(N).high - true.at(N).low > 0.95
