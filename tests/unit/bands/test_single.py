import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.svm import LinearSVC

from karat.bands import from_estimator, pr_band, roc_band
from karat.errors import InvalidInput
from karat.math.bands.methods import METHODS

QUICK = {"n_replicates": 300}


def sample(n_items=300, rate=0.3, seed=0, shift=1.5):
    rng = np.random.default_rng(seed)
    labels = rng.random(n_items) < rate
    return labels, rng.normal(shift * labels)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [pr_band, roc_band])
def test_every_method_gives_a_finite_band_around_its_estimate(make, method):
    labels, scores = sample()
    band = make(labels, scores, method=method, **QUICK)
    assert band.method == method
    assert band.simultaneous == (method in {"default", "exact", "clemencon-vayatis"})
    assert band.guarantee == {"exact": "finite-sample", "asymptotic": "asymptotic"}.get(method, "bootstrap")
    assert np.all((band.low >= 0) & (band.low <= band.estimate))
    assert np.all((band.estimate <= band.high) & (band.high <= 1))
    json.dumps(band.to_dict(), allow_nan=False)


def test_the_same_seed_gives_the_same_band_and_another_seed_another():
    labels, scores = sample()
    first, again, other = (pr_band(labels, scores, seed=seed, **QUICK) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.low, again.low)
    assert not np.array_equal(first.low, other.low)


@pytest.mark.parametrize("method", ["default", "exact", "pointwise", "naive"])
def test_only_the_order_of_the_scores_matters(method):
    labels, scores = sample()
    plain = pr_band(labels, scores, method=method, **QUICK)
    moved = pr_band(labels, np.exp(3 * scores), method=method, **QUICK)
    np.testing.assert_allclose(moved.low, plain.low, atol=1e-12)
    np.testing.assert_allclose(moved.high, plain.high, atol=1e-12)


def test_scalars_equal_scikit_learn_without_ties():
    labels, scores = sample()
    band = pr_band(labels, scores, threshold=0.8, **QUICK)
    assert band.scalars["average_precision"].estimate == pytest.approx(average_precision_score(labels, scores))
    assert band.scalars["roc_auc"].estimate == pytest.approx(roc_auc_score(labels, scores))
    assert band.scalars["f1_at_threshold"].estimate == pytest.approx(f1_score(labels, scores >= 0.8))
    best = max(f1_score(labels, scores >= cut) for cut in scores)
    assert band.scalars["best_f1"].estimate == pytest.approx(best)
    for interval in band.scalars.values():
        assert 0 <= interval.low <= interval.estimate <= interval.high <= 1


def test_the_exact_band_is_wider_than_the_default_and_higher_confidence_wider_still():
    labels, scores = sample()

    def width(**options):
        band = pr_band(labels, scores, **QUICK, **options)
        return float(np.mean(band.high - band.low))

    assert width(method="pointwise") < width() < width(method="exact")
    assert width(confidence_level=0.8) < width()
    assert width(method="exact", confidence_level=0.8) < width(method="exact", confidence_level=0.99)


def test_a_narrower_range_is_covered_and_costs_less():
    labels, scores = sample()
    part, whole = (pr_band(labels, scores, recall_range=ends, **QUICK) for ends in ((0.4, 0.6), (0.05, 0.95)))
    assert 0.4 <= part.recall[0] < part.recall[-1] <= 0.6
    inside = np.isin(whole.recall, part.recall)
    assert np.mean(part.high - part.low) < np.mean((whole.high - whole.low)[inside])


@pytest.mark.parametrize("method", ["default", "clemencon-vayatis", "pointwise"])
def test_fewer_than_ten_positives_give_the_exact_band_with_a_note(method):
    labels, scores = sample(200)
    labels[np.flatnonzero(labels)[9:]] = False
    band = pr_band(labels, scores, method=method)
    assert (band.method, band.guarantee, band.n_positives) == ("exact", "finite-sample", 9)
    assert "Only 9 positives" in band.notes[0]
    assert band.scalars["average_precision"].guarantee == "finite-sample"
    labels[np.flatnonzero(~labels)[0]] = True
    assert pr_band(labels, scores, method=method, **QUICK).method == method


