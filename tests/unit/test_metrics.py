"""The names of scikit-learn give the numbers of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as theirs
from sklearn.linear_model import LogisticRegression

from karat import InvalidInput
from karat import metrics as ours


@pytest.fixture(params=["untied", "tied"])
def sample(request):
    rng = np.random.default_rng(6)
    labels = (rng.random(300) < 0.3).astype(int)
    scores = rng.normal(size=300) + labels
    return labels, scores.round(1) if request.param == "tied" else scores


def test_areas(sample):
    assert ours.average_precision_score(*sample) == pytest.approx(theirs.average_precision_score(*sample), abs=1e-12)
    assert ours.roc_auc_score(*sample) == pytest.approx(theirs.roc_auc_score(*sample), abs=1e-12)


def test_curves(sample):
    for found, expected in (
        (ours.precision_recall_curve(*sample), theirs.precision_recall_curve(*sample)),
        (ours.roc_curve(*sample), theirs.roc_curve(*sample, drop_intermediate=False)),
    ):
        for own, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(own, other, atol=1e-12)


def test_at_k():
    labels, scores = [0, 1, 1, 0, 1], [0.9, 0.8, 0.7, 0.2, 0.1]
    assert ours.precision_at_k(labels, scores, k=3) == pytest.approx(2 / 3)
    assert ours.recall_at_k(labels, scores, k=3) == pytest.approx(2 / 3)
    assert ours.ndcg_score(labels, scores) == pytest.approx(theirs.ndcg_score([labels], [scores]))
    assert ours.ndcg_score(labels, scores, k=2) == pytest.approx(theirs.ndcg_score([labels], [scores], k=2))
    with pytest.raises(InvalidInput, match="with a positive"):
        ours.recall_at_k([0, 0], [1, 2], k=1)


def test_intervals_hold_their_estimate(sample):
    labels, scores = sample
    for interval in (
        ours.average_precision_interval(labels, scores, n_replicates=300),
        ours.roc_auc_interval(labels, scores, n_replicates=300, confidence_level=0.9),
    ):
        assert 0 < interval.low < interval.estimate < interval.high < 1


def test_displays(sample):
    labels, scores = sample
    features = scores[:, None]
    model = LogisticRegression().fit(features, labels)
    for curve in ("pr", "roc"):
        made = ours.from_predictions(labels, scores, curve=curve, n_replicates=200)
        fitted = ours.from_estimator(model, features, labels, curve=curve, n_replicates=200)
        assert made.plot() is not None
        np.testing.assert_allclose(made.estimate, fitted.estimate)
    with pytest.raises(InvalidInput, match="'curve' must be one of 'pr', 'roc'"):
        ours.from_predictions(labels, scores, curve="det")
