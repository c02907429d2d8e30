"""Exact metrics without a sort: the numbers of the sort, from files and tables, in one slab or in many."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resources import make_scores
from sklearn.metrics import average_precision_score, roc_auc_score

import karat
from karat.exact_curve import exact
from karat.math import buckets
from karat.math.path import thin
from karat.measured import measure

SCORES = make_scores()
AT = [1, 10, 777, 6000]


def make_labels(scores, *, rate=0.2):
    rng = np.random.default_rng(4)
    order = np.argsort(np.argsort(scores)) / len(scores)
    return (rng.random(len(scores)) < rate + 0.5 * order * (1 - rate)).astype(np.int8)


def close(found, expected, where=""):
    for name, value in expected.items():
        got = found[name]
        if name == "n_distinct_scores":
            continue
        if isinstance(value, dict):
            close(got, value, f"{where}.{name}")
        elif isinstance(value, list):
            for one, other in zip(got, value, strict=True):
                close(one, other, f"{where}.{name}")
        elif isinstance(value, float) and value != got:
            assert got == pytest.approx(value, rel=1e-12, abs=1e-12), f"{where}.{name}"
        else:
            assert got == value, f"{where}.{name}"


@pytest.mark.parametrize("memory_rows", [10**9, 700])
@pytest.mark.parametrize("ties", ["threshold", "random"])
@pytest.mark.parametrize("kind", SCORES)
def test_the_same_numbers_as_a_sort(kind, ties, memory_rows, tmp_path):
    scores = SCORES[kind].astype(float)
    labels = make_labels(scores)
    frame = pl.DataFrame({"score": scores, "label": labels})
    frame.write_parquet(tmp_path / "a.parquet")
    for higher_is_better in (True, False):
        expected = exact(labels, scores if higher_is_better else -scores, ties=ties).summary(AT)
        expected["best_f1"]["threshold"] *= 1 if higher_is_better else -1
        for source in (tmp_path / "a.parquet", frame.lazy()):
            curve = measure(
                source, score="score", label="label", ties=ties, higher_is_better=higher_is_better, at=AT,
                memory_rows=memory_rows,
            )  # fmt: skip
            close(curve.summary(AT), expected, kind)


def test_scikit_learn_agrees(tmp_path):
    rng = np.random.default_rng(8)
    scores = rng.random(200_000).round(4)
    labels = (rng.random(200_000) < scores).astype(np.int8)
    pl.DataFrame({"score": scores, "label": labels}).write_parquet(tmp_path / "a.parquet")
    curve = measure(tmp_path / "a.parquet", score="score", label="label")
    assert curve.average_precision() == pytest.approx(average_precision_score(labels, scores), abs=1e-12)
    assert curve.roc_auc() == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, -0.0, 0.5, 1.0]) | st.floats(-10, 10), st.integers(0, 1)),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([1, 5, 10**6]),
)
def test_any_small_list(rows, memory_rows):
    scores, labels = (np.array(column) for column in zip(*rows, strict=True))
    expected = exact(labels, scores).summary([len(rows)])
    found = measure(
        pl.DataFrame({"score": scores, "label": labels}), score="score", label="label", at=[len(rows)],
        memory_rows=memory_rows,
    )  # fmt: skip
    close(found.summary([len(rows)]), expected)


@pytest.mark.parametrize("form", ["csv", "jsonl", "duckdb"])
def test_text_files_and_databases(form, tmp_path):
    import duckdb

    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"score": rng.random(500), "label": rng.integers(0, 2, 500)})
    path = tmp_path / f"a.{form}"
    if form == "csv":
        frame.write_csv(path)
    elif form == "jsonl":
        frame.write_ndjson(path)
    else:
        with duckdb.connect(str(path)) as database:
            database.execute("CREATE TABLE facts AS FROM frame")
    expected = exact(frame["label"].to_numpy(), frame["score"].to_numpy())
    assert measure(path, score="score", label="label").average_precision() == pytest.approx(
        expected.average_precision(), abs=1e-12
    )


def test_rows_arrive_with_and_without_pyarrow(tmp_path, monkeypatch):
    from karat.formats import scans

    monkeypatch.setattr(scans, "CHUNK_ROWS", 1000)
    frame = pl.DataFrame({"score": np.arange(2500.0), "label": [0, 1, None, 1, 0] * 500})
    frame.write_parquet(tmp_path / "a.parquet")
    table = scans.ScannedFiles(tmp_path / "a.parquet")
    ((sql, n_rows),) = table.labelled(score="score", label="label")
    for by_ranges in (True, False):
        parts = list(table.stream(f"FROM ({sql}) WHERE score > 1", n_rows, what="reading", by_ranges=by_ranges))
        assert len(parts) == (3 if by_ranges else 1)
        places = np.concatenate([part["place"] for part in parts])
        labels = np.ma.concatenate([part["label"] for part in parts])
        order = np.argsort(places)
        np.testing.assert_array_equal(places[order], np.arange(2, 2500))
        assert labels[order].filled(9)[:4].tolist() == [9, 1, 0, 0]


def test_extreme_points_survive_thinning():
    n_items = 50_000
    labels = np.arange(n_items) % 2 == 0
    labels[20_001:22_003], labels[22_003:24_500] = False, True  # precision is lowest after 22,003 items
    frame = pl.DataFrame({"score": -np.arange(n_items, dtype=float), "label": labels.astype(np.int8)})
    whole = exact(labels, -np.arange(float(n_items)))
    precision = whole.points()["precision"]
    assert np.argmin(precision) == 22_002
    for curve in (whole, measure(frame, score="score", label="label")):
        points = curve.points(150)
        assert len(points["rank"]) <= 160
        assert points["precision"].min() == precision.min()
        assert points["precision"].max() == precision.max()
        assert points["rank"][-1] == n_items
        np.testing.assert_array_equal(points["yield"], whole.points()["yield"][points["rank"] - 1])
        kept = (frame["score"].to_numpy()[:, None] >= points["threshold"]).sum(axis=0)
        np.testing.assert_array_equal(kept, points["rank"])
    evenly = thin(whole.ranking.ranks[1:], most=150)
    assert precision[evenly].min() > precision.min()  # points that are merely spread evenly miss it


def test_what_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"score": [0.1, 0.2, 0.3], "label": [0, 2, 1]}).write_parquet(path)
    with pytest.raises(karat.InvalidData, match=r"row 2, column 'label': expected 0 or 1; got 2\."):
        measure(path, score="score", label="label")
    with pytest.raises(karat.InvalidData, match="column 'label': expected 0 or 1; got 2"):
        measure(pl.read_parquet(path).lazy(), score="score", label="label")
    pl.DataFrame({"score": [0.1, None, 0.3], "label": [0, 1, 1]}).write_parquet(path)
    with pytest.raises(karat.InvalidData, match="row 2, column 'score': expected a finite number; got nothing"):
        measure(path, score="score", label="label")
    for bad in (np.nan, np.inf):
        pl.DataFrame({"score": [0.1, 0.2, bad], "label": [0, 1, 1]}).write_parquet(path)
        for memory_rows in (1, 100):
            with pytest.raises(karat.InvalidData, match=f"row 3, column 'score': expected a finite number; got {bad}"):
                measure(path, score="score", label="label", memory_rows=memory_rows)
    pl.DataFrame({"score": [0.1, 0.3], "label": [1, 1]}).write_parquet(path)
    curve = measure(path, score="score", label="label", at=[1])
    assert curve.summary()["roc_auc"] is None
    with pytest.raises(karat.InvalidInput, match="ROC AUC is undefined without a negative label"):
        curve.roc_auc()
    with pytest.raises(karat.InvalidInput, match="'rank' must be one that was given as 'at'"):
        curve.at(2)


def test_rows_that_have_no_bucket_or_no_room_are_noticed():
    store = buckets.Store.empty(1, 2, higher_is_better=True)
    room = (store.items, store.cursor, store.owner, store.n_used)

    def fits(*scores):
        return buckets.fill(*room, np.array(scores), np.zeros(len(scores), dtype=np.uint8), 1.0, 0.0, 1.0, 0)

    assert fits(0.1, 1.9)
    assert not fits(2.0)
    assert not fits(-0.1)
    assert not fits(np.nan)
    assert not fits(np.inf)
    assert fits(*np.zeros(4 * buckets.BLOCK - 1))  # there are 5 blocks, one of them is the second bucket's
    assert not fits(0.0)


def test_a_resource_that_changes_meanwhile_is_noticed(tmp_path, monkeypatch):
    from karat.engines.sql import SqlLabels

    path = tmp_path / "a.parquet"
    pl.DataFrame({"score": np.arange(9.0), "label": [0, 1, 0] * 3}).write_parquet(path)
    read = SqlLabels.read

    def without_the_last(self, key, first, last):
        for scores, labels in read(self, key, first, last):
            yield scores[:-1], labels[:-1]

    monkeypatch.setattr(SqlLabels, "read", without_the_last)
    for memory_rows in (5, 100):
        with pytest.raises(karat.InvalidData, match="changed while it was being read"):
            measure(path, score="score", label="label", memory_rows=memory_rows)


def test_the_command_takes_the_same_road_for_large_files(karat_cli, monkeypatch, tmp_path):
    from karat.cli import metrics

    rng = np.random.default_rng(9)
    frame = pl.DataFrame({"score": rng.random(3000), "label": rng.integers(0, 2, 3000)})
    frame.write_parquet(tmp_path / "a.parquet")
    command = ("metrics", tmp_path / "a.parquet", "--score", "score", "--label", "label", "--at", 100, "--json")
    small = karat_cli(*command)
    monkeypatch.setattr(metrics, "SORTED_ROWS", 10)
    large = karat_cli(*command)
    assert small.code == large.code == 0
    close(large.json, small.json)
