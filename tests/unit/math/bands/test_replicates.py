"""The O(K) replicates have the law of plain resampling: Kolmogorov-Smirnov, fixed seeds."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from karat.math.bands.methods import Problem
from karat.math.bands.ordering import midpoint_levels, precision_curve, ranks_at
from karat.math.bands.replicates import draw_replicates
from karat.math.bands.smoothing import smooth_tails, step_tails

LEVELS = midpoint_levels(40)
N_REPLICATES = 1500
# Each comparison looks at eight statistics; at this level a right law fails one setting in a thousand.
LEAST_P = 1e-3 / 8


def plain_counts(anchor, counted, widths, *, n_items, rate, rng, kernel):
    """Resample all n items, one replicate after the other."""
    counts, sizes = [], []
    draw = {"gaussian": rng.standard_normal, "box": lambda n: rng.uniform(-1, 1, n), "none": np.zeros}[kernel]
    for _ in range(N_REPLICATES):
        n_anchor = min(max(rng.binomial(n_items, rate), 1), n_items - 1)
        tops = np.sort(rng.choice(anchor, n_anchor) + widths[0] * draw(n_anchor))[::-1]
        others = np.sort(rng.choice(counted, n_items - n_anchor) + widths[1] * draw(n_items - n_anchor))
        thresholds = tops[ranks_at(LEVELS, n_anchor) - 1]
        counts.append(others.size - np.searchsorted(others, thresholds, side="right"))
        sizes.append(n_anchor)
    return np.array(sizes), np.array(counts)


def smallest_p(first, second):
    """Compare sizes, five single levels, the largest deviation over all levels, and the mean over levels."""
    curves = [precision_curve(LEVELS, counts, n_positives=sizes[:, None]) for sizes, counts in (first, second)]
    centre = np.mean(curves[1], axis=0)
    statistics = [[c[:, k] for c in curves] for k in (1, 8, 20, 32, 38)]
    statistics.append([np.abs(c - centre).max(axis=1) for c in curves])
    statistics.append([c.mean(axis=1) for c in curves])
    statistics.append([first[0], second[0]])
    return min(ks_2samp(*pair).pvalue for pair in statistics)


def sample(n_items, rate, seed):
    rng = np.random.default_rng(seed)
    n_anchor = round(n_items * rate)
    return rng.normal(1.5, size=n_anchor), rng.normal(size=n_items - n_anchor), rng


SETTINGS = [(60, 0.3, "gaussian"), (400, 0.1, "gaussian"), (1000, 0.02, "gaussian"), (300, 0.9, "gaussian")]
SETTINGS += [(200, 0.3, "box"), (200, 0.3, "none")]


@pytest.mark.parametrize(("n_items", "rate", "kernel"), SETTINGS)
def test_replicates_have_the_law_of_plain_resampling(n_items, rate, kernel):
    anchor, counted, rng = sample(n_items, rate, seed=n_items)
    widths = (0.3, 0.2)
    if kernel == "none":
        scores = np.concatenate([anchor, counted])
        is_anchor = np.arange(n_items) < anchor.size
        tails = step_tails(is_anchor[np.argsort(-scores)], anchor_is_positive=True)
    else:
        tails = smooth_tails(anchor, counted, anchor_bandwidth=widths[0], counted_bandwidth=widths[1], kernel=kernel)
    fast = draw_replicates(tails, LEVELS, n_items=n_items, anchor_rate=rate, n_replicates=N_REPLICATES, rng=rng)
    plain = plain_counts(anchor, counted, widths, n_items=n_items, rate=rate, rng=rng, kernel=kernel)
    assert smallest_p((fast.n_anchor, fast.counts), plain) > LEAST_P
    np.testing.assert_array_equal(fast.ranks, ranks_at(LEVELS, fast.n_anchor[:, None]))
    np.testing.assert_array_equal(fast.n_counted, n_items - fast.n_anchor)


def wrong_thresholds(tails, n_items, rate, rng):
    """Thresholds at the law's quantiles: the order statistics' own noise is lost."""
    n_anchor = np.clip(rng.binomial(n_items, rate, N_REPLICATES), 1, n_items - 1)
    return n_anchor, rng.binomial((n_items - n_anchor)[:, None], tails(LEVELS)[None, :])


def wrong_independence(tails, n_items, rate, rng):
    """Counts drawn for each level by itself: right at every level, wrong together."""
    right = draw_replicates(tails, LEVELS, n_items=n_items, anchor_rate=rate, n_replicates=N_REPLICATES, rng=rng)
    return right.n_anchor, np.column_stack([rng.permutation(column) for column in right.counts.T])


def wrong_base_rate(tails, n_items, rate, rng):
    """The number of positives held fixed."""
    right = draw_replicates(tails, LEVELS, n_items=n_items, anchor_rate=rate, n_replicates=N_REPLICATES, rng=rng)
    return np.full(N_REPLICATES, round(n_items * rate)), right.counts


def wrong_bandwidth(_, n_items, rate, rng):
    anchor, counted, _ = sample(n_items, rate, seed=n_items)
    tails = smooth_tails(anchor, counted, anchor_bandwidth=0.6, counted_bandwidth=0.2)
    right = draw_replicates(tails, LEVELS, n_items=n_items, anchor_rate=rate, n_replicates=N_REPLICATES, rng=rng)
    return right.n_anchor, right.counts


@pytest.mark.parametrize("wrong", [wrong_thresholds, wrong_independence, wrong_base_rate, wrong_bandwidth])
def test_wrong_laws_fail_the_same_comparison(wrong):
    n_items, rate = 400, 0.1
    anchor, counted, rng = sample(n_items, rate, seed=n_items)
    tails = smooth_tails(anchor, counted, anchor_bandwidth=0.3, counted_bandwidth=0.2)
    plain = plain_counts(anchor, counted, (0.3, 0.2), n_items=n_items, rate=rate, rng=rng, kernel="gaussian")
    assert smallest_p(wrong(tails, n_items, rate, rng), plain) < LEAST_P


@pytest.mark.parametrize("anchor_is_positive", [True, False])
def test_pr_and_roc_replicates_of_one_sample_agree_on_the_area(anchor_is_positive):
    rng = np.random.default_rng(4)
    ordered = np.sort(rng.random(2000))[::-1] > rng.random(2000)
    problem = Problem(
        ordered=ordered,
        positives=np.zeros(ordered.sum()),
        negatives=np.zeros((~ordered).sum()),
        levels=midpoint_levels(200),
        inside=np.ones(200, dtype=bool),
        anchor_is_positive=anchor_is_positive,
        confidence_level=0.95,
        n_replicates=1000,
        kernel="gaussian",
        resampling_rate=None,
        rng=rng,
    )
    drawn = problem.replicates(problem.smoothed())
    share = np.mean(drawn.counts / drawn.n_counted[:, None], axis=1)
    area = 1 - share if anchor_is_positive else share
    places = np.flatnonzero(ordered)
    exact = 1 - np.mean((places - np.arange(places.size)) / (~ordered).sum())
    assert abs(area.mean() - exact) < 0.005
    assert 0.007 < area.std() < 0.012


def test_a_replicate_never_loses_a_class():
    drawn = draw_replicates(
        lambda tail: tail, LEVELS, n_items=5, anchor_rate=1e-9, n_replicates=200, rng=np.random.default_rng(0)
    )
    assert np.all(drawn.n_anchor == 1)
    assert np.all(drawn.n_counted == 4)
