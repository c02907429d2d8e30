"""What a benchmark found, in one line: against the best peer, against the physical limit, growing with size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

HEAD = ("what", "size", "ours", "best peer takes", "limit", "ours / limit", "growth")


class Line(NamedTuple):
    """A measured job."""

    what: str
    size: str
    ours: float
    """Seconds, of CPU unless ``what`` says otherwise."""
    peer: tuple[str, float] | None
    """The best peer and what it took."""
    limit: tuple[str, float]
    """What cannot be avoided, and what that took."""
    growth: float | None = None
    """b in seconds = a * size^b, between the two largest sizes."""

    def cells(self) -> tuple[str, ...]:
        peer = "none" if self.peer is None else f"{_times(self.peer[1] / self.ours)} ({self.peer[0]})"
        growth = "" if self.growth is None else f"{self.growth:.2f}"
        return (
            self.what,
            self.size,
            _seconds(self.ours),
            peer,
            self.limit[0],
            _times(self.ours / self.limit[1]),
            growth,
        )


def as_markdown(lines: Sequence[Line]) -> str:
    rows = [HEAD, ("---",) * len(HEAD), *(line.cells() for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def fit_growth(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Fit seconds = a * size^b to the two largest sizes (smaller ones measure the start); return a and b."""
    sizes, seconds = np.log(np.array(sorted(points)[-2:], dtype=float)).T
    slope, offset = np.polyfit(sizes, seconds, 1)
    return float(np.exp(offset)), float(slope)


def growth_of(points: Sequence[tuple[float, float]]) -> float | None:
    return fit_growth(points)[1] if len(points) > 1 else None


def _times(ratio: float) -> str:
    return f"{ratio:,.0f} x" if ratio >= 20 else f"{ratio:.1f} x" if ratio >= 1 else f"{ratio:.2f} x"


def _seconds(value: float) -> str:
    return f"{1000 * value:,.1f} ms" if value < 0.1 else f"{value:,.1f} s" if value >= 10 else f"{value:.2f} s"
