"""Write tests/reference/votes.json: simulated votes with the figures of crowd-kit and statsmodels.

Run in an environment of its own, for crowd-kit brings much that is not needed here:

    python -m venv oracle
    oracle/bin/pip install numpy pandas scipy statsmodels attrs tqdm nltk scikit-learn pyarrow
    oracle/bin/pip install --no-deps crowd-kit
    oracle/bin/python tools/make_votes_reference.py

The figures in votes.json are those of crowd-kit 1.4.2 and statsmodels 0.15.0.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from crowdkit.aggregation.classification.dawid_skene import DawidSkene
from crowdkit.aggregation.classification.majority_vote import MajorityVote
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table
from statsmodels.stats.proportion import proportion_confint


def simulate(*, n_items: int, n_annotators: int, n_votes: int, unsure: float, seed: int) -> tuple[pd.DataFrame, list]:
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_items) < 0.4).astype(int)
    right = rng.uniform(0.65, 0.95, size=(n_annotators, 2))
    rows = []
    for item in range(n_items):
        for annotator in sorted(rng.choice(n_annotators, n_votes, replace=False)):
            answer = truth[item] if rng.random() < right[annotator, truth[item]] else 1 - truth[item]
            rows.append((item, int(annotator), -1 if rng.random() < unsure else int(answer)))
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), truth.tolist()


def dawid_skene(votes: pd.DataFrame, gold: pd.Series | None = None) -> dict:
    """Run crowd-kit's; it may stop early (its loss counts the base rate once a vote), so say after how many steps."""
    model = DawidSkene(n_iter=2000, tol=1e-14).fit(votes, gold)
    return {"probability": model.probas_.sort_index()[1].tolist(), "n_steps": len(model.loss_history_)}


def main() -> None:
    cases = {}
    for name, shape in {
        "complete": {"n_items": 60, "n_annotators": 5, "n_votes": 5, "unsure": 0.0, "seed": 1},
        "sparse": {"n_items": 150, "n_annotators": 10, "n_votes": 3, "unsure": 0.0, "seed": 2},
        "even": {"n_items": 120, "n_annotators": 6, "n_votes": 4, "unsure": 0.0, "seed": 3},
    }.items():
        votes, truth = simulate(**shape)
        gold = pd.Series(truth[:20], index=range(20))
        cases[name] = {
            "votes": votes.to_numpy().T.tolist(),
            "gold": gold.tolist(),
            "majority": MajorityVote().fit(votes).probas_.sort_index()[1].fillna(0.0).tolist(),
            "dawid_skene": dawid_skene(votes),
            "dawid_skene_with_gold": dawid_skene(votes, gold),
        }
    votes, _ = simulate(n_items=80, n_annotators=4, n_votes=4, unsure=0.15, seed=4)
    wide = votes.pivot_table(index="task", columns="worker", values="label").to_numpy().astype(int)
    table, _ = aggregate_raters(wide)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    cases["unsure"] = {
        "votes": votes.to_numpy().T.tolist(),
        "fleiss_kappa": float(fleiss_kappa(table)),
        "cohens_kappa": [float(cohens_kappa(to_table(wide[:, [a, b]])[0], return_results=False)) for a, b in pairs],
    }
    trials = [(0, 10), (10, 10), (97, 100), (1, 3), (500, 1000)]
    limits = [[*map(float, proportion_confint(k, n, alpha=0.05, method="beta"))] for k, n in trials]
    document = {"cases": cases, "clopper_pearson": {"trials": trials, "limits": limits}}
    target = Path(__file__).parents[1] / "tests/reference/votes.json"
    target.write_text(json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
