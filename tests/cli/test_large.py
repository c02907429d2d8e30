"""Commands on large resources: planning from the source itself, engines and limits, bars for who looks."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import karat
from karat.engines.scanned import ScannedEngine
from karat.engines.sql import SqlScanner
from karat.formats.scans import ScannedFiles

N_ITEMS = 40_000


@pytest.fixture
def facts(tmp_path):
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({
        "fact": [f"f{i}" for i in range(N_ITEMS)],
        "score": rng.permutation(N_ITEMS) / N_ITEMS,
        "text": [f"text {i}" for i in range(N_ITEMS)],
    })  # fmt: skip
    frame.write_parquet(tmp_path / "facts.parquet")
    return tmp_path / "facts.parquet"


def test_a_plan_counts_the_items_itself(facts, karat_cli):
    by_number = karat_cli("plan", "--items", N_ITEMS, "--method", "paula", "--json").json
    pl.read_parquet(facts).rename({"score": "confidence"}).write_parquet(facts.with_name("other.parquet"))
    assert karat_cli("plan", facts.with_name("other.parquet"), "--method", "paula", "--json").json == by_number
    named = karat_cli(
        "plan", facts.with_name("other.parquet"), "--score", "confidence", "--method", "paula", "--json"
    ).json
    with_scores = karat_cli("plan", facts, "--method", "paula", "--engine", "duckdb", "--json").json
    assert named == with_scores
    spread = with_scores.pop("scores")
    assert with_scores == by_number
    assert list(spread) == ["highest", "top 1%", "top 10%", "top 50%", "top 90%", "lowest"]
    assert spread["highest"] == (N_ITEMS - 1) / N_ITEMS
    assert spread["top 10%"] == pytest.approx(0.9)
    assert spread["lowest"] == 0.0
    assert "Scores: highest 1, top 1% 0.99" in karat_cli("plan", facts, "--score", "score", "--method", "paula").out


@pytest.mark.parametrize(("n_items", "labels"), [(169_000_000, 39_892), (2_000_000_000, 48_292)])
def test_plans_of_the_papers_sizes(n_items, labels, karat_cli):
    assert karat_cli("plan", "--items", n_items, "--method", "paula", "--json").json["labels"] == labels


def test_a_plan_needs_one_size(facts, karat_cli):
    both = f"'--items' must be left out where a resource is counted; got 5 and {facts}."
    neither = "'SOURCE' or '--items' must be given: a resource whose items are counted, or their number."
    for arguments, message in (((), neither), ((facts, "--items", 5), both)):
        ran = karat_cli("plan", *arguments)
        assert ran.code == 1
        assert ran.err == f"karat: {message}\n"


def test_a_draw_is_the_same_on_every_engine(facts, karat_cli, tmp_path):
    documents = []
    for engine in ("memory", "duckdb"):
        ran = karat_cli(
            "draw", facts, "--score", "score", "--id", "fact", "--method", "paula", "--epsilon", "0.1", "--engine",
            engine, "--memory-limit", "500MB", "--spill-directory", tmp_path, "--check-ids", "--seed", 3,
            "-o", tmp_path / f"{engine}.json", "--items-out", tmp_path / f"{engine}.csv",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        documents.append(json.loads((tmp_path / f"{engine}.json").read_text()))
    assert documents[0] == documents[1]
    assert (tmp_path / "memory.csv").read_bytes() == (tmp_path / "duckdb.csv").read_bytes()
    assert not list(tmp_path.glob("karat-*"))


def test_who_watches_sees_every_scan(facts):
    seen: list[tuple[str, float | None]] = []
    table = ScannedFiles(facts, watch=lambda what, share: seen.append((what, share)))
    ScannedEngine(SqlScanner(table, score="score", id="fact")).items_at(np.array([1, 500]))
    names = [what for what, _ in seen]
    scans = ["reading the range of scores", "counting", "fetching candidates", "fetching items"]
    assert list(dict.fromkeys(names)) == scans
    assert all(share is not None and 0 <= share <= 1 for _, share in seen)
    assert [share for what, share in seen if what == "counting"][-1] == 1.0


def test_a_terminal_gets_a_bar(facts, tmp_path):
    """Run the command on a pseudo-terminal, as a person does."""
    import os
    import pty
    import subprocess
    import sys

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "karat", "draw", str(facts), "--score", "score", "--id", "fact", "--method",
               "paula", "--epsilon", "0.1", "--engine", "duckdb", "-o", str(tmp_path / "draw.json")]  # fmt: skip
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.PIPE, env=environment) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            said += piece
        assert process.wait(timeout=60) == 0
    os.close(ours)
    assert "━" in said.decode(errors="replace")


def test_next_checks_the_resource(facts, karat_cli, tmp_path):
    draw, labels = tmp_path / "draw.json", tmp_path / "labels.csv"
    assert karat_cli("draw", facts, "--score", "score", "--id", "fact", "-o", draw, "--items-out", labels).code == 0
    pl.read_parquet(facts)[1:].write_parquet(facts)
    filled = pl.read_csv(labels).with_columns(label=pl.lit(1))
    filled.write_csv(labels)
    ran = karat_cli("next", draw, labels, "-n", 10)
    assert ran.code == 1
    assert "it had 40,000 items and has 39,999 now" in ran.err


def test_a_proxy_needs_a_list_in_memory(facts):
    engine = karat.open(facts, score="score", id="fact", engine="duckdb")
    with pytest.raises(karat.InvalidInput, match="'proxy' needs the whole list in rank order"):
        karat.Study(engine, proxy="score")


def test_a_column_keeps_its_name_in_an_error(tmp_path, karat_cli):
    """The option is called like the column: the sentence is about the column."""
    path = tmp_path / "lists.parquet"
    pl.DataFrame({"fact": ["a", "b"], "score": [[1.0], [2.0]]}).write_parquet(path)
    ran = karat_cli("plan", path, "--score", "score", "--method", "paula", "--engine", "duckdb")
    assert ran.code == 1
    assert "column 'score' must be numeric" in ran.err
