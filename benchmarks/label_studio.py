"""Next item plus submit, over HTTP, side by side with Label Studio on the same machine.

python -m benchmarks label_studio [--venv FOLDER] [--answers 100]

Label Studio is installed from PyPI into an environment of its own (temporary, or kept in --venv), never into ours.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import httpx2
import numpy as np
import pandas as pd

VERSION = "1.23.0"
BAR = 10.0
"""How many times faster the service must be."""
CONFIG_FIELDS = ("subject", "relation", "object")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="label_studio")
    parser.add_argument("--venv", default="")
    parser.add_argument("--answers", type=int, default=100)
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="karat-bench-"))
    try:
        venv = Path(options.venv or os.environ.get("KARAT_LABEL_STUDIO_VENV", "") or folder / "venv")
        with LabelStudio(venv, folder / "data") as studio:
            theirs = measure_label_studio(studio, options.answers)
            ours = measure_karat(folder, options.answers)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, times in (("Label Studio", theirs), ("karat", ours)):
        low, middle, high = np.percentile(times, [5, 50, 95]) * 1000
        print(f"{name:12}  next + submit: p50 {middle:7.1f} ms   p5 {low:7.1f}   p95 {high:7.1f}   n = {len(times)}")
    ratio = np.median(theirs) / np.median(ours)
    print(f"karat is {ratio:.0f} times faster (bar: {BAR:g}): {'met' if ratio >= BAR else 'NOT MET'}")


class LabelStudio:
    """A Label Studio of one's own, with one user who is signed in."""

    def __init__(self, venv: Path, data: Path) -> None:
        self.venv, self.data = venv, data
        self.port = free_port()
        self.client = httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=300, follow_redirects=True)
        self._email, self._password = "owner@example.org", "correct horse battery"

    def __enter__(self) -> Self:
        install(self.venv)
        self.data.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "LABEL_STUDIO_BASE_DATA_DIR": str(self.data), "COLLECT_ANALYTICS": "0",
                       "LATEST_VERSION_CHECK": "0", "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": "",
                       "PYTHONWARNINGS": "ignore"}  # fmt: skip
        command = [str(self.venv / "bin/label-studio"), "start", "--no-browser", "--port", str(self.port),
                   "--username", self._email, "--password", self._password, "--data-dir", str(self.data)]  # fmt: skip
        with (self.data / "log").open("w") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        began = time.monotonic()
        while True:
            try:
                if self.client.get("/health").status_code == 200:
                    break
            except httpx2.TransportError:
                pass
            if self._process.poll() is not None or time.monotonic() - began > 900:
                raise RuntimeError((self.data / "log").read_text()[-3000:])
            time.sleep(1)
        self._sign_in()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait()

    def _sign_in(self) -> None:
        self.client.get("/user/login/")
        form = {"email": self._email, "password": self._password,
                "csrfmiddlewaretoken": self.client.cookies["csrftoken"], "persist_session": "on"}  # fmt: skip
        self.client.post("/user/login/", data=form, headers=self._headers())
        if self.call("GET", "/api/current-user/whoami")["email"] != self._email:
            raise RuntimeError("cannot sign in to Label Studio")

    def _headers(self) -> dict[str, str]:
        base = f"http://127.0.0.1:{self.port}"
        return {"x-csrftoken": self.client.cookies.get("csrftoken", ""), "referer": base, "origin": base}

    def call(self, method: str, path: str, body: object = None) -> dict:
        """Return what its API says."""
        response = self.client.request(method, path, json=body, headers=self._headers())
        response.raise_for_status()
        return response.json()

    def new_project(self, config: str, tasks: list[dict]) -> int:
        project = self.call("POST", "/api/projects", {"title": "Facts", "label_config": config})["id"]
        self.call("POST", f"/api/projects/{project}/import", tasks)
        return project


def install(venv: Path) -> None:
    """Make the environment unless it is there."""
    if (venv / "bin/label-studio").exists():
        return
    own = Path(__file__).parents[1] / ".tools/uv/bin/uv"
    uv = str(own) if own.exists() else shutil.which("uv")
    print(f"installing label-studio {VERSION} into {venv}", flush=True)
    if uv is None:
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(venv / "bin/pip"), "install", "-q", f"label-studio=={VERSION}"], check=True)
        return
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(venv)], check=True)
    environment = {**os.environ, "VIRTUAL_ENV": str(venv)}
    subprocess.run([uv, "pip", "install", "--quiet", f"label-studio=={VERSION}"], check=True, env=environment)


def measure_label_studio(studio: LabelStudio, answers: int) -> list[float]:
    from karat.formats.label_studio import make_config

    tasks = [{"data": {"id": str(number), **fact(number)}} for number in range(answers + 20)]
    project = studio.new_project(make_config(CONFIG_FIELDS), tasks)
    result = [{"id": "a", "from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": ["yes"]}}]
    times = []
    for _ in range(answers + 10):
        began = time.perf_counter()
        task = studio.call("GET", f"/api/projects/{project}/next")
        studio.call("POST", f"/api/tasks/{task['id']}/annotations/?project={project}",
                    {"result": result, "lead_time": 1.0, "draft_id": 0})  # fmt: skip
        times.append(time.perf_counter() - began)
    return times[10:]


def measure_karat(folder: Path, answers: int) -> list[float]:
    import karat
    from karat.service.campaign import Campaign
    from karat.service.installation import Installation

    table = folder / "facts.csv"
    n_items = answers + 20
    rows = [{"id": number, "score": 1 - number / n_items, **fact(number)} for number in range(n_items)]
    pd.DataFrame(rows).to_csv(table, index=False)
    house = Installation(folder / "karat.db")
    house.create_project("Facts", karat.open(table, score="score", id="id"), Campaign(template="triple"),
                         by=house.owner(), method=karat.Point(rank=n_items, labels=n_items))  # fmt: skip
    secret = house.access.use_sign_in_link(house.access.make_sign_in_link(house.owner().id))
    house.close()
    port = free_port()
    command = [sys.executable, "-m", "karat", "serve", "--db", str(folder / "karat.db"), "--port", str(port)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    client = httpx2.Client(base_url=base, timeout=300, cookies={"karat_session": secret}, headers={"origin": base})
    try:
        _wait(client)
        times = []
        for number in range(answers + 10):
            began = time.perf_counter()
            task = client.post("/api/projects/facts/next", json={"n": 1}).json()["tasks"][0]
            sent = {"answers": [{"item": task["item"], "value": "yes", "request": f"r{number}", "seconds": 1.0}]}
            taken = client.post("/api/projects/facts/answers", json=sent).json()
            times.append(time.perf_counter() - began)
            if not taken["answers"][0]["accepted"]:
                raise RuntimeError(json.dumps(taken))
        return times[10:]
    finally:
        client.close()
        server.terminate()
        server.wait()


def _wait(client: httpx2.Client) -> None:
    for _ in range(600):
        try:
            client.get("/healthz")
        except httpx2.TransportError:
            time.sleep(0.2)
        else:
            return


def fact(number: int) -> dict[str, str]:
    return {"subject": f"{number} + {number}", "relation": "equals", "object": str(2 * number)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
