"""Figures of the pages that the code can tell: what `make demo` buys, which schemas there are."""

from __future__ import annotations

import json
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
    assert f"Uniform sampling needs {round(counts['uniform'], -3):,}" in readme
    assert f"from {counts['certify']:,} checked facts" in landing


def test_the_upgrade_notes_name_every_schema():
    versions = (ROOT / "src/karat/store/migrations/versions").glob("0*.py")
    notes = (ROOT / "docs/how-to/upgrade.md").read_text(encoding="utf-8")
    assert [name for name in sorted(path.name[:4] for path in versions)[1:] if name not in notes] == []
