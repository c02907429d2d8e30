"""Populations whose curves are known, and how often bands and intervals hold on samples from them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import binom

from karat.bands import compare_curves, pr_band, roc_band
from karat.math.bands.ordering import midpoint_levels

FINE = midpoint_levels(100_000)


@dataclass(frozen=True)
class Population:
    """Base rate and class laws; scores are rounded to ``step`` if that is given."""

    rate: float
    positives: Any
    negatives: Any
    step: float | None = None

    def draw(self, n_items, rng):
        labels = rng.random(n_items) < self.rate
        scores = np.where(
            labels, self.positives.rvs(n_items, random_state=rng), self.negatives.rvs(n_items, random_state=rng)
        )
        return labels, scores if self.step is None else np.round(scores / self.step) * self.step

    def tail(self, levels, *, anchor_is_positive=True):
        anchor, counted = self.positives, self.negatives
        if not anchor_is_positive:
            anchor, counted = counted, anchor
        if self.step is None:
            return counted.sf(anchor.isf(levels))
        # Ties in random order: within a tie both tails grow evenly.
        edges = (np.arange(400, -400, -1) + 0.5) * self.step
        return np.interp(levels, anchor.sf(edges), counted.sf(edges))

    def curve(self, name, levels):
        if name == "roc":
            return self.tail(levels, anchor_is_positive=False)
        return self.rate * levels / (self.rate * levels + (1 - self.rate) * self.tail(levels))

    def scalars(self):
        precision = self.curve("pr", FINE)
        return {
            "average_precision": float(precision.mean()),
            "roc_auc": float(1 - self.tail(FINE).mean()),
            "best_f1": float(np.max(2 * precision * FINE / (precision + FINE))),
        }


POPULATIONS = {
    "binormal": Population(0.3, stats.norm(1.5), stats.norm()),
    "skewed": Population(0.2, stats.gamma(3), stats.expon()),
    "tied": Population(0.3, stats.norm(1.5), stats.norm(), step=0.5),
    "rare": Population(0.01, stats.norm(2.5), stats.norm()),
    "heavy": Population(0.2, stats.t(2, loc=2), stats.t(2)),
    "strong": Population(0.3, stats.norm(3), stats.norm()),
    "weak": Population(0.3, stats.norm(0.5), stats.norm()),
    "mostly positive": Population(0.9, stats.norm(1.5), stats.norm()),
}


def measure(name, n_items, n_runs, *, curve="pr", method="default", seed=0):
    """Counts of runs in which the band, and each scalar's interval, held the truth; the band's mean width."""
    population, rng = POPULATIONS[name], np.random.default_rng(seed)
    make = pr_band if curve == "pr" else roc_band
    truths, held, widths = population.scalars(), {}, []
    for run in range(n_runs):
        labels, scores = population.draw(n_items, rng)
        while labels.sum() in (0, n_items):
            labels, scores = population.draw(n_items, rng)
        band = make(labels, scores, method=method, seed=run)
        true = population.curve(curve, band.levels)
        inside = bool(np.all((band.low <= true + 1e-9) & (true <= band.high + 1e-9)))
        held["band"] = held.get("band", 0) + inside
        for key, interval in band.scalars.items():
            held[key] = held.get(key, 0) + (interval.low <= truths[key] <= interval.high)
        widths.append(float(np.mean(band.high - band.low)))
    return held, float(np.mean(widths))


def measure_pointwise(name, n_items, n_runs, *, method, curve="pr", recalls=(0.2, 0.5, 0.8), seed=3):
    """Counts of runs in which the interval at each level held the truth."""
    population, rng = POPULATIONS[name], np.random.default_rng(seed)
    make = pr_band if curve == "pr" else roc_band
    held = dict.fromkeys(recalls, 0)
    for run in range(n_runs):
        labels, scores = population.draw(n_items, rng)
        band = make(labels, scores, method=method, n_replicates=1000, seed=run)
        true = population.curve(curve, band.levels)
        for recall in recalls:
            at = int(np.argmin(np.abs(band.levels - recall)))
            held[recall] += bool(band.low[at] <= true[at] <= band.high[at])
    return held


def measure_comparison(n_items, n_runs, *, shifts=(1.5, 2.0), rate=0.3, shared=0.5, curve="pr", n_replicates=400):
    """The same for the difference of two correlated binormal systems."""
    rng = np.random.default_rng(1)
    known = [Population(rate, stats.norm(shift), stats.norm()) for shift in shifts]
    truths = [one.scalars() for one in known]
    held = {"band": 0, "average_precision": 0, "roc_auc": 0}
    for run in range(n_runs):
        labels = rng.random(n_items) < rate
        common = np.sqrt(shared) * rng.normal(size=n_items)
        first, second = (shift * labels + common + np.sqrt(1 - shared) * rng.normal(size=n_items) for shift in shifts)
        result = compare_curves(labels, first, second, curve=curve, n_replicates=n_replicates, seed=run)
        true = known[1].curve(curve, result.levels) - known[0].curve(curve, result.levels)
        held["band"] += bool(np.all((result.low <= true + 1e-9) & (true <= result.high + 1e-9)))
        for key, interval in result.scalars.items():
            if key in held:
                held[key] += interval.low <= truths[1][key] - truths[0][key] <= interval.high
    return held


def measure_weighted(n_runs, *, use_weights, n_items=1500):
    """Bands from a draw that prefers high scores, with and without its inclusion probabilities."""
    population, rng, held = POPULATIONS["binormal"], np.random.default_rng(2), 0
    for run in range(n_runs):
        labels, scores = population.draw(n_items, rng)
        strata = (scores > 1).astype(int)
        shares = np.where(strata == 1, 0.6, 0.15)
        drawn = rng.random(n_items) < shares
        options = {"inclusion_probabilities": shares[drawn]} if use_weights else {}
        band = pr_band(labels[drawn], scores[drawn], n_replicates=400, seed=run, **options)
        true = population.curve("pr", band.levels)
        held += bool(np.all((band.low <= true + 1e-9) & (true <= band.high + 1e-9)))
    return held


def least_count(n_runs, coverage):
    """Fewest successes that a true coverage as given allows, but for one case in two hundred."""
    return int(binom.ppf(0.005, n_runs, coverage))
