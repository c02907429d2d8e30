"""Every command from end to end, in this process: results, JSON, exit codes, complaints, help."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
import resource as resource_module
import subprocess
import sys
from pathlib import Path

import builders
import numpy as np
import pandas as pd
import pytest

import karat
from karat.cli.main import make_app
from karat.cli.options import METHOD_PARAMETERS
from karat.designs import catalogue

N = 6000
METHODS = {
    "paula": ["--epsilon", "0.1", "--window", "20"],
    "stratified": ["--epsilon", "0.2", "--window", "20"],
    "uniform": ["--labels", "800"],
    "point": ["--rank", "2000", "--labels", "300"],
}


@pytest.fixture(scope="module")
def resource(tmp_path_factory):
    """A labelled resource of 6,000 facts and its labels by id."""
    folder = tmp_path_factory.mktemp("resource")
    rng = np.random.default_rng(3)
    labels = builders.falling_rate(N, rng)
    order = rng.permutation(N)
    frame = pd.DataFrame({
        "fact": [f"f{n}" for n in range(N)],
        "score": np.round(1 - order / N, 3),
        "claim": [f"claim {n}" for n in range(N)],
        "truth": labels[order],
    })  # fmt: skip
    frame.to_csv(folder / "facts.csv", index=False)
    frame.to_parquet(folder / "facts.parquet")
    return folder, dict(zip(frame["fact"], frame["truth"].tolist(), strict=True))


def fill(path, truth, *, leave_out: int = 0) -> None:
    """Fill the column 'label' of a file of items as a person would."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for number, row in enumerate(rows):
        row["label"] = "" if number < leave_out else ("yes" if truth[row["id"]] else "no")
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def drawn(resource, tmp_path_factory):
    """Return a function that draws with a method and labels everything: (draw.json, labels.csv)."""
    from karat.cli.main import main

    source, truth = resource
    made = {}

    def make(method):
        if method not in made:
            folder = tmp_path_factory.mktemp(method)
            code = main(["draw", str(source / "facts.csv"), "--score", "score", "--id", "fact", "--method", method,
                         *METHODS[method], "--seed", "4", "-o", str(folder / "draw.json"),
                         "--items-out", str(folder / "labels.csv")])  # fmt: skip
            assert code == 0
            fill(folder / "labels.csv", truth)
            made[method] = folder / "draw.json", folder / "labels.csv"
        return made[method]

    return make


# --- plan


def test_plan_keys_for_paula(karat_cli):
    ran = karat_cli("plan", "--items", 217_077, "--method", "paula", "--json")
    assert ran.code == 0
    assert ran.err == ""
    wanted = {"labels", "epsilon", "window", "r_tilde", "l", "g_l", "m", "L", "gamma", "factor"}
    assert wanted <= set(ran.json)
    assert ran.json["labels"] == 17_392


@pytest.mark.parametrize("method", METHODS)
def test_plan_in_words_and_with_costs(karat_cli, method):
    ran = karat_cli("plan", "--items", N, "--method", method, *METHODS[method], "--cost-per-label", 0.25, "--json")
    assert ran.json["cost"] == ran.json["labels"] * 0.25
    words = karat_cli("plan", "--items", N, "--method", method, *METHODS[method])
    assert words.code == 0
    assert f"{method} needs {ran.json['labels']:,} labels for 6,000 items." in words.out


def test_plan_compare_is_figure_1(karat_cli, tmp_path):
    ran = karat_cli("plan", "--items", 10_000_000, "--compare", "--plot", tmp_path / "labels.png", "--json")
    assert ran.code == 0
    assert (tmp_path / "labels.png").read_bytes().startswith(b"\x89PNG")
    assert "wrote" in ran.err
    rows = {row["epsilon"]: row for row in ran.json["rows"]}
    assert rows[0.03]["paula"] == 30_392
    assert ran.json["certify_runs"] == 1  # how many simulations its labels are the mean of
    assert set(rows[0.03]) >= {"epsilon", "factor", "paula", "stratified", "uniform"}
    words = karat_cli("plan", "--items", 4000, "--compare")
    assert f"{karat.Paula(epsilon=0.05).plan(4000)['labels']:,}" in words.out


