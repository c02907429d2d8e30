"""Exact AP and ROC AUC in memory against scikit-learn, and the replay of PAULA against a plain sort."""

from __future__ import annotations

import time

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

import karat


def _seconds(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main(sizes: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)) -> None:
    print(f"{'items':>12} {'ours s':>8} {'sklearn s':>10} {'ratio':>6} {'argsort s':>10} {'difference':>11}")
    for n_items in sizes:
        rng = np.random.default_rng(1)
        scores = rng.random(n_items)
        labels = (rng.random(n_items) < scores).astype(np.int8)
        sort, _ = _seconds(lambda s=scores: np.argsort(-s))
        ours, curve = _seconds(lambda y=labels, s=scores: karat.exact(y, s))
        more, values = _seconds(lambda c=curve: (c.average_precision(), c.roc_auc()))
        peer, expected = _seconds(lambda y=labels, s=scores: (average_precision_score(y, s), roc_auc_score(y, s)))
        total = ours + more
        worst = max(abs(a - b) for a, b in zip(values, expected, strict=True))
        print(f"{n_items:>12,} {total:>8.2f} {peer:>10.2f} {peer / total:>6.1f} {sort:>10.2f} {worst:>11.1e}")
