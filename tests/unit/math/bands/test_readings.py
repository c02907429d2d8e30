import numpy as np
import pytest
from scipy.stats import binom, multinomial
from sklearn.metrics import f1_score

from karat.math.bands.readings import best_f1, best_f1_interval, ceiling_beyond, f1_interval


def test_f1_equals_scikit_learn():
    rng = np.random.default_rng(0)
    truth, predicted = rng.random(200) < 0.4, rng.random(200) < 0.5
    found, low, high = f1_interval(
        n_true_positives=int(np.sum(truth & predicted)),
        n_false_positives=int(np.sum(~truth & predicted)),
        n_false_negatives=int(np.sum(truth & ~predicted)),
        confidence_level=0.95,
    )
    assert found == pytest.approx(f1_score(truth, predicted), abs=1e-12)
    assert low < found < high


def coverage_of_f1(interval, n_items=60, shares=(0.2, 0.1, 0.15, 0.55)):
    """Exact coverage: sum of the probabilities of all tables whose interval holds the true F1."""
    true_f1 = 2 * shares[0] / (2 * shares[0] + shares[1] + shares[2])
    held = 0.0
    for union in range(n_items + 1):
        weight = binom.pmf(union, n_items, 1 - shares[3])
        for hits in range(union + 1):
            low, high = interval(hits, union)
            held += weight * binom.pmf(hits, union, shares[0] / (1 - shares[3])) * (low <= true_f1 <= high)
    return held


def ours(hits, union):
    return f1_interval(
        n_true_positives=hits, n_false_positives=union - hits, n_false_negatives=0, confidence_level=0.95
    )[1:]


def normal_approximation(hits, union):
    if union == 0:
        return 0.0, 1.0
    share = hits / union
    reach = 1.96 * np.sqrt(share * (1 - share) / union)
    return tuple(2 * end / (1 + end) for end in (share - reach, share + reach))


def test_f1_interval_covers_exactly_as_promised_and_a_normal_one_does_not():
    assert coverage_of_f1(ours) >= 0.95
    assert coverage_of_f1(normal_approximation) < 0.95


def test_union_given_its_size_is_binomial():
    """The fact behind the interval: TP given TP + FP + FN is binomial."""
    shares = np.array([0.2, 0.1, 0.15, 0.55])
    joint = sum(multinomial.pmf([4, fp, 6 - fp, 10], 20, shares) for fp in range(7))
    assert joint / binom.pmf(10, 20, 0.45) == pytest.approx(binom.pmf(4, 10, 0.2 / 0.45))


def test_nothing_predicted_and_nothing_true_says_nothing():
    assert f1_interval(n_true_positives=0, n_false_positives=0, n_false_negatives=0, confidence_level=0.9) == (0, 0, 1)


def test_ceiling_is_reached_when_no_further_negative_comes():
    rate, tail = 0.3, 0.1

    def precision(recall):
        return rate * recall / (rate * recall + (1 - rate) * tail)

    assert ceiling_beyond(precision(0.8), last_level=0.8) == pytest.approx(precision(1.0))


def test_best_f1_is_the_largest_harmonic_mean():
    assert best_f1(np.array([0.2, 0.5]), np.array([1.0, 0.5])) == pytest.approx(0.5)


def test_optimism_moves_the_lower_end_only():
    replicates = np.linspace(0.6, 0.8, 1001)
    plain = best_f1_interval(0.7, replicates, best_of_law=0.7, confidence_level=0.9)
    moved = best_f1_interval(0.7, replicates, best_of_law=0.65, confidence_level=0.9)
    assert moved[0] == pytest.approx(plain[0] - 0.05)
    assert moved[1] == plain[1]
