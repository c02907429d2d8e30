import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from karat.errors import InvalidInput
from karat.math.binomial import clopper_pearson
from karat.math.pooled.betting import betting_interval, poisson_betting
from karat.math.pooled.intervals import logit_interval, normal_quantile, shared_ranks, wilson_interval
from karat.math.pooled.simple import simple_f1, simple_precision, simple_recall


@given(value=st.floats(-0.2, 1.2), variance=st.floats(0, 0.3), n=st.floats(0, 1e6), level=st.floats(0.5, 0.999))
def test_a_logit_interval_is_finite_and_holds_its_estimate(value, variance, n, level):
    low, high = logit_interval(value, variance, n_effective=n, confidence_level=level)
    point = min(max(value, 0), 1)
    assert 0 <= low <= point <= high <= 1


def test_a_ninety_percent_interval_takes_the_fifth_and_the_ninety_fifth_percentile():
    assert normal_quantile(0.9) == pytest.approx(1.6448536)


def test_without_an_error_seen_the_interval_still_allows_for_one():
    low, high = logit_interval(1.0, 2.7 / (4 * 100**2), n_effective=100)
    assert high == 1
    assert 0.95 < low < 0.98  # the exact bound from 100 right labels is .05 ** (1 / 100) = .970


def test_wilson_covers_as_it_should():
    p = 0.85
    counts = np.arange(61)
    low, high = wilson_interval(counts / 60, 60)
    inside = (low <= p) & (p <= high)
    assert binom.pmf(counts, 60, p)[inside].sum() == pytest.approx(0.9, abs=0.04)


def test_clopper_pearson_ends_by_their_definition():
    low, high = clopper_pearson(7, 20, confidence_level=0.9)
    assert binom.sf(6, 20, low) == pytest.approx(0.05)
    assert binom.cdf(7, 20, high) == pytest.approx(0.05)
    assert clopper_pearson(0, 5)[0] == 0
    assert clopper_pearson(5, 5)[1] == 1


def test_draws_without_replacement_have_their_own_variance():
    labels = [1, 0, 1, 1, 0, 1, 1, 1]
    with_replacement, without = simple_precision(labels), simple_precision(labels, n_items=16)
    assert with_replacement.replacement
    assert not without.replacement
    assert without.variance == pytest.approx(0.5 * with_replacement.variance)
    # Exact: the variance over all samples of 2 out of 4.
    population = np.array([1, 1, 0, 1])
    means = [population[[i, j]].mean() for i in range(4) for j in range(i)]
    expected = np.mean([simple_precision(population[[i, j]], n_items=4).variance for i in range(4) for j in range(i)])
    assert np.var(means) == pytest.approx(expected)


def test_simple_f1_by_numerical_derivatives():
    precision, recall = simple_precision([1, 1, 0, 1, 0]), simple_recall([1, 0, 0, 1])
    value, variance = simple_f1(precision, recall)
    p, r, h = precision.value, recall.value, 1e-6

    def f1(p, r):
        return 2 * p * r / (p + r)

    by_p, by_r = (f1(p + h, r) - f1(p - h, r)) / (2 * h), (f1(p, r + h) - f1(p, r - h)) / (2 * h)
    assert value == f1(p, r)
    assert variance == pytest.approx(by_p**2 * precision.variance + by_r**2 * recall.variance)


def test_ties_are_honest():
    # 0 beats 2; 1 is told from neither; 3 loses to all.
    low = np.full((4, 4), -0.1)
    low[0, 2] = low[0, 3] = low[1, 3] = low[2, 3] = 0.05
    assert shared_ranks(low).tolist() == [1, 1, 2, 4]


def test_bets_too_large_for_a_term_are_refused():
    with pytest.raises(InvalidInput, match="'reach' must be a bound on every term"):
        betting_interval([0.5], [0.0], offset=0.0, expected_variance=0.1, reach=0.1)


def test_a_bet_on_certain_units_is_exact():
    labels = np.array([1, 0, 1, 1])
    low, high = poisson_betting(
        np.full(4, 0.25), labels, inclusion=np.ones(4), fold=np.arange(4), fold_mass=np.full(4, 0.25), reach=1e-9,
        expected_variance=1e-12,
    )  # fmt: skip
    assert (low, high) == pytest.approx((0.75, 0.75), abs=1e-6)
