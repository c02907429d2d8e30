"""The default estimator: exact where everything is labelled, its textbook twin, and its identities."""

import numpy as np
import pytest
import scipy.stats

from karat.math.pooled.bootstrap import bootstrap_default
from karat.math.pooled.estimate import METRICS, Estimate, cross_fitted_residuals, estimate_metrics
from karat.math.pooled.inclusion import raise_inclusion, scale_for_budget, shared_size
from karat.math.pooled.intervals import (
    difference_interval,
    estimate_interval,
    noisy_interval,
    normal_quantile,
    shared_ranks,
)
from karat.math.pooled.laws import macro_law
from karat.math.pooled.proxy import N_FOLDS, RIDGE
from karat.math.pooled.recall import PoolRecall, pool_recall
from karat.math.pooled.sample import sample_from_matrix


def pool(seed: int = 0, n_items: int = 400, *, macro: bool = False):
    rng = np.random.default_rng(seed)
    labels = (rng.random(n_items) < 0.4).astype(int)
    member = rng.random((5, n_items)) < np.where(labels, 0.6, 0.2)
    member[0] |= ~member.any(axis=0)  # every unit is in the pool
    group = rng.integers(0, 7, n_items)
    if macro:
        law = np.zeros((5, n_items))
        for row, held in zip(law, member, strict=True):
            row[held] = macro_law(group[held])
    else:
        law = member / member.sum(axis=1, keepdims=True)
    scores = member * np.clip(0.3 + 0.3 * labels + 0.2 * rng.random((5, n_items)), 0, 1)
    return law, labels, scores, rng


def sample_of(law, labels, scores, rng, budget=150):
    size = shared_size(law)
    inclusion = raise_inclusion(size, scale=scale_for_budget(size, budget))
    return sample_from_matrix(
        law,
        labels,
        inclusion=inclusion,
        drawn=rng.random(labels.size) <= inclusion,
        fold=rng.integers(0, N_FOLDS, labels.size),
        scores=scores,
    )


def twin(law, labels, scores, *, inclusion, drawn, fold):
    """Precision as METHODS states it: fit, guess and correct unit by unit."""
    n_items = law.shape[1]
    x = np.column_stack([np.ones(n_items), (law > 0).T, scores.T])
    deviation = x.std(axis=0)
    deviation[deviation < 1e-9] = 1
    guess = np.zeros(n_items)
    for k in range(N_FOLDS):
        rows = [i for i in range(n_items) if drawn[i] and fold[i] != k]
        weight = np.array([1 / inclusion[i] for i in rows])
        weight /= weight.mean()
        z = x[rows] / deviation
        penalty = RIDGE * np.eye(x.shape[1])
        penalty[0, 0] = 0
        root = np.sqrt(weight)[:, None]
        beta = np.linalg.lstsq(
            np.vstack([z * root, np.sqrt(penalty)]),
            np.concatenate([labels[rows] * root[:, 0], np.zeros(x.shape[1])]),
            rcond=None,
        )[0]
        for i in range(n_items):
            if fold[i] == k:
                guess[i] = x[i] / deviation @ beta
    value = []
    for p in law:
        top = sum(p[i] * (labels[i] - guess[i]) / inclusion[i] for i in range(n_items) if drawn[i])
        bottom = sum(p[i] / inclusion[i] for i in range(n_items) if drawn[i])
        value.append(p @ guess + top / bottom)
    return np.array(value), guess


@pytest.mark.parametrize("macro", [False, True])
def test_the_fast_estimator_is_its_textbook_twin(macro):
    law, labels, scores, rng = pool(macro=macro)
    size = shared_size(law)
    inclusion = raise_inclusion(size, scale=scale_for_budget(size, 150))
    drawn, fold = rng.random(labels.size) <= inclusion, rng.integers(0, N_FOLDS, labels.size)
    sample = sample_from_matrix(law, labels, inclusion=inclusion, drawn=drawn, fold=fold, scores=scores)
    estimates = estimate_metrics(
        sample, pool_recall=PoolRecall(value=0.8, variance=0.0, n_found=1, degrees=np.inf, exact=True)
    )
    value, guess = twin(law, labels, scores, inclusion=inclusion, drawn=drawn, fold=fold)
    assert estimates["precision"].value == pytest.approx(value, abs=1e-9)
    # Recall: corrected numbers of true units in each system and in the pool.
    weight = np.where(drawn, 1 / inclusion, 0)
    member = law > 0
    own = member @ guess + member.sum(axis=1) * (member @ (weight * (labels - guess))) / (member @ weight)
    total = guess.sum() + labels.size * (weight @ (labels - guess)) / weight.sum()
    assert estimates["recall"].value == pytest.approx(0.8 * own / total, abs=1e-9)


