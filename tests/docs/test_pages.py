"""Every code block of the pages runs, and the reference is fresh."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from karat.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__page__"}
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(code, str(page), "exec"), names)  # noqa: S102
            continue
        for line in code.splitlines():
            if line.startswith("karat "):
                assert main(shlex.split(line, comments=True)[1:]) == 0, line
            else:
                assert not line.strip() or line.startswith(("make ", "#")), f"a block that is not tested: {line}"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_reference_is_fresh():
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "tools/make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8") == tool.command_line(), "run `make reference`"
    assert (ROOT / "docs/reference/api.md").read_text(encoding="utf-8") == tool.library(), "run `make reference`"
