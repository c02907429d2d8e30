"""Results of a pool: a leaderboard and paired differences, which print, plot and turn into JSON themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import plotting
from karat.results import Tabular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from karat.math.pooled.estimate import Metric


_CELL = len("0.000 [0.000, 0.000]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """An estimate with its interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        """Show the estimate and the interval."""
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def to_dict(self) -> dict[str, float]:
        """Ready for JSON."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One system on the leaderboard; systems that share a rank are not told apart by the labels."""

    rank: int
    system: str
    version: int
    precision: Score
    recall: Score
    f1: Score
    n_predictions: int
    n_labels: int
    missed: bool = False
    """Its precision is known less well than was asked for, though nothing is left to judge."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "rank": self.rank,
            "system": self.system,
            "version": self.version,
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
            "f1": self.f1.to_dict(),
            "n_predictions": self.n_predictions,
            "n_labels": self.n_labels,
            "missed": self.missed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard(Tabular):
    """All systems, best first, with intervals and honest ties.

    A system's rank is one plus the number of systems that are certainly better: whose paired difference to it has
    an interval above 0.
    """

    rows: tuple[Row, ...]
    metric: Metric
    method: str
    guarantee: str
    confidence_level: float
    n_items: int
    n_labels: int
    n_pending: int
    pool_recall: float | None
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    """Systems whose first labels are not there yet."""

    def __str__(self) -> str:
        """Show the leaderboard as a table."""
        width = max([len("system"), *(len(row.system) for row in self.rows)])
        metrics = "  ".join(f"{name:<{_CELL}}" for name in ("precision", "recall", "f1"))
        lines = [f"{'rank':>4}  {'system':<{width}}  {metrics}  predictions  labels"]
        for row in self.rows:
            scores = "  ".join(f"{score!s:<{_CELL}}" for score in (row.precision, row.recall, row.f1))
            counts = f"{row.n_predictions:>11,}  {row.n_labels:>6,}"
            lines.append(f"{row.rank:>4}  {row.system:<{width}}  {scores}  {counts}")
        level = f"{100 * self.confidence_level:g}% intervals ({self.guarantee})"
        lines.append(f"{level}; {self.n_labels:,} labels for {self.n_items:,} units; ranked by {self.metric}.")
        return "\n".join([*lines, *self.remarks])

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, whose goal was missed, and which systems wait."""
        return (*self.notes, *say_systems([row.to_dict() for row in self.rows], self.waiting))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "metric": self.metric,
            "method": self.method,
            "guarantee": self.guarantee,
            "confidence_level": self.confidence_level,
            "n_items": self.n_items,
            "n_labels": self.n_labels,
            "n_pending": self.n_pending,
            "pool_recall": self.pool_recall,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            "waiting": list(self.waiting),
        }

    def points(self) -> dict[str, NDArray[Any]]:
        """Return the rows by column; an interval takes three."""
        columns: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in self.rows] for name in ("rank", "system", "n_predictions", "n_labels")
        }
        for metric in ("precision", "recall", "f1"):
            scores = [getattr(row, metric) for row in self.rows]
            for suffix, end in (("", "estimate"), ("_low", "low"), ("_high", "high")):
                columns[metric + suffix] = [getattr(score, end) for score in scores]
        return {name: np.array(values) for name, values in columns.items()}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the intervals of the ranking metric, best system on top."""
        axes = ax if ax is not None else plotting.new_axes(7, 1 + 0.35 * len(self.rows))
        scores = [getattr(row, self.metric) for row in self.rows]
        places = range(len(scores), 0, -1)
        axes.hlines(list(places), [s.low for s in scores], [s.high for s in scores], color=plotting.BLUE, linewidth=2)
        axes.plot([s.estimate for s in scores], list(places), "o", color=plotting.BLUE, clip_on=False)
        axes.set_yticks(list(places), [f"{row.rank}. {row.system}" for row in self.rows])
        axes.set_xlim(0.0, 1.0)
        axes.set_xlabel(f"{self.metric}, {100 * self.confidence_level:g}% interval")
        return axes


def say_systems(rows: Sequence[dict[str, Any]], waiting: Sequence[str]) -> list[str]:
    """Name the systems whose goal was missed, from rows as in JSON, and those whose first labels are not there yet."""
    wide = [(row["system"], row["precision"]) for row in rows if row["missed"]]
    said = []
    if wide:
        widths = ", ".join(f"{system} (±{(score['high'] - score['low']) / 2:.3f})" for system, score in wide)
        said.append(
            f"Precision is known less well than asked, though nothing is left to judge: {widths}. Labels vary more "
            "than the first ones showed when the rest were planned, or people's errors and unsure answers widen the "
            "intervals."
        )
    if waiting:
        said.append(f"Waiting for their first labels: {', '.join(waiting)}.")
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much better the first system is than the second, from the labels that both share."""

    first: str
    second: str
    metric: Metric
    estimate: float
    low: float
    high: float
    confidence_level: float
    n_labels: int

    @property
    def is_tie(self) -> bool:
        """Whether the labels leave open which of the two is better."""
        return self.low <= 0.0 <= self.high

    def __str__(self) -> str:
        """Say it in one sentence, with the numbers."""
        better = self.first if self.estimate >= 0 else self.second
        verdict = "not told apart" if self.is_tie else f"{better} is better"
        interval = f"{self.estimate:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"
        return (
            f"{self.metric} of {self.first} minus {self.second}: {interval}"
            f"\n{verdict} at {100 * self.confidence_level:g}% confidence\n{self.n_labels:,} labels, paired"
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "metric": self.metric,
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "confidence_level": self.confidence_level,
            "n_labels": self.n_labels,
            "is_tie": self.is_tie,
        }
