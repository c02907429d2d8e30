import math

import numpy as np
import pytest
from scipy.stats import binom

from karat.math.bands.importance import effective_sample_size, gentle_rate, importance_weights


@pytest.mark.parametrize(("n_items", "rate", "tilted"), [(20, 0.2, 0.3), (50, 0.1, 0.12), (30, 0.5, 0.4)])
def test_formula_equals_the_expectation_over_all_outcomes(n_items, rate, tilted):
    counts = np.arange(n_items + 1)
    weight = binom.pmf(counts, n_items, rate) / binom.pmf(counts, n_items, tilted)
    mean_square = np.sum(weight**2 * binom.pmf(counts, n_items, tilted))
    found = effective_sample_size(n_items=n_items, positive_rate=rate, resampling_rate=tilted, n_replicates=1000)
    assert math.isclose(found, 1000 / mean_square, rel_tol=1e-10)


def test_weights_are_the_likelihood_ratio():
    counts = np.array([0, 3, 10])
    weights = importance_weights(counts, n_items=40, positive_rate=0.1, resampling_rate=0.2)
    ratio = binom.pmf(counts, 40, 0.1) / binom.pmf(counts, 40, 0.2)
    np.testing.assert_allclose(weights, ratio / ratio.sum(), rtol=1e-10)


def test_one_half_leaves_one_replicate_of_two_thousand_and_the_weights_say_so():
    rng = np.random.default_rng(0)
    counts = rng.binomial(1000, 0.5, 2000)
    weights = importance_weights(counts, n_items=1000, positive_rate=0.1, resampling_rate=0.5)
    assert np.all(np.isfinite(weights))
    assert 1 / np.sum(weights**2) < 3
    assert effective_sample_size(n_items=1000, positive_rate=0.1, resampling_rate=0.5, n_replicates=2000) < 1


@pytest.mark.parametrize("n_items", [100, 1000, 100_000])
def test_the_gentle_rate_keeps_most_replicates(n_items):
    rate = 0.02
    tilted = gentle_rate(n_items=n_items, positive_rate=rate)
    assert tilted > rate
    kept = effective_sample_size(n_items=n_items, positive_rate=rate, resampling_rate=tilted, n_replicates=1000)
    assert kept > 700
