"""Fixtures that all tests share; slow textbook versions live in twins.py, data and sequences in builders.py."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(
    0, str(ROOT / "tests/support")
)  # twins, builders, tolerance; not tests/: its folder coverage would hide a package

# Same examples on every run and machine; nothing is written beside the tests.
settings.register_profile(
    "karat",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("karat")


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real labelled rankings beside the checkout; skip where there is none."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"real data not found: {folder.parent.name}/{folder.name} is not beside the checkout")
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261115)


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def karat_cli(capsys):
    """Run a command in this process: karat_cli("plan", "--items", 100)."""
    from karat.cli.main import main

    def run(*argv: object) -> Ran:
        capsys.readouterr()
        code = main([str(word) for word in argv])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
