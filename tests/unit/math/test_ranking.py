"""Exact metrics: Zhu's examples and lemmas, scikit-learn to 1e-12, brute force over the orders of ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import twins
from sklearn import metrics as sk

from karat.errors import InvalidInput
from karat.exact_curve import exact
from karat.math import ranking

TOLERANCE = 1e-12


def cases():
    rng = np.random.default_rng(4)
    for n_items in (2, 3, 10, 57, 500):
        for rate in (0.02, 0.3, 0.5, 0.97):
            for decimals in (0, 1, 2, 12):  # few decimals: many ties
                labels = (rng.random(n_items) < rate).astype(int)
                labels[rng.permutation(n_items)[:2]] = 0, 1
                noise = rng.normal(size=n_items)
                yield pytest.param(labels, np.round(labels + noise, decimals), id=f"{n_items}-{rate}-{decimals}")


@pytest.mark.parametrize(("labels", "scores"), list(cases()))
def test_agrees_with_scikit_learn(labels, scores):
    curve = exact(labels, scores)
    assert curve.average_precision() == pytest.approx(sk.average_precision_score(labels, scores), abs=TOLERANCE)
    assert curve.roc_auc() == pytest.approx(sk.roc_auc_score(labels, scores), abs=TOLERANCE)
    assert curve.ndcg() == pytest.approx(sk.ndcg_score([labels], [scores]), abs=TOLERANCE)
    for top in {1, 2, len(labels) // 2 + 1, len(labels)}:
        assert curve.dcg(top) == pytest.approx(sk.dcg_score([labels], [scores], k=top), abs=1e-10)
        assert curve.ndcg(top) == pytest.approx(sk.ndcg_score([labels], [scores], k=top), abs=1e-10)


@pytest.mark.parametrize(("labels", "scores"), list(cases()))
def test_every_point_agrees_with_scikit_learn(labels, scores):
    points = exact(labels, scores).points()
    precision, recall, thresholds = sk.precision_recall_curve(labels, scores)
    kept = recall[:-1][::-1] > -1
    np.testing.assert_allclose(points["threshold"], thresholds[::-1], atol=0)
    np.testing.assert_allclose(points["precision"], precision[:-1][::-1][kept], atol=TOLERANCE)
    np.testing.assert_allclose(points["recall"], recall[:-1][::-1][kept], atol=TOLERANCE)
    false_rate, true_rate, _ = sk.roc_curve(labels, scores, drop_intermediate=False)
    np.testing.assert_allclose(points["false_positive_rate"], false_rate[1:], atol=TOLERANCE)
    np.testing.assert_allclose(points["recall"], true_rate[1:], atol=TOLERANCE)


@pytest.mark.parametrize(("labels", "scores"), list(cases()))
def test_cut_metrics_agree_with_scikit_learn(labels, scores):
    curve = exact(labels, scores)
    for rank in {1, len(labels) // 2, len(labels)} - {0}:
        at = curve.at(rank, beta=2.0)
        predicted = scores >= np.sort(scores)[::-1][rank - 1]
        assert at["rank"] == predicted.sum()
        assert at["precision"] == pytest.approx(sk.precision_score(labels, predicted), abs=TOLERANCE)
        assert at["recall"] == pytest.approx(sk.recall_score(labels, predicted), abs=TOLERANCE)
        assert at["f_beta"] == pytest.approx(sk.fbeta_score(labels, predicted, beta=2.0), abs=TOLERANCE)
        assert at["accuracy"] == pytest.approx(sk.accuracy_score(labels, predicted), abs=TOLERANCE)
        assert at["specificity"] == pytest.approx(sk.recall_score(1 - labels, ~predicted), abs=TOLERANCE)
        assert at["lift"] == pytest.approx(at["precision"] / labels.mean(), abs=1e-10)
        assert at["false_positive_rate"] == pytest.approx(1 - at["specificity"], abs=TOLERANCE)
        assert at["gain"] == at["yield"] == labels[predicted].sum()
        assert at["hit_rate"] == at["yield"] / len(labels)


@pytest.mark.parametrize(("labels", "scores"), list(cases()))
def test_best_f1_is_the_best_over_thresholds(labels, scores):
    best = exact(labels, scores).best_f1()
    tried = {t: 2 * labels[scores >= t].sum() / (np.sum(scores >= t) + labels.sum()) for t in np.unique(scores)}
    assert best["f1"] == pytest.approx(max(tried.values()), abs=TOLERANCE)
    assert tried[best["threshold"]] == pytest.approx(best["f1"], abs=TOLERANCE)
    assert best["rank"] == np.sum(scores >= best["threshold"])


# --- Zhu 2004


@pytest.mark.parametrize(("hits", "wanted"), [((1, 2, 4), 11 / 12), ((1, 4, 8), 5 / 8)])
def test_zhu_table_1(hits, wanted):
    labels = [int(rank in hits) for rank in range(1, 11)]
    assert exact(labels, -np.arange(10.0)).average_precision() == pytest.approx(wanted, abs=1e-15)
    assert twins.average_precision(labels) == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize("rate", [0.02, 0.2, 0.7])
def test_random_ranking_has_average_precision_near_the_base_rate(rate):
    rng = np.random.default_rng(1)
    labels = (rng.random(200_000) < rate).astype(int)
    curve = exact(labels, rng.random(200_000))
    assert curve.average_precision() == pytest.approx(curve.base_rate, rel=0.05)
    assert curve.roc_auc() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("n_positives", [1, 7, 50])
def test_perfect_and_worst_ranking(n_positives):
    labels = np.r_[np.ones(n_positives, dtype=int), np.zeros(50, dtype=int)]
    perfect, worst = exact(labels, -np.arange(len(labels))), exact(labels, np.arange(len(labels)))
    assert perfect.average_precision() == perfect.roc_auc() == perfect.best_f1()["f1"] == 1.0
    assert perfect.ndcg() == pytest.approx(1.0, abs=1e-15)
    assert worst.roc_auc() == 0.0
    assert worst.average_precision() == pytest.approx(twins.average_precision(labels[::-1].tolist()), abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_lemma_5_recall_never_climbs_faster_than_one_over_the_base_rate(seed):
    """r'(t) <= 1/pi, with equality inside a run of hits."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(500) < rng.uniform(0.05, 0.9)).astype(int)
    labels[0] = 1
    points = exact(labels, -np.arange(500.0)).points()
    slope = np.diff(np.r_[0, points["recall"]]) / np.diff(np.r_[0, points["detected"]])
    assert slope.max() == pytest.approx(1 / labels.mean(), rel=1e-9)
    assert slope.min() >= 0


