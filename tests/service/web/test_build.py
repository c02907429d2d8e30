"""What is committed names no registry, and the page that is shipped is complete and loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from karat.web.app import STATIC

ROOT = Path(__file__).parents[3]


def test_pins_name_no_host():
    assert "://" not in (ROOT / "constraints.txt").read_text()
    for lock in (ROOT / "frontend/package-lock.json", ROOT / "tools/chromium/package-lock.json"):
        packages = json.loads(lock.read_text())["packages"]
        assert packages
        assert [name for name, entry in packages.items() if "resolved" in entry] == []


def test_every_node_dependency_is_pinned_exactly():
    given = json.loads((ROOT / "frontend/package.json").read_text())
    versions = [*given["dependencies"].values(), *given["devDependencies"].values()]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)


def test_the_page_is_built_and_self_contained():
    if not (STATIC / "index.html").is_file():
        pytest.fail("the page was not built: run `make .venv/.demo`")
    index = (STATIC / "index.html").read_text()
    named = re.findall(r'(?:src|href)="([^"]+)"', index)
    assert named
    for name in named:
        assert name.startswith("/assets/")
        assert (STATIC / name.lstrip("/")).is_file()
    assert "<style" not in index
    assert not re.search(r"<script(?![^>]*\bsrc=)", index)


def test_values_reach_the_page_as_text_only():
    for source in (ROOT / "frontend/src").rglob("*.ts*"):
        text = source.read_text()
        for forbidden in (
            "innerHTML",
            "outerHTML",
            "dangerouslySetInnerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
        ):
            assert forbidden not in text, f"{source.name}: {forbidden}"
