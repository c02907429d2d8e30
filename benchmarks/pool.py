"""Adding systems to a large pool: seconds and memory, against the number of systems already in it."""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from pathlib import Path

import duckdb

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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--predictions", type=int, default=100_000)
    parser.add_argument("--shown", type=int, default=8, help="how many lines to print")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        pool = Pool.create(folder / "pool")
        head = ("systems", "predictions", "add s", "next s", "cpu s", "new labels", "labels", "peak MB")
        print(" ".join(f"{name:>11}" for name in head))
        for number in range(1, options.systems + 1):
            file = folder / "submission.parquet"
            write_system(file, number=number, n_predictions=options.predictions)
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
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            if number == 1 or number % max(1, options.systems // options.shown) == 0:
                size = pool.systems[-1].n_predictions
                new = pool.n_labels - before
                cells = (
                    f"{number}",
                    f"{size:,}",
                    f"{added:.1f}",
                    f"{asking:.1f}",
                    f"{cpu:.1f}",
                    f"{new:,}",
                    f"{pool.n_labels:,}",
                )
                print(" ".join(f"{cell:>11}" for cell in (*cells, f"{peak:,.0f}")), flush=True)
        start = time.perf_counter()
        board = pool.scores()
        print(f"scores of {len(board.rows)} systems: {time.perf_counter() - start:.1f} s; the first rows:")
        print("\n".join(str(board).splitlines()[:4]))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
