import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from karat.math.bands.areas import (
    auc_interval,
    average_precision,
    average_precision_interval,
    delong,
    logit_interval,
)


def textbook_delong(labels, *scores):
    """All pairs of a positive and a negative, as in the paper of 1988."""
    kernels = [
        (s[labels][:, None] > s[~labels][None, :]) + 0.5 * (s[labels][:, None] == s[~labels][None, :]) for s in scores
    ]
    areas = np.array([kernel.mean() for kernel in kernels])
    by_positive = np.array([kernel.mean(axis=1) for kernel in kernels])
    by_negative = np.array([kernel.mean(axis=0) for kernel in kernels])
    covariance = np.zeros((len(scores), len(scores)))
    for rows in (by_positive, by_negative):
        n_rows = rows.shape[1]
        for i in range(len(scores)):
            for j in range(len(scores)):
                products = (rows[i] - areas[i]) * (rows[j] - areas[j])
                covariance[i, j] += products.sum() / (n_rows - 1) / n_rows
    return areas, covariance


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_delong_equals_its_textbook_twin(seed, ties):
    rng = np.random.default_rng(seed)
    labels = rng.random(150) < 0.3
    first = rng.normal(labels)
    second = first + rng.normal(size=150)
    if ties:
        first, second = np.round(first), np.round(second)
    areas, covariance = delong(labels, first, second)
    true_areas, true_covariance = textbook_delong(labels, first, second)
    np.testing.assert_allclose(areas, true_areas, atol=1e-10, rtol=0)
    np.testing.assert_allclose(covariance, true_covariance, atol=1e-10, rtol=0)
    assert areas[0] == pytest.approx(roc_auc_score(labels, first), abs=1e-12)


def test_average_precision_equals_scikit_learn_without_ties():
    rng = np.random.default_rng(0)
    labels = rng.random(300) < 0.2
    scores = rng.normal(labels)
    found = average_precision(labels[np.argsort(-scores)])
    assert found == pytest.approx(average_precision_score(labels, scores), abs=1e-12)


def test_average_precision_of_the_worked_example():
    hits = np.zeros(10, dtype=bool)
    hits[[0, 3, 7]] = True
    assert average_precision(hits) == pytest.approx(0.625)


def test_a_perfect_order_has_a_finite_interval_up_to_nearly_one():
    labels = np.array(10 * [True] + 30 * [False])
    area, low, high = auc_interval(
        labels, -np.arange(40.0), replicates=np.linspace(0.9, 1.0, 100), confidence_level=0.95
    )
    assert area == 1.0
    assert 0.8 < low < 1.0
    assert high == 1.0


def test_replicates_only_widen():
    rng = np.random.default_rng(1)
    labels = rng.random(60) < 0.4
    scores = rng.normal(labels)
    alone = auc_interval(labels, scores, replicates=None, confidence_level=0.95)
    calm = auc_interval(labels, scores, replicates=np.full(50, 0.8), confidence_level=0.95)
    wild = auc_interval(labels, scores, replicates=rng.random(50), confidence_level=0.95)
    assert alone == calm
    assert wild[1] < alone[1] < alone[2] < wild[2]


def test_average_precision_interval_holds_both_of_its_parts():
    replicates = np.random.default_rng(0).beta(8, 4, 1000)
    low, high = average_precision_interval(0.7, replicates, n_items=100, confidence_level=0.95)
    assert low <= np.quantile(replicates, 0.025)
    assert high >= np.quantile(replicates, 0.975)
    assert np.isfinite([low, high]).all()


def test_higher_confidence_is_wider():
    assert logit_interval(0.8, 0.3, confidence_level=0.9)[0] > logit_interval(0.8, 0.3, confidence_level=0.99)[0]
