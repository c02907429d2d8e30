"""`karat pool` end to end: a leaderboard from files alone."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pytest

from karat.cli.main import main
from karat.pool import Pool


@pytest.fixture
def systems(tmp_path):
    rng = np.random.default_rng(2)
    truth = (rng.random(1500) < 0.4).astype(int)
    rows = []
    for name, skill in (("good", 3.0), ("fair", 1.2), ("poor", 0.2)):
        score = rng.normal(skill * truth)
        top = np.argsort(-score)[:400]
        table = pandas.DataFrame({"id": [f"x{k}" for k in top], "score": score[top]})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        rows.append(table.assign(system=name))
    pandas.concat(rows).to_parquet(tmp_path / "predictions.parquet")
    labels = pandas.DataFrame({"id": [f"x{k}" for k in range(1500)], "label": truth})
    labels.to_parquet(tmp_path / "labels.parquet")
    return tmp_path, dict(zip(labels["id"], labels["label"], strict=True))


def test_from_submissions_to_an_honest_leaderboard(systems, capsys):
    folder, truth = systems
    pool = str(folder / "pool")
    assert main(["pool", "create", pool, "--half-width", "0.08", "--seed", "4"]) == 0
    for name in ("good", "fair", "poor"):
        assert main(["pool", "add", pool, name, str(folder / f"{name}.csv"), "--team", name]) == 0
    bought = 0
    for round_ in range(10):
        capsys.readouterr()
        asked = folder / f"{round_}.csv"
        assert main(["pool", "next", pool, "--items-out", str(asked), "--json"]) == 0
        ids = json.loads(capsys.readouterr().out)["ids"]
        if not ids:
            break
        bought += len(ids)
        pandas.DataFrame({"id": ids, "label": [truth[item] for item in ids]}).to_csv(asked, index=False)
        assert main(["pool", "tell", pool, str(asked)]) == 0
    assert 0 < bought < 600
    capsys.readouterr()
    page, picture = folder / "board.html", folder / "board.png"
    assert main(["pool", "scores", pool, "--json", "--html", str(page), "--plot", str(picture)]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["system"] for row in rows] == ["good", "fair", "poor"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    for row in rows:
        ids = pandas.read_csv(folder / f"{row['system']}.csv")["id"]
        precision = np.mean([truth[item] for item in ids])
        assert abs(row["precision"]["estimate"] - precision) < 0.12
    assert "good leads by f1" in page.read_text()
    assert picture.stat().st_size > 3000
    assert main(["pool", "compare", pool, "good", "poor"]) == 0
    assert "good is better" in capsys.readouterr().out
    assert main(["pool", "retract", pool, "fair"]) == 0
    capsys.readouterr()
    assert main(["pool", "scores", pool, "--json"]) == 0
    assert [row["system"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["good", "poor"]


def test_a_bad_submission_leaves_the_pool_as_it_was(systems, capsys):
    folder, _ = systems
    pool = folder / "pool"
    assert main(["pool", "add", str(pool), "good", str(folder / "good.csv")]) == 0
    before = {path: path.read_bytes() for path in pool.rglob("*") if path.is_file()}
    bad = folder / "bad.csv"
    bad.write_text("id,score\nx1,0.5\nx1,0.4\n")
    assert main(["pool", "add", str(pool), "bad", str(bad)]) == 1
    assert "line 3" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in pool.rglob("*") if path.is_file()} == before


def test_the_studies_print_the_keys_they_promise(systems, capsys):
    folder, _ = systems
    files = [str(folder / "predictions.parquet"), "--labels", str(folder / "labels.parquet")]
    assert main(["pool", "simulate", *files, "--trials", "20", "--draws", "60", "--json"]) == 0
    estimators = json.loads(capsys.readouterr().out)["estimators"]
    promised = {"precision_bias_max", "precision_coverage", "recall_bias_max", "recall_coverage", "f1_coverage",
                "precision_variance_ratio", "labels"}  # fmt: skip
    assert {"simple", "joint", "default"} <= set(estimators)
    assert all(promised <= set(figures) for figures in estimators.values())
    assert main(["pool", "bias", *files, "--trials", "20"]) == 0
    assert "leave one out" in capsys.readouterr().out


def test_what_is_said_on_the_way(systems, capsys):
    folder, _truth = systems
    pool = folder / "pool"
    (folder / "one.csv").write_text("id,subject\nx1,=2+2\n")
    assert main(["pool", "create", str(pool), "--half-width", "0.7"]) == 1
    assert "'--half-width' must be in (0, 0.5)" in capsys.readouterr().err
    assert main(["pool", "add", str(pool), "good", str(folder / "good.csv")]) == 0
    assert "good is in with 400 predictions; 1 system in" in capsys.readouterr().out
    assert main(["pool", "add", str(pool), "good", str(folder / "one.csv")]) == 1
    assert "already, with 400 predictions; to put one.csv in their place, give --replace" in capsys.readouterr().err
    assert main(["pool", "add", str(pool), "good", str(folder / "one.csv"), "--replace"]) == 0
    assert "good replaces 400 predictions with 1; 1 system" in capsys.readouterr().out
    assert main(["pool", "retract", str(pool), "none"]) == 1
    assert "'SYSTEM' must be one of 'good'" in capsys.readouterr().err
    asked = folder / "asked.csv"
    assert main(["pool", "next", str(pool), "--items-out", str(asked)]) == 0
    assert "1 item to label" in capsys.readouterr().out
    assert asked.read_text().splitlines() == ["id,subject,label", "x1,'=2+2,"]
    asked.write_text("id,label\nx1,unsure\n")
    assert main(["pool", "tell", str(pool), str(asked)]) == 0
    assert "1 new label, 1 of all unsure" in capsys.readouterr().out
    asked.write_text("id,label\nx1,0\nnothing,0\n")
    assert main(["pool", "tell", str(pool), str(asked)]) == 1
    assert "asked.csv, line 3: id 'nothing' is in no submission; to keep such labels" in capsys.readouterr().err
    assert main(["pool", "tell", str(pool), str(asked), "--keep-unknown"]) == 0
    left = folder / "left.csv"
    assert main(["pool", "next", str(pool), "--items-out", str(left)]) == 0
    assert not left.exists()


def test_scores_are_corrected_for_wrong_labels(systems, capsys):
    folder, truth = systems
    pool = str(folder / "pool")
    assert main(["pool", "add", pool, "good", str(folder / "good.csv")]) == 0
    rng = np.random.default_rng(0)
    asked = folder / "asked.csv"
    while True:
        capsys.readouterr()
        assert main(["pool", "next", pool, "--json"]) == 0
        ids = json.loads(capsys.readouterr().out)["ids"]
        if not ids:
            break
        labels = [truth[item] if rng.random() < 0.8 else 1 - truth[item] for item in ids]
        pandas.DataFrame({"id": ids, "label": labels}).to_csv(asked, index=False)
        assert main(["pool", "tell", pool, str(asked)]) == 0

    def precision():
        capsys.readouterr()
        assert main(["pool", "scores", pool, "--confidence", "0.99", "--json"]) == 0
        return json.loads(capsys.readouterr().out)["rows"][0]["precision"]

    right = np.mean([truth[item] for item in pandas.read_csv(folder / "good.csv")["id"]])
    taken_for_right = precision()
    assert main(["pool", "errors", pool, "--sensitivity", "0.8", "--specificity", "0.8", "--items", "400"]) == 0
    corrected = precision()
    assert taken_for_right["high"] < right  # far off, and sure of it
    assert corrected["low"] <= right <= corrected["high"]
    assert corrected["high"] - corrected["low"] > taken_for_right["high"] - taken_for_right["low"]
    assert main(["pool", "errors", pool, "--sensitivity", "0.3", "--specificity", "0.5"]) == 1
    assert "'--sensitivity' must be more than 1 less specificity" in capsys.readouterr().err
    assert main(["pool", "errors", pool, "--sensitivity", "1", "--specificity", "1"]) == 0
    assert precision() == taken_for_right


def test_an_id_that_a_spreadsheet_would_run_comes_back_as_it_was(tmp_path):
    pool, asked = tmp_path / "pool", tmp_path / "asked.csv"
    (tmp_path / "one.csv").write_text("id\n=1+1\n'=1+1\nplain\n")
    assert main(["pool", "create", str(pool)]) == 0
    assert main(["pool", "add", str(pool), "one", str(tmp_path / "one.csv")]) == 0
    assert main(["pool", "next", str(pool), "--items-out", str(asked)]) == 0
    lines = asked.read_text().splitlines()
    assert sorted(lines[1:]) == ["''=1+1,", "'=1+1,", "plain,"]
    asked.write_text("\n".join([lines[0], *(f"{line}1" for line in lines[1:])]) + "\n")
    assert main(["pool", "tell", str(pool), str(asked)]) == 0
    assert Pool(pool).state.labels == {"=1+1": 1, "'=1+1": 1, "plain": 1}


def test_every_step_says_what_it_did_as_json(tmp_path, capsys):
    pool = str(tmp_path / "pool")
    (tmp_path / "a.csv").write_text("id,relation\n" + "".join(f"i{k},r{k // 2}\n" for k in range(8)))
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"i{k},1\n" for k in range(8)))
    true = tmp_path / "true.csv"
    true.write_text("relation,doc,n\nr0,d1,1\nr0,d1,1\nr8,d1,1\nr9,d2,4\nr1,d2,4\n")

    def run(*arguments):
        assert main(["pool", *arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert run("create", pool, "--relation", "relation", "--half-width", "0.01")["relation"] == ["relation"]
    added = run("add", pool, "a", str(tmp_path / "a.csv"))
    assert (added["n_predictions"], added["replaced"], added["n_systems"]) == (8, None, 1)
    while run("next", pool)["ids"]:
        assert run("tell", pool, str(tmp_path / "labels.csv"))["labels"] == 8
    # The pool's own relation is what the file's column names; r0 told twice for d1 counts once: 1.25 of 2.5.
    assert run("truth", pool, str(true), "--document", "doc", "--stated-in", "n")["relations"] == 5
    assert run("scores", pool)["pool_recall"] == pytest.approx(1.25 / 2.5)
    assert run("errors", pool, "--sensitivity", "1", "--specificity", "1")["sensitivity"] == 1
    assert run("add", pool, "a", str(tmp_path / "a.csv"), "--replace")["replaced"] == 1
    assert run("retract", pool, "a") == {"retracted": "a", "n_systems": 0}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("r0,d1,1\n,d2,1\n", "row 2: the column 'relation' is empty"),
        ("r0,,1\n", "row 1: the column 'doc' is empty"),
        ("r0,d1,x\n", "row 1, column 'n': expected a finite number; got 'x'"),
        ("r0,d1,0.5\n", "'--stated-in' must be a whole number of at least 1; got 0.5"),
    ],
)
def test_bad_truth_is_refused(tmp_path, capsys, rows, reason):
    pool = tmp_path / "pool"
    Pool.create(pool, relation=["relation"])
    (tmp_path / "true.csv").write_text("relation,doc,n\n" + rows)
    assert main(["pool", "truth", str(pool), str(tmp_path / "true.csv"), "--document", "doc", "--stated-in", "n"]) == 1
    assert reason in capsys.readouterr().err
    assert not Pool(pool).state.truth


def test_a_bad_first_submission_makes_no_pool(tmp_path, capsys):
    (tmp_path / "bad.csv").write_text("id\na\na\n")
    assert main(["pool", "add", str(tmp_path / "pool"), "a", str(tmp_path / "bad.csv")]) == 1
    assert "line 3: id 'a' appears twice, first on line 2" in capsys.readouterr().err
    assert not (tmp_path / "pool").exists()
