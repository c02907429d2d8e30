"""The simulated shared task through the pool that the service keeps: relations, two steps of drawing, three crowds.

20 systems, 200 documents, three votes an instance. Every run draws anew and lets people vote anew. The wrong variant
scores the same labels as if the majority were always right.
"""

from __future__ import annotations

import shutil
from functools import partial

import numpy as np
import pytest
from shared_task import checked_files, covers, label_pool, true_metrics

from karat.demo.relations import make_corpus, make_systems
from karat.math.pooled.estimate import METRICS

HALF_WIDTH = 0.1
CROWDS = {
    "right 85% of the time": ((0.85, 0.85, 0.85), (*range(60), *range(1000, 1060), *range(2000, 2180))),
    "right 75% of the time": ((0.75, 0.75, 0.75), range(60)),
    "unequal": ((0.95, 0.8, 0.65), range(60)),
}
"""How often each of the three is right, and the seeds of the runs."""


def share_covered(board, known):
    return {m: np.mean([covers(row[m], known[row["system"]][m]) for row in board["rows"]]) for m in METRICS}


def vote(asked, *, truth, crowd, rng):
    """Return how many of the crowd call each instance right."""
    if len(set(crowd)) == 1:
        return {name: int(rng.binomial(len(crowd), crowd[0] if truth[name] else 1 - crowd[0])) for name in asked}
    right = rng.random((len(asked), len(crowd))) < crowd
    return {name: int((each == bool(truth[name])).sum()) for name, each in zip(asked, right, strict=True)}


def run(folder, files, truth, *, crowd, seed):
    """Draw, let people vote, until nothing is asked any more; return the boards, corrected and not, and the labels."""
    votes_of = partial(vote, truth=truth, crowd=crowd, rng=np.random.default_rng(seed))
    pool, n_labels = label_pool(folder, files, votes_of, n_votes=len(crowd), seed=seed, half_width=HALF_WIDTH)
    corrected = pool.scores().to_dict()
    pool.tell_errors(None)
    return corrected, pool.scores().to_dict(), n_labels


def cover_in_runs(place, corpus, systems, *, crowd, seeds):
    """Return for each variant and metric the share of the systems' intervals that hold the truth, run by run."""
    files = checked_files(corpus, systems, place)
    known = true_metrics(corpus, systems)
    shares, labels = {variant: {m: [] for m in METRICS} for variant in ("corrected", "taken for right")}, []
    for seed in seeds:
        *boards, n_labels = run(place / f"pool-{seed}", files, corpus.truth, crowd=crowd, seed=seed)
        shutil.rmtree(place / f"pool-{seed}")
        labels.append(n_labels)
        for variant, board in zip(shares, boards, strict=True):
            for m, share in share_covered(board, known).items():
                shares[variant][m].append(share)
    print({v: {m: f"{np.mean(s):.3f} (sd {np.std(s):.3f})" for m, s in by.items()} for v, by in shares.items()})
    print({"systems": len(systems), "crowd": crowd, "labels": float(np.mean(labels))})
    return shares


@pytest.fixture(scope="module", params=CROWDS)
def covered(request, tmp_path_factory):
    crowd, seeds = CROWDS[request.param]
    corpus = make_corpus(200, seed=1)
    shares = cover_in_runs(
        tmp_path_factory.mktemp("shared"), corpus, make_systems(corpus, 20, seed=1), crowd=crowd, seeds=seeds
    )
    return shares | {"equally good": len(set(crowd)) == 1}


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_intervals_of_the_service_cover_at_their_level(covered):
    """90% intervals hold the truth in 90% of the cases, less three standard errors between runs.

    These are .01 at most for 300 runs and .035 for 60. With people of unequal quality the correction supposes too much
    and falls short (the how-to says by how much).
    """
    for m, shares in covered["corrected"].items():
        error = np.std(shares) / np.sqrt(len(shares))
        assert np.mean(shares) >= 0.9 - 3 * error, m
        assert error < (0.01 if len(shares) >= 300 else 0.035)
    if covered["equally good"]:
        assert np.mean(covered["corrected"]["f1"]) >= 0.88


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_intervals_of_three_systems_cover_at_their_level(tmp_path):
    """The task of the how-to: 120 documents, three systems, some 105 labels; 120 runs, standard errors of .02."""
    corpus = make_corpus(120, seed=3)
    shares = cover_in_runs(tmp_path, corpus, make_systems(corpus, 3, seed=3), crowd=(0.85,) * 3, seeds=range(120))
    for m, each in shares["corrected"].items():
        assert np.mean(each) >= 0.87, m


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_without_the_correction_they_do_not(covered):
    shares = covered["taken for right"]["f1"]
    assert np.mean(shares) < 0.9 - 3 * np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) < 0.86


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_one_pool_takes_an_eighth_of_what_the_systems_take_one_by_one(tmp_path):
    """Each system in a pool of its own, with the same target and crowd, four times."""
    corpus = make_corpus(200, seed=1)
    files = checked_files(corpus, make_systems(corpus, 20, seed=1), tmp_path)
    labels = {"together": [], "one by one": []}
    for seed in range(4):
        for way, groups in (("together", [files]), ("one by one", [{name: file} for name, file in files.items()])):
            votes_of = partial(vote, truth=corpus.truth, crowd=(0.85,) * 3, rng=np.random.default_rng(seed))
            labels[way].append(0)
            for group in groups:
                folder = tmp_path / "pool"
                labels[way][-1] += label_pool(folder, group, votes_of, n_votes=3, seed=seed, half_width=HALF_WIDTH)[1]
                shutil.rmtree(folder)
    print(labels)
    assert 7 < np.mean(labels["one by one"]) / np.mean(labels["together"]) < 11