# --- draw, curve, gate


@pytest.mark.parametrize("method", METHODS)
def test_draw_then_curve(karat_cli, drawn, resource, method, tmp_path):
    draw, labels = drawn(method)
    document = karat.load_draw(draw)
    assert (document.method, document.seed, document.n_items) == (method, 4, N)
    ran = karat_cli("curve", draw, labels, "--at", 100, "--at", 2000, "--json", "--html", tmp_path / "report.html",
                    "--plot", tmp_path / "curve.svg")  # fmt: skip
    assert ran.code == 0
    result = ran.json
    assert result["method"] == method
    assert [row["rank"] for row in result["at"]] == [100, 2000]
    for row in result["at"]:
        for name in ("precision", "yield", "recall", "f1", "false_positive_rate", "specificity", "accuracy", "lift"):
            assert {"estimate", "low", "high", "confidence_level", "guarantee", "method", "n_labels"} <= set(row[name])
    assert "<!doctype html>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<svg" in (tmp_path / "curve.svg").read_text(encoding="utf-8")
    words = karat_cli("curve", draw, labels)
    assert words.code == 0
    assert ("top 1,000" in words.out) == (method != "point")
    assert ("ROC AUC" in words.out) == (method != "point")
    # the same through the library
    truth = resource[1]
    values = [truth[id_] for id_ in document.ids]
    curve = karat.curve_from(document, karat.Labels.from_pairs(document.ranks, values))
    assert result["at"][1]["precision"]["low"] == pytest.approx(curve.at(2000).low)


def test_curve_with_open_labels_and_known_positives(karat_cli, drawn, resource, tmp_path):
    draw, labels = drawn("uniform")
    part = tmp_path / "part.csv"
    part.write_bytes(labels.read_bytes())
    fill(part, resource[1], leave_out=50)
    ran = karat_cli("curve", draw, part, "--positives", "5,000-6,000", "--at", 1000, "--json")
    assert ran.code == 0
    assert any("50 of" in note and "missing or unsure" in note for note in ran.json["notes"])
    recall = ran.json["at"][0]["recall"]
    assert 0 < recall["low"] < recall["high"] < 0.2
    one = karat_cli("curve", draw, part, "--positives", "5000", "--at", 1000, "--json").json["at"][0]["recall"]
    assert recall["low"] <= one["low"] <= one["high"] <= recall["high"]


@pytest.mark.parametrize("wrong", ["many", "5-", "1-2-3", "-5", "0", "6000-5000", "3"])
def test_positives_that_make_no_sense(karat_cli, drawn, wrong):
    ran = karat_cli("curve", *drawn("uniform"), f"--positives={wrong}")
    assert ran.code == 1
    assert "positives" in ran.err


def test_gate(karat_cli, drawn):
    draw, labels = drawn("uniform")
    at = karat_cli("curve", draw, labels, "--at", 2000, "--json").json["at"][0]
    sure, unsure = at["precision"]["low"] - 0.001, at["precision"]["low"] + 0.001
    passed = karat_cli("gate", draw, labels, "--precision", sure, "--rank", 2000, "--json")
    assert (passed.code, passed.json["passed"]) == (0, True)
    assert passed.json["checks"][0]["low"] == at["precision"]["low"]
    failed = karat_cli("gate", draw, labels, "--precision", unsure, "--rank", 2000)
    assert failed.code == 2
    assert "NOT certain" in failed.out
    recall = at["recall"]["low"]
    assert karat_cli("gate", draw, labels, "--recall", recall - 0.001, "--rank", 2000).code == 0
    assert karat_cli("gate", draw, labels, "--recall", recall + 0.001, "--rank", 2000).code == 2
    both = karat_cli("gate", draw, labels, "--recall", recall - 0.001, "--precision", unsure, "--rank", 2000, "--json")
    assert (both.code, both.json["passed"]) == (2, False)
    assert karat_cli("gate", draw, labels, "--precision", 0.01).code == 0


