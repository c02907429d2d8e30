"""Segments and other rankings from labels drawn for one list: coverage by simulation, and wrong variants that fail.

Seeded; the tolerance is an exact binomial tail, see tolerance.py.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from tolerance import covers

import karat
from karat.designs.certify import sampled_cells
from karat.draws import Labels
from karat.math.certify.simulate import simulate_pass
from karat.math.sampled import Answers, Groups, bound_totals
from karat.slices import slice_precision

LEVEL = 0.8  # low, so that a few hundred runs can tell
N, N_GROUPS, N_RUNS = 3000, 12, 100


@pytest.fixture(scope="module")
def world():
    """Labels by rank whose rate depends on rank and segment; segments crowd at different ranks."""
    rng = np.random.default_rng(8)
    ranks = np.arange(1, N + 1)
    codes = np.minimum((N_GROUPS * (ranks / N) ** 0.5 * rng.random(N) ** 0.3).astype(np.int64), N_GROUPS - 1)
    rates = np.clip(0.95 - 0.6 * ranks / N + 0.25 * np.sin(codes), 0.02, 0.98)
    return (rng.random(N) < rates).astype(np.int8), Groups(codes, N_GROUPS)


def walked(labels, seed: int, **settings):
    """Cells of an adaptive walk and their labels."""
    done = simulate_pass(labels, karat.Certify(from_rank=200, **settings).settings(), seed=seed)
    sampled = sampled_cells(done.cells.part(done.cells.look == 1))
    return sampled, labels[sampled.ranks - 1]


def fixed(labels, method, seed: int):
    design = method.begin(len(labels), seed=seed)
    ranks = design.ask()
    design.tell(Labels.from_pairs(ranks, labels[ranks - 1]))
    sampled = method.sample(design.draw).sampled
    return sampled, labels[sampled.ranks - 1]


SAMPLES = {
    "certify": lambda labels, seed: walked(labels, seed, absolute=0.06),
    "certify, budget": lambda labels, seed: walked(labels, seed, budget=300),
    "uniform": lambda labels, seed: fixed(labels, karat.Uniform(labels=600), seed),
    "stratified": lambda labels, seed: fixed(labels, karat.Stratified(epsilon=0.5, window=20, precision=0.9), seed),
    "point": lambda labels, seed: fixed(labels, karat.Point(labels=500), seed),
}


def n_covered(sample, labels, groups, *, delta: float, n_runs: int = N_RUNS) -> int:
    truth = np.bincount(groups.codes, weights=labels, minlength=groups.n_groups)
    found = 0
    for seed in range(n_runs):
        sampled, answers = sample(labels, seed)
        totals = bound_totals(Answers(sampled, answers, answers, groups), sizes=groups.sizes(), delta=delta)
        found += bool(np.all((totals.low <= truth + 1e-6) & (truth <= totals.high + 1e-6)))
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_all_segments_hold_at_once(world, name):
    labels, groups = world
    assert covers(n_covered(SAMPLES[name], labels, groups, delta=(1 - LEVEL) / N_GROUPS), N_RUNS, level=LEVEL)


def test_forgetting_how_many_segments_there_are_fails_the_same_check():
    rng = np.random.default_rng(2)
    groups = Groups(np.repeat(np.arange(200), 50), 200)
    labels = (rng.random(len(groups.codes)) < 0.5).astype(np.int8)
    found = n_covered(
        lambda known, seed: fixed(known, karat.Point(labels=4000), seed), labels, groups, delta=0.5, n_runs=25
    )
    assert not covers(found, 25, level=0.5)


def test_taking_the_labels_for_a_uniform_sample_fails_the_same_check():
    """Wilson's interval from the labels of a segment as they are: an adaptive draw is denser where it matters."""
    rng = np.random.default_rng(2)
    labels = (rng.random(N) < np.linspace(0.95, 0.05, N)).astype(np.int8)
    groups = Groups(rng.integers(0, 3, N), 3)
    truth = np.bincount(groups.codes, weights=labels) / groups.sizes()
    found = 0
    for seed in range(N_RUNS):
        sampled, answers = walked(labels, seed, absolute=0.06)
        inside = groups.codes[sampled.ranks - 1]
        tests = [binomtest(int(answers[inside == group].sum()), int(np.sum(inside == group))) for group in range(3)]
        bounds = [test.proportion_ci(1 - (1 - LEVEL) / 3, "wilson") for test in tests]
        found += all(low <= rate <= high for (low, high), rate in zip(bounds, truth, strict=True))
    assert not covers(found, N_RUNS, level=LEVEL)
    assert covers(n_covered(SAMPLES["certify"], labels, groups, delta=(1 - LEVEL) / 3), N_RUNS, level=LEVEL)


# --- another ranking of the same items

KNOTS = np.unique(np.geomspace(20, N, 15).astype(np.int64))


@pytest.fixture(scope="module")
def other_ranking(world):
    """The new rank of each old rank: a better model."""
    labels, _ = world
    score = labels + np.random.default_rng(4).normal(scale=1.2, size=N)
    new_ranks = np.empty(N, dtype=np.int64)
    new_ranks[np.argsort(-score)] = np.arange(1, N + 1)
    return new_ranks


