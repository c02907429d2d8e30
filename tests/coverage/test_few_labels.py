"""Intervals of many systems from few labels with unequal chances, as in a shared task."""

from dataclasses import replace

import numpy as np
import pytest
from shared_task import relation_matrix

from karat.demo.relations import make_corpus, make_systems
from karat.math.pooled.estimate import estimate_metrics
from karat.math.pooled.inclusion import LEAST_SHARE, raise_inclusion, shared_size, smallest_scales
from karat.math.pooled.intervals import difference_interval, estimate_interval
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.sample import sample_from_matrix


def shared_task(n_systems: int, seed: int = 1):
    """Return the laws of a shared task's systems, the labels, and every system's metrics."""
    corpus = make_corpus(200 if n_systems == 20 else 120, seed=seed)
    law, labels = relation_matrix(corpus, make_systems(corpus, n_systems, seed=seed))
    recall, precision = (law > 0) @ labels / labels.sum(), law @ labels
    return law, labels, {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}


def draw_together(law, labels, *, target, spread=0.5, least_share=LEAST_SHARE, n_trials):
    """Return the expected number of labels, and estimates from as many samples."""
    scales = smallest_scales(law, target_variance=target, spread=spread, least_share=least_share)
    inclusion = raise_inclusion(shared_size(law, spread=spread * scales[:, None]), scale=1.0)
    rng = np.random.default_rng(1)
    found = []
    for _ in range(n_trials):
        drawn, fold = rng.random(labels.size) <= inclusion, rng.integers(0, N_FOLDS, labels.size)
        found.append(estimate_metrics(sample_from_matrix(law, labels, inclusion=inclusion, drawn=drawn, fold=fold)))
    return inclusion.sum(), found


def unallowing(estimate):
    """Return an estimate whose variance is taken for known, without the allowance for few labels: the wrong variant."""
    return replace(estimate, degrees=np.full(estimate.degrees.size, np.inf), floor=np.zeros(estimate.value.size))


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(("n_systems", "target", "spread"), [(20, 0.0055, 0.5), (3, 0.0037, 0.3)])
def test_few_labels(n_systems, target, spread, is_ours):
    """Systems of a shared task, 74 labels for twenty or 32 for three, 2,000 trials: standard errors of .003 to .006.

    The wrong variant is the cheapest draw of all, the normal law, and no allowance for what few labels cannot show.
    """
    law, labels, expected = shared_task(n_systems)
    least = LEAST_SHARE if is_ours else 0.0
    _, found = draw_together(law, labels, target=target, spread=spread, least_share=least, n_trials=2000)
    shares = {}
    for metric, known in expected.items():
        ends = [estimate_interval(each[metric] if is_ours else unallowing(each[metric])) for each in found]
        shares[metric] = np.mean([(low <= known) & (known <= high) for low, high in ends])
    assert all(share >= 0.895 for share in shares.values()) == is_ours
    assert (shares["recall"] < 0.89) != is_ours


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(("n_systems", "target", "spread", "least"), [(20, 0.0055, 0.5, 0.91), (3, 0.0037, 0.3, 0.85)])
def test_differences_of_two_systems(n_systems, target, spread, least, is_ours):
    """What ranks rest on: 74 labels for twenty systems, 32 for three (too few for 90%), 500 trials.

    Standard errors are .003 and .01. The wrong variant is the normal law without the allowance for few labels.
    """
    law, labels, expected = shared_task(n_systems)
    _, found = draw_together(law, labels, target=target, spread=spread, n_trials=500)
    pairs = np.triu_indices(n_systems, 1)
    for metric, known in expected.items():
        apart = known[:, None] - known[None, :]
        ends = [difference_interval(each[metric] if is_ours else unallowing(each[metric]))[1:] for each in found]
        share = np.mean([((low <= apart) & (apart <= high))[pairs] for low, high in ends])
        assert (share >= least) == is_ours, metric


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_few_percent_more_labels_serve_recall(seed):
    """The same draws with and without the least share of the common scale, 300 trials each."""
    law, labels, expected = shared_task(20, seed)
    n_labels, errors = [], []
    for share in (0.0, LEAST_SHARE):
        n, found = draw_together(law, labels, target=0.0037, least_share=share, n_trials=300)
        n_labels.append(n)
        errors.append(np.sqrt(np.mean([(each["recall"].value - expected["recall"]) ** 2 for each in found])))
    assert 1.0 < n_labels[1] / n_labels[0] < 1.06
    assert errors[1] / errors[0] < 0.95
