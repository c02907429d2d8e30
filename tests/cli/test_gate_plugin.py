"""The pytest plugin, in a pytest of its own, and the workflow of the docs."""

from __future__ import annotations

import csv
import importlib.util
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import karat
from karat.cli.main import main

ROOT = Path(__file__).parents[2]
TEST = """
def test_good_enough(karat_gate):
    found = karat_gate("draw.json", "labels.csv", precision=0.8, rank=500)
    assert found.passed and found.checks[0].interval.low >= 0.8

def test_too_much(karat_gate):
    karat_gate("draw.json", ["labels.csv"], precision=0.99, rank=500)

def test_nothing(karat_gate):
    karat_gate("draw.json", "labels.csv")
"""


@pytest.fixture
def evaluation(tmp_path):
    """A draw with labels, nine of ten right."""
    pd.DataFrame({"id": range(4000), "score": np.arange(4000)[::-1]}).to_csv(tmp_path / "items.csv", index=False)
    study = karat.Study(
        karat.open(str(tmp_path / "items.csv"), score="score", id="id"), karat.Certify(budget=600, from_rank=100)
    )
    answers = {}
    while len(ids := study.ask(100).ids):
        study.tell({id_: int(id_) % 10 != 0 for id_ in ids})
        answers |= {id_: int(int(id_) % 10 != 0) for id_ in ids}
    study.save(tmp_path / "draw.json")
    with (tmp_path / "labels.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["id", "label"], *answers.items()])
    return tmp_path


def test_the_fixture_passes_fails_and_complains(evaluation):
    (evaluation / "test_quality.py").write_text(TEST, encoding="utf-8")
    options = ["-p", "no:karat", "-p", "karat.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:randomly", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_quality.py"],
        cwd=evaluation,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout
    assert "2 failed" in done.stdout
    assert "NOT certain: precision at 500" in done.stdout
    assert "'precision' or 'recall' must be given: there is nothing to check." in done.stdout


def test_the_entry_point_leads_to_the_plugin():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"karat": "karat.pytest_plugin"}
    assert importlib.util.find_spec("karat.pytest_plugin") is not None


def test_the_commands_of_the_workflow_run(evaluation, monkeypatch):
    workflow = yaml.safe_load((ROOT / "docs/how-to/quality-gate.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["gate"]["steps"] if step.get("run", "").startswith("karat ")]
    assert len(commands) == 2
    (evaluation / "evaluation").mkdir()
    for name in ("draw.json", "labels.csv"):
        (evaluation / name).rename(evaluation / "evaluation" / name)
    monkeypatch.chdir(evaluation)
    assert [main(shlex.split(command)[1:]) for command in commands] == [0, 0]
    assert (evaluation / "report.html").exists()
