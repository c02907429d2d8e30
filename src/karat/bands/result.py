"""What a band is once computed: frozen numbers that can be read, drawn and written down."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._check import number, refuse
from karat.math.bands.readings import ceiling_beyond, precision_at_recall, recall_at_precision
from karat.results import Tabular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

AXES = {"pr": ("recall", "precision"), "roc": ("false_positive_rate", "true_positive_rate")}
TITLES = {"pr": "Precision-recall", "roc": "ROC"}
_MOST_STRETCHES = 3
SCALARS = {"average_precision": "AP", "roc_auc": "AUC", "best_f1": "best F1", "f1_at_threshold": "F1 at the threshold"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A number with its bounds and what they claim."""

    estimate: float
    low: float
    high: float
    confidence_level: float
    guarantee: str
    method: str

    def __str__(self) -> str:
        """Return the number and its interval."""
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve(Tabular):
    """What `Band` and `Comparison` share: values over levels, with bounds."""

    curve: str
    levels: NDArray[np.float64]
    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    confidence_level: float
    guarantee: str
    simultaneous: bool
    method: str
    n_labels: int
    n_positives: int
    scalars: Mapping[str, Interval]
    notes: tuple[str, ...]
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for values in (self.levels, self.estimate, self.low, self.high):
            values.flags.writeable = False

    @property
    def recall(self) -> NDArray[np.float64]:
        """Recall levels of a precision-recall curve."""
        return self._levels_of("pr")

    @property
    def false_positive_rate(self) -> NDArray[np.float64]:
        """False positive rates of a ROC curve."""
        return self._levels_of("roc")

    def at(self, level: float) -> Interval:
        """Value and bounds at one level, between neighbouring levels by linear interpolation."""
        name = AXES[self.curve][0]
        half = (self.levels[1] - self.levels[0]) / 2
        place = number(name, level, least=round(self.levels[0] - half, 9), most=round(self.levels[-1] + half, 9))
        return self._interval(*(float(np.interp(place, self.levels, v)) for v in (self.estimate, self.low, self.high)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values, never NaN."""
        return {
            "curve": self.curve,
            AXES[self.curve][0]: self.levels.tolist(),
            "estimate": self.estimate.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "confidence_level": self.confidence_level,
            "guarantee": self.guarantee,
            "simultaneous": self.simultaneous,
            "method": self.method,
            "n_labels": self.n_labels,
            "n_positives": self.n_positives,
            "scalars": {name: interval.to_dict() for name, interval in self.scalars.items()},
            "notes": list(self.notes),
            "assumptions": list(self.assumptions),
        }

    def points(self) -> dict[str, NDArray[np.float64]]:
        """Return the curve and its bounds by column."""
        return {AXES[self.curve][0]: self.levels, "estimate": self.estimate, "low": self.low, "high": self.high}

    def _levels_of(self, curve: str) -> NDArray[np.float64]:
        if self.curve != curve:
            raise AttributeError(f"a {TITLES[self.curve]} curve has '{AXES[self.curve][0]}', not '{AXES[curve][0]}'")
        return self.levels

    def _interval(self, estimate: float, low: float, high: float) -> Interval:
        return Interval(
            estimate=estimate,
            low=low,
            high=high,
            confidence_level=self.confidence_level,
            guarantee=self.guarantee,
            method=self.method,
        )

    def _claim(self) -> str:
        reach = "simultaneous" if self.simultaneous else "pointwise (each level by itself, not the whole curve)"
        return f"{100 * self.confidence_level:g}% {reach}, {self.method} ({self.guarantee})"

    def _scalars_in_words(self) -> str:
        return "; ".join(f"{SCALARS[name]} {interval}" for name, interval in self.scalars.items())

    def _middle(self) -> str:
        middle = self.levels[self.levels.size // 2]
        return f"at {AXES[self.curve][0].replace('_', ' ')} {middle:.2f}: {self.at(float(middle))}"

    def _repr_html_(self) -> str:
        rows = [*str(self).split("\n"), *self.notes]
        return "".join(f"<div>{html.escape(row)}</div>" for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band(_Curve):
    """A PR or ROC curve with bounds.

    Attributes
    ----------
    recall or false_positive_rate : levels (also ``levels``)
    estimate, low, high : precision, or true positive rate, at the levels
    simultaneous : whether the bounds hold for all levels at once, or for each level by itself
    guarantee : "bootstrap", "finite-sample" or "asymptotic"
    scalars : average precision, ROC AUC and best F1 with intervals, by name
    notes, assumptions : what the data said, and what the bounds rest on
    """

    def __str__(self) -> str:
        """Return three lines: what it is, its scalars, its middle."""
        first = f"{TITLES[self.curve]} band, {self._claim()}, {self.n_labels:,} labels, {self.n_positives:,} positive"
        return f"{first}\n{self._scalars_in_words()}\n{self._middle()}"

    def in_a_sentence(self) -> str:
        """Say what is known in the middle of the curve."""
        middle = float(self.levels[self.levels.size // 2])
        level_name, value_name = (name.replace("_", " ") for name in AXES[self.curve])
        known = self.at(middle)
        reach = "and so along the whole curve at once" if self.simultaneous else "at this level taken by itself"
        return (
            f"At a {level_name} of {middle:.2f} the {value_name} is about {known.estimate:.3f}: with "
            f"{100 * self.confidence_level:g}% confidence between {known.low:.3f} and {known.high:.3f}, {reach}."
        )

    def precision_at_recall(self, floor: float) -> Interval:
        """Return the highest precision that keeps recall at or above ``floor``.

        Read off the band: if the band holds, so does this interval, for all floors at once.
        """
        levels, start = self.recall, self.at(floor)
        ends = [
            max(begin, precision_at_recall(levels, values, floor=floor))
            for begin, values in ((start.estimate, self.estimate), (start.low, self.low), (start.high, self.high))
        ]
        beyond = ceiling_beyond(float(self.high[-1]), last_level=float(levels[-1]))
        return self._interval(ends[0], ends[1], max(ends[2], beyond))

    def recall_at_precision(self, floor: float) -> Interval:
        """Return the highest recall that keeps precision at or above ``floor``.

        Read off the band; where the answer may lie beyond the band's range the interval reaches to 0 or to 1.
        """
        levels, wanted = self.recall, number("floor", floor, above=0.0, most=1.0)
        estimate, low, high = (
            recall_at_precision(levels, values, floor=wanted) for values in (self.estimate, self.low, self.high)
        )
        # The band was judged at the levels: the true crossing may lie up to one cell further.
        high = max(high + float(levels[1] - levels[0]), float(levels[0]))
        if ceiling_beyond(float(self.high[-1]), last_level=float(levels[-1])) >= wanted:
            high = 1.0
        return self._interval(estimate, low, min(high, 1.0))

    def plot(self, ax: Axes | None = None, *, label: str | None = None, color: str | None = None) -> Axes:
        """Draw the curve and its band; axes and labels match scikit-learn's displays."""
        scalar = "average_precision" if self.curve == "pr" else "roc_auc"
        if label is None and scalar in self.scalars:
            label = f"{SCALARS[scalar]} = {self.scalars[scalar]}"
        axes = _draw(self, ax, label=label, color=color)
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", ylabel=_title(AXES[self.curve][1]))
        return axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(_Curve):
    """The difference of two curves on the same items: second minus first.

    Attributes
    ----------
    first, second : the two estimated curves
    estimate, low, high : their difference and its bounds
    scalars : differences of average precision, ROC AUC and best F1 with intervals
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    names: tuple[str, str] = ("the first system", "the second system")

    @property
    def certain_ranges(self) -> tuple[tuple[str, float, float], ...]:
        """Ranges of levels where one system is certainly better: (which, from, to)."""
        sign = np.where(self.low > 0, 1, np.where(self.high < 0, -1, 0))
        cuts = np.flatnonzero(np.diff(sign)) + 1
        pieces = zip(np.split(sign, cuts), np.split(self.levels, cuts), strict=True)
        names = {1: "second", -1: "first"}
        return tuple((names[int(s[0])], float(x[0]), float(x[-1])) for s, x in pieces if s[0] != 0)

    @property
    def verdict(self) -> str:
        """One sentence: where one system is certainly better, if anywhere."""
        level_name, value_name = (name.replace("_", " ") for name in AXES[self.curve])
        trust = f"{100 * self.confidence_level:g}% confidence"
        trust += " for all levels together" if self.simultaneous else " at each level by itself"
        ranges = self.certain_ranges
        if not ranges:
            return f"Neither system has certainly higher {value_name} at any {level_name} ({trust})."
        parts = {}
        for which, name in zip(("first", "second"), self.names, strict=True):
            if own := [(start, end) for system, start, end in ranges if system == which]:
                parts[name] = f"{name} {_stretches(own)}"
        better = next(iter(parts)).replace("the ", "The ", 1)
        short = "Each is better somewhere" if len(parts) > 1 else f"{better} is better"
        return f"{short}. Certainly higher {value_name} by {level_name}: {'; '.join(parts.values())} ({trust})."

    def in_a_sentence(self) -> str:
        """Return the verdict."""
        return self.verdict

    def _order(self) -> str:
        first, second = (name.removeprefix("the ").removesuffix(" system") for name in self.names)
        return f"{second} minus {first}"

    def __str__(self) -> str:
        """Return three lines: what it is, the scalars' differences, the verdict."""
        first = f"{TITLES[self.curve]} difference, {self._order()}, {self._claim()}, {self.n_labels:,} labels"
        return f"{first}\n{self._scalars_in_words()}\n{self.verdict}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values, never NaN."""
        own = {"first": self.first.tolist(), "second": self.second.tolist(), "verdict": self.verdict}
        return _Curve.to_dict(self) | own

    def plot(self, ax: Axes | None = None, *, label: str | None = None, color: str | None = None) -> Axes:
        """Draw the difference with its band and a line at zero."""
        axes = _draw(self, ax, label=label or self._order(), color=color)
        axes.axhline(0.0, color="black", linewidth=0.8)
        axes.set(xlim=(-0.01, 1.01), ylabel=f"Difference in {AXES[self.curve][1].replace('_', ' ')}")
        return axes


def _stretches(ranges: Sequence[tuple[float, float]]) -> str:
    """Write ranges of levels, the longest few of many."""
    longest = sorted(ranges, key=lambda each: each[0] - each[1])[:_MOST_STRETCHES]
    words = ", ".join(_stretch(*each) for each in sorted(longest))
    left = len(ranges) - len(longest)
    return (
        f"{words} and in {left} shorter stretches" if left > 1 else f"{words} and in a shorter one" if left else words
    )


def _stretch(start: float, end: float) -> str:
    """Write a range of levels; of a single one, that level."""
    return f"at {start:.3f}" if start == end else f"from {start:.3f} to {end:.3f}"


def _draw(curve: _Curve, ax: Axes | None, *, label: str | None, color: str | None) -> Axes:
    from karat import plotting  # noqa: PLC0415

    axes = ax if ax is not None else plotting.new_axes(6, 6)
    (line,) = axes.plot(curve.levels, curve.estimate, label=label, color=color)
    claim = f"{100 * curve.confidence_level:g}% {'band' if curve.simultaneous else 'pointwise'}"
    axes.fill_between(curve.levels, curve.low, curve.high, alpha=0.2, color=line.get_color(), linewidth=0, label=claim)
    axes.set(xlabel=_title(AXES[curve.curve][0]))
    axes.legend(loc="best")
    return axes


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def check_curve(name: str, curve: str) -> None:
    """Raise unless the curve is one of the two."""
    if curve not in AXES:
        raise refuse(name, "'pr' or 'roc'", curve)
