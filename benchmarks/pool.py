"""Adding systems to a large pool: seconds and memory, against the number of systems already in it."""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb

from benchmarks._summary import Line, growth_of
from karat.pool import Pool


def write_system(path: Path, *, number: int, n_predictions: int) -> None:
    """Predictions out of 20 times as many items; items of low number are in many systems."""
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT 'item' || k AS id, (hash(k, {number}) % 1000003) / 1000003.0 AS score
            FROM (SELECT DISTINCT floor({20 * n_predictions} * (hash(j, {number}) / 2.0 ** 64) ** 4)::BIGINT AS k
                  FROM range({3 * n_predictions}) t(j))
            ORDER BY hash(k, {number}, 7) LIMIT {n_predictions}) TO '{path}' (FORMAT parquet)"""
        )


def label_of(name: str) -> int:
    """Items of low number are right more often."""
    number = int(name.removeprefix("item"))
    return int((number * 2654435761) % 1000 < 900 - min(800, number // 20000))


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="pool")
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--predictions", type=float, default=1e5, help="of each system")
    parser.add_argument("--shown", type=int, default=10, help="how many lines to print")
    options = parser.parse_args(arguments)
    measure(options.systems, int(options.predictions), shown=options.shown)


def measure(n_systems: int, n_predictions: int, *, shown: int = 10) -> list[Line]:
    """Print the table; return the summary of the last arrival."""
    folder = Path(tempfile.mkdtemp(prefix="karat-bench-"))
    points: list[tuple[float, float]] = []
    try:
        pool = Pool.create(folder / "pool")
        head = ("systems", "predictions", "add s", "next s", "cpu s", "new labels", "labels", "peak MB")
        print(" ".join(f"{name:>11}" for name in head))
        for number in range(1, n_systems + 1):
            file = folder / "submission.parquet"
            write_system(file, number=number, n_predictions=n_predictions)
            before, start, cpu = pool.n_labels, time.perf_counter(), time.process_time()
            pool.add(f"system {number}", file)
            added = time.perf_counter() - start
            asking = 0.0
            while True:
                start = time.perf_counter()
                asked = pool.next()
                asking += time.perf_counter() - start
                if not asked:
                    break
                pool.tell({name: label_of(name) for name in asked})
            cpu = time.process_time() - cpu
            if number == 1 or number % max(1, n_systems // shown) == 0:
                points.append((number, cpu))
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                cells = (
                    f"{number}",
                    f"{pool.systems[-1].n_predictions:,}",
                    f"{added:.1f}",
                    f"{asking:.1f}",
                    f"{cpu:.1f}",
                    f"{pool.n_labels - before:,}",
                    f"{pool.n_labels:,}",
                    f"{peak:,.0f}",
                )
                print(" ".join(f"{cell:>11}" for cell in cells), flush=True)
        start = time.perf_counter()
        board = pool.scores()
        print(f"scores of {len(board.rows)} systems: {time.perf_counter() - start:.1f} s; the first rows:")
        print("\n".join(str(board).splitlines()[:4]))
        scan, anew = (_query_seconds(folder, query) for query in (SCAN, ANEW))
        size = f"system {n_systems} of {n_predictions:,} predictions"
        return [
            Line("a system joins a pool", size, cpu, ("overlaps counted anew by SQL", anew),
                 ("scan of all systems' units", scan), growth_of(points))
        ]  # fmt: skip
    finally:
        shutil.rmtree(folder)


SCAN = "SELECT sum(key), sum(mass), sum(score) FROM units"
ANEW = """SELECT a.system, b.system, count(*), sum(a.mass), sum(b.mass), sum(a.mass * b.score)
    FROM (SELECT * FROM units WHERE system = (SELECT max(system) FROM units)) a JOIN units b USING (key) GROUP BY ALL"""


def _query_seconds(folder: Path, query: str) -> float:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW units AS FROM '{folder}/pool/systems/*/units.parquet'")
        best = float("inf")
        for _ in range(2):
            start = time.process_time()
            connection.execute(query).fetchall()
            best = min(best, time.process_time() - start)
        return best
