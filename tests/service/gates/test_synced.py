"""Gate: an answer is acknowledged only after the disk has it: strace sees a sync between request and answer."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat.service.campaign import Campaign
from karat.service.installation import Installation

WRITER = Path(__file__).with_name("writer.py")
SYNC = re.compile(r"(fdatasync|fsync)(\(\d+\)| resumed>\)) += 0")
ACKNOWLEDGED = re.compile(r'write\(1, "(r\d+)\\n"')


def missing(reason):
    required = os.environ.get("KARAT_REQUIRE", "").split(",")
    if "strace" in required or "all" in required:
        pytest.fail(f"strace is required but missing: {reason}", pytrace=False)
    pytest.skip(f"strace NOT TESTED: {reason}")


def trace_of(tmp_path, facts, manner):
    """Return, for each answer that was acknowledged, how many syncs came since the one before."""
    if shutil.which("strace") is None:
        missing("no strace on PATH: `apt-get install strace`")
    url = str(tmp_path / "karat.db")
    house = Installation(url)
    engine = karat.open(facts, score="score", id="id", seed=3)
    method = karat.Point(rank=400, labels=40)
    project = house.create_project("Facts", engine, Campaign(), by=house.owner(), method=method)
    user = house.owner().id
    house.close()
    log = tmp_path / "trace"
    command = ["strace", "-f", "--seccomp-bpf", "-e", "trace=fdatasync,fsync,write", "-s", "16", "-o", str(log),
               sys.executable, str(WRITER), url, project.slug, str(user), "0", manner]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = list(itertools.islice(process.stdout, 60))
        if not said and "ptrace" in (complaint := process.stderr.read()):
            missing(complaint.strip()[:200])
        process.stdout.close()  # nobody listens any more: the writer ends, and strace (deaf to signals) with it
        process.wait(120)
    counts, since, ready = [], 0, False
    for line in log.read_text().splitlines():
        ready = ready or 'write(1, "ready' in line
        if SYNC.search(line):
            since += 1
        elif ready and ACKNOWLEDGED.search(line):
            counts.append(since)
            since = 0
    return counts


def test_every_acknowledged_answer_was_synced(tmp_path, facts):
    counts = trace_of(tmp_path, facts, "honest")
    assert len(counts) >= 50
    assert min(counts) >= 1


def test_a_writer_that_acknowledges_first_is_found_out(tmp_path, facts):
    """The control: its first acknowledgement comes before any sync of its answer."""
    counts = trace_of(tmp_path, facts, "lazy")
    assert len(counts) >= 50
    assert min(counts) == 0
