import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from karat.math.bands.smoothing import bandwidth, gaussian_tail, smooth_tails, step_tails


def true_gaussian_tail(scores, width):
    return lambda point: float(np.mean(ndtr((scores - point) / width)))


def box_tail(scores, width):
    return lambda point: float(np.mean(np.clip((scores + width - point) / (2 * width), 0, 1)))


def textbook(anchor, counted, anchor_tail, counted_tail, level):
    """Invert the anchor's smoothed tail by root finding, then evaluate the counted class's."""
    low, high = min(anchor.min(), counted.min()) - 50, max(anchor.max(), counted.max()) + 50
    return counted_tail(brentq(lambda point: anchor_tail(point) - level, low, high, xtol=1e-14, rtol=1e-14))


SAMPLES = {
    "ten positives": lambda rng: (rng.normal(1.5, size=10), rng.normal(size=300)),
    "balanced": lambda rng: (rng.normal(1.0, size=400), rng.normal(size=400)),
    "skewed": lambda rng: (rng.gamma(3.0, size=100), rng.exponential(size=500)),
    "many": lambda rng: (rng.normal(1.0, size=150_000), rng.gamma(2.0, size=120_000)),
    "beta": lambda rng: (rng.beta(2, 1, size=60), rng.beta(0.5, 3, size=2000)),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("side", [0, 1])
def test_smoothed_distribution_is_exact_to_1e_8(name, side):
    scores = SAMPLES[name](np.random.default_rng(0))[side]
    width = bandwidth(scores)
    nodes = np.linspace(scores.min() - 9 * width, scores.max() + 9 * width, 65_536)
    found = gaussian_tail(scores, nodes, width)[::-1]
    places = np.random.default_rng(1).integers(0, nodes.size, 200)
    true = np.array([true_gaussian_tail(scores, width)(nodes[place]) for place in places])
    assert np.max(np.abs(found[places] - true)) < 1e-8
    # The same check notices a bandwidth that is one in a thousand off.
    wrong = gaussian_tail(scores, nodes, width * (1 + 1e-3))[::-1]
    assert np.max(np.abs(wrong[places] - true)) > 1e-8


@pytest.mark.parametrize("name", SAMPLES)
def test_smoothed_map_is_exact_to_1e_7(name):
    anchor, counted = SAMPLES[name](np.random.default_rng(0))
    widths = bandwidth(anchor), bandwidth(counted)
    tails = smooth_tails(anchor, counted, anchor_bandwidth=widths[0], counted_bandwidth=widths[1])
    levels = np.linspace(0.01, 0.99, 25)
    true = [
        textbook(anchor, counted, true_gaussian_tail(anchor, widths[0]), true_gaussian_tail(counted, widths[1]), level)
        for level in levels
    ]
    assert np.max(np.abs(tails(levels) - true)) < 1e-7


def test_box_kernel_equals_its_textbook_twin():
    anchor, counted = SAMPLES["skewed"](np.random.default_rng(1))
    tails = smooth_tails(anchor, counted, anchor_bandwidth=0.4, counted_bandwidth=0.3, kernel="box")
    levels = np.linspace(0.02, 0.98, 25)
    true = [textbook(anchor, counted, box_tail(anchor, 0.4), box_tail(counted, 0.3), level) for level in levels]
    np.testing.assert_allclose(tails(levels), true, atol=1e-6)


def test_far_outliers_cost_no_accuracy_because_only_the_order_matters():
    rng = np.random.default_rng(2)
    anchor, counted = rng.normal(1.0, size=200), rng.normal(size=200)
    near, far = (
        smooth_tails(
            np.append(anchor, -outlier), np.append(counted, outlier), anchor_bandwidth=0.1, counted_bandwidth=0.1
        )
        for outlier in (20.0, 1e9)
    )
    levels = np.linspace(0.02, 0.98, 50)
    np.testing.assert_allclose(far(levels), near(levels), atol=1e-6)


def test_pseudo_items_keep_the_map_away_from_nothing_and_everything():
    rng = np.random.default_rng(2)
    anchor, counted = rng.normal(9.0, size=50), rng.normal(size=99)
    plain = smooth_tails(anchor, counted, anchor_bandwidth=0.3, counted_bandwidth=0.3)
    guarded = smooth_tails(anchor, counted, anchor_bandwidth=0.3, counted_bandwidth=0.3, n_pseudo=1.0)
    levels = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(guarded(levels), (99 * plain(levels) + 0.5) / 100, atol=1e-12)
    assert np.all(guarded(levels) > 0.0049)


def test_step_map_is_the_empirical_one():
    ordered = np.array([True, False, True, True, False, False])
    tails = step_tails(ordered, anchor_is_positive=True)
    np.testing.assert_allclose(tails(np.array([0.2, 0.34, 0.5, 0.9])), [0, 1 / 3, 1 / 3, 1 / 3])


def test_quartiles_of_sorted_scores_are_those_of_any_order():
    scores = np.sort(np.random.default_rng(0).gamma(2.0, size=101))[::-1]
    assert bandwidth(scores) == pytest.approx(bandwidth(scores[::-1]), rel=1e-12)


def test_bandwidth_of_items_without_spread_is_finite_and_positive():
    assert bandwidth(np.array([3.0])) > 0
    assert bandwidth(np.full(10, 2.0)) > 0


def test_bandwidth_follows_the_narrower_of_deviation_and_quartiles():
    scores = np.concatenate([np.linspace(-1, 1, 100), [1e6]])
    assert bandwidth(scores) < 1
