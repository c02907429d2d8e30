"""A browser, and the service in a process of its own, as a user runs it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from karat.cli.main import main

CHROMIUM_ARGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 300
"""Seconds for a service to start: the first one compiles, on a machine that may be busy."""


def missing(part, reason):
    required = os.environ.get("KARAT_REQUIRE", "").split(",")
    if part in required or "all" in required:
        pytest.fail(f"{part} is required but missing: {reason}", pytrace=False)
    pytest.skip(f"{part} NOT TESTED: {reason}")


def find_chromium():
    own = Path(__file__).parents[3] / ".tools/chromium/chromium.sh"
    names = (os.environ.get("KARAT_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome", str(own))
    return next((found for name in names if name and (found := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser():
    path = find_chromium()
    if path is None:
        missing("browser", "no Chromium on PATH: `apt-get install chromium`, or set KARAT_CHROMIUM")
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError as error:
        missing("browser", f"{error}; install the test group")
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser):
    """Open pages, each with cookies of its own; errors and policy violations on any of them fail the test."""
    contexts, problems = [], []

    def run(**options):
        context = browser.new_context(locale="en-US", **options)
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        return page

    run.problems = problems
    yield run
    for context in contexts:
        context.close()
    assert problems == []


class Server:
    """A running service."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self) -> None:
        command = [sys.executable, "-m", "karat", "serve", "--port", str(self.port)]
        log = self.folder / "serve.log"
        with log.open("w") as stream:
            self.process = subprocess.Popen(command, cwd=self.folder, stderr=stream)
        late = time.monotonic() + PATIENCE
        while time.monotonic() < late and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.url}/healthz", timeout=2).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        code = self.process.poll()
        fate = f"did not answer within {PATIENCE} s" if code is None else f"ended with {code}"
        self.stop()
        pytest.fail(f"`{' '.join(command)}` {fate}; it said:\n{log.read_text() or '(nothing)'}", pytrace=False)

    @property
    def link(self) -> str:
        return re.search(r"http\S+#/link/\S+", (self.folder / "serve.log").read_text())[0]

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        self.process.wait()


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Make a project from a table and serve it: serve(frame, "--votes", "2")."""
    monkeypatch.chdir(tmp_path)
    servers = []

    def run(frame, *options):
        frame.to_parquet(tmp_path / "facts.parquet")
        assert main(["init", "facts.parquet", "--score", "score", "--id", "id", *options]) == 0
        server = Server(tmp_path)
        servers.append(server)
        server.start()
        return server

    yield run
    for server in servers:
        server.stop()


@pytest.fixture
def serve_made(tmp_path, monkeypatch):
    """Make a project by a command and serve it: serve_made("evaluation", "create", ...)."""
    monkeypatch.chdir(tmp_path)
    servers = []

    def run(*command):
        assert main(list(command)) == 0
        server = Server(tmp_path)
        servers.append(server)
        server.start()
        return server

    yield run
    for server in servers:
        server.stop()


@pytest.fixture
def facts_frame():
    numbers = np.arange(1, 2001)
    return pd.DataFrame({
        "id": numbers,
        "subject": [f"{number} + {number}" for number in numbers],
        "relation": "equals",
        "object": [str(2 * number + (number % 5 == 0)) for number in numbers],
        "score": 1 - numbers / 5000,
    })  # fmt: skip
