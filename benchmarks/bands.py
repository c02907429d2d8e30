"""Bootstrap replicates of a PR curve: ours against a plain loop and against scikit-learn on resamples.

All three draw B = 2,000 smoothed replicates and read precision at K = 200 recalls. Ours is timed whole: ordering the
sample, smoothing it, all replicates, and the band. The others take minutes to hours, so a few replicates are timed and
scaled to 2,000. CPU seconds, because other work on the machine would disturb wall time.
"""

import time

import numpy as np
from sklearn.metrics import precision_recall_curve

from karat.math.bands.methods import METHODS, Problem, band
from karat.math.bands.ordering import descending_labels, midpoint_levels, ranks_at
from karat.math.bands.smoothing import bandwidth

N_REPLICATES = 2000
LEVELS = midpoint_levels(200)


def sample(n_items, rng):
    labels = rng.random(n_items) < 0.05
    return labels, rng.standard_normal(n_items) + 2.0 * labels


def ours(labels, scores, rng):
    ordered, _ = descending_labels(labels, scores, rng=rng)
    problem = Problem(
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
    return band(problem, METHODS["default"])


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
    """Return CPU seconds for 2,000 replicates: ours, plain loop, scikit-learn."""
    rng = np.random.default_rng(0)
    labels, scores = sample(n_items, rng)
    positives, negatives = scores[labels], scores[~labels]
    widths = bandwidth(positives), bandwidth(negatives)
    own = min(cpu_seconds(lambda: ours(labels, scores, rng), 1) for _ in range(5))
    few = max(4, 400_000 // n_items)
    plain = min(cpu_seconds(lambda: plain_replicate(positives, negatives, widths, n_items, rng), few) for _ in range(2))
    scikit = min(cpu_seconds(lambda: scikit_replicate(labels, scores, widths, rng), few) for _ in range(2))
    return own, plain * N_REPLICATES, scikit * N_REPLICATES


def main():
    print(
        f"PR bands, {N_REPLICATES:,} replicates at {LEVELS.size} recalls, CPU seconds (* scaled from a few replicates)"
    )
    print(f"{'n':>10} {'karat':>8} {'plain loop*':>12} {'scikit-learn*':>14} {'ratio':>7} {'ratio':>7}")
    for n_items in (10_000, 100_000, 1_000_000):
        own, plain, scikit = measure(n_items)
        print(f"{n_items:>10,} {own:>8.3f} {plain:>12.1f} {scikit:>14.1f} {plain / own:>7.0f} {scikit / own:>7.0f}")


if __name__ == "__main__":
    main()
