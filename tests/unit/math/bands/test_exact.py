import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import beta, binom, binomtest

from karat.math.bands.exact import (
    chosen_ranks,
    exact_pr_band,
    exact_roc_band,
    local_level,
    noncrossing_probability,
    tail_band,
)
from karat.math.bands.ordering import midpoint_levels
from karat.math.binomial import clopper_pearson


@pytest.mark.parametrize(("n_hits", "n_draws"), [(0, 5), (5, 5), (3, 17), (40, 1000)])
def test_clopper_pearson_equals_scipy(n_hits, n_draws):
    found = clopper_pearson(n_hits, n_draws, confidence_level=0.9)
    expected = binomtest(n_hits, n_draws).proportion_ci(0.9, method="exact")
    np.testing.assert_allclose(found, (expected.low, expected.high), atol=1e-9)


def binomial_walk(low, high, ranks, n_draws):
    """Textbook twin: carry the count of uniforms from time to time by binomial steps."""
    events = sorted(
        [(time, 0, rank) for time, rank in zip(low, ranks, strict=True)]
        + [(time, 1, rank) for time, rank in zip(high, ranks, strict=True)]
    )
    mass, now = {0: 1.0}, 0.0
    for time, is_floor, rank in events:
        share = (time - now) / (1 - now)
        after: dict[int, float] = {}
        for count, probability in mass.items():
            for step in range(n_draws - count + 1):
                new = count + step
                if new >= rank if is_floor else new <= rank - 1:
                    after[new] = after.get(new, 0.0) + probability * binom.pmf(step, n_draws - count, share)
        mass, now = after, time
    return sum(mass.values())


@pytest.mark.parametrize("n_draws", [1, 2, 5, 12])
@pytest.mark.parametrize("level", [0.3, 0.05])
def test_noncrossing_probability_equals_its_textbook_twin(n_draws, level):
    ranks = np.arange(1, n_draws + 1)
    low, high = beta.ppf(level / 2, ranks, n_draws + 1 - ranks), beta.ppf(1 - level / 2, ranks, n_draws + 1 - ranks)
    found = noncrossing_probability(low, high, ranks=ranks, n_draws=n_draws)
    assert found == pytest.approx(binomial_walk(low, high, ranks, n_draws), abs=1e-12)


def test_noncrossing_probability_of_a_subset_equals_its_twin():
    ranks = np.array([2, 5, 9])
    low, high = beta.ppf(0.1, ranks, 11 - ranks), beta.ppf(0.8, ranks, 11 - ranks)
    found = noncrossing_probability(low, high, ranks=ranks, n_draws=10)
    assert found == pytest.approx(binomial_walk(low, high, ranks, 10), abs=1e-12)


@pytest.mark.parametrize("n_draws", [10, 150, 3000])
def test_local_levels_hold_together_as_often_as_claimed(n_draws):
    n_runs = 4000 if n_draws < 1000 else 1000
    rng = np.random.default_rng(n_draws)
    ranks, (low, high) = tail_band(n_draws, confidence_level=0.9)
    uniforms = np.sort(rng.random((n_runs, n_draws)), axis=1)[:, ranks - 1]
    share = np.mean(np.all((uniforms >= low) & (uniforms <= high), axis=1))
    # Exactly .9, so both sides are checked: four standard deviations of the simulation.
    assert abs(share - 0.9) < 4 * math.sqrt(0.09 / n_runs)
    # The same check fails for intervals that hold one at a time.
    single_low, single_high = beta.ppf([[0.05], [0.95]], ranks, n_draws + 1 - ranks)
    single = np.mean(np.all((uniforms >= single_low) & (uniforms <= single_high), axis=1))
    assert abs(single - 0.9) > 4 * math.sqrt(0.09 / n_runs)


def test_local_level_errs_on_the_safe_side_and_falls_with_the_sample():
    levels = [local_level(n_draws, 0.95) for n_draws in (1, 2, 5, 20, 100, 500)]
    assert all(first > second for first, second in pairwise(levels))
    for n_draws in (20, 100):
        ranks = chosen_ranks(n_draws)
        ends = beta.ppf(
            [[local_level(n_draws, 0.95) / 2], [1 - local_level(n_draws, 0.95) / 2]], ranks, n_draws + 1 - ranks
        )
        probability = noncrossing_probability(*ends, ranks=ranks, n_draws=n_draws)
        assert 0.95 <= probability < 0.9502


def test_large_classes_use_some_ranks_and_always_both_ends():
    ranks = chosen_ranks(1_000_000)
    assert ranks.size < 1000
    assert (ranks[0], ranks[-1]) == (1, 1_000_000)


def textbook_pr_band(ordered, levels, confidence_level):
    """All pairs of ranks by hand, from the same two tail bands."""
    miss = 1 - confidence_level
    positives, negatives = np.flatnonzero(ordered), np.flatnonzero(~ordered)
    _, (a_low, a_high) = tail_band(positives.size, confidence_level=1 - 0.4 * miss)
    _, (c_low, c_high) = tail_band(negatives.size, confidence_level=1 - 0.4 * miss)
    p_low, p_high = clopper_pearson(positives.size, ordered.size, confidence_level=1 - 0.2 * miss)
    low, high = [], []
    for level in levels:
        floor = max(
            [0.0]
            + [
                c_low[j]
                for k in range(positives.size)
                if a_high[k] <= level
                for j in range(negatives.size)
                if negatives[j] < positives[k]
            ]
        )
        ceiling = min(
            [1.0]
            + [
                c_high[j]
                for k in range(positives.size)
                if a_low[k] >= level
                for j in range(negatives.size)
                if negatives[j] > positives[k]
            ]
        )
        low.append(p_low * level / (p_low * level + (1 - p_low) * ceiling))
        high.append(p_high * level / (p_high * level + (1 - p_high) * floor))
    return np.array(low), np.array(high)


@pytest.mark.parametrize("seed", range(4))
def test_exact_band_is_the_best_that_its_tail_bands_give(seed):
    rng = np.random.default_rng(seed)
    ordered = np.sort(rng.random(60))[::-1] > rng.random(60)
    levels = midpoint_levels(20)
    found = exact_pr_band(ordered, levels, confidence_level=0.9)
    np.testing.assert_allclose(found, textbook_pr_band(ordered, levels, 0.9), atol=1e-12)


def test_exact_roc_band_mirrors_when_classes_and_order_are_swapped():
    """TPR as a function of FPR, read backwards with the classes exchanged, is 1 - FPR of 1 - TPR."""
    rng = np.random.default_rng(3)
    ordered = np.sort(rng.random(80))[::-1] > rng.random(80)
    levels = midpoint_levels(40)
    low, high = exact_roc_band(ordered, levels, confidence_level=0.9)
    reversed_low, reversed_high = exact_roc_band(ordered[::-1], levels, confidence_level=0.9)
    # A reversed order has the curve 1 - ROC(1 - x): its band is the reflected one.
    np.testing.assert_allclose(reversed_low, 1 - high[::-1], atol=1e-12)
    np.testing.assert_allclose(reversed_high, 1 - low[::-1], atol=1e-12)


@pytest.mark.parametrize("ordered", [[True, False], [False, True], [True] + 30 * [False], 30 * [True] + [False]])
def test_tiny_samples_give_wide_finite_bands(ordered):
    for band in (exact_pr_band, exact_roc_band):
        low, high = band(np.array(ordered), midpoint_levels(50), confidence_level=0.95)
        assert np.all(np.isfinite(low) & np.isfinite(high) & (low <= high) & (low >= 0) & (high <= 1))
