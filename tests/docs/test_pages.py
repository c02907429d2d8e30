"""Every code block of the pages runs and prints what the page says, and the reference is fresh."""

from __future__ import annotations

import importlib.util
import math
import re
import shlex
from pathlib import Path

import pytest
import typer

from karat.cli.main import main, make_app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^```(python|sh)\n(.*?)^```(?:\n\n```text title=\"prints\"\n(.*?)^```)?", flags=re.MULTILINE | re.DOTALL
)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_run_in_order(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__page__"}
    for language, code, shown in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            capsys.readouterr()
            exec(compile(code, str(page), "exec"), names)  # noqa: S102
            assert not shown or says_the_same(capsys.readouterr().out, shown)
            continue
        for line in code.splitlines():
            if line.startswith("karat "):
                assert main(shlex.split(line, comments=True)[1:]) == 0, line
            else:
                assert not line.strip() or line.startswith(("make ", "#")), f"a block that is not tested: {line}"


def says_the_same(printed: str, shown: str) -> bool:
    """Compare word by word; numbers may differ by a tenth or .02, for another machine's arithmetic rounds otherwise."""
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", shown).split():
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True)
    return all(
        math.isclose(float(a.replace(",", "")), float(b.replace(",", "")), rel_tol=0.1, abs_tol=0.02) for a, b in pairs
    )


def test_what_a_page_shows_must_be_what_is_printed():
    assert says_the_same("top 1,000: 0.804 [0.711, 0.885]\n", "top 1,000: 0.81 [0.70, 0.88]")
    assert not says_the_same("top 1,000: 0.804", "top 1,000: 0.704")
    assert not says_the_same("not met", "met")


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_the_reference_has_every_command_with_its_arguments():
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    app = typer.main.get_command(make_app())
    commands = {}
    for name, thing in app.commands.items():
        members = getattr(thing, "commands", None)
        commands |= {name: thing} if members is None else {f"{name} {member}": members[member] for member in members}
    assert "evaluation allow" in commands
    for words, command in commands.items():
        own = page.partition(f"# karat {words}\n")[2].partition("\n#")[0]
        for parameter in command.params:
            assert (max(parameter.opts, key=len) if parameter.param_type_name == "option" else parameter.name) in own


def test_reference_is_fresh():
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "tools/make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8") == tool.command_line(), "run `make reference`"
    assert (ROOT / "docs/reference/api.md").read_text(encoding="utf-8") == tool.library(), "run `make reference`"
