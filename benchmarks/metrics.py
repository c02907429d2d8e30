"""Exact AP and ROC AUC in memory against scikit-learn, and against the sort that both need."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

import karat
from benchmarks._summary import Line, growth_of


def _seconds(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="metrics")
    parser.add_argument("--items", type=float, default=1e7, help="the longest list")
    measure(int(parser.parse_args(arguments).items))


def measure(largest: int) -> list[Line]:
    """Print the table; return the summary of the longest list."""
    print(f"{'items':>12} {'ours s':>8} {'sklearn s':>10} {'ratio':>6} {'argsort s':>10} {'difference':>11}")
    points: list[tuple[float, float]] = []
    for n_items in [size for size in (100_000, 1_000_000, 10_000_000) if size <= largest]:
        rng = np.random.default_rng(1)
        scores = rng.random(n_items)
        labels = (rng.random(n_items) < scores).astype(np.int8)
        sort, _ = _seconds(lambda s=scores: np.argsort(-s))
        ours, curve = _seconds(lambda y=labels, s=scores: karat.exact(y, s))
        more, values = _seconds(lambda c=curve: (c.average_precision(), c.roc_auc()))
        peer, expected = _seconds(lambda y=labels, s=scores: (average_precision_score(y, s), roc_auc_score(y, s)))
        total = ours + more
        points.append((n_items, total))
        worst = max(abs(a - b) for a, b in zip(values, expected, strict=True))
        print(
            f"{n_items:>12,} {total:>8.2f} {peer:>10.2f} {peer / total:>6.1f} {sort:>10.2f} {worst:>11.1e}", flush=True
        )
    return [
        Line("AP and ROC AUC in memory", f"{n_items:,} items", total, ("scikit-learn", peer),
             ("one argsort", sort), growth_of(points)),
    ]  # fmt: skip
