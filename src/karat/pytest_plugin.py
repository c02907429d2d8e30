"""A fixture for pytest: `karat_gate` fails a test unless a target is certainly met.

pytest finds it by itself where karat is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from karat.gates import Gate

    GateCheck = Callable[..., Gate]


@pytest.fixture(scope="session")
def karat_gate() -> GateCheck:
    """Return a function that fails the test unless precision or recall of the first items is certain.

    ``karat_gate("draw.json", "labels.csv", precision=0.9, rank=10_000)`` gives back what is certain otherwise.
    """
    from karat import study  # noqa: PLC0415 (only where it is asked for: pytest loads this file in every run)
    from karat.formats.answers import read_answers  # noqa: PLC0415
    from karat.gates import check_gate  # noqa: PLC0415

    def gate(
        draw: str | Path,
        labels: str | Path | list[str | Path],
        *,
        precision: float | None = None,
        recall: float | None = None,
        rank: int | None = None,
    ) -> Gate:
        tables = [str(table) for table in (labels if isinstance(labels, list) else [labels])]
        document = study.load_draw(draw)
        curve = study.curve_from(document, read_answers(tables, document))
        found = check_gate(curve, precision=precision, recall=recall, rank=rank)
        if not found.passed:
            pytest.fail(str(found), pytrace=False)
        return found

    return gate
