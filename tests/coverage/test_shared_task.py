"""A simulated shared task: 20 systems, 200 documents, people who are right 85% of the time, three votes an item.

The wrong variant takes the majority's labels for right; its intervals miss the truth far too often.
"""

from __future__ import annotations

import numpy as np
import pytest

from karat.demo.relations import make_corpus, make_systems
from karat.documents.relations import instance_id
from karat.math.agreement.vote_errors import majority_errors
from karat.math.pooled.estimate import METRICS
from karat.math.pooled.inclusion import LARGEST_SPREAD, raise_inclusion, shared_size, smallest_scales
from karat.math.pooled.intervals import estimate_interval, noisy_interval, normal_quantile
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.recall import POOL_IS_EVERYTHING
from karat.math.pooled.sample import sample_from_matrix
from karat.pool.rating import estimates_of
from karat.pool.scoring import Gathered
from karat.pool.truths import Truths

ACCURACY, VOTES, HALF_WIDTH, LEVEL = 0.85, 3, 0.08, 0.9


@pytest.fixture(scope="module")
def task():
    """Return the law of each system over all instances that any predicts, and their truth."""
    corpus = make_corpus(200, seed=1)
    systems = make_systems(corpus, 20, seed=1)
    place = {instance_id(row): k for k, row in enumerate(corpus.candidates)}
    law = np.zeros((20, len(place)))
    for row, lines in enumerate(systems.values()):
        law[row, [place[instance_id(line)] for line in lines]] = 1 / len(lines)
    inside = law.any(axis=0)
    return law[:, inside], np.array(list(corpus.truth.values()))[inside]


def true_metrics(law, truth):
    precision = (law * truth).sum(axis=1)
    recall = ((law > 0) * truth).sum(axis=1) / truth.sum()
    return {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}


def run(law, truth, rng, *, corrected=True):
    """Draw, let three people vote, estimate; return the intervals and how many labels were bought."""
    n_systems, n_items = law.shape
    spread = np.full((n_systems, n_items), LARGEST_SPREAD)
    target = (HALF_WIDTH / normal_quantile(LEVEL)) ** 2
    scales = smallest_scales(law, target_variance=target, spread=spread)
    inclusion = raise_inclusion(shared_size(law, spread=spread * scales[:, None]), scale=1.0)
    drawn = rng.random(n_items) < inclusion
    positive = rng.binomial(VOTES, np.where(truth, ACCURACY, 1 - ACCURACY))
    labels = (2 * positive > VOTES).astype(np.int64)
    sample = sample_from_matrix(law, labels, inclusion=inclusion, drawn=drawn, fold=rng.integers(0, N_FOLDS, n_items))
    held = law[:, drawn]
    truths = Truths(labels=labels[drawn], unit=np.arange(drawn.sum()), mass=held, unit_mass=held, by_unit=True)
    errors = majority_errors(positive[drawn], n_votes=VOTES) if corrected else None
    gathered = Gathered(sample=sample, systems=[None] * n_systems, novel=held > 0, share_done=1.0, truths=truths,
                        errors=errors)  # fmt: skip
    found = estimates_of(gathered, gathered.settled(errors), POOL_IS_EVERYTHING)
    interval = noisy_interval if corrected else estimate_interval
    return {m: interval(found[m], confidence_level=LEVEL) for m in METRICS}, int(drawn.sum())


@pytest.mark.parametrize("corrected", [True, False])
def test_intervals_cover_at_their_level_though_a_crowd_errs(task, corrected):
    """60 repetitions of 20 systems: 90% intervals hold the truth in 85% to 97% of the cases, for every metric.

    The 20 systems share labels, so repetitions, not intervals, are independent; they scatter by .2 at most, so .05 is
    two standard errors. The majority taken for right falls below by as much again.
    """
    law, truth = task
    rng = np.random.default_rng(5)
    known = true_metrics(law, truth)
    covered = {m: [] for m in METRICS}
    for _ in range(60):
        ends, _ = run(law, truth, rng, corrected=corrected)
        for m in METRICS:
            covered[m].append(np.mean((ends[m][0] <= known[m]) & (known[m] <= ends[m][1])))
    shares = {m: float(np.mean(each)) for m, each in covered.items()}
    print({m: (round(shares[m], 3), round(float(np.std(covered[m])), 3)) for m in METRICS})
    if corrected:
        assert all(0.85 <= share <= 0.97 for share in shares.values()), shares
    else:
        assert all(share < 0.8 for share in shares.values()), shares
        assert shares["precision"] < 0.72, shares
        assert shares["f1"] < 0.7, shares


def test_one_pool_costs_a_fraction_of_separate_evaluations(task):
    """Labels for all 20 systems together against 20 evaluations, each as well known as here."""
    law, truth = task
    _, together = run(law, truth, np.random.default_rng(1))
    separate = sum(run(law[[k]][:, law[k] > 0], truth[law[k] > 0], np.random.default_rng(k), corrected=False)[1]
                   for k in range(20))  # fmt: skip
    print({"together": together, "separate": separate, "votes": VOTES * together})
    assert together < 0.4 * separate


def test_the_rates_of_the_majority_are_learnt_from_votes_alone():
    """200 crowds: both rates unbiased within .01, and their stated variance within a third of what is seen."""
    rng = np.random.default_rng(9)
    found = []
    for _ in range(200):
        truth = rng.random(600) < 0.6
        positive = rng.binomial(3, np.where(truth, 0.85, 1 - 0.8))
        found.append(majority_errors(positive, n_votes=3))
    true = [0.85**3 + 3 * 0.85**2 * 0.15, 0.8**3 + 3 * 0.8**2 * 0.2]
    seen = np.array([[each.sensitivity, each.specificity] for each in found])
    assert seen.mean(axis=0) == pytest.approx(true, abs=0.01)
    stated = np.mean([np.diag(each.covariance) for each in found], axis=0)
    assert stated == pytest.approx(seen.var(axis=0), rel=0.34)
