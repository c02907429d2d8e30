"""The precision at three ranks from equally many labels: certify, peers, and what a practitioner computes.

certify does not know which ranks will be asked about; the practitioner and ppi_py do, and split their labels evenly.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binomtest
from sklearn.metrics import precision_score

import karat
from karat.engines.memory import order_items

BUDGETS = (300, 1000)
PEER_PYTHON = Path(__file__).parents[2] / ".tools" / "peers" / "bin" / "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Estimates (replication x rank) of one method, with bounds where it gives any."""

    estimate: np.ndarray
    bounds: np.ndarray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    ranking: str
    method: str
    budget: int
    error: float
    """Root mean squared error of the precision, over ranks and replications."""
    width: float | None
    """Mean width of the intervals."""
    coverage: float | None
    """Share of replications in which the intervals at all three ranks hold."""


def question_ranks(n_items):
    """Return rank 1,000, the end of the list, and the rank half way between them on a logarithmic scale."""
    return np.array([1000, round((1000 * n_items) ** 0.5), n_items])


def _ask_certify(labels, votes, ranks, *, budget, seeds):
    method, estimates, bounds = karat.Certify(budget=budget), [], []
    for seed in seeds:
        curve, _ = method.replay(labels, seed=seed, proxy=votes)
        estimate, low, high = curve.precision(ranks)
        estimates.append(estimate)
        bounds.append(np.stack([low, high], axis=1))
    return Answer(estimate=np.array(estimates), bounds=np.array(bounds))


def _ask_practitioner(labels, ranks, *, budget, seeds):
    """Draw uniformly among the first r items for each r; scikit-learn's precision, Wilson's interval."""
    estimates, bounds = [], []
    for seed in seeds:
        rng = np.random.default_rng([seed, 9])
        found = [labels[rng.choice(rank, size=min(budget // len(ranks), rank), replace=False)] for rank in ranks]
        estimates.append([precision_score(sample, np.ones(len(sample)), zero_division=0.0) for sample in found])
        tests = [binomtest(int(sample.sum()), len(sample)) for sample in found]
        bounds.append([tuple(test.proportion_ci(0.95, method="wilson")) for test in tests])
    return Answer(estimate=np.array(estimates), bounds=np.array(bounds))


def _ask_peers(scores, labels, votes, ranks, *, replications):
    """Return the peers' answers by name, one a budget; none where they are not installed."""
    if not PEER_PYTHON.exists():
        print(f"  peers are not installed in {PEER_PYTHON.parents[1]}: `make bench-labels` installs them")
        return {}
    spread = np.ptp(scores) or 1.0
    with tempfile.TemporaryDirectory() as folder:
        given, answers = Path(folder) / "given.npz", Path(folder) / "answers.json"
        np.savez(
            given,
            scores=(scores - scores.min()) / spread,
            labels=labels,
            votes=votes,
            ranks=ranks,
            budgets=BUDGETS,
            replications=replications,
        )
        script = Path(__file__).with_name("peers.py")
        subprocess.run([str(PEER_PYTHON), str(script), str(given), str(answers)], check=True)
        found = json.loads(answers.read_text(encoding="utf-8"))
    told = {name: [Answer(estimate=np.array(one)) for one in found[name]] for name in ("OASIS", "active estimation")}
    bounds = [np.array(one) for one in found["ppi_py"]]
    told["ppi_py, judge right 90%"] = [Answer(estimate=one.mean(axis=2), bounds=one) for one in bounds]
    return told


def measure(ranking, *, replications):
    """Return one row a method and budget."""
    order = order_items(ranking.scores, np.arange(ranking.n_items), seed=0)
    labels, votes, ranks = ranking.labels[order], ranking.votes()[order], question_ranks(ranking.n_items)
    truth = np.cumsum(labels)[ranks - 1] / ranks
    seeds = range(replications)
    answers = {
        "certify": [_ask_certify(labels, None, ranks, budget=b, seeds=seeds) for b in BUDGETS],
        "certify, judge right 90%": [_ask_certify(labels, votes, ranks, budget=b, seeds=seeds) for b in BUDGETS],
        "uniform + Wilson": [_ask_practitioner(labels, ranks, budget=b, seeds=seeds) for b in BUDGETS],
        **_ask_peers(ranking.scores[order], labels, votes, ranks, replications=replications),
    }
    return [
        _judge(ranking.name, method, budget, answer, truth)
        for method, by_budget in answers.items()
        for budget, answer in zip(BUDGETS, by_budget, strict=True)
    ]


def _judge(ranking, method, budget, answer, truth):
    width = coverage = None
    if answer.bounds is not None:
        low, high = answer.bounds[..., 0], answer.bounds[..., 1]
        width = float(np.mean(np.minimum(high, 1) - np.maximum(low, 0)))
        coverage = float(np.mean(np.all((low <= truth + 1e-9) & (truth <= high + 1e-9), axis=1)))
    return Measured(
        ranking=ranking,
        method=method,
        budget=budget,
        error=float(np.sqrt(np.mean((answer.estimate - truth) ** 2))),
        width=width,
        coverage=coverage,
    )
