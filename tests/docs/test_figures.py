"""Figures of the pages that the code can tell: what `make demo` buys, which schemas there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from karat.cli.main import main

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_first_screen_tells_the_demos_label_counts(tmp_path, capsys):
    assert main(["demo", "--folder", str(tmp_path), "--json"]) == 0
    counts = {name: curve["n_labels"] for name, curve in json.loads(capsys.readouterr().out)["curves"].items()}
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    landing = " ".join((ROOT / "docs/index.md").read_text(encoding="utf-8").split())
    assert f"from {counts['certify']:,} labels" in readme, "and run `python tools/make_pictures.py`"
    assert f"PAULA's thin pair needs {counts['paula']:,} labels" in readme
    assert f"Uniform sampling needs {counts['uniform']:,}" in readme
    assert f"from {counts['certify']:,} checked facts" in landing


def test_the_upgrade_notes_name_every_schema():
    versions = (ROOT / "src/karat/store/migrations/versions").glob("0*.py")
    notes = (ROOT / "docs/how-to/upgrade.md").read_text(encoding="utf-8")
    assert [name for name in sorted(path.name[:4] for path in versions)[1:] if name not in notes] == []


def test_pages_repeat_the_benchmarks_means():
    """The landing page and the method pages tell the ratios that `make bench-labels` wrote last."""
    written = (ROOT / "docs/explanation/label-efficiency.md").read_text(encoding="utf-8")
    means = re.findall(
        r"^Geometric mean over .*: uniform \*\*([\d.]+)\*\*, log-stratified \*\*([\d.]+)\*\*", written, re.MULTILINE
    )
    (uniform, stratified), (uniform_width, stratified_width) = means
    landing = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert f"| uniform sampling | {uniform} times as many | {uniform_width.lstrip('0')} |" in landing
    assert f"| log-stratified sampling | {stratified} times as many | {stratified_width.lstrip('0')} |" in landing
    paula = re.search(r"PAULA \*\*([\d.]+)\*\*", written)[1]
    assert f"| PAULA (2017) | {paula} times as many |" in landing
    assert f"({paula} in the geometric mean" in " ".join(
        (ROOT / "docs/explanation/paula.md").read_text("utf-8").split()
    )
    sampling = " ".join((ROOT / "docs/explanation/sampling.md").read_text("utf-8").split())
    assert f"uniform takes {uniform} times as many, stratified {stratified}" in sampling
