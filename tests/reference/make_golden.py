"""Make golden.json again: numbers that karat must reproduce, computed without karat.

    python tests/reference/make_golden.py

The plans come from exact rationals and the paper's formulas, the metrics from scikit-learn.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
from sklearn import metrics

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))
import twins  # noqa: E402

TABLE = [(217_076, 0.03), (217_077, 0.03), (35_615, 0.03), (35_615, 0.05), (10_000_000, 0.03), (169_000_000, 0.03),
         (2_000_000_000, 0.03)]  # fmt: skip


def plan(n_items: int, epsilon: float) -> dict:
    known = twins.constants(n_items, epsilon=epsilon, window=100)
    return {"items": n_items, "epsilon": epsilon, **known}


def figure_1(epsilon: float, *, n_items: int = 10_000_000, precision: float = 0.5, delta: float = 0.05) -> dict:
    known = twins.constants(n_items, epsilon=epsilon, window=100)
    intervals, alpha = known["L"] - known["l"], known["factor"] - 1
    s = math.log(intervals / (delta / 2)) / (2 * (known["gamma"] - 1) ** 2 * precision**2)
    return {
        "epsilon": epsilon,
        "alpha": alpha,
        "paula": known["labels"],
        "stratified": known["g_l"] + intervals * epsilon / (1 + epsilon) * s,
        "uniform": math.sqrt(2 * n_items / (alpha * precision) ** 2 * math.log(2 * n_items / delta)),
    }


def ranking(seed: int, *, n_items: int, rate: float, decimals: int) -> dict:
    rng = np.random.default_rng(seed)
    labels = (rng.random(n_items) < rate).astype(int)
    scores = np.round(0.5 * labels + rng.normal(size=n_items), decimals)
    return {
        "labels": labels.tolist(),
        "scores": scores.tolist(),
        "average_precision": float(metrics.average_precision_score(labels, scores)),
        "roc_auc": float(metrics.roc_auc_score(labels, scores)),
        "ndcg": float(metrics.ndcg_score([labels], [scores])),
        "dcg_at_10": float(metrics.dcg_score([labels], [scores], k=10)),
    }


def main() -> None:
    golden = {
        "plans": [plan(*row) for row in TABLE],
        "figure_1": [figure_1(epsilon) for epsilon in (0.01, 0.03, 0.05, 0.10)],
        "rankings": [
            ranking(seed, n_items=40, rate=rate, decimals=decimals)
            for seed, (rate, decimals) in enumerate([(0.5, 6), (0.1, 1), (0.9, 0), (0.3, 1)])
        ],
    }
    (HERE / "golden.json").write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
