"""Ranks to items and exact metrics: what is measured, one function a row of the table; see `benchmarks.scale`."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import numpy as np

from benchmarks._process import measure_here

KINDS = {
    "continuous": "u",
    "two decimals": "round(u, 2)",
    "all equal": "0.5",
}


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
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:12]


if __name__ == "__main__":
    measure_here(globals()[sys.argv[1]], sys.argv[2])
