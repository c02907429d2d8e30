"""What the page says about Dawid-Skene on simulated crowds: the prior pays where annotators give few votes."""

from __future__ import annotations

import numpy as np
import pytest

from karat.math.agreement.consensus import majority
from karat.math.agreement.dawid_skene import fit_dawid_skene
from karat.math.agreement.votes import Votes


def measure(n_items: int, n_annotators: int, n_votes: int, base_rate: float) -> dict[str, tuple[float, float]]:
    """Share of right labels and mean log loss of each rule, over 15 crowds that are right four times in five."""
    figures: dict[str, list[tuple[float, float]]] = {"majority": [], "plain": [], "prior": []}
    for run in range(15):
        rng = np.random.default_rng(run)
        truth = rng.random(n_items) < base_rate
        sensitivity, specificity = rng.beta(8, 2, (2, n_annotators))
        item = np.repeat(np.arange(n_items), n_votes)
        annotator = np.concatenate([rng.choice(n_annotators, n_votes, replace=False) for _ in range(n_items)])
        positive = np.where(truth[item], sensitivity[annotator], 1 - specificity[annotator])
        votes = Votes.from_arrays(item=item, annotator=annotator, answer=(rng.random(len(item)) < positive).astype(int))
        rules = {
            "majority": majority(votes),
            "plain": fit_dawid_skene(votes, prior_votes=0.0).consensus,
            "prior": fit_dawid_skene(votes).consensus,
        }
        for name, consensus in rules.items():
            chance = np.clip(np.where(truth, consensus.probability, 1 - consensus.probability), 1e-6, 1)
            figures[name].append((float(np.mean(consensus.label == truth)), float(-np.mean(np.log(chance)))))
    return {name: tuple(np.mean(pairs, axis=0)) for name, pairs in figures.items()}


@pytest.mark.parametrize(
    "crowd", [(300, 60, 3, 0.8), (200, 100, 3, 0.5), (1000, 20, 5, 0.3)], ids=lambda crowd: "-".join(map(str, crowd))
)
def test_with_the_prior_it_keeps_up_with_the_majority_and_is_better_calibrated(crowd):
    found = measure(*crowd)
    assert found["prior"][0] >= found["majority"][0] - 0.01
    assert found["prior"][1] < found["majority"][1]
    assert found["prior"][1] < found["plain"][1]


def test_plain_maximum_likelihood_does_not_keep_up():
    found = measure(200, 100, 3, 0.5)
    assert found["plain"][0] < found["majority"][0] - 0.03
    assert found["plain"][1] > 2 * found["majority"][1]