def test_lemma_3_concave_recall_means_falling_precision():
    """Where recall is concave from the start, precision does not rise; concave nearby is not enough."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        labels = (rng.random(3000) < np.linspace(0.9, 0.1, 3000)).astype(np.int8)
        curve = exact(labels, -np.arange(3000.0)).ranking
        for n_blocks in (5, 20, 50):
            concave = ranking.concave_until(curve, n_blocks=n_blocks)
            assert ranking.precision_falls_until(curve, n_blocks=n_blocks) >= concave
    low_start = np.r_[np.zeros(100), np.ones(100), np.tile([1, 0], 150)].astype(np.int8)
    curve = exact(low_start, -np.arange(500.0)).ranking
    assert ranking.concave_until(curve, n_blocks=5) == 100
    assert ranking.precision_falls_until(curve, n_blocks=5) == 100


def test_a_falling_list_is_concave_to_its_end():
    labels = np.r_[np.ones(50), np.zeros(50)].astype(np.int8)
    curve = exact(labels, -np.arange(100.0)).ranking
    assert ranking.concave_until(curve, n_blocks=10) == ranking.precision_falls_until(curve, n_blocks=10) == 100


# --- ties in random order


@pytest.mark.parametrize("seed", range(12))
def test_random_ties_are_the_mean_over_all_orders(seed):
    rng = np.random.default_rng(seed)
    n_items = int(rng.integers(2, 8))
    labels = rng.integers(0, 2, n_items).tolist()
    labels[:2] = [0, 1]
    scores = rng.integers(0, 3, n_items).astype(float).tolist()
    curve = exact(labels, scores, ties="random")
    assert curve.average_precision() == pytest.approx(
        twins.expected_over_ties(twins.average_precision, labels, scores), abs=TOLERANCE
    )
    assert curve.roc_auc() == pytest.approx(twins.expected_over_ties(twins.roc_auc, labels, scores), abs=TOLERANCE)
    for rank in range(1, n_items + 1):
        wanted = twins.expected_over_ties(lambda order, rank=rank: sum(order[:rank]), labels, scores)
        at = curve.at(rank)
        assert at["rank"] == rank
        assert at["yield"] == pytest.approx(wanted, abs=TOLERANCE)
        assert at["precision"] == pytest.approx(wanted / rank, abs=TOLERANCE)


def test_conventions_agree_without_ties_and_differ_with_them():
    labels, scores = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    assert exact(labels, scores).average_precision() == pytest.approx(
        exact(labels, scores, ties="random").average_precision(), abs=1e-15
    )
    tied = [1.0, 1.0, 1.0, 1.0]
    assert exact(labels, tied).average_precision() == 0.5
    assert exact(labels, tied, ties="random").average_precision() > 0.5


def test_large_tied_groups_keep_their_digits():
    """The closed form with harmonic numbers against the plain sum."""
    rng = np.random.default_rng(0)
    sizes = [1, 50_000, 3, 20_000]
    hits = [1, 20_000, 2, 100]
    labels = np.concatenate(
        [rng.permutation(np.r_[np.ones(h), np.zeros(s - h)]) for s, h in zip(sizes, hits, strict=True)]
    )
    scores = np.repeat([4.0, 3.0, 2.0, 1.0], sizes)
    total, start, before = 0.0, 0, 0
    for size, hit in zip(sizes, hits, strict=True):
        place = np.arange(1, size + 1)
        inside = (place - 1) * (hit - 1) / max(size - 1, 1)
        total += np.sum(hit / size * (before + 1 + inside) / (start + place))
        start, before = start + size, before + hit
    got = exact(labels.astype(np.int8), scores, ties="random").average_precision()
    assert got == pytest.approx(total / sum(hits), rel=1e-10)


# --- where a metric is undefined


def test_no_positive_label():
    curve = exact([0, 0, 0], [3, 2, 1])
    for compute in (curve.average_precision, curve.roc_auc, curve.ndcg, curve.best_f1):
        with pytest.raises(InvalidInput, match="undefined without a positive label; all 3 labels are 0"):
            compute()
    assert curve.dcg() == 0.0
    at = curve.at(2)
    assert at["precision"] == 0
    assert at["recall"] is None
    assert at["lift"] is None
    assert curve.summary()["average_precision"] is None


def test_no_negative_label():
    curve = exact([1, 1, 1], [3, 2, 1])
    assert curve.average_precision() == 1.0
    assert curve.ndcg() == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="ROC AUC is undefined without a negative label; all 3 labels are 1"):
        curve.roc_auc()
    assert curve.at(2)["specificity"] is None
    assert curve.summary()["roc_auc"] is None


@pytest.mark.parametrize(
    ("labels", "scores", "word"),
    [
        ([], [], "number of items"),
        ([1, 2], [1, 2], "y_true"),
        ([1, 0], [1, float("nan")], "y_score"),
        ([1, 0], [1, float("inf")], "y_score"),
        ([1, 0], ["a", "b"], "y_score"),
        (["yes", "no"], [1, 2], "y_true"),
        ([1, 0, 1], [1, 2], "same length"),
        ([[1, 0]], [[1, 2]], "one-dimensional"),
        ([1, None], [1, 2], "y_true"),
    ],
)
def test_refused(labels, scores, word):
    with pytest.raises(InvalidInput, match=word):
        exact(labels, scores)


def test_unknown_ties_and_bad_ranks_are_refused():
    with pytest.raises(InvalidInput, match="'ties' must be one of 'threshold', 'random'"):
        exact([1], [1], ties="average")
    curve = exact([1, 0], [2, 1])
    for rank in (0, 3, 1.5, True, "1"):
        with pytest.raises(InvalidInput, match="'rank' must be"):
            curve.at(rank)
    with pytest.raises(InvalidInput, match="'positives' must be"):
        curve.at(1, positives=0)


@pytest.mark.parametrize("beta", [float("nan"), float("inf"), -1.0])
def test_a_useless_beta_is_refused(beta):
    with pytest.raises(InvalidInput, match="'beta' must be"):
        exact([1, 0], [2, 1]).at(1, beta=beta)


@pytest.mark.parametrize("top", [0, -1, 1.5])
@pytest.mark.parametrize("metric", ["dcg", "ndcg"])
def test_a_useless_depth_is_refused(metric, top):
    with pytest.raises(InvalidInput, match="'top' must be"):
        getattr(exact([1, 0], [2, 1]), metric)(top)


def test_recall_among_more_positives_than_the_list_holds():
    at = exact([1, 0, 1], [3, 2, 1]).at(3, positives=8)
    assert at["recall"] == 2 / 8
    assert at["f_beta"] == 2 * 2 / (3 + 8)


# --- invariances, every metric

METRICS = {
    "average precision": lambda curve: curve.average_precision(),
    "ROC AUC": lambda curve: curve.roc_auc(),
    "best F1": lambda curve: curve.best_f1()["f1"],
    "precision at 5": lambda curve: curve.at(5)["precision"],
    "recall at 5": lambda curve: curve.at(5)["recall"],
    "specificity at 5": lambda curve: curve.at(5)["specificity"],
    "accuracy at 5": lambda curve: curve.at(5)["accuracy"],
    "F2 at 5": lambda curve: curve.at(5, beta=2)["f_beta"],
    "lift at 5": lambda curve: curve.at(5)["lift"],
    "DCG": lambda curve: curve.dcg(),
    "nDCG": lambda curve: curve.ndcg(),
    "nDCG at 5": lambda curve: curve.ndcg(5),
}
GROWS_WITH_THE_LIST = {"DCG", "nDCG", "nDCG at 5", *(name for name in METRICS if "at 5" in name)}


@pytest.mark.parametrize("ties", ["threshold", "random"])
@pytest.mark.parametrize("name", METRICS)
def test_invariances(name, ties):
    rng = np.random.default_rng(8)
    for _ in range(20):
        labels, scores = rng.integers(0, 2, 30), rng.integers(-5, 6, 30).astype(float)
        labels[:2] = 0, 1
        value = METRICS[name](exact(labels, scores, ties=ties))
        assert np.isfinite(value)
        shuffle = rng.permutation(30)
        assert METRICS[name](exact(labels[shuffle], scores[shuffle], ties=ties)) == pytest.approx(value, abs=1e-12)
        assert METRICS[name](exact(labels, np.exp(scores / 3), ties=ties)) == pytest.approx(value, abs=1e-12)
        assert METRICS[name](exact(labels.astype(bool), scores, ties=ties)) == value
        if name not in GROWS_WITH_THE_LIST and ties == "threshold":
            twice = METRICS[name](exact(np.tile(labels, 2), np.tile(scores, 2), ties=ties))
            assert twice == pytest.approx(value, abs=1e-12)


def test_auc_is_the_same_seen_from_the_negatives():
    rng = np.random.default_rng(9)
    for _ in range(20):
        labels, scores = rng.integers(0, 2, 30), rng.integers(0, 9, 30).astype(float)
        labels[:2] = 0, 1
        assert exact(1 - labels, -scores).roc_auc() == pytest.approx(exact(labels, scores).roc_auc(), abs=1e-12)


def test_twins_agree_with_each_other_on_all_short_lists():
    for labels in itertools.product((0, 1), repeat=6):
        if 0 < sum(labels) < 6:
            curve = exact(labels, -np.arange(6.0))
            assert curve.average_precision() == pytest.approx(twins.average_precision(labels), abs=1e-14)
            assert curve.roc_auc() == pytest.approx(twins.roc_auc(labels), abs=1e-14)


@pytest.mark.long
def test_ten_million_rows_are_comfortable():
    rng = np.random.default_rng(0)
    labels = (rng.random(10_000_000) < 0.3).astype(np.int8)
    scores = np.round(labels * 0.3 + rng.random(10_000_000), 5)
    summary = exact(labels, scores).summary([1000])
    assert summary["roc_auc"] > 0.6
