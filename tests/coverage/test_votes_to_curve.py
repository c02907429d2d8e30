"""From three votes an item to a curve: with the rates learnt from gold its bounds hold, without them they do not."""

from __future__ import annotations

import numpy as np

import karat
from karat.math.agreement.consensus import majority
from karat.math.agreement.rates import label_rates
from karat.math.agreement.votes import Votes

N_RUNS, N_ITEMS, RIGHT = 12, 1000, 0.85


def label_by_three(rng, truth):
    item, annotator = np.divmod(np.arange(3 * len(truth)), 3)
    answer = np.where(rng.random(len(item)) < RIGHT, truth[item], 1 - truth[item])
    return majority(Votes.from_arrays(item=item, annotator=annotator, answer=answer)).label


def misses_truth(method, labels, truth, seed):
    design = method.begin(N_ITEMS, seed=seed)
    while len(ranks := design.ask()):
        design.tell(karat.Labels.from_pairs(ranks, labels[ranks - 1]))
    curve = design.curve()
    found = np.r_[0, np.cumsum(truth)][curve.ranks]
    return not np.all((curve.yield_low <= found + 1e-9) & (found <= curve.yield_high + 1e-9))


def test_the_curve_of_majorities_holds_with_their_rates_only():
    misses = {"with rates": 0, "without": 0}
    for run in range(N_RUNS):
        rng = np.random.default_rng(run)
        truth = (rng.random(N_ITEMS) < np.linspace(0.95, 0.5, N_ITEMS)).astype(int)
        gold = np.repeat([1, 0], 300)
        rates = label_rates(label_by_three(rng, gold), gold)
        labels = label_by_three(rng, truth)
        aim = {"budget": 600, "from_rank": 100, "confidence_level": 0.8}
        allowing = karat.Certify(sensitivity=rates.sensitivity, specificity=rates.specificity, **aim)
        misses["with rates"] += misses_truth(allowing, labels, truth, run)
        misses["without"] += misses_truth(karat.Certify(**aim), labels, truth, run)
    allowed = 0.205  # the curve's 0.2 and the rates' 0.005
    most = N_RUNS * allowed + 4 * np.sqrt(N_RUNS * allowed * (1 - allowed))
    assert misses["with rates"] <= most
    assert misses["without"] > most, "ignoring wrong labels must fail"
