"""Write docs/reference from the code: the help of every command, the docstring of every public name."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from pathlib import Path

import karat
from karat.cli.main import main as main_command

REFERENCE = Path(__file__).parents[1] / "docs/reference"
_PLAIN = {"COLUMNS": "84", "TERM": "dumb", "NO_COLOR": "1"}
NOTE = "<!-- made by tools/make_reference.py: run `make reference` instead of editing -->\n\n"


def command_line() -> str:
    """Return the help pages of all commands, those of a group after it."""
    pages = ["# Command line\n\n" + NOTE + _block(_help())]
    for name in _commands(_help()):
        page = _help(name)
        pages.append(f"\n## karat {name}\n\n" + _block(page))
        members = _commands(page.partition("─ Commands ")[2])
        pages += [f"\n### karat {name} {member}\n\n" + _block(_help(name, member)) for member in members]
    return "".join(pages)


def _commands(page: str) -> list[str]:
    names = re.findall(r"^\s*\W?\s*([a-z-]+) {2,}", page, flags=re.MULTILINE)
    return [name for name in names if not name.startswith("-")]


def library() -> str:
    """Return signatures and docstrings of the public names."""
    parts = ["# Library\n\n" + NOTE + "Everything here is imported from `karat`.\n"]
    for name in karat.__all__:
        thing = getattr(karat, name)
        parts.append(f"\n## {name}\n\n" + _describe(f"karat.{name}", thing))
        if inspect.isclass(thing):
            for member, function in inspect.getmembers(thing, _is_callable):
                if not member.startswith("_") and function.__module__.startswith("karat."):
                    parts.append(f"\n### {name}.{member}\n\n" + _describe(f"{name}.{member}", function))
    return "".join(parts)


def _is_callable(thing: object) -> bool:
    return inspect.isfunction(thing) or inspect.ismethod(thing)


def _describe(name: str, thing: object) -> str:
    try:
        signature = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        signature = ""
    text = inspect.getdoc(thing) or ""
    return f"```text\n{name}{signature}\n```\n" + (f"\n```text\n{text}\n```\n" if text else "")


def _help(*command: str) -> str:
    said = io.StringIO()
    kept = {name: os.environ.get(name) for name in _PLAIN}
    os.environ.update(_PLAIN)
    try:
        with contextlib.redirect_stdout(said):
            main_command([*command, "--help"])
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return "\n".join(line.rstrip() for line in said.getvalue().strip().splitlines())


def _block(text: str) -> str:
    return f"```text\n{text}\n```\n"


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    (REFERENCE / "cli.md").write_text(command_line(), encoding="utf-8")
    (REFERENCE / "api.md").write_text(library(), encoding="utf-8")


if __name__ == "__main__":
    main()
