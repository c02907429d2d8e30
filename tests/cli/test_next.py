"""`karat next` extends a draw and finishes a study from files alone."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import karat
from karat.cli.main import main


@pytest.fixture
def resource(tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "facts.csv"
    truth = {}
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["fact", "score", "text"])
        for number in range(3000):
            truth[f"f{number}"] = int(rng.random() < 0.9 - number / 6000)
            writer.writerow([f"f{number}", 1 - number / 3000, f"text {number}"])
    return path, truth


def answer(path, truth):
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "label"])
        writer.writerows([row["id"], truth[row["id"]]] for row in rows)


def test_a_whole_study_on_the_command_line(resource, tmp_path, capsys):
    path, truth = resource
    draw, first = tmp_path / "draw.json", tmp_path / "0.csv"
    common = ["--score", "score", "--id", "fact", "--budget", "300", "--seed", "4", "-o", str(draw)]
    assert main(["draw", str(path), *common, "--items-out", str(first)]) == 0
    answer(first, truth)
    files = [str(first)]
    for number in range(1, 20):
        capsys.readouterr()
        more = tmp_path / f"{number}.csv"
        assert main(["next", str(draw), *files, "-n", "100", "--items-out", str(more), "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        if not said["labels"]:
            assert said["done"]
            break
        answer(more, truth)
        files.append(str(more))
    assert main(["next", str(draw), *files]) == 0
    n_asked = karat.load_draw(draw).n_ranks
    assert n_asked < 300
    assert f"{n_asked} of at most 300 labels were asked for" in capsys.readouterr().out
    assert main(["curve", str(draw), *files, "--forecast"]) == 0
    assert "No forecast: nothing is left to label" in capsys.readouterr().out
    assert main(["curve", str(draw), *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_labels"] <= 300
    assert found["guarantee"] == "finite-sample"
    exact = sum(truth.values()) / 3000
    whole = found["summary"]["precision at 3,000"]
    assert whole["low"] <= exact <= whole["high"]


def test_nothing_is_laid_out_before_the_pilot_is_answered(resource, tmp_path, capsys):
    path, _ = resource
    draw, items = tmp_path / "draw.json", tmp_path / "items.csv"
    assert (
        main(["draw", str(path), "--score", "score", "--id", "fact", "-o", str(draw), "--items-out", str(items)]) == 0
    )
    before = draw.read_text()
    capsys.readouterr()
    assert main(["next", str(draw), str(items)]) == 0
    assert "before the" in capsys.readouterr().out
    assert draw.read_text() == before


def test_a_changed_resource_is_noticed(resource, tmp_path, capsys):
    path, truth = resource
    draw, items = tmp_path / "draw.json", tmp_path / "items.csv"
    main(["draw", str(path), "--score", "score", "--id", "fact", "-o", str(draw), "--items-out", str(items)])
    answer(items, truth)
    path.write_text(path.read_text() + "new,0.1,more\n")
    capsys.readouterr()
    assert main(["next", str(draw), str(items)]) == 1
    assert "changed" in capsys.readouterr().err


def test_a_draw_is_not_overwritten_unless_asked(resource, tmp_path, capsys):
    path, _ = resource
    draw = tmp_path / "draw.json"
    command = ["draw", str(path), "--score", "score", "--id", "fact", "--seed", "1", "-o", str(draw)]
    assert main(command) == 0
    before = draw.read_text()
    assert main([*command[:-3], "2", "-o", str(draw)]) == 1
    assert "exists" in capsys.readouterr().err
    assert draw.read_text() == before
    assert main([*command[:-3], "2", "-o", str(draw), "--overwrite"]) == 0
    assert draw.read_text() != before


@pytest.mark.parametrize("options", [[], ["--top", "60"]])
def test_a_budget_that_buys_everything_is_not_blamed(options, tmp_path, capsys):
    path, draw, labels = tmp_path / "few.csv", tmp_path / "draw.json", tmp_path / "labels.csv"
    path.write_text("score\n" + "\n".join(str(score) for score in range(100)))
    assert main(["draw", str(path), "--score", "score", "--budget", "800", *options, "-o", str(draw)]) == 0
    said = ""
    while "Nothing more" not in said:
        labels.write_text("rank,label\n" + "\n".join(f"{rank},1" for rank in karat.load_draw(draw).ranks))
        assert main(["next", str(draw), str(labels)]) == 0
        said = capsys.readouterr().out
    assert f"All {60 if options else 100} items were asked for" in said
    assert "a little below" not in said
