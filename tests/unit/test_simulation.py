"""Replays: what they measure, against a plain loop over the same replications."""

from __future__ import annotations

import builders
import numpy as np
import pytest

import karat
from karat import KaratError


@pytest.fixture(scope="module")
def labels():
    return builders.falling_rate(5000, np.random.default_rng(2))


def test_paula_without_ties_is_deterministic(labels):
    result = karat.simulate(-np.arange(5000.0), labels, method=karat.Paula(epsilon=0.1, window=20), replications=3)
    curve = builders.curve_of(karat.Paula(epsilon=0.1, window=20), labels)
    ranks, truth = np.arange(1, 5001), np.cumsum(labels)
    estimate, low, high = curve.yields(ranks)
    inside = (low <= truth) & (truth <= high)
    steps = [curve.step(name, ranks) * ranks for name in ("lower", "upper")]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [np.nan_to_num(np.maximum(step / truth, truth / step), nan=1.0).max() for step in steps]
    assert result.labels_mean == result.labels_max == curve.n_labels
    assert result.coverage == float(inside.all())
    assert result.covered_ranks == pytest.approx(inside.mean())
    assert result.factor_max == result.factor_median == pytest.approx(max(ratios))
    assert result.claimed_factor == pytest.approx(curve.claimed_factor)
    assert result.error_median == pytest.approx(np.max((np.abs(estimate - truth) / ranks)[999:]))
    assert result.error_p95 == pytest.approx(result.error_median)
    assert result.judged_from == 1000


def test_replications_differ_and_seeds_repeat(labels):
    scores = -np.arange(5000.0)
    run = {"method": karat.Uniform(labels=400), "replications": 8}
    one, again, other = (karat.simulate(scores, labels, seed=seed, **run) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert one.error_p95 > one.error_median
    assert one.coverage == 1.0
    assert one.confidence_level == 0.95
    assert one.labels_mean <= one.labels_max <= 400


def test_higher_scores_rank_first():
    scores, labels = np.arange(100.0), (np.arange(100) >= 50).astype(np.int8)
    result = karat.simulate(scores, labels, method=karat.Paula(), replications=1)
    assert result.factor_max == pytest.approx(1.0)
    assert result.coverage == 1.0


def test_an_unbounded_factor_is_none():
    labels = np.zeros(3000, dtype=np.int8)
    labels[1500:] = 1
    result = karat.simulate(-np.arange(3000.0), labels, method=karat.Paula(epsilon=0.5, window=4), replications=2)
    assert result.factor_max is None or result.factor_max > 1
    assert ("worst factor" in str(result)) is (result.factor_max is not None)


def test_the_width_is_that_of_the_widest_bounds(labels):
    scores = -np.arange(float(len(labels)))
    method = karat.Certify(budget=300)
    result = karat.simulate(scores, labels, method=method, replications=1, seed=3, judged_from=200)
    own_seed = int(np.random.SeedSequence([3, 0]).generate_state(1)[0])
    curve, _ = method.replay(labels, seed=own_seed)
    known = [curve.at(rank) for rank in range(200, len(labels) + 1)]
    assert result.width_median == pytest.approx(max(each.high - each.low for each in known))
    assert f"from rank 200 on: bounds on precision at most {result.width_median:.3f} wide" in str(result)


def test_judged_from_beyond_the_list_judges_the_end(labels):
    result = karat.simulate(-np.arange(100.0), labels[:100], method=karat.Point(labels=10), replications=2)
    assert result.judged_from == 100


def test_every_replication_is_watched(labels):
    seen = []

    def watch(things):
        for thing in things:
            seen.append(thing)
            yield thing

    karat.simulate(-np.arange(5000.0), labels, method=karat.Point(labels=5), replications=4, watch=watch)
    assert seen == [0, 1, 2, 3]


def test_lengths_must_agree(labels):
    with pytest.raises(KaratError, match="'scores' and 'labels' must have the same length"):
        karat.simulate(np.arange(3.0), labels, method=karat.Point(labels=5))
