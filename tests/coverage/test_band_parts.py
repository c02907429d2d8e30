"""Parts of the default band that look dispensable: without each, the same coverage check fails."""

import numpy as np
from scipy import stats
from tests.coverage.band_populations import POPULATIONS, Population, least_count

from karat.bands import pr_band, roc_band
from karat.math.bands import methods
from karat.math.bands.areas import auc_interval

SHARP = Population(0.01, stats.expon(loc=1.5, scale=1.1), stats.gamma(2, scale=0.7))
"""No positive has a low score, though a kernel puts some there."""


def test_ten_positives_need_more_than_delongs_deviation():
    """ROC AUC of nearly separated classes, 100 samples of ten positives and 290 negatives, at .95."""
    population, rng, n_runs = POPULATIONS["strong"], np.random.default_rng(4), 100
    truth = population.scalars()["roc_auc"]
    labels = np.arange(300) < 10
    ours = delong_alone = 0
    for run in range(n_runs):
        of_positives, of_negatives = (
            law.rvs(300, random_state=rng) for law in (population.positives, population.negatives)
        )
        scores = np.where(labels, of_positives, of_negatives)
        interval = roc_band(labels, scores, n_replicates=500, seed=run).scalars["roc_auc"]
        ours += interval.low <= truth <= interval.high
        _, low, high = auc_interval(labels, scores, replicates=None, confidence_level=0.95)
        delong_alone += low <= truth <= high
    assert ours >= least_count(n_runs, 0.93)
    assert delong_alone < least_count(n_runs, 0.93)


def seen_everything(levels, n_anchor):  # noqa: ARG001
    return np.zeros(len(levels), bool), np.zeros(len(levels), bool)


def test_what_was_hardly_seen_must_come_from_the_exact_band(monkeypatch):
    """100 samples of 1,400 with 1% positives, each with ten or more; the envelope alone misses."""
    rng, n_runs = np.random.default_rng(0), 100
    held, widths = {"default": 0, "envelope alone": 0}, {"default": 0.0, "envelope alone": 0.0}
    for run in range(n_runs):
        labels, scores = SHARP.draw(1400, rng)
        while labels.sum() < 10:
            labels, scores = SHARP.draw(1400, rng)
        for name in held:
            with monkeypatch.context() as patch:
                if name == "envelope alone":
                    patch.setattr(methods, "unseen", seen_everything)
                band = pr_band(labels, scores, n_replicates=500, seed=run)
            true = SHARP.curve("pr", band.levels)
            held[name] += bool(np.all((band.low <= true + 1e-9) & (true <= band.high + 1e-9)))
            widths[name] += float(np.mean(band.high - band.low)) / n_runs
    assert held["default"] >= least_count(n_runs, 0.93)
    assert held["envelope alone"] < least_count(n_runs, 0.93)
    assert widths["default"] < 1.5 * widths["envelope alone"]
