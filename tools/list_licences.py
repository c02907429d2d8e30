"""Write docs/reference/licences.md: what karat is installed with, and under which licences."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parents[1] / "docs/reference/licences.md"
HEAD = """# Licences

<!-- made by tools/list_licences.py: run `make reference` instead of editing -->

karat is under the Apache License 2.0. It is installed with these packages; none is copied into it. The page in the
wheel also holds Preact, its signals and uPlot (all MIT). PostgreSQL's driver, psycopg (LGPL), is an extra that you
install yourself.

| package | licence |
|---|---|
"""
_WORDS = ("MIT", "BSD", "Apache", "PSF", "MPL", "ISC", "GPL", "Unlicense", "Zlib", "HPND", "CC0")


def closure(name: str = "karat") -> set[str]:
    """Return the packages that a plain installation brings, karat itself not among them."""
    found: set[tuple[str, str]] = set()
    wanted = [(name, "")]
    while wanted:
        package, extra = wanted.pop()
        for text in metadata.requires(package) or ():
            needed = Requirement(text)
            if needed.marker is not None and not needed.marker.evaluate({"extra": extra}):
                continue
            for part in ("", *needed.extras):
                entry = (canonicalize_name(needed.name), part)
                if entry not in found:
                    found.add(entry)
                    wanted.append(entry)
    return {package for package, _ in found}


def licence_of(package: str) -> str:
    """Return the licence that a package states, in few words."""
    given = metadata.metadata(package)
    if given.get("License-Expression"):
        return str(given["License-Expression"])
    named = [line.rsplit(" :: ", 1)[1] for line in given.get_all("Classifier") or () if line.startswith("License ::")]
    text = ", ".join(named) or str(given.get("License") or "not stated").splitlines()[0]
    return next((word for word in _WORDS if len(text) > 60 and word in text), text)


def render() -> str:
    return HEAD + "".join(f"| {package} | {licence_of(package)} |\n" for package in sorted(closure()))


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