def test_with_few_negatives_a_roc_band_is_exact_and_a_pr_band_is_not():
    labels, scores = sample(200)
    labels[np.flatnonzero(~labels)[5:]] = True
    assert roc_band(labels, scores, **QUICK).method == "exact"
    band = pr_band(labels, scores, **QUICK)
    assert band.method == "default"
    assert band.scalars["roc_auc"].guarantee == "finite-sample"


def test_the_end_towards_what_ten_positives_cannot_show_comes_from_the_exact_band():
    labels, scores = sample(200)
    labels[np.flatnonzero(labels)[10:]] = False
    default, exact = (pr_band(labels, scores, method=method) for method in ("default", "exact"))
    unseen_above, unseen_below = default.recall < 0.2, default.recall > 0.8
    assert np.all(default.high[unseen_above] >= exact.high[unseen_above])
    assert np.all(default.low[unseen_below] <= exact.low[unseen_below])
    seen = ~(unseen_above | unseen_below)
    assert np.mean((default.high - default.low)[seen]) < np.mean((exact.high - exact.low)[seen])


def test_ties_are_broken_by_the_seed_and_said():
    labels, scores = sample()
    tied = np.round(scores)
    band = pr_band(labels, tied, **QUICK)
    assert "ties are in random order" in " ".join(band.notes)
    assert not pr_band(labels, scores, **QUICK).notes[1:]
    assert not np.array_equal(band.estimate, pr_band(labels, tied, seed=5, **QUICK).estimate)


def test_constant_scores_give_a_band_around_the_base_rate():
    labels, _ = sample(1000)
    band = pr_band(labels, np.zeros(1000))
    rate = labels.mean()
    assert np.all((band.low <= rate) & (rate <= band.high))


def test_one_half_is_refused_with_its_effective_sample_size():
    labels, scores = sample(1000, 0.1)
    with pytest.raises(InvalidInput, match=r"effective sample size of at least 100 replicates; got 0\.5"):
        pr_band(labels, scores, method="clemencon-vayatis", resampling_rate=0.5)
    gentle = pr_band(labels, scores, method="clemencon-vayatis", resampling_rate=labels.mean() * 1.04)
    plain = pr_band(labels, scores, method="clemencon-vayatis")
    # Weights undo the tilt: the two radii agree up to the noise of 2,000 replicates.
    assert np.mean(gentle.high - gentle.low) == pytest.approx(np.mean(plain.high - plain.low), rel=0.08)


