"""Bias and coverage of the pooled estimators, with wrong variants that fail the same tests.

The largest of a dozen |z| of unbiased means stays below 4 (probability of a false alarm under 1e-3); coverage of 90%
intervals averaged over systems and 300 trials has a standard error below .017, and its bounds are .87 and .94.
"""

from pathlib import Path

import numpy as np
import pytest

from karat.math.pooled.arrivals import arrive_by_default, simulate_arrivals
from karat.math.pooled.betting import poisson_betting
from karat.math.pooled.bias import leave_out_bias
from karat.math.pooled.bootstrap import bootstrap_default, bootstrap_joint
from karat.math.pooled.estimate import estimate_metrics
from karat.math.pooled.inclusion import raise_inclusion, scale_for_budget, shared_size
from karat.math.pooled.intervals import estimate_interval, logit_interval
from karat.math.pooled.joint import estimate_joint, joint_weights
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.recall import pool_recall
from karat.math.pooled.sample import sample_from_matrix
from karat.math.pooled.simulate import simulate

LOW, HIGH, LARGEST_Z = 0.87, 0.94, 4.0
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def generated(n_items: int = 6000, seed: int = 0):
    """Six overlapping systems; a tenth of what is true is in none of them."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n_items) < 0.3).astype(int)
    member = np.array([rng.random(n_items) < np.where(labels, 0.15 + 0.08 * i, 0.03 + 0.02 * i) for i in range(6)])
    scores = member * np.clip(rng.normal(0.4 + 0.3 * labels, 0.2, member.shape), 0.01, 1)
    return member / member.sum(axis=1, keepdims=True), labels, scores


def disjoint():
    rng = np.random.default_rng(1)
    labels = (rng.random(4000) < 0.4).astype(int)
    member = np.zeros((4, 4000))
    for i in range(4):
        member[i, 900 * i : 900 * (i + 1)] = 1
    return member / member.sum(axis=1, keepdims=True), labels


def real(name: str):
    import pandas as pd

    path = DATA / f"multi_{name}_predictions.parquet"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in ../shared/data")
    predictions = pd.read_parquet(path)
    truth = pd.read_parquet(DATA / f"multi_{name}_labels.parquet").drop_duplicates("id").reset_index(drop=True)
    place = pd.Series(np.arange(len(truth)), index=truth["id"])
    predictions = predictions[predictions["id"].isin(truth["id"])].drop_duplicates(["system", "id"])
    names = list(predictions["system"].unique())
    member = np.zeros((len(names), len(truth)))
    scores = np.zeros_like(member)
    for row, name_ in enumerate(names):
        own = predictions[predictions["system"] == name_]
        member[row, place[own["id"]]] = 1
        scores[row, place[own["id"]]] = own["score"].rank(pct=True)
    return member / member.sum(axis=1, keepdims=True), truth["label"].to_numpy(), scores


def check(result, name, *, recall=True):
    figures = result["estimators"][name]
    assert figures["precision_z"] < LARGEST_Z
    assert LOW <= figures["precision_coverage"] <= HIGH
    if recall:
        assert figures["recall_z"] < LARGEST_Z
        assert LOW <= figures["recall_coverage"] <= HIGH
        assert LOW <= figures["f1_coverage"] <= HIGH


def test_generated_systems_are_scored_without_bias_and_covered():
    law, labels, scores = generated()
    result = simulate(law, labels, scores=scores, n_trials=300, rng=np.random.default_rng(3))
    for name in ("simple", "joint", "default"):
        check(result, name)
    ratios = {name: result["estimators"][name]["precision_variance_ratio"] for name in result["estimators"]}
    assert ratios["default"] < 0.6 < ratios["joint"] < ratios["simple"]


def test_the_paper_s_joint_recall_is_biased_without_overlap_and_balance_mends_it():
    law, labels = disjoint()
    result = simulate(
        law, labels, n_trials=150, estimators=("joint", "balance", "default"), rng=np.random.default_rng(4)
    )
    check(result, "joint", recall=False)
    check(result, "balance")
    check(result, "default")
    assert result["estimators"]["joint"]["recall_bias_max"] > 0.5
    assert result["estimators"]["joint"]["recall_coverage"] < 0.05


@pytest.mark.parametrize(("name", "most"), [("abtbuy_8systems", 0.25), ("openie_carb", 0.9)])
def test_real_systems(name, most):
    law, labels, scores = real(name)
    result = simulate(law, labels, scores=scores, n_trials=300, rng=np.random.default_rng(5))
    for estimator in ("simple", "joint", "default"):
        check(result, estimator)
    assert result["estimators"]["default"]["precision_variance_ratio"] <= most
    # Equal cost: the default's labels are the others' distinct ones.
    assert result["estimators"]["default"]["labels"] == pytest.approx(result["estimators"]["joint"]["labels"], rel=0.02)


def test_guaranteed_intervals_cover_at_least_as_promised():
    law, labels, scores = generated(n_items=2500)
    result = simulate(
        law, labels, scores=scores, n_draws=60, n_trials=60, estimators=("betting",), rng=np.random.default_rng(6)
    )
    for metric in ("precision", "recall", "f1"):
        assert result["estimators"]["betting"][f"{metric}_coverage"] >= 0.9
    assert result["estimators"]["betting"]["precision_width"] < 0.5


def test_bets_with_wrong_probabilities_are_caught():
    rng = np.random.default_rng(7)
    n_items, level, n_trials = 600, 0.8, 300
    mass = np.full(n_items, 1 / n_items)
    labels = (np.arange(n_items) % 3 == 0).astype(float)
    chance = np.where(labels > 0, 0.35, 0.15)
    fold = rng.integers(0, N_FOLDS, n_items)
    covered = {"right": 0, "wrong": 0}
    for _ in range(n_trials):
        drawn = rng.random(n_items) < chance
        for name, claimed in (("right", chance), ("wrong", np.full(n_items, chance.mean()))):
            low, high = poisson_betting(
                mass[drawn],
                labels[drawn],
                inclusion=claimed[drawn],
                fold=fold[drawn],
                fold_mass=np.bincount(fold, mass, N_FOLDS),
                reach=float((mass / claimed).max()),
                expected_variance=0.25 / (0.2 * n_items),
                confidence_level=level,
            )
            covered[name] += low <= mass @ labels <= high
    tolerance = 3 * np.sqrt(level * (1 - level) / n_trials)
    assert covered["right"] / n_trials >= level - tolerance
    assert covered["wrong"] / n_trials < level - tolerance


def wealth_at_the_truth(toward_own_label: float, n_trials: int = 4000) -> tuple[float, float]:
    """Mean wealth, and its standard error, of a bet on the true total; a fair bet keeps it at most 1."""
    rng = np.random.default_rng(16)
    n_items, chance, bet = 200, 0.2, 0.15
    labels = (np.arange(n_items) % 4 == 0).astype(float)
    guess = 0.5 + toward_own_label * (labels - 0.5)
    drawn = rng.random((n_trials, n_items)) < chance
    gains = np.where(drawn, np.log1p(bet * (labels - guess) / chance), 0.0).sum(axis=1)
    # The bettor thinks that the sum of the guesses is what the drawn ones suggest.
    offset = (drawn * guess).sum(axis=1) / drawn.sum(axis=1) * n_items
    wealth = np.exp(gains - bet * (labels.sum() - offset))
    return float(wealth.mean()), float(wealth.std() / np.sqrt(n_trials))


def test_a_guess_moved_toward_its_own_label_is_no_fair_bet():
    mean, error = wealth_at_the_truth(0.0)
    assert mean <= 1 + 4 * error
    mean, error = wealth_at_the_truth(0.3)
    assert mean > 1 + 4 * error


def joint_trials(mangle, n_trials=200):
    """Mean error of the joint precision in standard errors when the weights are mangled after q was formed."""
    law, labels, _ = generated(n_items=1500)
    rng = np.random.default_rng(8)
    n_draws = np.full(6, 80)
    weights = joint_weights(law @ law.T, n_draws)
    mixture = weights @ law
    used = mangle(weights)
    errors = []
    for _ in range(n_trials):
        total = np.zeros(6)
        for j in range(6):
            x = rng.choice(law.shape[1], 80, p=law[j])
            ratio = np.where(mixture[:, x] > 0, law[:, x] * labels[x] / np.maximum(mixture[:, x], 1e-300), 0)
            total += used[:, j] * ratio.mean(axis=1)
        errors.append(total - law @ labels)
    return np.abs(np.mean(errors, axis=0) / (np.std(errors, axis=0) / np.sqrt(n_trials))).max()


def test_weights_of_another_system_are_caught():
    assert joint_trials(lambda weights: weights) < LARGEST_Z
    assert joint_trials(lambda weights: np.roll(weights, 1, axis=0)) > LARGEST_Z


def test_a_product_variance_without_squares_is_caught():
    law, labels, _ = generated(n_items=3000)
    labels = labels.copy()
    # Most of what is true lies outside the pool: theta is small, so theta and theta^2 differ.
    outside = np.ones(8000, dtype=int)
    law, labels = np.hstack([law, np.zeros((6, 8000))]), np.concatenate([labels, outside])
    rng = np.random.default_rng(9)
    true_items, in_pool = np.flatnonzero(labels), law.any(axis=0)
    recall = (law > 0) @ labels / labels.sum()
    covered = {"right": 0.0, "wrong": 0.0}
    n_trials = 150
    for _ in range(n_trials):
        source = np.repeat(np.arange(6), 60)
        items = np.concatenate([rng.choice(law.shape[1], 60, p=row) for row in law])
        joint = estimate_joint(law[:, items], labels[items], source=source, overlap=law @ law.T)
        theta = pool_recall(in_pool[rng.choice(true_items, 2000)])
        nu, of_nu = joint.recall, joint.recall_variance
        value = theta.value * nu
        variances = {
            "right": theta.value**2 * of_nu + nu**2 * theta.variance + theta.variance * of_nu,
            "wrong": theta.value * of_nu + nu * theta.variance + theta.variance * of_nu,
        }
        for name, variance in variances.items():
            low, high = logit_interval(value, variance, n_effective=joint.n_recall)
            covered[name] += float(((low <= recall) & (recall <= high)).mean()) / n_trials
    assert LOW <= covered["right"] <= HIGH
    assert covered["wrong"] > HIGH


def default_trials(change, n_trials=200):
    law, labels, scores = generated(n_items=2500)
    keep = law.any(axis=0)
    law, labels, scores = law[:, keep], labels[keep], scores[:, keep]
    rng = np.random.default_rng(10)
    size = shared_size(law)
    inclusion = raise_inclusion(size, scale=scale_for_budget(size, 400))
    errors, covered = [], []
    for _ in range(n_trials):
        sample = sample_from_matrix(
            law,
            labels,
            inclusion=change(inclusion),
            drawn=rng.random(size.size) <= inclusion,
            fold=rng.integers(0, N_FOLDS, size.size),
            scores=scores,
        )
        precision = estimate_metrics(sample)["precision"]
        low, high = estimate_interval(precision)
        errors.append(precision.value - law @ labels)
        covered.append((low <= law @ labels) & (law @ labels <= high))
    z = np.abs(np.mean(errors, axis=0) / (np.std(errors, axis=0) / np.sqrt(n_trials))).max()
    return z, float(np.mean(covered))


def test_wrong_inclusion_probabilities_are_caught():
    z, coverage = default_trials(lambda inclusion: inclusion)
    assert z < LARGEST_Z
    assert LOW <= coverage <= HIGH
    z, _ = default_trials(lambda inclusion: np.full(inclusion.size, inclusion.mean()))
    assert z > LARGEST_Z
    _, coverage = default_trials(lambda inclusion: np.minimum(1, 2 * inclusion))
    assert coverage < LOW


def test_a_draw_that_is_only_partly_answered_is_a_smaller_sample_of_the_same_kind():
    law, labels, scores = generated(n_items=2500)
    keep = law.any(axis=0)
    law, labels, scores = law[:, keep], labels[keep], scores[:, keep]
    rng = np.random.default_rng(17)
    size = shared_size(law)
    inclusion = raise_inclusion(size, scale=scale_for_budget(size, 500))
    errors, covered = [], {"in order": [], "as they come": []}
    n_trials = 200
    for _ in range(n_trials):
        permanent = rng.random(size.size)
        fold = rng.integers(0, N_FOLDS, size.size)
        ratio = permanent / inclusion
        share = np.sort(ratio)[200]  # 200 answers, in the order of u/pi
        samples = {"in order": (share * inclusion, ratio < share)}
        # Wrong variant: 200 answers, right ones first, taken for the whole draw.
        eager = np.flatnonzero(ratio <= 1)
        eager = eager[np.argsort(-labels[eager], kind="stable")][:200]
        samples["as they come"] = (inclusion, np.isin(np.arange(size.size), eager))
        for name, (chance, drawn) in samples.items():
            sample = sample_from_matrix(law, labels, inclusion=chance, drawn=drawn, fold=fold, scores=scores)
            precision = estimate_metrics(sample)["precision"]
            low, high = estimate_interval(precision)
            covered[name].append((low <= law @ labels) & (law @ labels <= high))
            if name == "in order":
                errors.append(precision.value - law @ labels)
    assert np.abs(np.mean(errors, axis=0) / (np.std(errors, axis=0) / np.sqrt(n_trials))).max() < LARGEST_Z
    assert LOW <= np.mean(covered["in order"]) <= HIGH
    assert np.mean(covered["as they come"]) < LOW


def test_bootstrap_intervals_cover():
    law, labels, scores = generated(n_items=2500)
    keep = law.any(axis=0)
    true_items = np.flatnonzero(labels)
    recall, precision = (law > 0) @ labels / labels.sum(), law @ labels
    truth = {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}
    rng = np.random.default_rng(11)
    size = shared_size(law[:, keep])
    inclusion = raise_inclusion(size, scale=scale_for_budget(size, 500))
    covered = {(kind, metric): 0.0 for kind in ("default", "joint") for metric in truth}
    n_trials = 80
    for _ in range(n_trials):
        theta = pool_recall(keep[rng.choice(true_items, 150)])
        sample = sample_from_matrix(
            law[:, keep], labels[keep], inclusion=inclusion, drawn=rng.random(size.size) <= inclusion,
            fold=rng.integers(0, N_FOLDS, size.size), scores=scores[:, keep],
        )  # fmt: skip
        ends = {"default": bootstrap_default(estimate_metrics(sample, pool_recall=theta), n_replicates=200, rng=rng)}
        source = np.repeat(np.arange(6), 100)
        items = np.concatenate([rng.choice(law.shape[1], 100, p=row) for row in law])
        joint = estimate_joint(law[:, items], labels[items], source=source, overlap=law @ law.T)
        ends["joint"] = bootstrap_joint(joint, source=source, theta=theta, n_replicates=200, rng=rng)
        for kind, metric in covered:
            low, high = ends[kind][metric]
            covered[kind, metric] += float(((low <= truth[metric]) & (truth[metric] <= high)).mean()) / n_trials
    # The standard error of an average over 80 trials and six dependent systems is below .034.
    assert all(0.84 <= value <= 0.96 for value in covered.values()), covered


def similar_systems(n_systems=20, n_items=4000):
    rng = np.random.default_rng(12)
    labels = (rng.random(n_items) < 0.35).astype(int)
    base = rng.normal(1.3 * labels - 0.9, 1.0)
    noisy = base + rng.normal(0, 0.5, (n_systems, n_items))
    member = noisy > np.quantile(noisy, 0.75, axis=1, keepdims=True)
    scores = member * (noisy.argsort(axis=1).argsort(axis=1) / n_items)
    return member / member.sum(axis=1, keepdims=True), labels, scores


def test_systems_that_arrive_one_by_one():
    law, labels, scores = similar_systems(n_systems=12, n_items=3000)
    rng = np.random.default_rng(13)
    result = simulate_arrivals(law, labels, scores=scores, worth=300, n_trials=25, rng=rng)
    default, paper = result["default"], result["paper"]
    # Twelve much dependent errors in each of 25 orders: the standard error of a ratio near 1 is below .25.
    assert default["error_ratio"] < 1.5 < paper["error_ratio"]  # the paper's rule misses the target, at more labels
    assert paper["labels_over_default"] > 1.25
    assert result["paper_known"]["labels_over_default"] >= 1.5  # its estimator with the target met
    assert result["paper_known"]["error_ratio"] == pytest.approx(1, abs=0.5)
    assert result["paper_same_target"]["labels_over_default"] >= 2
    assert result["fewest_labels"] < default["labels"] < 0.15 * 300 * law.shape[0]
    assert abs(default["bias_z"]) < LARGEST_Z
    assert default["coverage"] >= LOW - 0.02
    # Aiming at the paper's number, four times the variance, fails the first line.
    errors = [arrive_by_default(law, labels, order=order, target_variance=1 / 300, scores=scores, rng=rng).precision
              - (law @ labels)[order] for order in (rng.permutation(12) for _ in range(25))]  # fmt: skip
    assert np.square(errors).mean() / np.mean(law @ labels * (1 - law @ labels) / 300) > 1.5


@pytest.mark.parametrize(
    ("name", "judge", "least", "least_known"),
    [("abtbuy_8systems", False, 2.0, 1.6), ("openie_carb", False, 1.12, 1.12), ("openie_carb", True, 1.8, 1.8)],
)
def test_real_systems_that_arrive_one_by_one(name, judge, least, least_known):
    """At least 1.5 times fewer labels, but where systems hardly overlap and nothing helps to guess."""
    law, labels, scores = real(name)
    rng = np.random.default_rng(14)
    votes = np.where(rng.random(labels.size) < 0.9, labels, 1 - labels) if judge else None
    result = simulate_arrivals(law, labels, scores=scores, judges=votes, worth=500, n_trials=12, rng=rng)
    default = result["default"]
    assert result["paper"]["labels_over_default"] >= least
    assert result["paper_known"]["labels_over_default"] >= least_known
    assert result["paper_same_target"]["labels_over_default"] >= 3
    assert default["error_ratio"] < 1.4  # 12 orders: give or take .2
    assert abs(default["bias_z"]) < LARGEST_Z
    assert default["coverage"] >= LOW - 0.05  # 60 and 96 intervals
    if name == "openie_carb" and not judge:
        assert result["paper_known"]["labels"] / result["fewest_labels"] < 1.5  # not even with every label known


def test_real_pooling_bias():
    expected = {"openie_carb": (0.374, 0.148, 0.215), "abtbuy_8systems": (0.002, 0.001, 0.001)}
    for name, medians in expected.items():
        law, labels, _ = real(name)
        found = leave_out_bias(law > 0, labels).to_dict()
        assert [found[metric]["median"] for metric in ("precision", "recall", "f1")] == pytest.approx(medians, abs=6e-4)
    assert found["precision"]["max"] == pytest.approx(0.072, abs=5e-4)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(5))
def test_the_full_grid_of_generated_systems(seed):
    rng = np.random.default_rng(100 + seed)
    for n_draws in (50, 150, 500):
        law, labels, scores = generated(n_items=3000 + 3000 * (n_draws // 150), seed=seed)
        result = simulate(
            law,
            labels,
            scores=scores,
            n_draws=n_draws,
            n_trials=1000,
            estimators=("simple", "joint", "default"),
            rng=rng,
        )
        for name in ("simple", "joint", "default"):
            check(result, name)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "most"), [("abtbuy_8systems", 0.25), ("openie_carb", 0.9)])
def test_the_full_grid_of_real_systems(name, most):
    law, labels, scores = real(name)
    everyone = ("simple", "joint", "balance", "default", "betting")
    result = simulate(law, labels, scores=scores, n_trials=1000, estimators=everyone, rng=np.random.default_rng(15))
    for estimator in ("simple", "joint", "balance", "default"):
        check(result, estimator)
    assert result["estimators"]["default"]["precision_variance_ratio"] <= most
    for metric in ("precision", "recall", "f1"):
        assert result["estimators"]["betting"][f"{metric}_coverage"] >= 0.9
