"""Ranks to items, and exact metrics, from 1e6 rows on: ours against a scan, a tie-broken sort, and libraries.

Each row of the table is a fresh process, so that CPU time (of all threads) and peak memory are its own. Data are
Parquet files (zstd), made in a temporary folder that is removed at the end.

    python -m benchmarks scale                 # 1e6 and 1e7 rows
    python -m benchmarks scale --rows 1e8      # up to 1e8: about 10 GB of disk for a while, most of it the sort's
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks._process import run
from benchmarks._scale_jobs import KINDS, make_table
from benchmarks._summary import Line, fit_growth, growth_of

SIZES = (10**6, 10**7, 10**8, 10**9)
RANKED = ("scan_score", "scan_score_and_id", "scan_all_columns", "ours_ids_duckdb", "ours_items_duckdb",
          "ours_ids_polars", "sort_duckdb")  # fmt: skip
UNTIED = ("sort_polars", "sort_numpy", "scan_score_and_label", "ours_ap_auc", "sklearn_ap_auc")
SAME_IDS = ("ours_ids_duckdb", "ours_items_duckdb", "ours_ids_polars", "ours_ids_spark", "sort_duckdb")
BILLIONS = 2e9

Points = dict[tuple[str, str], list[tuple[float, float]]]


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="scale")
    parser.add_argument("--rows", type=float, default=1e7, help="the largest table")
    parser.add_argument("--from", type=float, default=1e6, dest="smallest", help="the smallest table")
    parser.add_argument("--no-spark", action="store_false", dest="spark")
    options = parser.parse_args(arguments)
    measure(options.rows, smallest=options.smallest, spark=options.spark)


def measure(largest: float, *, smallest: float = 1e6, spark: bool = True) -> list[Line]:
    """Print the table and the growth; return the summary of the largest size."""
    sizes = [size for size in SIZES if smallest <= size <= largest]
    print(f"{'rows':>13} {'scores':>13}  {'what':<22} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'cpu / scan':>10}")
    points: Points = {}
    took: dict[str, dict[str, dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(prefix="karat-bench-") as folder:
        warm, path = Path(folder) / "warm.parquet", Path(folder) / "table.parquet"
        make_table(warm, 10_000, "continuous")
        for n_rows in sizes:
            for kind in KINDS:
                make_table(path, n_rows, kind)
                took[kind] = _compare(path, warm, n_rows, kind, points, spark=spark)
                path.unlink()
    print("\ngrowth: cpu = a * rows^b")
    for (kind, name), found in points.items():
        if len(found) > 1:
            factor, power = fit_growth(found)
            cost = factor * BILLIONS**power
            print(f"  {kind:<13} {name:<22} b = {power:.2f}; 2 billion rows: about {cost:,.0f} s of cpu")
    return _summary(sizes[-1], took, points)


def _compare(
    path: Path, warm: Path, n_rows: int, kind: str, points: Points, *, spark: bool
) -> dict[str, dict[str, Any]]:
    is_untied = kind == "continuous"
    jobs = [*RANKED, *(["ours_ids_spark"] if is_untied and spark else []), *(UNTIED if is_untied else ())]
    scan, results = 0.0, {}
    for name in jobs:
        took: dict[str, Any] = run("benchmarks._scale_jobs", name, path, warm=warm)
        if name.startswith("scan"):  # the first one also fetches the file from disk
            took = min(took, run("benchmarks._scale_jobs", name, path, warm=warm), key=lambda one: one["cpu"])
        results[name] = took
        if name in {"scan_score", "scan_score_and_label"}:
            scan = took["cpu"]
        print(f"{n_rows:>13,} {kind:>13}  {name:<22} {took['wall']:>8.2f} {took['cpu']:>8.2f} {took['peak']:>8,.0f} "
              f"{took['cpu'] / scan:>10.1f}", flush=True)  # fmt: skip
        points.setdefault((kind, name), []).append((n_rows, took["cpu"]))
    ids = {results[name]["result"] for name in SAME_IDS if name in results}
    ours, sort = results["ours_ids_duckdb"]["cpu"], results["sort_duckdb"]["cpu"]
    print(f"{'':>28}  same ids everywhere: {'yes' if len(ids) == 1 else 'NO'}; the sort takes {sort / ours:.1f} times "
          "our cpu")  # fmt: skip
    if is_untied:
        mine, theirs = results["ours_ap_auc"], results["sklearn_ap_auc"]
        worst = max(abs(one - other) for one, other in zip(mine["result"], theirs["result"], strict=True))
        print(f"{'':>28}  scikit-learn takes {theirs['cpu'] / mine['cpu']:.1f} times our cpu for AP and AUC; "
              f"they differ by {worst:.0e}")  # fmt: skip
    return results


def _summary(n_rows: int, took: dict[str, dict[str, dict[str, Any]]], points: Points) -> list[Line]:
    size = f"{n_rows:,} rows"
    lines = []
    for kind, results in took.items():
        cpu = {name: float(one["cpu"]) for name, one in results.items()}
        peer = min((name for name in cpu if name.startswith("sort")), key=cpu.__getitem__)
        lines.append(
            Line(f"items at ranks, {kind}", size, cpu["ours_ids_duckdb"], (PEERS[peer], cpu[peer]),
                 ("scan of score and id", cpu["scan_score_and_id"]), growth_of(points[kind, "ours_ids_duckdb"]))
        )  # fmt: skip
    lines.append(
        Line("AP and ROC AUC from a file", size, cpu_of(took, "ours_ap_auc"),
             ("scikit-learn", cpu_of(took, "sklearn_ap_auc")),
             ("scan of score and label", cpu_of(took, "scan_score_and_label")),
             growth_of(points["continuous", "ours_ap_auc"]))
    )  # fmt: skip
    return lines


PEERS = {"sort_duckdb": "DuckDB's sort", "sort_polars": "Polars' sort", "sort_numpy": "numpy's argsort"}


def cpu_of(took: dict[str, dict[str, dict[str, Any]]], name: str) -> float:
    return float(took["continuous"][name]["cpu"])
