import numpy as np
import pytest

from karat.math.bands.ordering import (
    counts_above,
    descending_labels,
    midpoint_levels,
    normal_scores,
    precision_curve,
    ranks_at,
    tie_free_ranks,
)


def sorted_pairs(labels, scores):
    return labels[np.argsort(-scores, kind="stable")]


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_the_order_is_that_of_a_plain_sort(seed):
    rng = np.random.default_rng(seed)
    labels = rng.random(200) < 0.3
    scores = rng.normal(labels)
    ordered, n_tied = descending_labels(labels, scores, rng=rng)
    assert n_tied == 0
    np.testing.assert_array_equal(ordered, sorted_pairs(labels, scores))


def test_ties_within_a_class_change_nothing_and_draw_nothing():
    labels = np.array([True, True, False, False])
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    ordered, n_tied = descending_labels(labels, np.array([2.0, 2.0, 1.0, 1.0]), rng=rng)
    assert (ordered.tolist(), n_tied) == ([True, True, False, False], 0)
    assert rng.bit_generator.state == before


def test_ties_between_classes_come_in_every_order_equally_often():
    labels = np.array([True, False, False])
    first = [
        int(np.flatnonzero(descending_labels(labels, np.zeros(3), rng=np.random.default_rng(seed))[0])[0])
        for seed in range(3000)
    ]
    counts = np.bincount(first, minlength=3)
    # Each place has probability 1/3: four standard deviations of Binomial(3000, 1/3) are 103.
    assert np.all(np.abs(counts - 1000) < 103)
    assert descending_labels(labels, np.zeros(3), rng=np.random.default_rng(0))[1] == 1


def test_tied_order_respects_scores():
    rng = np.random.default_rng(3)
    labels, scores = rng.random(500) < 0.4, rng.integers(0, 6, 500).astype(float)
    ordered, n_tied = descending_labels(labels, scores, rng=rng)
    assert n_tied > 0
    edges = np.cumsum([np.count_nonzero(scores == value) for value in range(5, -1, -1)])
    for value, stop in zip(range(5, -1, -1), edges, strict=True):
        start = stop - np.count_nonzero(scores == value)
        assert ordered[start:stop].sum() == labels[scores == value].sum()


def test_rank_is_the_generalised_inverse_of_the_empirical_distribution():
    scores = np.array([0.1, 0.4, 0.5, 0.7, 0.9])
    for level in np.linspace(0.01, 0.99, 197):
        shares = np.arange(1, 6) / 5
        inverse = scores[np.flatnonzero(shares >= 1 - level - 1e-9)[0]]
        assert scores[::-1][ranks_at(np.array([level]), 5)[0] - 1] == inverse


def test_products_that_mean_a_whole_number_are_not_rounded_down():
    assert 100 * 0.29 < 29
    assert ranks_at(np.array([0.29]), 100)[0] == 30


@pytest.mark.parametrize("anchor_is_positive", [True, False])
def test_counts_equal_a_count_by_hand(anchor_is_positive):
    rng = np.random.default_rng(1)
    ordered = rng.random(80) < 0.4
    levels = midpoint_levels(50)
    anchor = np.flatnonzero(ordered == anchor_is_positive)
    by_hand = [sum(ordered[:place] != anchor_is_positive) for place in anchor[ranks_at(levels, anchor.size) - 1]]
    np.testing.assert_array_equal(counts_above(ordered, levels, anchor_is_positive=anchor_is_positive), by_hand)


def test_precision_is_one_without_negatives_above_and_the_base_rate_for_a_random_order():
    levels = midpoint_levels(10)
    np.testing.assert_array_equal(precision_curve(levels, np.zeros(10), n_positives=7), np.ones(10))
    np.testing.assert_allclose(precision_curve(levels, 30 * levels, n_positives=10), 0.25)


def test_normal_scores_fall_and_are_symmetric():
    scores = normal_scores(101)
    assert np.all(np.diff(scores) < 0)
    np.testing.assert_allclose(scores, -scores[::-1], atol=1e-12)


def test_tie_free_ranks_are_a_permutation_that_follows_the_scores():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, 100).astype(float)
    ranks = tie_free_ranks(scores, lottery=rng.permutation(100))
    assert sorted(ranks) == list(range(100))
    assert np.all(np.diff(scores[np.argsort(ranks)]) >= 0)
