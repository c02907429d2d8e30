"""Is a curve certainly good enough? What `karat gate` and the pytest plugin ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat import _check
from karat.errors import InvalidInput

if TYPE_CHECKING:
    from karat.curves import Curve
    from karat.results import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A target and what is known about it."""

    target: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Whether all targets are certainly met, and why not."""

    passed: bool
    checks: tuple[Check, ...]
    doubt: str
    """What the labels contradict, if they do: nothing is certain then."""
    curve: Curve

    def __str__(self) -> str:
        word = "certain" if self.passed else "NOT certain"
        lines = [f"{word}: {check.interval}, wanted at least {check.target:g}" for check in self.checks]
        if self.doubt:
            lines.append(f"The labels contradict what {self.curve.method} says of them: {self.doubt}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "contradicted": [assumption.to_dict() for assumption in self.curve.contradicted],
            "checks": [{"target": check.target, **check.interval.to_dict()} for check in self.checks],
        }


def check_gate(
    curve: Curve, *, precision: float | None = None, recall: float | None = None, rank: int | None = None
) -> Gate:
    """Say whether precision and recall of the first ``rank`` items (all, if None) certainly reach their targets.

    Examples
    --------
    >>> import numpy
    >>> from karat.curves import Curve
    >>> ends = numpy.array([0, 100])
    >>> curve = Curve(method="exact", n_items=100, n_labels=100, ranks=ends, yield_low=numpy.array([0.0, 90.0]),
    ...               yield_high=numpy.array([0.0, 95.0]), yield_estimate=numpy.array([0.0, 92.0]),
    ...               confidence_level=0.95, guarantee="finite-sample")
    >>> print(check_gate(curve, precision=0.9))
    certain: precision at 100: 0.920 [0.900, 0.950], wanted at least 0.9
    >>> check_gate(curve, precision=0.91).passed
    False
    """
    if precision is None and recall is None:
        raise InvalidInput("'precision' or 'recall' must be given: there is nothing to check.")
    at = curve.n_items if rank is None else rank
    checks = []
    if precision is not None:
        checks.append(Check(target=_check.number("precision", precision, above=0, most=1), interval=curve.at(at)))
    if recall is not None:
        checks.append(Check(target=_check.number("recall", recall, above=0, most=1), interval=curve.recall_at(at)))
    certain = not (curve.crossed or curve.contradicted) or (recall is None and at <= curve.exact_until)
    doubt = ""
    if not certain:
        doubt = curve.contradicted[0].finding if curve.contradicted else "its bounds cross."
    passed = certain and all(check.interval.low >= check.target for check in checks)
    return Gate(passed=passed, checks=tuple(checks), doubt=doubt, curve=curve)