def reranked(labels, new_ranks, seed: int, *, more: bool, forget: bool = False, budget: int = 300):
    groups = Groups(np.searchsorted(KNOTS, new_ranks), len(KNOTS), nested=True)
    sampled, answers = walked(labels, seed, budget=budget)
    second = None
    if more:
        by_new = labels[np.argsort(new_ranks)]
        drawn, found = walked(by_new, seed + 10_000, budget=2 * budget // 3)
        ranks = np.arange(1, N + 1)
        if not forget:
            ranks[new_ranks[sampled.ranks - 1] - 1] = 0
        codes = np.where(ranks > 0, np.searchsorted(KNOTS, ranks), -1)
        second = Answers(drawn, found, found, Groups(codes, len(KNOTS), nested=True))
    delta = (1 - LEVEL) / len(KNOTS)
    return bound_totals(Answers(sampled, answers, answers, groups), second, sizes=KNOTS, delta=delta)


def n_covered_by_new_rank(labels, new_ranks, *, n_runs: int = N_RUNS, **how) -> int:
    truth = np.cumsum(labels[np.argsort(new_ranks)])[KNOTS - 1]
    found = 0
    for seed in range(n_runs):
        totals = reranked(labels, new_ranks, seed, **how)
        found += bool(np.all((totals.low <= truth + 1e-6) & (truth <= totals.high + 1e-6)))
    return found


@pytest.mark.parametrize("more", [False, True], ids=["old labels", "old and new labels"])
def test_the_curve_of_another_ranking_holds_at_all_ranks(world, other_ranking, more):
    labels, _ = world
    assert covers(n_covered_by_new_rank(labels, other_ranking, more=more), N_RUNS, level=LEVEL)


def test_counting_known_items_in_both_samples_fails_the_same_check(world, other_ranking):
    labels, _ = world
    how = {"more": True, "budget": 1500}
    assert not covers(n_covered_by_new_rank(labels, other_ranking, forget=True, n_runs=40, **how), 40, level=LEVEL)
    assert covers(n_covered_by_new_rank(labels, other_ranking, n_runs=40, **how), 40, level=LEVEL)


POINT = karat.Point(labels=200)


def carried_runs(labels, rank_anew, n_runs: int, method=POINT) -> int:
    """Count the runs in which the curve of `carry_over` holds; the ranking may look at what was drawn."""
    found = 0
    for seed in range(n_runs):
        facts = pd.DataFrame({"id": np.arange(N), "old": -np.arange(N), "right": labels})
        study = karat.Study(karat.open(facts, score="old", id="id", seed=seed), method)
        asked: list[int] = []
        while len(ids := study.ask(500).ids):
            study.tell({item: int(labels[int(item)]) for item in ids})
            asked += ids
        drawn = np.array(asked, dtype=np.int64)
        facts["new"] = rank_anew(drawn, seed)
        ranking = karat.open(facts, score="new", id="id")
        curve = karat.carry_over(karat.Bought(study.engine, study.draw, study.labels), ranking)
        ranks = curve.ranks[1:]
        truth = np.cumsum(labels[np.array(ranking.ids_at(np.arange(1, N + 1)), dtype=np.int64)])[ranks - 1]
        _, low, high = curve.yields(ranks)
        found += bool(np.all((low <= truth + 1e-6) & (truth <= high + 1e-6)))
        assert [a.statement for a in curve.assumptions] == ["The new ranking does not depend on these labels"]
    return found


def test_a_model_trained_on_the_labels_breaks_the_bounds(world):
    """The drawn items that are right on top: what the bounds assume is needed, and the check would see it."""
    labels, _ = world

    def trained(drawn, seed):
        score = np.random.default_rng(seed).random(N)
        score[drawn] += np.where(labels[drawn] == 1, 1.0, -1.0)
        return score

    def independent(_drawn, seed):
        return np.random.default_rng(seed + 100).random(N) + 0.3 * labels

    assert carried_runs(labels, trained, 12) == 0
    assert covers(carried_runs(labels, independent, 12), 12, level=0.95)
    in_looks = karat.Certify(absolute=0.1, from_rank=200, looks=2)
    assert covers(carried_runs(labels, independent, 12, in_looks), 12, level=0.95)


# --- through the public functions

WAYS = {
    "point": (karat.Point(labels=400), None),
    "three looks": (karat.Certify(absolute=0.1, from_rank=200, looks=3), None),
    "a proxy": (karat.Certify(budget=300, from_rank=200), "hint"),
}


def n_covered_by_name(labels, codes, way: str, *, n_runs: int, level: float) -> int:
    """Count the runs in which all intervals of `slice_precision` hold."""
    method, proxy = WAYS[way]
    hint = np.clip(labels + np.random.default_rng(1).normal(scale=0.5, size=N), 0, 1)
    facts = pd.DataFrame({"id": np.arange(N), "score": -np.arange(N), "segment": codes, "hint": hint})
    truth = {str(code): labels[codes == code].mean() for code in np.unique(codes)}
    found = 0
    for seed in range(n_runs):
        study = karat.Study(karat.open(facts, score="score", id="id", seed=seed), method, proxy=proxy)
        while len(ids := study.ask(500).ids):
            study.tell({item: int(labels[item]) for item in ids})
        slices = slice_precision(study.engine, study.draw, study.labels, by="segment", confidence_level=level)
        rates = np.array([truth[name] for name in slices.names])
        found += bool(np.all((slices.low <= rates + 1e-9) & (rates <= slices.high + 1e-9)))
    return found


@pytest.mark.parametrize("way", WAYS)
def test_the_public_function_covers_many_segments(world, way):
    """At a low level, so that a few runs could tell; forgetting the number of segments fails above."""
    labels, _ = world
    codes = np.random.default_rng(3).integers(0, 40, N)
    assert covers(n_covered_by_name(labels, codes, way, n_runs=12, level=0.5), 12, level=0.5)