@pytest.mark.parametrize("macro", [False, True])
def test_a_fully_labelled_pool_is_exact(macro):
    law, labels, scores, rng = pool(macro=macro)
    everything = np.ones(labels.size)
    sample = sample_from_matrix(
        law, labels, inclusion=everything, drawn=everything, fold=rng.integers(0, N_FOLDS, labels.size), scores=scores
    )
    estimates = estimate_metrics(sample)
    precision, recall = law @ labels, (law > 0) @ labels / labels.sum()
    assert estimates["precision"].value == pytest.approx(precision)
    # With a macro law, N_i P_i / T is not the recall: the right sums are weighted by p_0.
    assert estimates["recall"].value == pytest.approx(recall)
    assert estimates["f1"].value == pytest.approx(2 * precision * recall / (precision + recall))
    for metric in METRICS:
        low, high = estimate_interval(estimates[metric])
        assert low == pytest.approx(high, abs=1e-12)
    if macro:
        naive = (law > 0).sum(axis=1) * precision / labels.sum()
        assert np.abs(naive - recall).max() > 0.01


def test_a_fully_labelled_system_is_exact_among_others_that_are_not():
    law, labels, scores, rng = pool()
    inclusion = np.where(law[2] > 0, 1.0, 0.3)
    sample = sample_from_matrix(
        law,
        labels,
        inclusion=inclusion,
        drawn=rng.random(labels.size) <= inclusion,
        fold=rng.integers(0, N_FOLDS, labels.size),
        scores=scores,
    )
    precision = estimate_metrics(sample)["precision"]
    assert precision.value[2] == pytest.approx(law[2] @ labels)
    low, high = estimate_interval(precision)
    assert high[2] - low[2] == pytest.approx(0, abs=1e-12)
    assert (np.delete(high - low, 2) > 0.005).all()


def test_f1_of_uniform_laws_has_its_closed_form():
    law, labels, scores, rng = pool()
    theta = pool_recall([1] * 60 + [0] * 40)
    estimates = estimate_metrics(sample_of(law, labels, scores, rng), pool_recall=theta)
    n = (law > 0).sum(axis=1)
    total = theta.value * n * estimates["precision"].value / estimates["recall"].value  # R = theta N P / T
    assert total == pytest.approx(total[0])
    closed = 2 * n * estimates["precision"].value / (n + total[0] / theta.value)
    assert estimates["f1"].value == pytest.approx(closed)


def test_unlabelled_units_are_never_read():
    law, labels, scores, rng = pool()
    inclusion = np.full(labels.size, 0.5)
    drawn = rng.random(labels.size) < 0.5
    fold = rng.integers(0, N_FOLDS, labels.size)
    results = []
    for unseen in (0, 1):
        told = np.where(drawn, labels, unseen)
        sample = sample_from_matrix(law, told, inclusion=inclusion, drawn=drawn, fold=fold, scores=scores)
        results.append(estimate_metrics(sample)["f1"].value)
    assert results[0].tolist() == results[1].tolist()


def test_no_label_helps_to_guess_itself():
    # Flip the labels of one fold: the guesses of that fold, and so its part of the sums, stay as they are.
    law, labels, scores, rng = pool()
    inclusion, fold = np.full(labels.size, 0.5), rng.integers(0, N_FOLDS, labels.size)
    drawn = rng.random(labels.size) < 0.5
    influences = []
    for told in (labels, np.where(fold == 3, 1 - labels, labels)):
        sample = sample_from_matrix(law, told, inclusion=inclusion, drawn=drawn, fold=fold, scores=scores)
        influences.append(sample.true - cross_fitted_residuals(sample))
    in_fold = fold[drawn] == 3
    assert influences[0][in_fold] == pytest.approx(influences[1][in_fold])
    assert np.abs(influences[0] - influences[1])[~in_fold].max() > 1e-3


def test_no_labels_at_all_give_the_whole_interval():
    law, labels, scores, _ = pool()
    nothing = np.zeros(labels.size)
    sample = sample_from_matrix(
        law, labels, inclusion=nothing, drawn=nothing, fold=np.zeros(labels.size), scores=scores
    )
    estimates = estimate_metrics(sample)
    for metric in METRICS:
        low, high = estimate_interval(estimates[metric])
        assert low.tolist() == [0] * 5
        assert high.tolist() == [1] * 5
    _, low, high = difference_interval(estimates["precision"])
    assert shared_ranks(low).tolist() == [1] * 5
    assert np.isfinite(high).all()


def test_identical_systems_differ_by_exactly_nothing_and_share_labels_sharpen_differences():
    law, labels, scores, rng = pool()
    law, scores = np.vstack([law, law[1]]), np.vstack([scores, scores[1]])
    estimate = estimate_metrics(sample_of(law, labels, scores, rng))["precision"]
    difference, low, high = difference_interval(estimate)
    assert (difference[1, 5], low[1, 5], high[1, 5]) == (0, 0, 0)
    assert difference == pytest.approx(-difference.T)
    assert low == pytest.approx(-high.T)
    covariance = estimate.influence @ estimate.influence.T
    assert covariance[1, 5] == pytest.approx(covariance[1, 1])


