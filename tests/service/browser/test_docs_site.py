"""The documentation builds without a warning and asks nobody outside for anything while it is read."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if find_spec("mkdocs") is None or find_spec("material") is None:
        pytest.skip("docs NOT TESTED: mkdocs-material is not installed; install the docs group")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def pages_of(entry) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for part in inner for page in pages_of(part)]


def test_every_page_is_in_the_navigation():
    named = pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    written = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(named) == sorted(written)


@pytest.mark.browser
def test_reading_sends_no_request_away(site, browser):
    asked, errors = [], []
    context = browser.new_context()
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri(), wait_until="load")
    page.goto((site / "index.html").as_uri())
    page.locator(".md-search__input").click()  # the search looks in the pages' own index
    page.keyboard.type("segment")
    page.locator(".md-search-result__item").first.wait_for(timeout=60_000)
    context.close()
    assert len(asked) > 50
    away = sorted({url for url in asked if not url.startswith(("file:", "data:", "blob:"))})
    assert away == []
    assert errors == []


def test_an_outside_font_would_be_noticed(site, browser):
    """The control: a page that does load something from elsewhere is caught by the same rule."""
    asked = []
    context = browser.new_context()
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    text = (site / "index.html").read_text(encoding="utf-8")
    leaking = site / "leaking.html"
    leaking.write_text(text.replace("</head>", '<link rel="stylesheet" href="http://fonts.invalid/a.css"></head>'))
    page.goto(leaking.as_uri(), wait_until="domcontentloaded")
    leaking.unlink()
    context.close()
    assert "http://fonts.invalid/a.css" in asked
