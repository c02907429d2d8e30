"""Rankings that are hard to rank without a sort, and the ways to hand one in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
from hypothesis import strategies as st

N_ITEMS = 6000
HARD_SCORES = st.sampled_from([0.0, -0.0, 0.5, 0.25, -3.0, 1e-310, 7.5e307, -1e300]) | st.floats(
    allow_nan=False, allow_infinity=False
)
"""Single scores, many of them equal or hard to tell apart."""


def make_scores() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    n = N_ITEMS
    return {
        "continuous": rng.random(n),
        "two decimals": rng.random(n).round(2),
        "all equal": np.full(n, 0.25),
        "negative": -np.exp(rng.normal(size=n)),
        "denormal": rng.integers(-30, 30, n) * 5e-324,
        "zeros of both signs": rng.choice([0.0, -0.0, 1e-300, -1e-300], n),
        "huge": rng.choice([1.7e308, -1.7e308, 1e300, 1.0, 0.0, -0.0, 5e-324, -5e-324], n),
        "whole": rng.integers(0, 50, n),
        "one outlier": np.r_[rng.random(n - 1), 1e30],
        "forty decades": np.exp(rng.normal(size=n) * 20),
        "cluster within a few bits": 1 + rng.integers(0, 300, n) * 2.0**-52,
        "single precision": rng.random(n).astype(np.float32).astype(np.float64),
    }


def make_ids(kind: str) -> np.ndarray:
    rng = np.random.default_rng(12)
    numbers = rng.permutation(N_ITEMS) - 2500
    if kind == "whole":
        return numbers * 3_000_000_019  # more than 31 bits, of both signs
    return np.array([f"é{number} “x”" for number in numbers])


def make_frame(scores: np.ndarray, ids: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({"name": ids, "score": scores, "text": [f"row, {i}" for i in range(len(ids))]})


def as_parquet(frame: pl.DataFrame, folder: Path) -> Any:
    frame.write_parquet(folder / "a.parquet")
    return folder / "a.parquet"


def as_many_parquet(frame: pl.DataFrame, folder: Path) -> Any:
    for part, start in enumerate(range(0, len(frame), 2300)):
        frame[start : start + 2300].write_parquet(folder / f"part-{part}.parquet")
    return str(folder / "part-*.parquet")


def as_csv(frame: pl.DataFrame, folder: Path) -> Any:
    frame.write_csv(folder / "a.csv", float_scientific=None)
    return folder / "a.csv"


def as_csv_gzip(frame: pl.DataFrame, folder: Path) -> Any:
    with gzip.open(folder / "a.csv.gz", "wb") as stream:
        frame.write_csv(stream)
    return folder / "a.csv.gz"


def as_csv_zstandard(frame: pl.DataFrame, folder: Path) -> Any:
    duckdb.from_arrow(frame.to_arrow()).write_csv(str(folder / "a.csv.zst"), compression="zstd", header=True)
    return folder / "a.csv.zst"


def as_json_lines(frame: pl.DataFrame, folder: Path) -> Any:
    lines = [json.dumps(row) for row in frame.to_dicts()]
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "a.jsonl"


def as_json_lines_gzip(frame: pl.DataFrame, folder: Path) -> Any:
    with gzip.open(folder / "a.jsonl.gz", "wb") as stream:
        stream.write(as_json_lines(frame, folder).read_bytes())
    return folder / "a.jsonl.gz"


def as_database(frame: pl.DataFrame, folder: Path) -> Any:
    with duckdb.connect(str(folder / "kb.duckdb")) as database:
        database.execute("CREATE TABLE other AS SELECT 1 AS x")
        database.register("given", frame)
        database.execute("CREATE TABLE facts AS FROM given")
    return f"{folder / 'kb.duckdb'}::facts"


def as_lazy(frame: pl.DataFrame, folder: Path) -> Any:  # noqa: ARG001
    return frame.lazy()


def as_scan(frame: pl.DataFrame, folder: Path) -> Any:
    return pl.scan_parquet(as_parquet(frame, folder))


def as_ibis(frame: pl.DataFrame, folder: Path) -> Any:
    import ibis

    return ibis.duckdb.connect().read_parquet(as_parquet(frame, folder))


def as_relation(frame: pl.DataFrame, folder: Path) -> Any:
    return duckdb.connect().read_parquet(str(as_parquet(frame, folder)))


FORMS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "parquet": as_parquet,
    "many parquet": as_many_parquet,
    "csv": as_csv,
    "csv gzip": as_csv_gzip,
    "csv zstandard": as_csv_zstandard,
    "json lines": as_json_lines,
    "json lines gzip": as_json_lines_gzip,
    "database": as_database,
    "polars lazy": as_lazy,
    "polars scan": as_scan,
    "ibis": as_ibis,
    "duckdb relation": as_relation,
}
