"""How many labels certify needs, on real rankings (skipped where they are absent) and on made-up ones.

`python tests/reference/test_certify_labels.py` prints the table; `make test-long` holds the figures to their ceilings.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from karat.math.certify.settings import Settings
from karat.math.certify.simulate import simulate_pass

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SEED = 5
N_RUNS = 20

REAL = {
    "single_cskb_triples_logreg": 1_900,
    "single_ppdb_paraphrase_hgb": 3_700,
    "single_mnist_topclass_conf": 400,
    "single_cover_iforest": 6_000,
    "single_abtbuy_allpairs_chartfidf": 5_800,
}
STRICT_FACTOR = (1.08**2 - 1) / (1.08**2 + 1)  # half-width over middle when high / low = 1.08 squared
N_SINGLE_RUNS = 8
SINGLE_RANK = [  # rank, rate, relative tolerance
    (rank, rate, relative)
    for rank in (1000, 10_000, 100_000)
    for rate in (0.2, 0.5, 0.8, 0.95, 1.0)
    for relative in (0.05, 0.1, 0.2)
]
SYNTHETIC = {  # name: accuracy of the judge, settings, ceiling
    "knowledge base, within 8%": (None, {"relative": 0.08, "absolute": 0.0}, 3_500),
    "knowledge base, high/low within 1.08 squared": (None, {"relative": STRICT_FACTOR, "absolute": 0.0}, 3_700),
    "knowledge base, within 8%, judge right 90%": (0.9, {"relative": 0.08, "absolute": 0.0}, 2_300),
    "knowledge base, 1.08 squared, judge right 90%": (0.9, {"relative": STRICT_FACTOR, "absolute": 0.0}, 2_300),
}


def real_labels(name):
    """Return labels in rank order: score descending, ties by a seeded permutation."""
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=["score", "label"])
    score, label = table["score"].to_numpy(), table["label"].to_numpy()
    order = np.random.default_rng(SEED).permutation(len(score))
    order = order[np.argsort(-score[order], kind="stable")]
    return label[order].astype(np.int8)


def knowledge_base(rng, n_items=217_077):
    return rng.random(n_items) < 0.85 - 0.03 * np.log1p(np.arange(1, n_items + 1) / 100)


def real_runs(name, **wish):
    labels = real_labels(name)
    yields = np.cumsum(labels, dtype=np.int64)
    for run in range(N_RUNS):
        result = simulate_pass(labels, Settings(**wish), seed=SEED + run)
        yield result.n_labels, result.worst_share, result.covers(yields)


def synthetic_runs(accuracy, wish):
    for run in range(N_RUNS):
        rng = np.random.default_rng([SEED, run])
        labels = knowledge_base(rng)
        proxy = None if accuracy is None else np.where(rng.random(len(labels)) < accuracy, labels, ~labels)
        result = simulate_pass(labels, Settings(**wish), seed=SEED + run, proxy=proxy)
        yield result.n_labels, result.worst_share, result.covers(np.cumsum(labels))


def summary(runs):
    n_labels, worst, covered = (np.array(column, float) for column in zip(*runs, strict=True))
    return n_labels.mean(), (worst <= 1.0).mean(), np.median(worst), covered.mean()


@pytest.mark.long
@pytest.mark.parametrize("name", REAL)
def test_real_rankings_need_few_labels(name):
    labels, met, _, covered = summary(real_runs(name))
    assert labels <= REAL[name]
    assert met >= 0.9
    assert covered >= 0.85  # of 20 runs at .95: 3 misses happen less than once in ten


@pytest.mark.long
@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_knowledge_base_needs_few_labels(name):
    accuracy, wish, ceiling = SYNTHETIC[name]
    labels, met, _, covered = summary(synthetic_runs(accuracy, wish))
    assert labels <= ceiling
    assert met >= 0.9
    assert covered >= 0.85


def single_rank_ratios(rank, rate, relative):
    """Labels for one rank over the count of PAULA's eq. (2), ln(2/delta) / (2 eps^2 p^2), or over the rank if less."""
    labels = np.random.default_rng(SEED).random(rank) < rate
    settings = Settings(relative=relative, absolute=0.0, from_rank=rank, top=rank)
    fixed = math.log(2 / 0.05) / (2 * relative**2 * rate**2)
    counts = [simulate_pass(labels, settings, seed=run).n_labels for run in range(N_SINGLE_RUNS)]
    return np.array(counts) / min(fixed, rank)


@pytest.mark.parametrize(("rank", "rate", "relative"), SINGLE_RANK)
def test_a_single_rank_needs_few_labels(rank, rate, relative):
    assert single_rank_ratios(rank, rate, relative).mean() <= 2.5


def labels_with_judge(accuracy, n_items=50_000):
    """Mean labels over a few runs with a judge's votes; without them if accuracy is None."""
    counts = []
    for run in range(N_SINGLE_RUNS):
        rng = np.random.default_rng([SEED, run])
        labels = knowledge_base(rng, n_items)
        votes = None if accuracy is None else np.where(rng.random(n_items) < accuracy, labels, ~labels)
        counts.append(simulate_pass(labels, Settings(), seed=run, proxy=votes).n_labels)
    return float(np.mean(counts))


def test_a_good_judge_saves_a_third_and_a_useless_one_costs_little():
    """Means of eight runs; they scatter by 2%."""
    without = labels_with_judge(None)
    assert labels_with_judge(0.9) < 0.7 * without
    assert labels_with_judge(0.5) < 1.08 * without


def main():
    print(f"{'ranking':48} {'labels':>8} {'met':>6} {'worst':>6} {'covered':>8}")
    for name in REAL:
        for wish in ({}, {"lean": True}):
            row = summary(real_runs(name, **wish))
            print(f"{name + (' lean' if wish else ''):48} {row[0]:8.0f} {row[1]:6.2f} {row[2]:6.3f} {row[3]:8.2f}")
    for name, (accuracy, wish, _) in SYNTHETIC.items():
        row = summary(synthetic_runs(accuracy, wish))
        print(f"{name:48} {row[0]:8.0f} {row[1]:6.2f} {row[2]:6.3f} {row[3]:8.2f}")
    ratios = [single_rank_ratios(*question) for question in SINGLE_RANK]
    worst = max(ratio.mean() for ratio in ratios), max(ratio.max() for ratio in ratios)
    print(f"one rank, labels over eq. (2): worst mean {worst[0]:.2f}, worst run {worst[1]:.2f}")


if __name__ == "__main__":
    main()
