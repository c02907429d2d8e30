"""What is committed names no registry host and no path of the machine it was written on."""

from __future__ import annotations

import re
import subprocess

import pytest

LOCKS = ("constraints.txt", "pyproject.toml", "package-lock.json", "frontend/package-lock.json", "uv.lock", ".npmrc",
         "frontend/.npmrc", "pip.conf", "uv.toml")  # fmt: skip
HOSTS = "pypi|npm|debian|mirror|proxy|artifact|registry"
ADDRESS = re.compile(rf"https?://[^\s\"'/]*(?:{HOSTS})[^\s\"'/]*|https?://[^\s\"']*/simple\b|\"resolved\"")
PLACES = re.compile(r"(?<![\w./-])/(?:" + "|".join(("wo" + "rk", "ro" + "ot")) + r")/")


def committed(root) -> list[str]:
    ran = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False)  # noqa: S607
    if ran.returncode:
        pytest.skip("not a git checkout")
    return [name for name in ran.stdout.split("\0") if name and (root / name).is_file()]


def test_lock_files_name_no_host(root):
    present = [root / name for name in LOCKS if (root / name).is_file()]
    assert {path.name for path in present} >= {"constraints.txt", "pyproject.toml"}
    for path in present:
        assert ADDRESS.findall(path.read_text(encoding="utf-8")) == [], path.name


def test_no_file_names_a_place_on_one_machine(root):
    found = []
    for name in committed(root):
        try:
            text = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}:{n}" for n, line in enumerate(text.splitlines(), start=1) if PLACES.search(line)]
    assert found == []


def test_the_patterns_find_what_they_look_for():
    assert PLACES.search("see /" + "work/main/src")
    assert PLACES.search('"/' + 'root/.cache"')
    assert not PLACES.search("a/work/b, network/root/x and ./work/")
    assert ADDRESS.search("--index-url https://example.org/simple")
    assert ADDRESS.search("https://registry.example.org/left-pad")
    assert not ADDRESS.search("https://opencollective.com/parcel")
