"""What the pages cite exists: test and benchmark files, single tests, commands, targets of make."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.ipynb"))]
METHODS = sorted((ROOT / "docs/explanation").glob("*.md"))
FILE = re.compile(r"\b((?:tests|benchmarks|tools)/[\w./-]*[\w/])(?:::(\w+))?")
MODULE = re.compile(r"python -m ((?:tests|benchmarks)(?:\.\w+)*)(?: ([a-z_]+))?")
SHELL = re.compile(r"^```sh\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"(?:^|`)make ([a-z][a-z-]*)", flags=re.MULTILINE)
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def words_of(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return text


def missing_from(text: str) -> list[str]:
    """Return what a page cites and the repository does not have."""
    found = []
    for name, test in FILE.findall(text):
        path = ROOT / name
        if not path.exists() or (test and test not in functions_of(path)):
            found.append(f"{name}::{test}" if test else name)
    for module, argument in MODULE.findall(text):
        place = ROOT / module.replace(".", "/")
        exists = place.with_suffix(".py").exists() or (place / "__main__.py").exists()
        if not exists or (module == "benchmarks" and not (place / f"{argument}.py").exists()):
            found.append(f"python -m {module} {argument}".strip())
    commands = "\n".join([*SHELL.findall(text), *re.findall(r"`make .*?`", text, flags=re.DOTALL)])
    return found + [f"make {target}" for target in TARGET.findall(commands) if target not in TARGETS]


def functions_of(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_cites_exists(page):
    assert missing_from(words_of(page)) == []


@pytest.mark.parametrize("page", METHODS, ids=lambda page: page.stem)
def test_an_explanation_cites_a_test_or_a_benchmark(page):
    text = words_of(page)
    files = [name for name, _ in FILE.findall(text) if (ROOT / name).is_file()]
    assert files or MODULE.findall(text) or re.search(r"make bench-\w+", text), "it cites folders at best"


@pytest.mark.parametrize(
    "text",
    [
        "`tests/coverage/test_nothing.py`",
        "`tests/docs/test_citations.py::test_nothing`",
        "`python -m benchmarks nothing`",
        "`python -m tests.coverage.nothing`",
        "`make nothing`",
    ],
)
def test_a_citation_of_nothing_is_found(text):
    assert len(missing_from(text)) == 1


def test_citations_of_something_pass():
    right = (
        "`tests/docs/test_citations.py::test_citations_of_something_pass`, `python -m benchmarks bands`, `make test`"
    )
    assert missing_from(right) == []
