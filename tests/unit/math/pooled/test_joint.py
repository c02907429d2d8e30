"""The paper's estimators: identities it proves, a slow textbook twin, and its fault."""

from dataclasses import replace

import numpy as np
import pytest

from karat.math.pooled.adaptive import arrival_variance, arrive, known_arrival_variance, paper_count
from karat.math.pooled.bias import pooled_score
from karat.math.pooled.joint import (
    BiasedRecallWarning,
    balance_weights,
    estimate_joint,
    joint_precision_variance,
    joint_weights,
    scaled_recall,
)
from karat.math.pooled.simple import simple_precision


def overlapping(seed: int = 0, n_items: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    member = rng.random((4, n_items)) < np.array([0.3, 0.5, 0.2, 0.6])[:, None]
    raw = member * rng.random((4, n_items))
    return raw / raw.sum(axis=1, keepdims=True), (rng.random(n_items) < 0.6).astype(int)


def draws(law, n_draws, rng):
    items = np.concatenate([rng.choice(law.shape[1], n, p=row) for row, n in zip(law, n_draws, strict=True)])
    return items, np.repeat(np.arange(law.shape[0]), n_draws)


def twin(law, labels, items, source, n_draws):
    """Section 4.3 of the paper, one sum sign a loop."""
    m = law.shape[0]
    w = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            w[i, j] = n_draws[j] * sum(law[i, x] * law[j, x] for x in range(law.shape[1]))
        w[i] /= w[i].sum()
    precision, recall = [], []
    for i in range(m):
        total = above = below = 0.0
        for x, j in zip(items, source, strict=True):
            q = sum(w[i, k] * law[k, x] for k in range(m))
            total += w[i, j] / n_draws[j] * law[i, x] * labels[x] / q
            above += w[i, j] / n_draws[j] * (law[i, x] > 0) * labels[x] / q
            below += w[i, j] / n_draws[j] * labels[x] / q
        precision.append(total)
        recall.append(above / below)
    return np.array(precision), np.array(recall)


def test_figure_2_of_the_paper():
    right, relations = [1, 1, 1, 1, 0, 1], ["o1", "o2", "o3", "o2", "o3", "o4"]
    for system_c in ([1, 0, 0, 1, 0, 1], [1, 1, 0, 0, 0, 1], [0, 0, 1, 1, 0, 1]):
        assert pooled_score(system_c, right, relations=relations)[:2] == (1.0, 3 / 4)
        pooled = pooled_score(system_c, right, judged=[1, 1, 1, 1, 1, 0], relations=relations)
        assert pooled[:2] == (2 / 3, 2 / 3)
    # Without the key of the relation, recall would be 3/5 and 2/4.
    assert pooled_score([1, 0, 0, 1, 0, 1], right)[1] == 3 / 5


def test_the_fast_joint_estimator_is_its_textbook_twin():
    law, labels = overlapping()
    n_draws = np.array([20, 15, 30, 10])
    items, source = draws(law, n_draws, np.random.default_rng(1))
    joint = estimate_joint(law[:, items], labels[items], source=source, overlap=law @ law.T, recall="paper")
    precision, recall = twin(law, labels, items, source, n_draws)
    assert joint.precision == pytest.approx(precision, rel=1e-12)
    assert joint.recall == pytest.approx(recall, rel=1e-12)


def test_one_system_alone_is_the_simple_estimator():
    law, labels = overlapping()
    items, source = draws(law[:1], [40], np.random.default_rng(2))
    joint = estimate_joint(law[:1][:, items], labels[items], source=source, overlap=law[:1] @ law[:1].T)
    simple = simple_precision(labels[items])
    assert joint.precision[0] == pytest.approx(simple.value, rel=1e-12)
    assert joint.precision_variance[0] == pytest.approx(simple.variance, rel=1e-12)


def test_identical_systems_are_weighed_by_their_draws_and_disjoint_ones_not_at_all():
    law = np.array([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.25, 0.75]])
    weights = joint_weights(law @ law.T, [10, 30, 25])
    assert weights[:2] == pytest.approx(np.array([[0.25, 0.75, 0], [0.25, 0.75, 0]]))
    assert weights[2].tolist() == [0, 0, 1]
    assert weights.sum(axis=1) == pytest.approx(1)
    assert balance_weights([10, 30, 60]).sum(axis=1) == pytest.approx(1)


