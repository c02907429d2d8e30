"""Print a table of docs/explanation/pool.md: ``python -m tests.coverage.measure_pool FOLDER [seeds]``.

Pools on disk, of real systems whose every label is known, as a user keeps them: labels asked for until each precision
is known to .05. FOLDER holds ``multi_NAME_predictions.parquet`` (system, id, score) and ``multi_NAME_labels.parquet``.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from karat.math.pooled.estimate import METRICS
from karat.pool import Pool


def read(folder, name):
    labels = pd.read_parquet(folder / f"multi_{name}_labels.parquet").drop_duplicates("id").set_index("id")["label"]
    predictions = pd.read_parquet(folder / f"multi_{name}_predictions.parquet", columns=["system", "id", "score"])
    return predictions.drop_duplicates(["system", "id"]), labels


def true_metrics(predictions, labels):
    """Return precision, and recall and F1 relative to the pool, of each system."""
    n_true = int(labels[predictions["id"].unique()].sum())
    known = {}
    for name, own in predictions.groupby("system"):
        right = int(labels[own["id"]].sum())
        precision, recall = right / len(own), right / n_true
        known[name] = {"precision": precision, "recall": recall, "f1": 2 * right / (len(own) + n_true)}
    return known


def run(predictions, labels, *, seed, together):
    """Label a pool until nothing is asked; return its scores and how many labels it took."""
    with tempfile.TemporaryDirectory() as place:
        pool = Pool.create(Path(place) / "pool", seed=seed, half_width=0.05)
        names = np.random.default_rng(seed).permutation(predictions["system"].unique())
        for name in names:
            file = Path(place) / "submission.csv"
            predictions.loc[predictions["system"] == name, ["id", "score"]].to_csv(file, index=False)
            pool.add(str(name), file)
            if not together or name == names[-1]:
                while asked := pool.next():
                    pool.tell({unit: int(labels[unit]) for unit in asked})
        return pool.scores().to_dict()["rows"], pool.n_labels


def main(folder, n_seeds=40):
    print("| systems | arriving | labels | cover | mean error of precision, recall (z) | width: median, widest |")
    print("|---|---|---|---|---|---|")
    for name in sorted(path.name[6:-20] for path in Path(folder).glob("multi_*_predictions.parquet")):
        predictions, labels = read(Path(folder), name)
        known = true_metrics(predictions, labels)
        for together in (True, False):
            counts, held, errors, widths = [], {m: [] for m in METRICS}, {m: [] for m in METRICS}, []
            for seed in range(int(n_seeds)):
                rows, n_labels = run(predictions, labels, seed=seed, together=together)
                counts.append(n_labels)
                for m in METRICS:
                    truth = np.array([known[row["system"]][m] for row in rows])
                    low, middle, high = (np.array([row[m][k] for row in rows]) for k in ("low", "estimate", "high"))
                    held[m].append(np.mean((low <= truth) & (truth <= high)))
                    errors[m].append(np.mean(middle - truth))
                widths += [row["precision"]["high"] - row["precision"]["low"] for row in rows]
            z = {m: np.mean(e) / (np.std(e, ddof=1) / len(e) ** 0.5) for m, e in errors.items()}
            cover = " / ".join(f"{np.mean(held[m]):.2f}" for m in METRICS)
            off = ", ".join(f"{np.mean(errors[m]):.3f} ({z[m]:.1f})" for m in ("precision", "recall"))
            way = "together" if together else "one by one"
            print(f"| {name} | {way} | {np.mean(counts):,.0f} | {cover} | {off} |", end=" ")
            print(f"{np.median(widths):.3f}, {np.max(widths):.2f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
