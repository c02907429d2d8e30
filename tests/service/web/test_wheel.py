"""What is shipped: wheel and sdist hold the page, and the wheel works in an environment of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def find_uv():
    return next((found for name in (str(ROOT / ".tools/uv/bin/uv"), "uv") if (found := shutil.which(name))), None)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    uv = find_uv()
    if uv is None:
        pytest.skip("wheel NOT TESTED: no uv in .tools or on PATH; `make test` brings it")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([uv, "build", "--quiet", "--out-dir", str(folder), str(ROOT)], check=True, timeout=500)
    return uv, next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


@pytest.mark.slow
def test_wheel_and_sdist_hold_the_page(built):
    _, wheel, sdist = built
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert "karat/web/static/index.html" in inside
    assert any(name.startswith("karat/web/static/assets/") and name.endswith(".js") for name in inside)
    assert any(name.endswith("migrations/versions/0001_first.py") for name in inside)
    assert "karat/py.typed" in inside
    assert not [name for name in inside if not name.startswith(("karat/", "karat-"))]
    with tarfile.open(sdist) as archive:
        packed = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"src/karat/web/static/index.html", "frontend/package-lock.json", "tools/build_page.py", "LICENSE",
            "SECURITY.md", "CONTRIBUTING.md", "benchmarks/speed.py", "pyproject.toml"} <= packed  # fmt: skip
    assert not [name for name in packed if "node_modules" in name or name.endswith((".db", ".log"))]


@pytest.mark.slow
def test_the_wheel_works_in_an_environment_of_its_own(built, tmp_path):
    uv, wheel, _ = built
    place = tmp_path / "venv"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(place)], check=True, timeout=120)
    environment = {**os.environ, "VIRTUAL_ENV": str(place), "UV_LINK_MODE": "hardlink"}
    environment.pop("PYTHONPATH", None)
    install = [uv, "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run(install, check=True, env=environment, timeout=500)
    karat = str(place / "bin/karat")

    def run(*arguments):
        done = subprocess.run(
            [karat, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version").startswith("karat ")
    (tmp_path / "facts.csv").write_text("id,text,score\n" + "".join(f"{n},t{n},{1 / (n + 1)}\n" for n in range(60)))
    method = ["--method", "point", "--rank", "60", "--labels", "20"]
    run("draw", "facts.csv", "--score", "score", "--id", "id", *method, "-o", "draw.json", "--items-out", "items.csv")
    run("init", "facts.csv", "--score", "score", "--id", "id", *method)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen([karat, "serve", "--port", str(port)], cwd=tmp_path, stderr=log)
    try:
        for _ in range(600):
            try:
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10).read().decode()
                break
            except OSError:
                time.sleep(0.2)
        assert '<script type="module"' in page
        script = page.split('src="')[1].split('"')[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{script}", timeout=10) as answer:
            assert "javascript" in answer.headers["content-type"]
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


def test_licences_are_listed_and_none_binds_whoever_installs_it():
    spec = importlib.util.spec_from_file_location("list_licences", ROOT / "tools/list_licences.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text(encoding="utf-8") == tool.render(), "run `make reference`"
    licences = {package: tool.licence_of(package) for package in tool.closure()}
    assert {"numpy", "fastapi", "argon2-cffi", "sqlalchemy"} <= set(licences)
    assert {
        package: licence for package, licence in licences.items() if "GPL" in licence or licence == "not stated"
    } == {}
