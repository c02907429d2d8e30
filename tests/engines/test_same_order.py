"""Every engine gives the order of the one that sorts, to the item."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resources import FORMS, HARD_SCORES, N_ITEMS, as_many_parquet, as_parquet, make_frame, make_ids, make_scores

import karat
from karat.engines.frames import FrameScanner
from karat.engines.memory import MemoryEngine
from karat.engines.scanned import ScannedEngine
from karat.engines.sql import SqlScanner
from karat.formats.frames import FrameTable
from karat.formats.scans import ScannedFiles

SCORES = make_scores()
# Ibis still calls what DuckDB and pandas have renamed.
pytestmark = [
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"),
]
FEW_ROWS = 100  # so few rows may be fetched at once that bins have to be split, as if there were billions
RANKS = np.unique(np.r_[1:30, np.geomspace(30, N_ITEMS, 60).astype(int), 3000:3020, N_ITEMS])


def textbook_order(scores, ids, *, seed):
    """Sort Python tuples: the definition in words."""
    from karat.engines.base import hash_ids, number_texts

    numbers = number_texts(ids.tolist()) if ids.dtype.kind in "OU" else ids
    hashes = hash_ids(numbers, seed=seed)
    last = [id_.encode() for id_ in ids.tolist()] if ids.dtype.kind in "OU" else ids.tolist()
    return sorted(range(len(ids)), key=lambda row: (-float(scores[row]), int(hashes[row]), last[row]))


def scan(source, *, seed, higher_is_better=True, fetched_rows=FEW_ROWS):
    named = {"score": "score", "id": "name"}
    is_file = isinstance(source, str) or hasattr(source, "open")
    scanner = SqlScanner(ScannedFiles(source), **named) if is_file else FrameScanner(source, **named)
    return ScannedEngine(scanner, seed=seed, higher_is_better=higher_is_better, fetched_rows=fetched_rows)


@pytest.mark.parametrize("ids", ["whole", "text"])
@pytest.mark.parametrize("kind", SCORES)
def test_memory_is_the_textbook_order(kind, ids):
    names = make_ids(ids)
    engine = MemoryEngine(FrameTable(make_frame(SCORES[kind], names)), score="score", id="name", seed=3)
    order = textbook_order(SCORES[kind], names, seed=3)
    assert engine.ids_at(np.arange(1, N_ITEMS + 1)) == names[order].tolist()


def same_items(scanned, oracle, ranks):
    got, wanted = scanned.items_at(ranks), oracle.items_at(ranks)
    assert got.ids == wanted.ids
    np.testing.assert_array_equal(got.scores, wanted.scores)
    assert got.payload == wanted.payload


@pytest.mark.parametrize("ids", ["whole", "text"])
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("form", ["parquet", "polars lazy"])
def test_hard_scores(form, kind, ids, tmp_path):
    frame = make_frame(SCORES[kind], make_ids(ids))
    source = FORMS[form](frame, tmp_path)
    for higher_is_better in (True, False):
        oracle = MemoryEngine(FrameTable(frame), score="score", id="name", seed=5, higher_is_better=higher_is_better)
        scanned = scan(source, seed=5, higher_is_better=higher_is_better)
        assert scanned.n_items == N_ITEMS
        assert scanned.describe()["fingerprint"] == oracle.describe()["fingerprint"]
        same_items(scanned, oracle, RANKS)
        same_items(scanned, oracle, RANKS[::-3])  # again, in another order, from what is kept
        thresholds = np.r_[SCORES[kind][:5].astype(float), -1.0, 0.0]
        np.testing.assert_array_equal(scanned.ranks_of(thresholds), oracle.ranks_of(thresholds))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["continuous", "two decimals", "whole"])
def test_every_form_of_a_resource(form, kind, tmp_path):
    ids = "whole" if form == "ibis" else "text"
    frame = make_frame(SCORES[kind], make_ids(ids))
    oracle = MemoryEngine(FrameTable(frame), score="score", id="name", seed=8)
    same_items(scan(FORMS[form](frame, tmp_path), seed=8), oracle, RANKS)


def test_ibis_says_that_it_cannot_hash_texts(tmp_path):
    frame = make_frame(SCORES["all equal"], make_ids("text"))
    with pytest.raises(karat.InvalidInput, match="must hold whole numbers in a table of ibis"):
        scan(FORMS["ibis"](frame, tmp_path), seed=8).ids_at(RANKS)


@pytest.mark.parametrize("form", ["parquet", "many parquet", "csv", "database", "polars lazy"])
def test_row_numbers_stand_in_for_ids(form, tmp_path):
    frame = make_frame(SCORES["two decimals"], make_ids("text"))
    oracle = MemoryEngine(FrameTable(frame), score="score", seed=2)
    source = FORMS[form](frame, tmp_path)
    is_file = form != "polars lazy"
    scanner = SqlScanner(ScannedFiles(source), score="score") if is_file else FrameScanner(source, score="score")
    same_items(ScannedEngine(scanner, seed=2, fetched_rows=FEW_ROWS), oracle, RANKS)


def test_the_seed_decides_ties_and_nothing_else(tmp_path):
    tied = as_parquet(make_frame(SCORES["all equal"], make_ids("whole")), tmp_path)
    first, second = (scan(tied, seed=seed).ids_at(RANKS) for seed in (1, 2))
    assert first != second
    assert first != sorted(make_ids("whole").tolist())[: len(first)]
    untied = as_many_parquet(make_frame(SCORES["continuous"], make_ids("whole")), tmp_path)
    assert scan(untied, seed=1).ids_at(RANKS) == scan(untied, seed=2).ids_at(RANKS)


@settings(max_examples=40)
@given(
    scores=st.lists(HARD_SCORES, min_size=1, max_size=60),
    fetched_rows=st.sampled_from([1, 5, 10**6]),
    higher_is_better=st.booleans(),
    texts=st.booleans(),
    seed=st.integers(0, 3),
)
def test_any_small_table_with_ties(scores, fetched_rows, higher_is_better, texts, seed, tmp_path_factory):
    numbers = np.arange(len(scores)) * 7 - 20
    ids = np.array([f"t{number}" for number in numbers]) if texts else numbers
    frame = make_frame(np.array(scores), ids)
    path = tmp_path_factory.mktemp("table") / "a.parquet"
    frame.write_parquet(path)
    ranked = {"seed": seed, "higher_is_better": higher_is_better}
    oracle = MemoryEngine(FrameTable(frame), score="score", id="name", **ranked)
    ranks = np.arange(1, len(scores) + 1)
    for source in (path, frame.lazy()):
        scanned = scan(source, fetched_rows=fetched_rows, **ranked)
        assert scanned.ids_at(ranks[::7]) == oracle.ids_at(ranks[::7])
        assert scanned.ids_at(ranks) == oracle.ids_at(ranks)
        assert scanned.describe()["fingerprint"] == oracle.describe()["fingerprint"]


def test_the_front_door_chooses(tmp_path):
    frame = make_frame(SCORES["two decimals"], make_ids("text"))
    path = as_parquet(frame, tmp_path)
    engines = [karat.open(path, score="score", id="name", engine=engine) for engine in ("auto", "memory", "duckdb")]
    engines += [karat.open(table, score="score", id="name") for table in (frame, frame.lazy(), frame.to_pandas())]
    kinds = [type(engine).__name__ for engine in engines]
    assert kinds == ["MemoryEngine", "MemoryEngine", "ScannedEngine", "MemoryEngine", "ScannedEngine", "MemoryEngine"]
    assert len({tuple(engine.ids_at(RANKS)) for engine in engines}) == 1
    with pytest.raises(karat.InvalidInput, match="'engine' must be one of 'auto', 'memory', 'duckdb', 'spark'"):
        karat.open(path, score="score", engine="dukdb")


def test_integer_scores_beyond_double_precision_tie_alike(tmp_path):
    scores = 2**60 + np.arange(200)  # doubles are 256 apart there
    frame = pl.DataFrame({"name": np.arange(200), "score": scores})
    frame.write_parquet(tmp_path / "a.parquet")
    oracle = MemoryEngine(FrameTable(frame), score="score", id="name", seed=4)
    ranks = np.arange(1, 201)
    for source in (tmp_path / "a.parquet", frame.lazy()):
        assert scan(source, seed=4).ids_at(ranks) == oracle.ids_at(ranks)