WRONG = {
    "no positives": ({"y_true": [0, 0, 0], "y_score": [1, 2, 3]}, "'y_true' must hold both classes; got 0 positives"),
    "no negatives": ({"y_true": [1, 1, 1], "y_score": [1, 2, 3]}, "'y_true' must hold both classes; got 3 positives"),
    "empty": ({"y_true": np.array([], dtype=int), "y_score": []}, "'y_true' must hold both classes"),
    "three classes": ({"y_true": [0, 1, 2], "y_score": [1, 2, 3]}, "'y_true' must be made of 0 and 1; got 2"),
    "nan": ({"y_true": [0, 1, 1], "y_score": [1, np.nan, 3]}, "'y_score' must be made of finite numbers; got nan"),
    "lengths": ({"y_true": [0, 1], "y_score": [1, 2, 3]}, "same length; got 2 and 3"),
    "level": (
        {"y_true": [0, 1], "y_score": [1, 2], "confidence_level": 1.0},
        r"'confidence_level' must be in \(0, 1\)",
    ),
    "method": ({"y_true": [0, 1], "y_score": [1, 2], "method": "magic"}, "'method' must be one of 'default'"),
    "kernel": ({"y_true": [0, 1], "y_score": [1, 2], "kernel": "tea"}, "'kernel' must be one of 'gaussian', 'box'"),
    "range": (
        {"y_true": [0, 1], "y_score": [1, 2], "recall_range": (0.9, 0.1)},
        "'recall_range' must be an increasing",
    ),
    "no range": ({"y_true": [0, 1], "y_score": [1, 2], "recall_range": 0.5}, "'recall_range' must be a pair"),
    "replicates": ({"y_true": [0, 1], "y_score": [1, 2], "n_replicates": 5}, "'n_replicates' must be a whole number"),
    "seed": ({"y_true": [0, 1], "y_score": [1, 2], "seed": -1}, "'seed' must be a whole number of at least 0"),
    "probability": (
        {"y_true": [0, 1], "y_score": [1, 2], "inclusion_probabilities": [0.5, 0]},
        r"'inclusion_probabilities' must be in \(0, 1\]; got 0.0. It stands at position 1",
    ),
    "rate of another method": (
        {"y_true": [0, 1], "y_score": [1, 2], "resampling_rate": 0.4},
        "'resampling_rate' belongs to method 'clemencon-vayatis'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_refused_in_one_sentence(name):
    options, message = WRONG[name]
    with pytest.raises(InvalidInput, match=message):
        pr_band(**options)


def test_two_labels_are_enough_for_an_answer():
    for make in (pr_band, roc_band):
        band = make([0, 1], [0.1, 0.9])
        assert np.all(np.isfinite(band.low) & np.isfinite(band.high))


@pytest.mark.parametrize("make", [pr_band, roc_band])
def test_equal_inclusion_probabilities_are_no_weights_at_all(make):
    labels, scores = sample()
    plain = make(labels, scores, **QUICK)
    weighted = make(labels, scores, inclusion_probabilities=np.full(300, 0.2), **QUICK)
    np.testing.assert_array_equal(plain.low, weighted.low)


def test_weights_undo_an_unequal_draw():
    rng = np.random.default_rng(3)
    labels = rng.random(20_000) < 0.2
    scores = rng.normal(1.5 * labels)
    share = np.where(scores > 1, 0.2, 0.04)
    drawn = rng.random(20_000) < share
    true = pr_band(labels, scores, method="pointwise", **QUICK).estimate
    weighted = pr_band(labels[drawn], scores[drawn], inclusion_probabilities=share[drawn], **QUICK)
    unweighted = pr_band(labels[drawn], scores[drawn], **QUICK)
    assert np.mean(np.abs(weighted.estimate - true)) < 0.06 < np.mean(np.abs(unweighted.estimate - true))
    assert np.all((weighted.low <= true) & (true <= weighted.high))
    assert not np.all((unweighted.low <= true) & (true <= unweighted.high))


def test_weighted_samples_refuse_what_they_cannot_give():
    labels, scores = sample()
    shares = np.linspace(0.1, 1, 300)
    with pytest.raises(InvalidInput, match="'method' must be 'default' or 'pointwise' with weights or strata"):
        pr_band(labels, scores, inclusion_probabilities=shares, method="exact")
    with pytest.raises(InvalidInput, match="'threshold' must be left out"):
        pr_band(labels, scores, inclusion_probabilities=shares, threshold=0.5)
    with pytest.raises(InvalidInput, match="at least 10 positives"):
        pr_band(np.arange(300) < 5, scores, inclusion_probabilities=shares)


def test_small_strata_and_lopsided_weights_are_noted():
    labels, scores = sample()
    band = pr_band(labels, scores, strata=np.arange(300) // 5, **QUICK)
    assert "A stratum has only 5 labelled items" in " ".join(band.notes)
    shares = np.where(np.arange(300) == np.flatnonzero(labels)[0], 0.001, 1.0)
    assert "worth only" in " ".join(pr_band(labels, scores, inclusion_probabilities=shares, **QUICK).notes)


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC()])
@pytest.mark.parametrize("curve", ["pr", "roc"])
def test_from_an_estimator_scores_it_first(estimator, curve):
    labels, scores = sample()
    features = np.column_stack([scores, np.ones(300)])
    estimator.fit(features, labels)
    band = from_estimator(estimator, features, labels, curve=curve, **QUICK)
    make = pr_band if curve == "pr" else roc_band
    np.testing.assert_array_equal(band.low, make(labels, estimator.decision_function(features), **QUICK).low)


class OnlyProbabilities:
    def predict_proba(self, features):
        return np.column_stack([1 - features[:, 0], features[:, 0]])


def test_from_an_estimator_with_probabilities_only():
    labels, scores = sample()
    band = from_estimator(OnlyProbabilities(), scores[:, None], labels, **QUICK)
    np.testing.assert_array_equal(band.low, pr_band(labels, scores, **QUICK).low)
    with pytest.raises(InvalidInput, match="'estimator' must be able to score"):
        from_estimator(object(), scores[:, None], labels)
    with pytest.raises(InvalidInput, match="'curve' must be 'pr' or 'roc'"):
        from_estimator(OnlyProbabilities(), scores[:, None], labels, curve="lift")