@pytest.mark.parametrize(
    "arguments",
    [[], ["--precision", "2"], ["--precision", "0"], ["--precision", "nan"], ["--precision", "0.5", "--rank", "0"],
     ["--precision", "0.5", "--rank", "6001"], ["--recall", "-1"], ["--precision", "high"]],
    ids=" ".join,
)  # fmt: skip
def test_a_gate_that_cannot_run_exits_1(karat_cli, drawn, arguments):
    ran = karat_cli("gate", *drawn("uniform"), *arguments)
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("karat: ")


def by_rank(path, ranks, values) -> None:
    builders.write_table(path, {"rank": ranks, "label": values})


def test_a_gate_never_passes_on_contradicted_assumptions(karat_cli, tmp_path):
    """Precision rises far down: PAULA's lower bound is above the truth, and its own labels say so."""
    n_items = 50_000
    labels = np.tile([1, 0], n_items // 2)
    labels[20_000:] = 1
    design = karat.Paula().begin(n_items)
    ranks = design.ask()
    karat.save_draw(tmp_path / "draw.json", design.draw)
    by_rank(tmp_path / "labels.csv", ranks, labels[ranks - 1])
    curve = karat.curve_from(design.draw, karat.Labels.from_pairs(ranks, labels[ranks - 1]))
    target = curve.at(40_000).low - 0.01
    ran = karat_cli(
        "gate", tmp_path / "draw.json", tmp_path / "labels.csv", "--precision", target, "--rank", 40_000, "--json"
    )
    assert ran.code == 2
    assert ran.json["contradicted"]
    # the top is labelled whole: there the numbers are exact, whatever is assumed
    assert (
        karat_cli("gate", tmp_path / "draw.json", tmp_path / "labels.csv", "--precision", 0.5, "--rank", 3000).code == 0
    )


def test_a_gate_never_passes_on_crossed_bounds(karat_cli, tmp_path):
    """Uniform draws that happened to miss every wrong item: the bounds cross, so nothing is certain."""
    method = karat.Uniform(labels=900)
    plan = method.plan(1000)
    drawn = np.arange(plan["exhaustive"] + 1, plan["exhaustive"] + 1 + plan["draws"])
    ranks = np.r_[1 : plan["exhaustive"] + 1, drawn]
    draw = karat.Draw(method="uniform", parameters={"labels": 900}, seed=0, n_items=1000)
    karat.save_draw(tmp_path / "draw.json", draw.append(ranks, columns={"drawn": drawn}))
    by_rank(tmp_path / "labels.csv", ranks, (ranks > plan["exhaustive"]).astype(int))
    ran = karat_cli("curve", tmp_path / "draw.json", tmp_path / "labels.csv", "--json")
    assert ran.json["crossed"]
    ran = karat_cli("gate", tmp_path / "draw.json", tmp_path / "labels.csv", "--precision", 0.8, "--rank", 1000)
    assert ran.code == 2


def test_draw_says_what_to_do_next(karat_cli, resource, tmp_path):
    source = resource[0] / "facts.parquet"
    ran = karat_cli("draw", source, "--score", "score", "--method", "point", "--labels", 20, "-o", tmp_path / "d.json",
                    "--items-out", tmp_path / "items.csv", "--show-scores")  # fmt: skip
    assert ran.code == 0
    assert "of 6,000 items to label" in ran.out
    assert "karat next" not in ran.out
    assert f"karat curve {tmp_path / 'd.json'} {tmp_path / 'items.csv'}" in ran.out
    head = (tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head == "id,rank,score,fact,claim,truth,label"
    as_json = karat_cli("draw", source, "--score", "score", "--method", "point", "--labels", 20, "-o",
                        tmp_path / "d.json", "--overwrite", "--json")  # fmt: skip
    assert as_json.json["n_items"] == N
    assert as_json.json["method"] == "point"


def test_draws_that_fall_on_an_item_twice_are_explained(karat_cli, resource, tmp_path):
    arguments = ["draw", resource[0] / "facts.csv", "--score", "score", "--method", "point", "--rank", 50]
    ran = karat_cli(*arguments, "--labels", 40, "-o", tmp_path / "d.json")
    n_items = karat.load_draw(tmp_path / "d.json").n_ranks
    assert n_items < 40
    assert ran.out.startswith(f"{n_items} of 6,000 items to label now (point)")
    assert "They come from 40 draws: an item that is drawn again is labelled once." in ran.out
    assert "'--items-out to_label.csv' gives a table to fill" in ran.out
    whole = karat_cli(*arguments, "--labels", 50, "-o", tmp_path / "whole.json")
    assert "They come from" not in whole.out


def test_a_draw_that_goes_on_says_so_before_the_curve(karat_cli, resource, tmp_path):
    ran = karat_cli("draw", resource[0] / "facts.csv", "--score", "score", "--id", "fact", "--budget", 200,
                    "-o", tmp_path / "d.json", "--items-out", tmp_path / "items.csv")  # fmt: skip
    assert 0 < ran.out.index("karat next") < ran.out.index("karat curve")


def test_a_forecast_that_cannot_be_made_is_explained(karat_cli, drawn):
    out = karat_cli("curve", *drawn("uniform"), "--forecast").out
    assert "No forecast: uniform lays out all its labels at once; certify can go on." in out


def test_labels_of_another_draw_and_swapped_files(karat_cli, drawn):
    draw, labels = drawn("uniform")
    _, others = drawn("paula")
    assert "are not: are they labels of another draw?" in karat_cli("curve", draw, others).err
    swapped = karat_cli("curve", labels, draw).err
    assert "is not a draw" in swapped
    assert "The draw comes first, then its labels." in swapped


def test_draw_lower_is_better(karat_cli, tmp_path):
    builders.write_table(tmp_path / "a.csv", {"id": list("abcde"), "distance": [5, 1, 4, 2, 3]})
    karat_cli("draw", tmp_path / "a.csv", "--score", "distance", "--id", "id", "--method", "paula", "--lower-is-better",
              "-o", tmp_path / "d.json")  # fmt: skip
    assert karat.load_draw(tmp_path / "d.json").ids == list("bdeca")


def test_draw_many_files_by_glob(karat_cli, tmp_path):
    builders.write_table(tmp_path / "p1.csv", {"id": ["a"], "score": [1]})
    builders.write_table(tmp_path / "p2.csv", {"id": ["b"], "score": [2]})
    assert karat_cli("draw", tmp_path / "p*.csv", "--score", "score", "--id", "id", "--method", "paula", "-o",
                     tmp_path / "d.json").code == 0  # fmt: skip
    assert karat.load_draw(tmp_path / "d.json").ids == ["b", "a"]


# --- metrics


def test_metrics(karat_cli, resource, tmp_path):
    from sklearn.metrics import average_precision_score, roc_auc_score

    source = resource[0] / "facts.parquet"
    frame = pd.read_parquet(source)
    ran = karat_cli("metrics", source, "--score", "score", "--label", "truth", "--at", 100, "--at", N, "--json",
                    "--plot", tmp_path / "roc.svg", "--kind", "roc")  # fmt: skip
    assert ran.code == 0
    assert ran.json["average_precision"] == pytest.approx(average_precision_score(frame["truth"], frame["score"]))
    assert ran.json["roc_auc"] == pytest.approx(roc_auc_score(frame["truth"], frame["score"]))
    assert ran.json["at"][1]["recall"] == 1.0
    assert (tmp_path / "roc.svg").stat().st_size > 1000
    random = karat_cli("metrics", source, "--score", "score", "--label", "truth", "--ties", "random", "--json")
    assert random.json["ties"] == "random"
    words = karat_cli("metrics", source, "--score", "score", "--label", "truth", "--at", 100)
    assert "Average precision" in words.out
    assert "top 1" in words.out
    lower = karat_cli("metrics", source, "--score", "score", "--label", "truth", "--lower-is-better", "--json")
    assert lower.json["roc_auc"] == pytest.approx(1 - ran.json["roc_auc"])


def test_metrics_of_one_sided_labels(karat_cli, tmp_path):
    builders.write_table(tmp_path / "a.csv", {"score": [3, 2, 1], "label": [1, 1, 1]})
    ran = karat_cli("metrics", tmp_path / "a.csv", "--score", "score", "--label", "label", "--at", 2, "--json")
    assert (ran.code, ran.json["roc_auc"], ran.json["average_precision"]) == (0, None, 1.0)
    words = karat_cli("metrics", tmp_path / "a.csv", "--score", "score", "--label", "label", "--at", 2)
    assert "undefined" in words.out


def test_metrics_explains_ties_and_words(karat_cli, tmp_path):
    table = {"score": [3, 2, 2, 2, 1], "label": [1, 0, 1, 0, 1], "word": ["pos"] * 5}
    builders.write_table(tmp_path / "t.csv", {name: [str(value) for value in column] for name, column in table.items()})
    arguments = ["metrics", tmp_path / "t.csv", "--score", "score", "--label"]
    ran = karat_cli(*arguments, "label", "--at", 2, "--at", 4)
    assert "Rank 2 stands among items with equal scores, which are kept together: top 4." in ran.out
    assert "Rank 4 " not in ran.out
    assert "Rank" not in karat_cli(*arguments, "label", "--at", 2, "--ties", "random").out
    assert "row 1, column 'word': expected 0 or 1; got 'pos'" in karat_cli(*arguments, "word").err


def test_defects_are_counted_once(karat_cli, tmp_path):
    builders.write_table(tmp_path / "bad.csv", {"id": ["a", "b", "c"], "score": ["0.5", "x", "y"]})
    err = karat_cli("draw", tmp_path / "bad.csv", "--score", "score", "--id", "id", "-o", tmp_path / "d.json").err
    assert "(2 such rows in all; --json lists every one)." in err
    assert err.count("in all") == 1


def test_a_table_that_is_no_file_of_trec(karat_cli, tmp_path):
    builders.write_table(tmp_path / "t.csv", {"id": ["a", "b", "c"], "label": ["1", "0", "1"]})
    err = karat_cli("trec", tmp_path / "t.csv", tmp_path / "t.csv").err
    assert err.count("\n") == 1
    assert "line 1: expected 'topic iteration docid grade'; got 1 word. 4 lines are not as in qrels" in err
    assert "imported" not in err


def test_metrics_names_a_bad_label(karat_cli, tmp_path):
    builders.write_table(tmp_path / "a.csv", {"score": [3, 2, 1], "label": [1, 0, 7]})
    ran = karat_cli("metrics", tmp_path / "a.csv", "--score", "score", "--label", "label")
    assert ran.code == 1
    assert "a.csv, row 3, column 'label': expected 0 or 1; got 7" in ran.err


def test_metrics_names_the_file_of_a_bad_label(karat_cli, tmp_path):
    builders.write_table(tmp_path / "a.csv", {"score": [3, 2, 1], "label": [1, 0, 1]})
    builders.write_table(tmp_path / "b.csv", {"score": [3, 2], "label": [1, 7]})
    ran = karat_cli("metrics", tmp_path / "a.csv", tmp_path / "b.csv", "--score", "score", "--label", "label")
    assert ran.code == 1
    assert "b.csv, row 2, column 'label'" in ran.err


# --- simulate


@pytest.mark.parametrize("method", METHODS)
def test_simulate(karat_cli, resource, method):
    ran = karat_cli("simulate", resource[0] / "facts.csv", "--score", "score", "--label", "truth", "--method", method,
                    *METHODS[method], "--replications", 4, "--seed", 5, "--json")  # fmt: skip
    assert ran.code == 0
    assert ran.err == ""
    keys = {"labels_mean", "labels_max", "coverage", "covered_ranks", "claimed_factor", "factor_max", "error_median",
            "error_p95"}  # fmt: skip
    assert keys <= set(ran.json)
    assert 0 <= ran.json["coverage"] <= ran.json["covered_ranks"] <= 1
    if method != "paula":
        assert ran.json["coverage"] == 1.0
    again = karat_cli("simulate", resource[0] / "facts.parquet", "--score", "score", "--label", "truth", "--method",
                      method, *METHODS[method], "--replications", 4, "--seed", 5, "--json")  # fmt: skip
    assert again.json == ran.json
    words = karat_cli("simulate", resource[0] / "facts.csv", "--score", "score", "--label", "truth", "--method", method,
                      *METHODS[method], "--replications", 1)  # fmt: skip
    assert "coverage: truth inside the bounds at every rank" in words.out
    assert ("the labels contradict its assumptions in 100%" in words.out) == (method == "paula")


# --- demo


def test_demo(karat_cli, tmp_path):
    ran = karat_cli("demo", "--items", 8000, "--folder", tmp_path / "demo", "--json")
    assert ran.code == 0
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"facts.csv", "paula.json", "uniform.json", "report.html", "curve.png"} <= names
    assert not [name for name in names if name.startswith(".")]
    assert {"paula", "uniform"} <= set(ran.json["curves"])
    truth = ran.json["truth"]
    points = ran.json["curves"]["uniform"]["points"]
    whole = points["precision_low"][-1], points["precision_high"][-1]
    assert whole[0] <= truth["8000"] <= whole[1]
    assert "contradicted" in {assumption["verdict"] for assumption in ran.json["curves"]["paula"]["assumptions"]}
    assert "the labels contradict its assumptions" in (tmp_path / "demo/report.html").read_text(encoding="utf-8")


def test_demo_in_words(karat_cli, tmp_path):
    ran = karat_cli("demo", "--items", 1000, "--folder", tmp_path / "demo")
    assert ran.code == 0
    assert "Generated 1,000 facts such as" in ran.out
    assert "report.html" in ran.out


def child_seconds() -> float:
    """Return the processor time of finished child processes: unlike the clock, the same on a busy machine."""
    used = resource_module.getrusage(resource_module.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.long
def test_the_whole_demo_in_under_a_minute(tmp_path):
    start = child_seconds()
    ran = subprocess.run(
        [sys.executable, "-m", "karat", "demo", "--folder", str(tmp_path / "demo"), "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["n_items"] >= 200_000
    assert child_seconds() - start < 60
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for curve in found["curves"].values():  # one demo, one number: run tools/make_pictures.py too if it changes
        assert f"{curve['n_labels']:,}" in page


def test_the_example_of_the_readme_needs_no_table_library(tmp_path):
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    example = page.partition("```python\n")[2].partition("```")[0]
    absent = "import sys; sys.modules.update(dict.fromkeys(['pandas', 'polars', 'pyarrow']))\n"
    ran = subprocess.run([sys.executable, "-c", absent + example], cwd=tmp_path, capture_output=True, text=True,
                         check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "Of 20,000 items, between" in ran.stdout


# --- help, version, complaints

COMMANDS = sorted(command.name for command in make_app().registered_commands)


def test_all_commands_are_there(karat_cli):
    assert {"plan", "draw", "curve", "simulate", "gate", "metrics", "demo"} <= set(COMMANDS)
    ran = karat_cli("--help")
    assert ran.code == 0
    for command in COMMANDS:
        assert command in ran.out


def test_the_list_of_commands_is_the_same_without_importing_them(karat_cli, capsys):
    make_app()(args=["--help"], prog_name="karat", standalone_mode=False)
    whole = capsys.readouterr().out
    assert karat_cli("--help").out == whole
    listing = "import sys; from karat.cli.main import main; main(['--help']); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    loaded = ran.stdout.splitlines()[-1].split()
    assert "karat.cli.main" in loaded
    assert not {"numba", "duckdb", "sqlalchemy", "fastapi"}.intersection(loaded)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_json(karat_cli, command):
    ran = karat_cli(command, "--help")
    assert ran.code == 0
    assert "Examples" in ran.out
    assert f"karat {command} " in ran.out
    if command != "serve":  # it answers on HTTP
        assert "--json" in ran.out


@pytest.mark.parametrize("command", ["plan", "draw", "simulate"])
def test_examples_in_help_name_options_that_exist(karat_cli, command):
    """Every long option of an example is one of the command's own."""
    out = karat_cli(command, "--help").out
    example = re.findall(rf"karat {command} [^│╭]*?(?:\n\s*\n)", out)
    assert example
    own = set(re.findall(r"[│*] +(--[a-z-]+)", out))
    for option in re.findall(r"--[a-z-]+", " ".join(example)):
        assert option in own


def test_an_error_names_the_option_of_its_command(karat_cli, drawn):
    files = drawn("uniform")
    ran = karat_cli("curve", *files, "--at", 1_000_000)
    assert ran.err == "karat: '--at' must be a whole number from 1 to 6,000; got 1000000.\n"
    assert "'--precision' must be in (0, 1]; got 2.0." in karat_cli("gate", *files, "--precision", 2).err
    assert "'--rank' must be" in karat_cli("gate", *files, "--precision", 0.5, "--rank", 0).err


@pytest.mark.parametrize("command", ["draw", "pool create", "judge project"])
def test_help_names_no_type_of_a_flag(karat_cli, command):
    page = karat_cli(*command.split(), "--help").out
    assert "--json" in page
    assert "<bool>" not in page


def test_defaults_in_help_are_those_of_the_methods():
    told = {name: re.findall(r"\[default: ([^]]+)\]", text) for name, (_, text) in METHOD_PARAMETERS.items()}
    for name in catalogue.METHODS:
        for field in dataclasses.fields(catalogue.make_method(name)):
            if field.default is not None and field.default is not False:
                assert str(field.default) in told[field.name], (name, field.name)
            elif field.default is None:
                assert told[field.name], (name, field.name)


def test_version(karat_cli):
    ran = karat_cli("--version")
    assert (ran.code, ran.out) == (0, f"karat {karat.__version__}\n")


def test_as_a_module():
    ran = subprocess.run([sys.executable, "-m", "karat", "gate", "none.json", "none.csv", "--precision", "0.5"],
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert ran.returncode == 1
    assert ran.stderr == "karat: none.json cannot be read: No such file or directory.\n"


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["plan"], "'SOURCE' or '--items' must be given"),
        (["plan", "x.csv", "--items", "5"], "'--items' must be left out"),
        (["plan", "--items", "5", "--budget", "0"], "'--budget' must be a whole number of at least 1; got 0."),
        (
            ["draw", "x.csv", "--score", "s", "-o", ".", "--confidence", "2"],
            "'--confidence' must be in (0, 1); got 2.0.",
        ),
        (["pool", "scores", "nowhere"], "nowhere holds no pool; 'karat pool create nowhere' or"),
        (["plan", "--items", "0", "--method", "paula"], "'--items' must be"),
        (["plan", "--items", "x"], "--items"),
        (["plan", "--items", "5", "--method", "magic"], "'--method' must be one of"),
        (
            ["plan", "--items", "5", "--method", "paula", "--alpha", "0.1"],
            "'--alpha' does not go with '--method paula', which takes --epsilon, --window, --stable-after.",
        ),
        (["plan", "--items", "5", "--method", "paula", "--epsilon", "2"], "'--epsilon' must be in (0, 1]; got 2.0."),
        (["plan", "--items", "5", "--plot", "x.png"], "'--plot' goes with '--compare'"),
        (["metrics", "none.csv", "--score", "s", "--label", "l"], "No file matches 'none.csv'"),
        (["curve", "none.json", "none.csv"], "none.json cannot be read"),
        (["simulate", "none.csv", "--score", "s", "--label", "l", "--replications", "0"], ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_complaints_are_one_line_on_stderr(karat_cli, argv, word):
    ran = karat_cli(*argv)
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("karat: ")
    assert word in ran.err
    assert ran.err.count("\n") == 1


def test_a_tampered_draw_is_refused(karat_cli, drawn, tmp_path):
    draw, labels = drawn("uniform")
    document = json.loads(draw.read_text())
    document["batches"][0]["ranks"][5] += 1
    (tmp_path / "draw.json").write_text(json.dumps(document))
    for command in (["curve"], ["gate", "--precision", "0.5"]):
        ran = karat_cli(command[0], tmp_path / "draw.json", labels, *command[1:])
        assert ran.code == 1
        assert "does not match its seal" in ran.err


def test_labels_of_strangers_are_refused(karat_cli, drawn, tmp_path):
    draw, _ = drawn("uniform")
    builders.write_table(tmp_path / "labels.csv", {"id": ["nobody"], "label": ["yes"]})
    ran = karat_cli("curve", draw, tmp_path / "labels.csv")
    assert ran.code == 1
    assert "row 1, column 'id': expected an item of the draw; got 'nobody'" in ran.err


@pytest.mark.parametrize(
    "argv",
    [
        ["plan", "--items", "100000", "--compare", "--plot", "{folder}/x.magic"],
        ["plan", "--items", "100000", "--compare", "--plot", "{folder}/none/x.png"],
        ["plan", "--items", "100", "--method", "paula", "--cost-per-label", "nan", "--json"],
        ["draw", "{csv}", "--score", "score", "--method", "paula", "-o", "{folder}"],
        ["draw", "{csv}", "--score", "score", "--method", "paula", "-o", "{folder}/none/x.json"],
        ["draw", "{csv}", "--score", "score", "--method", "paula", "--seed", "-1", "-o", "{folder}/x.json"],
        ["metrics", "{csv}", "--score", "score", "--label", "truth", "--plot", "{folder}/x.magic"],
        ["simulate", "{csv}", "--score", "score", "--label", "truth", "--method", "paula", "--seed", "-1"],
        ["simulate", "{csv}", "--score", "score", "--label", "truth", "--method", "paula", "--judged-from", "0"],
        ["demo", "--items", "-5", "--folder", "{folder}/demo"],
        ["demo", "--items", "100", "--seed", "-1", "--folder", "{folder}/demo"],
        ["demo", "--items", "100", "--folder", "{csv}"],
    ],
    ids=lambda argv: " ".join(argv[:1] + argv[-2:]),
)
def test_what_cannot_be_done_exits_1_and_says_so(karat_cli, resource, tmp_path, argv):
    """Never a traceback: each of these is a person's mistake."""
    filled = [word.format(folder=tmp_path, csv=resource[0] / "facts.csv") for word in argv]
    ran = karat_cli(*filled)
    assert ran.code == 1
    assert ran.err.startswith("karat: ")


def test_an_interrupted_draw_leaves_nothing(karat_cli, resource, tmp_path, monkeypatch):
    from karat import study

    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(study.json, "dump", interrupt)
    ran = karat_cli(
        "draw", resource[0] / "facts.csv", "--score", "score", "--method", "paula", "-o", tmp_path / "d.json"
    )
    assert ran.code == 1
    assert "interrupted" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_million_rows_in_seconds(tmp_path):
    """Replays a million rows beside a wide text column: time in seconds, memory in the columns that are read."""
    n_items = 1_000_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "score": -np.arange(n_items, dtype=float),
        "label": builders.falling_rate(n_items, rng),
        "text": np.char.add("x" * 200, np.arange(n_items).astype(str)),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "big.parquet")
    program = (
        "import resource, sys\nfrom karat.cli.main import main\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"code = main(['simulate', {str(tmp_path / 'big.parquet')!r}, '--score', 'score', '--label', 'label',"
        " '--method', 'paula', '--replications', '3', '--json'])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, file=sys.stderr)\nsys.exit(code)\n"
    )
    start = child_seconds()
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert child_seconds() - start < 20
    assert json.loads(ran.stdout)["n_items"] == n_items
    assert int(ran.stderr.split()[-1]) < 250 * 1024  # kB: some float arrays, not the 200 MB of text
