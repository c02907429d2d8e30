"""What a curve takes for granted where labels may be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.results import Assumption

if TYPE_CHECKING:
    from karat.curves import Curve
    from karat.math.certify.noise import LabelErrors

_BEGINNING = "Labels are wrong"


def errors_assumption(errors: LabelErrors, finding: str) -> Assumption:
    """Return the assumption that labels are wrong as often as the rates say."""
    (a, b), (c, d) = errors.sensitivity, errors.specificity
    return Assumption(
        statement=f"{_BEGINNING} independently of each other and equally often at every rank; a right item is labelled "
        f"right with a chance in [{a:.3f}, {b:.3f}], a wrong one wrong in [{c:.3f}, {d:.3f}]",
        verdict="not testable",
        finding=finding,
    )


def allows_for_errors(curve: Curve) -> bool:
    """Say whether a curve speaks of the truth although labels may be wrong."""
    return any(assumption.statement.startswith(_BEGINNING) for assumption in curve.assumptions)
