import numpy as np
import pytest
from scipy.stats import ks_2samp, rankdata

from karat.math.bands.areas import average_precision
from karat.math.bands.methods import Problem
from karat.math.bands.ordering import counts_above, midpoint_levels, precision_curve
from karat.math.bands.rows import row_replicates, weighted_curve

LEVELS = midpoint_levels(40)


def sample(n_items=300, rate=0.25, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(n_items) < rate
    return labels, rng.normal(1.5 * labels), rng


@pytest.mark.parametrize("anchor_is_positive", [True, False])
def test_equal_weights_give_the_unweighted_curve(anchor_is_positive):
    labels, scores, _ = sample()
    ordered = labels[np.argsort(-scores)]
    found = weighted_curve(
        labels, scores, weights=np.full(300, 2.5), levels=LEVELS, anchor_is_positive=anchor_is_positive
    )
    counts = counts_above(ordered, LEVELS, anchor_is_positive=anchor_is_positive)
    n_positives = int(labels.sum())
    expected = precision_curve(LEVELS, counts, n_positives=n_positives) if anchor_is_positive else counts / n_positives
    np.testing.assert_allclose(found.curve, expected, atol=1e-12)
    assert found.average_precision == pytest.approx(average_precision(ordered), abs=1e-12)


def test_a_whole_weight_is_the_same_as_that_many_copies():
    labels, scores, rng = sample(60)
    copies = rng.integers(1, 4, 60)
    weighted = weighted_curve(labels, scores, weights=copies.astype(float), levels=LEVELS, anchor_is_positive=False)
    # Copies are set apart by less than any two scores, so the order of the others stays.
    apart = 1e-9 * np.concatenate([np.arange(count) for count in copies])
    repeated = weighted_curve(
        np.repeat(labels, copies),
        np.repeat(scores, copies) - apart,
        weights=np.ones(copies.sum()),
        levels=LEVELS,
        anchor_is_positive=False,
    )
    np.testing.assert_allclose(weighted.curve, repeated.curve, atol=1e-12)
    assert weighted.roc_auc == pytest.approx(float(repeated.roc_auc), abs=1e-12)
    assert weighted.best_f1 == pytest.approx(float(repeated.best_f1), abs=1e-12)


@pytest.mark.parametrize("anchor_is_positive", [True, False])
def test_with_equal_weights_rows_have_the_law_of_the_fast_replicates(anchor_is_positive):
    labels, scores, rng = sample(250)
    ordered = labels[np.argsort(-scores)]
    (rows,) = row_replicates(
        labels,
        [rankdata(scores).astype(np.int64) - 1],
        weights=np.ones(250),
        strata=np.zeros(250, dtype=np.int64),
        levels=LEVELS,
        anchor_is_positive=anchor_is_positive,
        n_replicates=1200,
        rng=rng,
    )
    problem = Problem(
        ordered=ordered,
        positives=scores[labels],
        negatives=scores[~labels],
        levels=LEVELS,
        inside=np.ones(40, dtype=bool),
        anchor_is_positive=anchor_is_positive,
        confidence_level=0.95,
        n_replicates=1200,
        kernel="gaussian",
        resampling_rate=None,
        rng=rng,
    )
    fast = problem.curves(problem.replicates(problem.smoothed()))
    values = [ks_2samp(rows.curve[:, k], fast[:, k]).pvalue for k in (1, 10, 20, 30, 38)]
    values.append(ks_2samp(rows.curve.mean(axis=1), fast.mean(axis=1)).pvalue)
    assert min(values) > 1e-3 / 6


def test_strata_keep_their_sizes():
    """With one stratum a class, the number of positives never varies; without strata it does."""
    labels, scores, rng = sample(200)
    ranks = [rankdata(scores).astype(np.int64) - 1]
    options = {"levels": np.array([0.5, 0.999]), "anchor_is_positive": True, "n_replicates": 100, "rng": rng}
    # At full recall with negatives all above, precision is the base rate: worst scores to the positives.
    worst = [np.where(labels, np.cumsum(labels) - 1, labels.sum() - 1 + np.cumsum(~labels))]
    fixed, free = (
        row_replicates(labels, worst, weights=np.ones(200), strata=strata, **options)[0].curve[:, 1]
        for strata in (labels.astype(np.int64), np.zeros(200, dtype=np.int64))
    )
    assert fixed.std() < 0.3 * free.std()
    assert ranks[0].size == 200


def test_two_equal_systems_differ_by_pseudo_items_only():
    labels, scores, rng = sample(400)
    ranks = rankdata(scores).astype(np.int64) - 1
    first, second = row_replicates(
        labels,
        [ranks, ranks],
        weights=np.ones(400),
        strata=np.zeros(400, dtype=np.int64),
        levels=LEVELS,
        anchor_is_positive=True,
        n_replicates=200,
        rng=rng,
    )
    assert np.median(np.abs(first.curve - second.curve)) < 0.01
    # A replicate without its own pseudo-items agrees exactly, and there are many.
    assert np.mean(np.all(first.curve == second.curve, axis=1)) > 0.05


def test_a_replicate_without_a_class_gets_one_item_of_it():
    labels = np.array([True] + 30 * [False])
    (found,) = row_replicates(
        labels,
        [np.arange(31)],
        weights=np.ones(31),
        strata=np.zeros(31, dtype=np.int64),
        levels=LEVELS,
        anchor_is_positive=True,
        n_replicates=100,
        rng=np.random.default_rng(0),
    )
    assert np.all(np.isfinite(found.curve))
