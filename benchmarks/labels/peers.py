"""What peers answer when asked for the precision at a few ranks. Runs in an environment of its own, see the Makefile.

    python peers.py ranking.npz answers.json

`oasis` is Marchant and Rubinstein's package (OASIS, and the active estimation of Sawade, Landwehr and Scheffer);
`ppi_py` is prediction-powered inference. Both are used as published, with their defaults where not said
otherwise. The scores they get are the chances of being right where the ranking was made from such.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings

import numpy as np
import scipy

scipy.percentile, scipy.ptp = np.percentile, np.ptp  # oasis of 2021 still looks for them there

import oasis  # noqa: E402
import ppi_py  # noqa: E402


def ask_sampler(kind, given, *, budget, seed):
    """Return the estimated precision of the first r items for each r, all from one sample."""
    np.random.seed(seed)  # noqa: NPY002 (the package draws from the global state)
    ranks, labels = given["ranks"], given["labels"]
    inside = (np.arange(1, len(labels) + 1)[:, None] <= ranks[None, :]).astype(int)
    scores = np.repeat(given["scores"][:, None], len(ranks), axis=1)
    options = {"stratification_n_strata": 30} if kind is oasis.OASISSampler else {}  # as in its paper
    with contextlib.redirect_stdout(io.StringIO()):
        sampler = kind(
            1.0, inside, scores, lambda item: labels[item], proba=[True] * len(ranks), max_iter=100 * budget, **options
        )
        sampler.sample_distinct(budget)
    return np.nan_to_num(sampler.estimate_[-1], nan=0.5).tolist()


def ask_ppi(given, *, budget, seed):
    """Return low and high at each rank; the budget is split evenly, each part drawn among the first r items."""
    rng = np.random.default_rng(seed)
    share, bounds = budget // len(given["ranks"]), []
    for rank in given["ranks"]:
        drawn = rng.choice(rank, size=min(share, rank), replace=False)
        labels, votes = given["labels"][:rank].astype(float), given["votes"][:rank].astype(float)
        rest = np.delete(votes, drawn) if len(drawn) < rank else votes
        low, high = ppi_py.ppi_mean_ci(labels[drawn], votes[drawn], rest, alpha=0.05)
        bounds.append([float(low[0]), float(high[0])])
    return bounds


def main():
    warnings.simplefilter("ignore")
    given = np.load(sys.argv[1])
    budgets, seeds = given["budgets"].tolist(), range(int(given["replications"]))
    answers = {
        "OASIS": [[ask_sampler(oasis.OASISSampler, given, budget=b, seed=s) for s in seeds] for b in budgets],
        "active estimation": [
            [ask_sampler(oasis.ImportanceSampler, given, budget=b, seed=s) for s in seeds] for b in budgets
        ],
        "ppi_py": [[ask_ppi(given, budget=b, seed=s) for s in seeds] for b in budgets],
    }
    with open(sys.argv[2], "w", encoding="utf-8") as stream:  # noqa: PTH123
        json.dump(answers, stream)


main()