def test_documents_widen_theta_where_their_relations_agree():
    inside = np.repeat([1, 1, 0, 1, 0, 1, 1, 1], 10)
    documents = np.repeat(np.arange(8), 10)
    alone, together = pool_recall(inside), pool_recall(inside, documents)
    assert together.value == alone.value
    assert together.variance > 5 * alone.variance
    assert together.n_found < alone.n_found / 5
    # Relations scattered over documents are as good as independent ones.
    scattered = pool_recall(inside, np.tile(np.arange(40), 2))
    assert scattered.variance < 2 * alone.variance


def test_the_bootstrap_agrees_with_the_delta_method():
    law, labels, scores, rng = pool(n_items=2000)
    theta = pool_recall([1] * 150 + [0] * 50)
    estimates = estimate_metrics(sample_of(law, labels, scores, rng, budget=800), pool_recall=theta)
    ends = bootstrap_default(estimates, n_replicates=4000, rng=rng)
    for metric in METRICS:
        low, high = estimate_interval(estimates[metric])
        assert ends[metric][1] - ends[metric][0] == pytest.approx(high - low, rel=0.15)


def test_degrees_of_freedom_are_few_where_one_unit_carries_the_variance():
    estimate = Estimate(
        value=np.full(2, 0.5),
        influence=np.array([[0.05] * 20 + [0.0], [0.001] * 19 + [0.1, 0.0]]),
        degrees=np.array([2.0] * 20 + [np.inf]),
        floor=np.zeros(2),
        n_effective=np.full(2, 20.0),
        known=np.ones(2, dtype=bool),
    )
    assert estimate.degrees_of_freedom() == pytest.approx([40, 2], rel=0.01)
    low, high = noisy_interval(estimate)
    half = scipy.stats.t.ppf(0.95, estimate.degrees_of_freedom()) * np.sqrt(estimate.variance())
    assert (high - low) / 2 == pytest.approx(half)
    # what is known for sure leaves them as they are, and takes away from their share
    assert (estimate.with_columns(np.full((2, 1), 0.3)).degrees_of_freedom() > [150, 150]).all()


def test_degrees_of_differences_are_those_of_the_differences():
    law, labels, scores, rng = pool()
    theta = pool_recall([1] * 6 + [0] * 4, ["a", "a", "b", "b", "c", "c", "c", "d", "d", "d"])
    recall = estimate_metrics(sample_of(law, labels, scores, rng, budget=40), pool_recall=theta)["recall"]
    apart = recall.influence[:, None, :] - recall.influence[None, :, :]
    squares, fourth = (apart**2).sum(axis=2), (apart**4 / recall.degrees).sum(axis=2)
    floors = recall.floor[:, None] + recall.floor[None, :]
    own = np.diag(recall.influence @ recall.influence.T)
    share = np.minimum(squares / (own[:, None] + own[None, :]), 1)
    z = normal_quantile(0.9)
    variance = squares + z * z * floors * share
    degrees = np.where(fourth > 0, variance**2 / np.where(fourth > 0, fourth, 1), np.inf)
    half = scipy.stats.t.ppf(0.95, degrees) * np.sqrt(variance)
    value, low, high = difference_interval(recall)
    inside = (low > -1) & (high < 1)
    assert (high - value)[inside] == pytest.approx(half[inside])
    assert degrees[0, 1] < 60


def test_influences_are_those_of_the_jackknife():
    """Leaving a unit out of the mean of residuals moves the precision by its influence, for guesses that stay."""
    law, labels, scores, rng = pool()
    sample = sample_of(law, labels, scores, rng, budget=30)
    precision = estimate_metrics(sample, use_proxy=False)["precision"]
    for unit in range(sample.fold.size):
        kept = np.arange(sample.fold.size) != unit
        weight = (sample.mass / sample.inclusion)[:, kept]
        without = (weight * sample.right[:, kept]).sum(axis=1) / weight.sum(axis=1)
        lost = (precision.value - without) * np.sqrt(1 - sample.inclusion[unit])
        assert precision.influence[:, unit] == pytest.approx(lost)


def test_a_near_copy_keeps_its_degrees_of_freedom():
    """Influences that differ by 1e-5: their fourth powers are far below what matrix products round away."""
    rng = np.random.default_rng(0)
    own = rng.normal(size=100) / 100
    moved = own * (1 + 1e-5 * rng.random(100))
    estimate = Estimate(
        value=np.array([0.5, 0.5 + 1e-8]),
        influence=np.stack([own, moved]),
        degrees=np.full(100, 2.0),
        floor=np.zeros(2),
        n_effective=np.full(2, 100.0),
        known=np.ones(2, dtype=bool),
    )
    apart = moved - own
    degrees = 2 * (apart**2).sum() ** 2 / (apart**4).sum()
    half = scipy.stats.t.ppf(0.95, degrees) * np.sqrt((apart**2).sum())
    value, _, high = difference_interval(estimate)
    assert (high - value)[1, 0] == pytest.approx(half, rel=1e-6)
