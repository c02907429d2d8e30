"""Small frozen results: an interval, an assumption with what the data say about it, and helpers to show them."""

from __future__ import annotations

import html
import importlib
import importlib.util
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.errors import MissingExtra

Guarantee = Literal["exact", "deterministic under assumptions", "finite-sample", "asymptotic", "bootstrap"]
Verdict = Literal["held", "contradicted", "not testable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A number with bounds.

    Examples
    --------
    >>> print(Interval(name="precision at 1,000", estimate=0.9, low=0.88, high=0.93, confidence_level=0.95,
    ...                guarantee="finite-sample", simultaneous=True, method="uniform", n_labels=500))
    precision at 1,000: 0.900 [0.880, 0.930]
    """

    name: str
    estimate: float
    low: float
    high: float
    confidence_level: float
    guarantee: Guarantee
    simultaneous: bool
    method: str
    n_labels: int
    note: str = ""
    estimated: bool = True
    """Whether labels stand behind the estimate; if not it is only a number between the bounds, and is not shown."""

    @property
    def crossed(self) -> bool:
        """Whether the labels contradict the assumptions so far that the lower bound lies above the upper one."""
        return self.low > self.high

    def __str__(self) -> str:
        mark = " (crossed: the labels contradict the method's assumptions)" if self.crossed else ""
        estimate = f"{show(self.estimate)} " if self.estimated else ""
        return f"{self.name}: {estimate}[{show(self.low)}, {show(self.high)}]{mark}"

    @property
    def is_share_unknown(self) -> bool:
        """Whether a share is bounded by 0 and 1 alone, so that its estimate says nothing."""
        return self.low <= 0 and self.high >= 1

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | ({} if self.estimated else {"estimate": None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """What a guarantee rests on, and what the labels say about it."""

    statement: str
    verdict: Verdict
    finding: str

    def __str__(self) -> str:
        return f"{self.statement}: {self.verdict}. {self.finding}"

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


def show(value: float) -> str:
    """Write a number with three digits that matter; whole numbers above 1 without a fraction.

    Examples
    --------
    >>> show(0.91234), show(41200.0), show(0.0000132), show(0.0), show(5.0), show(0.99983)
    ('0.912', '41,200', '0.000013', '0.000', '5', '0.9998')
    """
    if abs(value) > 1 and float(value).is_integer():
        return f"{value:,.0f}"
    if value != 0 and abs(value) < 0.0005:
        return np.format_float_positional(value, precision=2, fractional=False, trim="-")
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if 0.9995 <= value < 1:  # never a certainty that is none
        value = min(value, 0.999999)
        return f"{value:.{-math.floor(math.log10(1 - value))}f}"
    return f"{value:.3f}"


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array made read-only."""
    frozen = array.view()
    frozen.flags.writeable = False
    return frozen


def or_null(values: NDArray[Any]) -> list[Any]:
    """Return a column for JSON: NaN stands for what is not there."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [None if math.isnan(value) else value for value in values.tolist()]


class Tabular:
    """What has columns of equal length, as a table of any library."""

    __slots__ = ()

    def points(self) -> Mapping[str, NDArray[Any]]:
        """Return the columns by name."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the columns as a pandas DataFrame."""
        return _build("pandas", self.points())

    def to_polars(self) -> Any:
        """Return the columns as a Polars DataFrame."""
        return _build("polars", self.points())

    def to_arrow(self) -> Any:
        """Return the columns as a PyArrow Table."""
        return _build("pyarrow", self.points())

    def to_frame(self) -> Any:
        """Return the columns as a pandas, Polars or PyArrow table, whichever is installed first in this order."""
        return make_frame(self.points())


def make_frame(columns: Mapping[str, NDArray[Any]]) -> Any:
    """Return the columns as a pandas, Polars or PyArrow table, whichever is installed first in this order."""
    for module in ("pandas", "polars", "pyarrow"):
        if importlib.util.find_spec(module) is not None:
            return _build(module, columns)
    raise MissingExtra("to_frame() needs pandas, polars or pyarrow; install one of them.")


def _build(module: str, columns: Mapping[str, NDArray[Any]]) -> Any:
    """Return a table of a library; NaN becomes what it has for a missing value."""
    try:
        library = importlib.import_module(module)
    except ImportError:
        raise MissingExtra(f"{module} is not installed; 'pip install {module}' does it.") from None
    own = {name: np.array(values) for name, values in columns.items()}
    if module == "pyarrow":
        return library.table({name: library.array(values, from_pandas=True) for name, values in own.items()})
    return library.DataFrame(own, nan_to_null=True) if module == "polars" else library.DataFrame(own)


def html_block(text: str) -> str:
    """Wrap a printed result for a notebook."""
    return f"<pre>{html.escape(text)}</pre>"