def test_the_paper_s_recall_warns_where_it_is_biased():
    law = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    items, source = np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1])
    arguments = {"source": source, "overlap": law @ law.T}
    with pytest.warns(BiasedRecallWarning, match="2 of 2 systems"):
        paper = estimate_joint(law[:, items], [1, 1, 1, 1], recall="paper", **arguments)
    assert paper.recall.tolist() == [1, 1]  # each system seems to find everything
    assert paper.recall_biased.all()
    assert estimate_joint(law[:, items], [1, 1, 1, 1], **arguments).recall == pytest.approx([0.5, 0.5])


def test_the_variance_of_a_product():
    law, labels = overlapping()
    items, source = draws(law, [30] * 4, np.random.default_rng(3))
    joint = estimate_joint(law[:, items], labels[items], source=source, overlap=law @ law.T)
    _, variance = scaled_recall(joint, theta=0.4, theta_variance=0.01)
    by_hand = 0.16 * joint.recall_variance + joint.recall**2 * 0.01 + 0.01 * joint.recall_variance
    assert variance == pytest.approx(by_hand)
    # The exact variance of a product of independent variables, by enumeration.
    rng = np.random.default_rng(0)
    theta, nu = rng.normal(0.4, 0.1, 400_000), rng.normal(0.7, 0.05, 400_000)
    assert np.var(theta * nu) == pytest.approx(0.16 * 0.0025 + 0.49 * 0.01 + 0.01 * 0.0025, rel=0.01)


def test_the_exact_joint_variance_is_what_repetition_shows():
    law, labels = overlapping()
    rng = np.random.default_rng(5)
    expected = joint_precision_variance(law, labels, n_draws=np.full(4, 25))
    values = []
    for _ in range(2000):
        items, source = draws(law, [25] * 4, rng)
        values.append(estimate_joint(law[:, items], labels[items], source=source, overlap=law @ law.T).precision)
    # The relative standard error of a variance from 2,000 repetitions is about 3%.
    assert np.var(values, axis=0) == pytest.approx(expected, rel=0.15)


def test_the_paper_s_count_is_the_smallest_that_meets_the_target():
    law, labels = overlapping()
    rng = np.random.default_rng(6)
    times_drawn = np.zeros(law.shape)
    for j in (0, 1):
        np.add.at(times_drawn[j], rng.choice(law.shape[1], 40, p=law[j]), 1)
    arrival, units = arrive(law, new=3, earlier=[0, 1], times_drawn=times_drawn, labels=labels)
    assert (law[3, units] > 0).all()
    count = paper_count(arrival, target_variance=0.003)
    assert count > 1
    assert arrival_variance(arrival, count) <= 0.003 < arrival_variance(arrival, count - 1)
    first, _ = arrive(law, new=0, earlier=[], times_drawn=times_drawn, labels=labels)
    assert paper_count(first, target_variance=1 / 500) == 500
    # Labels already bought for overlapping systems save draws.
    assert paper_count(arrival, target_variance=1 / 500) < 500


def test_the_count_that_knows_all_labels_meets_the_target_exactly():
    law, labels = overlapping()
    times_drawn = np.zeros(law.shape)
    times_drawn[:2, 0] = 40  # only their number counts
    arrival, _ = arrive(law, new=3, earlier=[0, 1], times_drawn=times_drawn, labels=labels)
    arrival = replace(arrival, n_draws=np.array([40.0, 40.0]))
    target = 0.002
    count = paper_count(arrival, target_variance=target, variance=known_arrival_variance)

    def exact(n_new):
        return joint_precision_variance(law[[0, 1, 3]], labels, n_draws=[40, 40, n_new])[-1]

    assert exact(count) <= target < exact(count - 1)
    assert known_arrival_variance(arrival, count) == pytest.approx(exact(count))
    assert arrival_variance(arrival, count) != pytest.approx(exact(count))
