"""Bootstrap replicates of a PR curve: ours against a plain loop and against scikit-learn on resamples.

All three draw B = 2,000 smoothed replicates and read precision at K = 200 recalls. Ours is timed twice: the replicates
alone, like the others', and the whole band, which also orders and smooths the sample and finds the envelope. The others
take minutes to hours, so a few replicates are timed and scaled to 2,000. CPU seconds, because other work on the machine
would disturb wall time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
from sklearn.metrics import precision_recall_curve

from benchmarks._summary import Line, growth_of
from karat.math.bands.methods import METHODS, Problem, band
from karat.math.bands.ordering import descending_labels, midpoint_levels, ranks_at
from karat.math.bands.smoothing import bandwidth

N_REPLICATES = 2000
LEVELS = midpoint_levels(200)


def sample(n_items, rng):
    labels = rng.random(n_items) < 0.05
    return labels, rng.standard_normal(n_items) + 2.0 * labels


def our_problem(labels, scores, rng):
    ordered, _ = descending_labels(labels, scores, rng=rng)
    return Problem(
        ordered=ordered,
        positives=scores[labels],
        negatives=scores[~labels],
        levels=LEVELS,
        inside=(LEVELS >= 0.05) & (LEVELS <= 0.95),
        anchor_is_positive=True,
        confidence_level=0.95,
        n_replicates=N_REPLICATES,
        kernel="gaussian",
        resampling_rate=None,
        rng=rng,
    )


def our_band(labels, scores, rng):
    return band(our_problem(labels, scores, rng), METHODS["default"])


def plain_replicate(positives, negatives, widths, n_items, rng):
    n_positives = min(max(rng.binomial(n_items, positives.size / n_items), 1), n_items - 1)
    tops = rng.choice(positives, n_positives) + widths[0] * rng.standard_normal(n_positives)
    others = rng.choice(negatives, n_items - n_positives) + widths[1] * rng.standard_normal(n_items - n_positives)
    tops.sort()
    others.sort()
    thresholds = tops[n_positives - ranks_at(LEVELS, n_positives)]
    above = others.size - np.searchsorted(others, thresholds, side="right")
    return n_positives * LEVELS / (n_positives * LEVELS + above)


def scikit_replicate(labels, scores, widths, rng):
    rows = rng.integers(0, labels.size, labels.size)
    moved = scores[rows] + np.where(labels[rows], *widths) * rng.standard_normal(labels.size)
    precision, recall, _ = precision_recall_curve(labels[rows], moved)
    return np.interp(LEVELS, recall[::-1], precision[::-1])


def cpu_seconds(work, times):
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


def measure(n_items):
    """Return CPU seconds for 2,000 replicates: our replicates, our whole band, plain loop, scikit-learn."""
    rng = np.random.default_rng(0)
    labels, scores = sample(n_items, rng)
    positives, negatives = scores[labels], scores[~labels]
    widths = bandwidth(positives), bandwidth(negatives)
    problem = our_problem(labels, scores, rng)
    law = problem.smoothed()
    replicates = min(cpu_seconds(lambda: problem.curves(problem.replicates(law)), 1) for _ in range(5))
    whole = min(cpu_seconds(lambda: our_band(labels, scores, rng), 1) for _ in range(5))
    few = max(4, 400_000 // n_items)
    plain = min(cpu_seconds(lambda: plain_replicate(positives, negatives, widths, n_items, rng), few) for _ in range(2))
    scikit = min(cpu_seconds(lambda: scikit_replicate(labels, scores, widths, rng), few) for _ in range(2))
    return replicates, whole, plain * N_REPLICATES, scikit * N_REPLICATES


def draw_numbers(rng):
    """All the chance that 2,000 replicates need: one Gamma spacing and one binomial count a recall."""
    rng.standard_gamma(1.0, (N_REPLICATES, LEVELS.size))
    rng.binomial(1000, 0.5, (N_REPLICATES, LEVELS.size))


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="bands")
    parser.add_argument("--items", type=float, default=1e6, help="the largest sample")
    measure_all(int(parser.parse_args(arguments).items))


def measure_all(largest: int) -> list[Line]:
    """Print the table; return the summary of the largest sample."""
    print(
        f"PR bands, {N_REPLICATES:,} replicates at {LEVELS.size} recalls, CPU seconds (* scaled from a few replicates)"
    )
    print("ratios: others' replicates over our replicates, and over our whole band")
    print("         n  replicates    band  plain loop*       ratios  scikit-learn*       ratios")
    points: list[tuple[float, float]] = []
    for n_items in [size for size in (10_000, 100_000, 1_000_000) if size <= largest]:
        replicates, whole, plain, scikit = measure(n_items)
        points.append((n_items, whole))
        ratios = [f"{other / replicates:,.0f}, {other / whole:,.0f}" for other in (plain, scikit)]
        print(
            f"{n_items:>10,} {replicates:>11.3f} {whole:>7.3f} {plain:>12.1f} {ratios[0]:>12} "
            f"{scikit:>14.1f} {ratios[1]:>12}",
            flush=True,
        )
    rng = np.random.default_rng(0)
    chance = min(cpu_seconds(lambda: draw_numbers(rng), 1) for _ in range(5))
    return [
        Line("PR band, 2,000 replicates", f"{n_items:,} items", whole, ("plain bootstrap loop", plain),
             ("its random numbers", chance), growth_of(points))
    ]  # fmt: skip
