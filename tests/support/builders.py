"""Label sequences with known properties, and small tables in files."""

from __future__ import annotations

import csv
import itertools
import math

import numpy as np
from hypothesis import strategies as st


def spread(n_hits: int, n_items: int) -> list[int]:
    """Return n_items labels with n_hits hits, the earliest possible even spread."""
    return [math.ceil(i * n_hits / n_items) - math.ceil((i - 1) * n_hits / n_items) for i in range(1, n_items + 1)]


@st.composite
def falling_lists(draw, grid, *, even: bool):
    """Lists that meet the grid form of A.2 and p(g_l) >= the rate of its window.

    ``even`` spreads the hits inside each stretch, so that precision is also (nearly) m-monotone; otherwise hits fall
    anywhere.
    """
    window, points = grid.window, grid.points.tolist()

    def arrange(n_hits: int, size: int) -> list[int]:
        if even:
            return spread(n_hits, size)
        places = draw(st.randoms(use_true_random=False)).sample(range(size), n_hits)
        return [int(place in set(places)) for place in range(size)]

    rate = draw(st.integers(0, window))
    body = points[0] - window
    least = max(0, math.ceil(rate * points[0] / window) - rate)
    labels = arrange(draw(st.integers(least, body)), body) + arrange(rate, window)
    for old, new in itertools.pairwise(points):
        gap = new - old
        most = rate * gap // window
        allowed = [r for r in range(rate + 1) if math.ceil(r * gap / window) <= most]
        lower = draw(st.sampled_from(allowed[-8:] if even else allowed))
        hits = draw(st.integers(math.ceil(lower * gap / window), min(most, gap - window + lower)))
        labels += arrange(hits - lower, gap - window) + arrange(lower, window)
        rate = lower
    rest = grid.n_items - points[-1]
    if rest:
        hits = math.floor(rate * rest / window) if even else draw(st.integers(0, rest))
        labels += spread(hits, rest)[::-1] if even else arrange(hits, rest)
    return np.array(labels, dtype=np.int8)


def falling_rate(n_items: int, rng: np.random.Generator, *, top: float = 0.85, slope: float = 0.03) -> np.ndarray:
    """Return labels drawn with a rate that falls with the logarithm of the rank."""
    rates = np.clip(top - slope * np.log1p(np.arange(1, n_items + 1) / 100), 0.02, 0.98)
    return (rng.random(n_items) < rates).astype(np.int8)


def answer(design, labels) -> None:
    """Ask everything and tell the truth."""
    from karat import Labels

    ranks = design.ask()
    design.tell(Labels.from_pairs(ranks, np.asarray(labels)[ranks - 1]))


def curve_of(method, labels, *, seed: int = 0):
    """Return the curve of a method that asked about these labels (in rank order)."""
    design = method.begin(len(labels), seed=seed)
    answer(design, labels)
    return design.curve()


def write_table(path, columns, *, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
