"""Fully labelled rankings to measure on: generated ones, and every `single_*.parquet` of a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

DEFAULT_FOLDER = Path(__file__).parents[3] / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Scores (higher ranks first) and the label of every item."""

    name: str
    scores: np.ndarray
    labels: np.ndarray

    @property
    def n_items(self) -> int:
        return len(self.labels)

    def votes(self, *, right: float = 0.9) -> np.ndarray:
        """Return what a judge says who is right this often, whatever the item."""
        rng = np.random.default_rng([self.n_items, 5])
        return np.where(rng.random(self.n_items) < right, self.labels, 1 - self.labels).astype(np.uint8)


def generated() -> list[Ranking]:
    """Return rankings that differ in what makes them hard."""
    return [
        _ranking("knowledge base", 217_077, lambda ranks: 0.85 - 0.03 * np.log1p(ranks / 100)),
        _ranking(
            "bump", 35_615, lambda ranks: 0.8 - 0.5 * ranks / 35_615 + 0.3 * np.exp(-(((ranks - 2e4) / 3e3) ** 2))
        ),
        _ranking("coin flips", 50_000, lambda ranks: np.full(len(ranks), 0.5)),
        _ranking("fraud alerts", 200_000, lambda ranks: 0.9 / (1 + (ranks / 600) ** 1.6)),
        _ranking("nearly all right", 10_000, lambda ranks: 1 - 0.03 * (ranks / 10_000) ** 3),
        _ranking("clumps", 60_000, lambda ranks: np.where((ranks // 700) % 2 == 0, 0.9, 0.45)),
    ]


def _ranking(name: str, n_items: int, rate) -> Ranking:
    rng = np.random.default_rng([n_items, 3])
    ranks = np.arange(1, n_items + 1)
    chances = np.clip(rate(ranks), 0.0, 1.0)
    labels = (rng.random(n_items) < chances).astype(np.int8)
    calibrated = bool(np.all(np.diff(chances) < 0))
    return Ranking(name=name, scores=chances if calibrated else 1.0 - ranks / (n_items + 1), labels=labels)


def found_in(folder: Path) -> list[Ranking]:
    """Return the rankings of a folder, none if there is no such folder."""
    rankings = []
    for path in sorted(folder.glob("single_*.parquet")):
        table = duckdb.sql(f"SELECT score, label FROM '{path}'").fetchnumpy()
        rankings.append(
            Ranking(
                name=path.stem.removeprefix("single_"),
                scores=np.asarray(table["score"], dtype=np.float64),
                labels=np.asarray(table["label"], dtype=np.int8),
            )
        )
    return rankings
