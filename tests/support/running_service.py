"""`karat serve` in a process of its own, as an operator runs it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path


class Service:
    """A running service; ``options`` go to `karat serve`."""

    def __init__(self, folder: Path, url: str, *options: str, environment: dict[str, str] | None = None) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder = folder
        self.log = folder / f"serve-{self.port}.log"
        self._command = [sys.executable, "-m", "karat", "serve", "--db", url, "--port", str(self.port), *options]
        self._environment = {**os.environ, **(environment or {})}
        self.process: subprocess.Popen | None = None

    def start(self) -> Service:
        with self.log.open("a") as stream:
            self.process = subprocess.Popen(
                self._command, cwd=self.folder, stderr=stream, env=self._environment, start_new_session=True
            )
        late = time.monotonic() + 400
        while time.monotonic() < late:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5).close()
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError(self.log.read_text()) from None
                time.sleep(0.1)
            else:
                return self
        self.kill()
        raise RuntimeError(f"the service did not start: {self.log.read_text()}")

    def kill(self) -> None:
        """End it at once, with all its processes, as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self, patience: float = 60) -> int:
        """Tell it to stop and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


class Person:
    """Somebody with a session, over one connection that is kept."""

    def __init__(self, port: int, project: str, cookie: str) -> None:
        self._port, self._base = port, f"/api/projects/{project}/"
        self._headers = {"cookie": f"karat_session={cookie}", "content-type": "application/json"}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path: str, body: object) -> dict:
        self._connection.request("POST", self._base + path, json.dumps(body), self._headers)
        response = self._connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise RuntimeError(f"{response.status}: {text[:300]!r}")
        return json.loads(text)

    def close(self) -> None:
        self._connection.close()


def sign_in(house, project, n, *, prefix="person"):
    """Return session cookies of new annotators of a project."""
    from karat.store import people

    cookies = []
    for number in range(n):
        user = house.add_user(f"{prefix}{number}")
        with house.database.write() as connection:
            people.set_member(connection, project.id, user.id, role="annotator", now=time.time())
        cookies.append(house.access.use_sign_in_link(house.access.make_sign_in_link(user.id)))
    return cookies
