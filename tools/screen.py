"""A service on an empty database and a browser before it, for the scripts that take pictures.

Needs Chromium: on the path, or named by KARAT_CHROMIUM.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from karat.service.installation import Installation
from karat.web.app import create_app
from karat.web.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

PICTURES = Path(__file__).parents[1] / "docs/pictures"


class Screen(NamedTuple):
    """A page, the service it looks at and where that is, and a folder that goes with them."""

    page: Page
    house: Installation
    url: str
    folder: Path


def keep(page: Page, path: Path, *, whole: bool = False, element: str | None = None) -> None:
    """Save what is on the screen, with as many colours as it needs and no more."""
    page.wait_for_timeout(400)
    if element is None:
        page.screenshot(path=path, full_page=whole)
    else:
        page.locator(element).screenshot(path=path)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(96).save(path, optimize=True)


@contextmanager
def open_screen() -> Iterator[Screen]:
    """Give a browser's page and a service; both are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="karat-screens-"))
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        house = Installation(folder / "karat.db")
        app = create_app(Settings(db=str(folder / "karat.db")), house=house)
        server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
        threading.Thread(target=server.run, daemon=True).start()
        while not server.started:
            time.sleep(0.1)
        with sync_playwright() as playwright:
            path = os.environ.get("KARAT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox"])
            page = browser.new_context(locale="en-US", viewport={"width": 1000, "height": 720}).new_page()
            yield Screen(page, house, f"http://127.0.0.1:{port}", folder)
            browser.close()
        server.should_exit = True
    finally:
        shutil.rmtree(folder, ignore_errors=True)
