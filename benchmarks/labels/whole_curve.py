"""Whole curves: labels bought, width certified, coverage, error; every method on one ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

import karat
from karat.engines.memory import order_items

FROM_RANK = 1000
METHODS = {
    "uniform": karat.Uniform(),
    "log-stratified": karat.Stratified(),
    "PAULA": karat.Paula(),
    "certify": karat.Certify(),
    "certify, relative": karat.Certify(target="relative"),
    "certify, absolute": karat.Certify(target="absolute"),
    "certify, judge right 90%": karat.Certify(),
    "certify, budget 300": karat.Certify(budget=300),
    "certify, budget 1,000": karat.Certify(budget=1000),
    "certify, budget 3,000": karat.Certify(budget=3000),
}
BASELINES = ("uniform", "log-stratified", "PAULA")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the replications of one method on one ranking showed."""

    ranking: str
    method: str
    labels: float
    width: float
    """Largest half-width over max(.02 r, .08 Y) from rank 1,000 on: 1 is the default target; median."""
    coverage: float
    """Share of replications whose bounds hold the truth at every rank."""
    error: float
    """Worst error of the estimated precision from rank 1,000 on; median."""
    replications: int


def measure(ranking, method, *, replications, seed=0):
    """Replay one method; ties are broken anew in each replication."""
    first = min(FROM_RANK, ranking.n_items)
    ranks = np.arange(1, ranking.n_items + 1)
    votes = ranking.votes() if "judge" in method else None
    labels, widths, errors, covered = [], [], [], 0
    for replication in range(replications):
        own_seed = int(np.random.SeedSequence([seed, replication]).generate_state(1)[0])
        order = order_items(ranking.scores, ranks, seed=own_seed)
        ranked = ranking.labels[order]
        proxy = None if votes is None else votes[order]
        curve, n_labels = METHODS[method].replay(ranked, seed=own_seed, proxy=proxy)
        truth = np.cumsum(ranked, dtype=np.int64)
        estimate, low, high = curve.yields(ranks)
        tail = slice(first - 1, None)
        wanted = np.maximum(0.02 * ranks[tail], 0.08 * truth[tail])
        labels.append(n_labels)
        widths.append(float(np.max((high - low)[tail] / 2 / wanted)))
        errors.append(float(np.max(np.abs(estimate - truth)[tail] / ranks[tail])))
        covered += bool(np.all((low <= truth + 1e-6) & (truth <= high + 1e-6)))
    return Measured(
        ranking=ranking.name,
        method=method,
        labels=float(np.mean(labels)),
        width=float(np.median(widths)),
        coverage=covered / replications,
        error=float(np.median(errors)),
        replications=replications,
    )


def believable(row, *, level):
    """Say whether so few covered replications can be chance if the level holds."""
    covered = round(row.coverage * row.replications)
    return binom.cdf(covered, row.replications, level) >= 1e-3


def ratios(measured, what="labels"):
    """Return, by baseline, the geometric mean over rankings of its labels (or width) over certify's."""
    found = {(row.ranking, row.method): getattr(row, what) for row in measured}
    names = {row.ranking for row in measured}
    return {
        baseline: float(np.exp(np.mean([np.log(found[name, baseline] / found[name, "certify"]) for name in names])))
        for baseline in BASELINES
    }
