"""What is wrong with a request, field by field, in the words of all other errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat import _check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_EXPECTED = {
    "missing": "given",
    "extra_forbidden": "left out: it is not known here",
    "finite_number": "a finite number",
    "greater_than_equal": "at least {ge:,}",
    "less_than_equal": "at most {le:,}",
    "literal_error": "one of {expected}",
    "string_type": "text",
    "string_too_short": "text of length {min_length:,} or more",
    "string_too_long": "text of at most {max_length:,} characters",
    "too_short": "of length {min_length:,} or more",
    "too_long": "of length {max_length:,} or less",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
}
_MOST = 5


def list_faults(errors: Iterable[Mapping[str, Any]]) -> list[tuple[str | None, str]]:
    """Return the first faults, each with the field that is to blame: what was sent may hold a password, or NaN.

    Examples
    --------
    >>> list_faults([{"loc": ("body", "price"), "type": "float_parsing", "input": "much", "msg": "no number"}])
    [('price', "'price' must be a number.")]
    """
    return [(_field(entry), _sentence(entry)) for entry in list(errors)[:_MOST]]


def _field(entry: Mapping[str, Any]) -> str | None:
    return next((part for part in reversed(entry["loc"][1:]) if isinstance(part, str)), None)


def _sentence(entry: Mapping[str, Any]) -> str:
    """Say what was expected; what was given is repeated only where it is a number with a comma."""
    name, kind, given = ".".join(str(part) for part in entry["loc"][1:]), entry["type"], entry.get("input")
    if kind == "float_parsing" and isinstance(given, str) and _check.has_comma(given):
        return str(_check.no_number(name, given))
    if _field(entry) is None:
        return f"The request cannot be read: {entry['msg']}."
    if kind not in _EXPECTED:
        return f"{name}: {entry['msg']}."
    return _check.unfit(name, _EXPECTED[kind].format(**entry.get("ctx", {})))
