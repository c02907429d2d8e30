"""Ranks to items, and exact metrics, from 1e6 rows on: ours against a scan, a tie-broken sort, and libraries.

Each row of the table is a fresh process, so that CPU time (of all threads) and peak memory are its own. Data are
Parquet files (zstd), made in a temporary folder that is removed at the end.

    python -m benchmarks scale            # 1e6 and 1e7
    KARAT_BENCH_ROWS=1e8 make bench       # up to 1e8: about 10 GB of disk for a while
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

KINDS = {
    "continuous": "u",
    "two decimals": "round(u, 2)",
    "all equal": "0.5",
}
SORT_TIMEOUT = 3600


def make_table(path: Path, n_rows: int, kind: str) -> None:
    """Write ids in order, a score, a label that follows it, and a text."""
    import duckdb

    database = duckdb.connect()
    database.execute("SET memory_limit = '4GB'; SET preserve_insertion_order = false")
    database.execute(f"SET temp_directory = '{path.parent}'")
    uniform = "hash({0})::DOUBLE / 18446744073709551616"
    database.execute(
        f"COPY (SELECT i AS id, {KINDS[kind]} AS score, (v < 0.3 * u)::TINYINT AS label, 'item number ' || i AS text "
        f"FROM (SELECT i, {uniform.format('i * 7 + 1')} AS u, {uniform.format('i * 3 + 5')} AS v "
        f"FROM range({n_rows}) t(i))) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
    )


def wanted_ranks(n_rows: int) -> np.ndarray:
    """Return what PAULA asks for with its defaults."""
    import karat

    return karat.Paula().begin(n_rows).ask()


# --- what is measured: each in a process of its own


def scan_score(path: str) -> None:
    import duckdb

    duckdb.sql(f"SELECT sum(score) FROM '{path}'").fetchall()


def scan_score_and_id(path: str) -> None:
    import duckdb

    duckdb.sql(f"SELECT sum(score), sum(id) FROM '{path}'").fetchall()


def scan_all_columns(path: str) -> None:
    import duckdb

    duckdb.sql(f"SELECT sum(score), sum(id), sum(strlen(text)) FROM '{path}'").fetchall()


def scan_score_and_label(path: str) -> None:
    import duckdb

    duckdb.sql(f"SELECT sum(score), sum(label) FROM '{path}'").fetchall()


def ours_ids_duckdb(path: str) -> object:
    import karat

    engine = karat.open(path, score="score", id="id", engine="duckdb")
    return digest(engine.ids_at(wanted_ranks(engine.n_items)))


def ours_items_duckdb(path: str) -> object:
    import karat

    engine = karat.open(path, score="score", id="id", engine="duckdb")
    return digest(engine.items_at(wanted_ranks(engine.n_items)).ids)


def ours_ids_polars(path: str) -> object:
    import polars as pl

    import karat

    engine = karat.open(pl.scan_parquet(path), score="score", id="id")
    return digest(engine.ids_at(wanted_ranks(engine.n_items)))


def ours_ids_spark(path: str) -> object:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    import karat

    engine = karat.open(path, score="score", id="id", engine="local[2]")
    return digest(engine.ids_at(wanted_ranks(engine.n_items)))


def sort_duckdb(path: str) -> object:
    """The same order by row_number(), the hash in SQL."""
    import duckdb

    from karat.engines.base import hash_numbers
    from karat.engines.sql import Sql

    database = duckdb.connect()
    database.execute(f"SET temp_directory = '{Path(path).parent}'")
    n_rows = database.execute(f"SELECT count(*) FROM '{path}'").fetchone()[0]
    database.execute("CREATE TEMP TABLE wanted (rank BIGINT)")
    database.execute("INSERT INTO wanted SELECT unnest(?)", [wanted_ranks(n_rows).tolist()])
    order = f"score DESC, {hash_numbers(Sql('id'), seed=0)}, id"
    found = database.execute(
        f"SELECT id FROM (SELECT id, row_number() OVER (ORDER BY {order}) AS rank FROM '{path}') "
        "SEMI JOIN wanted USING (rank) ORDER BY rank"
    )
    return digest(found.fetchnumpy()["id"].tolist())


def sort_polars(path: str) -> object:
    import polars as pl

    frame = pl.read_parquet(path, columns=["score", "id"]).sort("score", descending=True)
    return len(frame["id"].gather(wanted_ranks(len(frame)) - 1))


def sort_numpy(path: str) -> object:
    import pyarrow.parquet as pq

    scores = pq.read_table(path, columns=["score"])["score"].to_numpy()
    return len(np.argsort(-scores)[wanted_ranks(len(scores)) - 1])


def ours_ap_auc(path: str) -> object:
    from karat.measured import measure

    curve = measure(path, score="score", label="label")
    return [curve.average_precision(), curve.roc_auc()]


def sklearn_ap_auc(path: str) -> object:
    import pyarrow.parquet as pq
    from sklearn.metrics import average_precision_score, roc_auc_score

    table = pq.read_table(path, columns=["score", "label"])
    scores, labels = table["score"].to_numpy(), table["label"].to_numpy()
    return [float(average_precision_score(labels, scores)), float(roc_auc_score(labels, scores))]


def digest(ids: list[int]) -> str:
    import hashlib

    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:12]


# --- measuring


def measure_here(name: str, path: str) -> None:
    """Run one job in this process and print what it took, imports and compilation apart."""
    job = globals()[name]
    warm = os.environ.get("KARAT_BENCH_WARM")
    if warm:
        job(warm)  # a small file: imports, compiled code, a Spark that is up
    before, start = _cpu(), time.perf_counter()
    result = job(path)
    wall, cpu = time.perf_counter() - start, _cpu() - before
    print(json.dumps({"wall": wall, "cpu": cpu, "peak": _peak_megabytes(), "result": result}))


def run(name: str, path: Path, warm: Path) -> dict[str, object]:
    environment = {**os.environ, "KARAT_BENCH_WARM": str(warm)}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", name, str(path)],
        capture_output=True, text=True, check=False, env=environment, timeout=SORT_TIMEOUT,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-1000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main(largest: float | None = None) -> None:
    largest = float(os.environ.get("KARAT_BENCH_ROWS", "1e7")) if largest is None else largest
    sizes = [size for size in (10**6, 10**7, 10**8, 10**9) if size <= largest]
    head = f"{'rows':>13} {'scores':>13}  {'what':<34} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'cpu / scan':>10}"
    print(head)
    growth: dict[str, list[tuple[int, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="karat-bench-") as folder:
        warm = Path(folder) / "warm.parquet"
        make_table(warm, 10_000, "continuous")
        for n_rows in sizes:
            for kind in KINDS:
                path = Path(folder) / "table.parquet"
                make_table(path, n_rows, kind)
                _compare(path, warm, n_rows, kind, growth)
                path.unlink()
    print("\ngrowth: cpu = a * rows^b")
    for name, points in growth.items():
        if len(points) > 1:
            rows, cpu = np.log(np.array(points[-2:], dtype=float)).T  # small sizes measure the start
            slope, offset = np.polyfit(rows, cpu, 1)
            at = np.exp(offset + slope * np.log(2e9))
            print(f"  {name:<34} b = {slope:.2f}; 2 billion rows: about {at:,.0f} s of cpu")


def _compare(path: Path, warm: Path, n_rows: int, kind: str, growth: dict[str, list[tuple[int, float]]]) -> None:
    jobs = ["scan_score", "scan_score_and_id", "scan_all_columns", "ours_ids_duckdb", "ours_items_duckdb",
            "ours_ids_polars", "sort_duckdb"]  # fmt: skip
    if kind == "continuous":
        jobs += ["sort_polars", "sort_numpy", "scan_score_and_label", "ours_ap_auc", "sklearn_ap_auc"]
        jobs += ["ours_ids_spark"] if os.environ.get("KARAT_BENCH_SPARK", "1") == "1" else []
    scan, results = 0.0, {}
    for name in jobs:
        took = run(name, path, warm)
        again = run(name, path, warm) if name.startswith("scan") else took
        took = min(took, again, key=lambda one: one["cpu"])  # the first scan also fetches the file from disk
        results[name] = took
        if name in {"scan_score", "scan_score_and_label"}:
            scan = took["cpu"]
        ratio = took["cpu"] / scan
        print(f"{n_rows:>13,} {kind:>13}  {name:<34} {took['wall']:>8.2f} {took['cpu']:>8.2f} {took['peak']:>8,.0f} "
              f"{ratio:>10.1f}", flush=True)  # fmt: skip
        if kind == "continuous":
            growth.setdefault(name, []).append((n_rows, took["cpu"]))
    ids = {results[name]["result"] for name in results if "ids" in name or name in {"ours_items_duckdb", "sort_duckdb"}}
    ours, sort = results["ours_ids_duckdb"]["cpu"], results["sort_duckdb"]["cpu"]
    print(f"{'':>28}  same ids everywhere: {'yes' if len(ids) == 1 else 'NO'}; the sort takes {sort / ours:.1f} times "
          "our cpu")  # fmt: skip
    if kind == "continuous":
        mine, theirs = results["ours_ap_auc"], results["sklearn_ap_auc"]
        worst = max(abs(one - other) for one, other in zip(mine["result"], theirs["result"], strict=True))
        print(f"{'':>28}  scikit-learn takes {theirs['cpu'] / mine['cpu']:.1f} times our cpu for AP and AUC; "
              f"they differ by {worst:.0e}")  # fmt: skip


def _cpu() -> float:
    """Return the CPU seconds of this process and all that it started."""
    ticks = os.sysconf("SC_CLK_TCK")
    own = resource.getrusage(resource.RUSAGE_SELF)
    total = own.ru_utime + own.ru_stime
    for pid in _family()[1:]:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def _peak_megabytes() -> float:
    peak = 0
    for pid in _family():
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        peak += int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    return peak / 1024


def _family() -> list[int]:
    """Return this process and its descendants."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has just ended
    family = [os.getpid()]
    for pid in family:
        family += [child for child, parent in parents.items() if parent == pid]
    return family


if __name__ == "__main__":
    measure_here(sys.argv[1], sys.argv[2])
