"""How often a resource is read, what stays in memory, what a draw remembers of it, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from resources import as_parquet, make_frame, make_ids, make_scores

import karat
from karat.draws import Labels
from karat.engines.memory import MemoryEngine
from karat.engines.scanned import ScannedEngine
from karat.engines.sql import SqlScanner
from karat.formats.frames import FrameTable
from karat.formats.scans import ScannedFiles


class CountingScanner(SqlScanner):
    """Counts how often rows are fetched."""

    n_fetches = 0

    def fetch(self, where):
        self.n_fetches += 1
        return super().fetch(where)


def test_a_walk_down_the_list_needs_few_scans(tmp_path):
    n_items = 300_000
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"name": rng.permutation(n_items), "score": rng.random(n_items)})
    scanner = CountingScanner(ScannedFiles(as_parquet(frame, tmp_path)), score="score", id="name")
    engine = ScannedEngine(scanner)
    oracle = MemoryEngine(FrameTable(frame), score="score", id="name")
    start, n_asked = 1000, 0
    while start < n_items:
        stop = min(int(start * 1.01), n_items)
        ranks = np.sort(rng.choice(np.arange(start, stop + 1), size=min(5, stop - start + 1), replace=False))
        assert engine.ids_at(ranks) == oracle.ids_at(ranks)
        start, n_asked = stop + 1, n_asked + 1
    assert n_asked > 500
    assert scanner.n_fetches <= 5


def test_one_fetch_for_one_fixed_design(tmp_path):
    frame = make_frame(make_scores()["continuous"], make_ids("whole"))
    scanner = CountingScanner(ScannedFiles(as_parquet(frame, tmp_path)), score="score", id="name")
    study = karat.Study(ScannedEngine(scanner, seed=1), karat.Paula(epsilon=0.2, window=30))
    study.ask()
    assert scanner.n_fetches == 1


# --- a draw survives its data


def take_draw(path, folder):
    study = karat.Study(karat.open(path, score="score", id="name", engine="duckdb"), karat.Point(rank=500, labels=50))
    study.save(folder / "draw.json")
    return karat.load_draw(folder / "draw.json")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_same_rows_in_another_order_are_the_same_resource(engine, tmp_path):
    frame = make_frame(make_scores()["two decimals"], make_ids("text"))
    path = as_parquet(frame, tmp_path)
    draw = take_draw(path, tmp_path)
    frame.reverse().write_csv(tmp_path / "moved.csv")
    study = karat.Study.resume(draw, Labels.none(), source=tmp_path / "moved.csv", engine=engine)
    assert study.engine.ids_at(draw.ranks) == draw.ids


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame[1:], "it had 6,000 items and has 5,999 now"),
        (
            lambda frame: frame.with_columns(pl.col("score") * 2),
            r"its scores ranged from 0.0 to 1.0 and range from 0.0 to 2.0 now",
        ),
        (lambda frame: frame.with_columns(pl.col("score") ** 2), "as many items in the same range, but other scores"),
    ],
    ids=["a row less", "another range", "other scores"],
)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_changed_resource_is_refused_with_what_changed(change, said, engine, tmp_path):
    frame = make_frame(make_scores()["two decimals"], make_ids("text"))
    path = as_parquet(frame, tmp_path)
    draw = take_draw(path, tmp_path)
    change(frame).write_parquet(path)
    with pytest.raises(karat.InvalidData, match=f"The resource has changed since the draw was made: .*{said}"):
        karat.Study.resume(draw, Labels.none(), engine=engine)


def test_other_items_at_the_drawn_ranks_are_refused(tmp_path):
    frame = make_frame(make_scores()["continuous"], make_ids("text"))
    path = as_parquet(frame, tmp_path)
    draw = take_draw(path, tmp_path)
    frame.with_columns(pl.col("name") + "!").write_parquet(path)
    with pytest.raises(karat.InvalidData, match=r"the item at rank \d+ was 'é.*' and is 'é.*!' now"):
        karat.Study.resume(draw, Labels.none(), engine="duckdb")


# --- what is refused


def refuses(message, source, **options):
    with pytest.raises(karat.InvalidData, match=message):
        karat.open(source, **{"score": "score", "engine": "duckdb", **options}).ids_at(np.array([1, 2]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None], ids=str)
@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_scores_that_are_no_numbers_are_named_by_row(bad, kind, tmp_path):
    scores = [0.5, 0.25, bad, 0.75, bad]
    frame = pl.DataFrame({"score": scores})
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "csv":
        frame.write_csv(path)
    else:
        words = ['"' + str(score) + '"' if score is None or not np.isfinite(score) else score for score in scores]
        path.write_text("\n".join(f'{{"score": {word}}}' for word in words))
    where = rf"a\.{kind}, row 3, column 'score'"
    listed = "" if (kind, bad) == ("csv", None) else "; --json lists every one"  # an empty line is none
    refuses(rf"{where}: expected a finite number; got .* \(2 such rows in all{listed}\)\.", path)
    if kind == "parquet" and bad is not None:
        with pytest.raises(karat.InvalidData, match=r"expected a finite number; got (nan|inf|-inf) \(2 such rows"):
            karat.open(frame.lazy(), score="score")


def test_nan_hidden_from_the_statistics_of_a_file_is_found(tmp_path):
    path = tmp_path / "a.parquet"
    duckdb.sql("SELECT CASE WHEN i = 7 THEN 'nan'::DOUBLE ELSE i END AS score FROM range(10) t(i)").write_parquet(
        str(path)
    )
    refuses("row 8, column 'score': expected a finite number; got nan", path)


def test_doubled_and_missing_ids(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"score": np.arange(9.0), "name": [0, 1, 2, 3, 4, 5, 6, 3, 3]}).write_parquet(path)
    refuses(r"row 8, column 'name': expected ids that differ; got '3', which row 4 has too\.", path, id="name",
            check_ids=True)  # fmt: skip
    engine = karat.open(path, score="score", id="name", engine="duckdb")
    assert engine.ids_at(np.array([3])) == [6]
    with pytest.raises(karat.InvalidData, match="expected ids that differ; got 3 twice among the drawn items"):
        engine.ids_at(np.array([1, 2]))
    pl.DataFrame({"score": np.arange(3.0), "name": ["a", None, "c"]}).write_parquet(path)
    refuses(r"row 2, column 'name': expected an id; got nothing\.", path, id="name", check_ids=True)
    refuses(r"row 2, column 'name': expected an id; got nothing\.", path, id="name")


def test_columns_that_cannot_be_ranked_by(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"text": ["a", "b"], "list": [[1.0], [2.0]]}).write_parquet(path)
    refuses("row 1, column 'text': expected a finite number; got 'a'", path, score="text")
    refuses(r"column 'list' must be numeric; it is DOUBLE\[\]", path, score="list")
    refuses("has no column 'score'; it has 'text', 'list'", path)
    lazy = pl.DataFrame({"text": ["a", "b"], "list": [[1.0], [2.0]]}).lazy()
    with pytest.raises(karat.InvalidData, match="The table's column 'list' must be numeric; it is List"):
        karat.open(lazy, score="list", id="text")
    with pytest.raises(karat.InvalidData, match="The table has no column 'score'; it has 'text', 'list'"):
        karat.open(lazy, score="score", id="text")


def test_an_unreadable_file_among_others_is_named(tmp_path):
    for number in range(3):
        pl.DataFrame({"score": np.arange(3.0)}).write_parquet(tmp_path / f"part-{number}.parquet")
    (tmp_path / "part-1.parquet").write_bytes(b"PAR1 this is not Parquet PAR1")
    refuses(r"part-1\.parquet: .+", str(tmp_path / "part-*.parquet"))
    pl.DataFrame({"other": np.arange(3.0)}).write_parquet(tmp_path / "part-1.parquet")
    refuses(r"part-1\.parquet has no column 'score'; it has 'other'", str(tmp_path / "part-*.parquet"))


def test_tables_of_a_database(tmp_path):
    with duckdb.connect(str(tmp_path / "kb.duckdb")) as database:
        database.execute("CREATE TABLE facts AS SELECT i AS score FROM range(5) t(i)")
    for name in ("kb.duckdb", "kb.duckdb::facts"):
        assert karat.open(tmp_path / name, score="score", engine="duckdb").ids_at(np.array([1])) == [5]
    refuses("has no table 'fact'; it has 'facts'", f"{tmp_path}/kb.duckdb::fact")


# --- limits, spilling, interrupting


def test_limits_are_checked(tmp_path):
    path = as_parquet(make_frame(make_scores()["continuous"], make_ids("whole")), tmp_path)
    with pytest.raises(karat.InvalidInput, match="'memory_limit' must be a size such as '4GB'; got 'much'"):
        karat.open(path, score="score", memory_limit="much")
    with pytest.raises(karat.InvalidInput, match="'spill_directory' must be a folder that exists"):
        karat.open(path, score="score", spill_directory=tmp_path / "nowhere")


def test_what_was_spilled_is_removed(tmp_path):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"name": rng.integers(0, 2**62, 3_000_000), "score": rng.random(3_000_000)})
    frame.write_csv(tmp_path / "a.csv")
    spill = tmp_path / "spill"
    spill.mkdir()
    engine = karat.open(
        tmp_path / "a.csv", score="score", id="name", engine="duckdb", memory_limit="150MB", spill_directory=spill
    )
    ranks = np.array([1, 10, 1000, 100_000, 3_000_000])
    expected = np.argsort(-frame["score"].to_numpy())[ranks - 1]
    assert engine.ids_at(ranks) == frame["name"].to_numpy()[expected].tolist()
    assert list(spill.iterdir())
    del engine
    assert not list(spill.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
def test_a_draw_that_is_stopped_leaves_nothing_behind(number, tmp_path):
    duckdb.sql("SELECT i AS name, hash(i) AS score, repeat('x', 40) AS text FROM range(2_000_000) t(i)").write_csv(
        str(tmp_path / "big.csv"), header=True
    )
    spill, out = tmp_path / "spill", tmp_path / "out"
    spill.mkdir()
    out.mkdir()
    command = [
        str(Path(sys.executable).parent / "karat"), "draw", str(tmp_path / "big.csv"), "--score", "score",
        "--id", "name", "--engine", "duckdb", "--method", "paula", "--memory-limit", "50MB",
        "--spill-directory", str(spill), "-o", str(out / "draw.json"), "--items-out", str(out / "items.csv"),
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    for _ in range(3000):
        if list(spill.iterdir()) or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 1, said
    assert said.strip() == "karat: interrupted; nothing was left half written."
    assert list(spill.iterdir()) == []
    assert list(out.iterdir()) == []
