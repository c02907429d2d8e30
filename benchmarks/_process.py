"""One job in a process of its own: wall and CPU seconds of all its threads and children, peak memory."""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numba

WARM = "KARAT_BENCH_WARM"
TIMEOUT = 7200


def run(module: str, name: str, path: Path, *, warm: Path) -> dict[str, object]:
    """Run a job on a file; before it is timed, it runs on a small one: imports, compiled code, a Spark that is up."""
    done = subprocess.run(
        [sys.executable, "-m", module, name, str(path)],
        capture_output=True, text=True, check=False, env={**os.environ, WARM: str(warm)}, timeout=TIMEOUT,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-1000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure_here(job: Callable[[str], object], path: str) -> None:
    job(os.environ[WARM])
    importlib.import_module("pyarrow")  # what the small file may not have needed: streams
    numba.njit(lambda: 0)()  # and compiled code
    before, start = cpu_seconds(), time.perf_counter()
    result = job(path)
    wall, cpu = time.perf_counter() - start, cpu_seconds() - before
    print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak_megabytes(), "result": result}))


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and all that it started."""
    ticks = os.sysconf("SC_CLK_TCK")
    own = resource.getrusage(resource.RUSAGE_SELF)
    total = own.ru_utime + own.ru_stime
    for pid in _family()[1:]:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def peak_megabytes() -> float:
    """Return the sum of the peaks of this process and all that it started (those that have ended count no more)."""
    lines = [line for pid in _family() for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def _family() -> list[int]:
    """Return this process and its descendants."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has just ended
    family = [os.getpid()]
    for pid in family:
        family += [child for child, parent in parents.items() if parent == pid]
    return family
