"""`karat bands` end to end."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pytest

import karat
from karat.cli.main import main


@pytest.fixture
def sample(tmp_path):
    rng = np.random.default_rng(5)
    label = (rng.random(600) < 0.3).astype(int)
    table = pandas.DataFrame({"label": label, "old": rng.normal(0.8 * label), "new": rng.normal(3.0 * label)})
    table["chance"] = 0.5
    path = tmp_path / "sample.csv"
    table.to_csv(path, index=False)
    return path, table


def test_the_band_of_the_library(sample, capsys):
    path, table = sample
    assert main(["bands", str(path), "--score", "new", "--label", "label", "--seed", "3", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    band = karat.pr_band(table["label"], table["new"], seed=3)
    assert said["low"] == band.low.tolist()
    assert said["high"] == band.high.tolist()
    assert said["scalars"]["average_precision"]["low"] < said["scalars"]["average_precision"]["high"]
    assert said["simultaneous"] is True


@pytest.mark.parametrize("method", ["exact", "clemencon-vayatis", "pointwise", "studentised", "asymptotic"])
def test_every_method_by_name(sample, capsys, method):
    path, _ = sample
    assert main(["bands", str(path), "--score", "new", "--label", "label", "--method", method, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["method"] == method
    assert said["simultaneous"] is (method in {"exact", "clemencon-vayatis"})


def test_roc_picture_and_page(sample, tmp_path, capsys):
    path, _ = sample
    picture, page = tmp_path / "roc.png", tmp_path / "roc.html"
    arguments = ["bands", str(path), "--score", "new", "--label", "label", "--curve", "roc", "--probability", "chance"]
    assert main([*arguments, "--plot", str(picture), "--html", str(page)]) == 0
    assert picture.stat().st_size > 5000
    assert "data:image/png;base64" in page.read_text()
    assert "At a false positive rate of 0.50 the true positive rate is about" in page.read_text()
    assert "AUC" in capsys.readouterr().out


def test_the_difference_of_two_systems(sample, capsys):
    path, _ = sample
    assert main(["bands", str(path), "--score", "old", "--label", "label", "--against", "new"]) == 0
    out = capsys.readouterr().out
    assert "new minus old" in out
    assert "new is better. Certainly higher precision by recall: new from" in out
    assert "system" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--score", "nope", "--label", "label"], "no column 'nope'"),
        (["--score", "new", "--label", "label", "--curve", "gain"], "'--curve' must"),
        (["--score", "new", "--label", "label", "--method", "magic"], "'--method' must"),
        (["--score", "old", "--label", "label", "--against", "new", "--method", "exact"], "--against"),
        (["--score", "new", "--label", "new"], "column 'new': expected 0 or 1"),
    ],
)
def test_bad_input_is_named(sample, capsys, arguments, words):
    path, _ = sample
    assert main(["bands", str(path), *arguments]) == 1
    assert words in capsys.readouterr().err
