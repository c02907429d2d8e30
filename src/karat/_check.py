"""The only place that words an argument error."""

from __future__ import annotations

import codecs
import math
import re
from typing import TYPE_CHECKING

import numpy as np

from karat.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

LARGEST = 2**63 - 1
"""The largest whole number that arrays can hold."""


def refuse(name: str, expected: str, got: object, hint: str = "") -> InvalidInput:
    """Word the error for an argument; the caller raises it."""
    text = f"'{name}' must be {expected}; got {got!r}."
    error = InvalidInput(f"{text} {hint}" if hint else text)
    error.argument = name
    return error


def number(
    name: str,
    value: float,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> float:
    """Return value as a finite float inside the given open (above, below) and closed (least, most) ends."""
    try:
        checked = float(value)
    except (TypeError, ValueError, OverflowError):
        checked = math.nan
    if not (math.isfinite(checked) and above < checked < below and least <= checked <= most):
        raise refuse(name, _range_in_words(above, below, least, most), value)
    return checked


def no_number(name: str, text: str) -> InvalidInput:
    """Word the error for text where a number is expected; the caller raises it.

    Examples
    --------
    >>> print(no_number("half_width", "0,1"))
    'half_width' must be a number with a point, as in 0.1; got '0,1'.
    """
    pointed = text.strip().replace(",", ".")
    return refuse(name, f"a number with a point, as in {pointed}" if has_comma(text) else "a number", text)


def has_comma(text: str) -> bool:
    """Say whether text is a number but for a comma in place of the point."""
    return re.fullmatch(r"[+-]?\d{0,9},\d{1,9}", text.strip()) is not None


def fraction(name: str, value: float) -> float:
    """Return value as a float strictly between 0 and 1."""
    return number(name, value, above=0.0, below=1.0)


def whole(name: str, value: int, *, least: int = 0, most: int = LARGEST) -> int:
    """Return value as an int of at least ``least`` and at most ``most``."""
    given: object = value
    is_whole = isinstance(given, (int, np.integer)) or (isinstance(given, float) and given.is_integer())
    if not is_whole or isinstance(given, bool) or not least <= value <= most:
        is_usual = most == LARGEST and (not is_whole or value <= most)
        ceiling = "" if is_usual else f" and at most {most:,}"
        raise refuse(name, f"a whole number of at least {least:,}{ceiling}", value)
    return int(value)


def one_of(name: str, value: str, choices: Iterable[str]) -> str:
    """Return value if it is one of the choices."""
    known = list(choices)
    if value not in known:
        raise refuse(name, "one of " + ", ".join(repr(choice) for choice in known), value)
    return value


def binary_labels(name: str, values: ArrayLike) -> NDArray[np.int8]:
    """Return values as an array of 0 and 1."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise refuse(name, "one-dimensional", f"{array.ndim} dimensions")
    if array.dtype == object or array.dtype.kind not in "biuf":
        raise refuse(name, "made of 0 and 1", f"values of type {array.dtype}")
    bad = np.flatnonzero((array != 0) & (array != 1))
    if bad.size:
        raise refuse(name, "made of 0 and 1", array[bad[0]].item(), f"It stands at position {bad[0]}.")
    return array.astype(np.int8)


def finite_scores(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as an array of finite floats."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise refuse(name, "made of numbers", f"values of type {np.asarray(values).dtype}") from None
    if array.ndim != 1:
        raise refuse(name, "one-dimensional", f"{array.ndim} dimensions")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise refuse(name, "made of finite numbers", array[bad[0]].item(), f"It stands at position {bad[0]}.")
    return array


def no_utf8(raw: bytes, *, after: str = "") -> str:
    """Word what is wrong with text in which these bytes stand, and how to mend it; ``after`` stands before them.

    Examples
    --------
    >>> no_utf8("ï".encode("latin1"), after="na")
    "expected UTF-8 text; got the byte 0xef after 'na'. If it is Latin-1, `iconv -f latin1 -t utf-8` mends it."
    """
    kind = "UTF-16" if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "Latin-1"
    place = f" after {after[-20:].strip()!r}" if after.strip() else ""
    option = {"UTF-16": "utf-16", "Latin-1": "latin1"}[kind]
    remedy = f"If it is {kind}, `iconv -f {option} -t utf-8` mends it."
    return f"expected UTF-8 text; got the byte 0x{raw[0]:02x}{place}. {remedy}"


def same_length(first: str, n_first: int, second: str, n_second: int) -> None:
    """Raise unless both lengths agree."""
    if n_first != n_second:
        raise InvalidInput(f"'{first}' and '{second}' must have the same length; got {n_first} and {n_second}.")


def _range_in_words(above: float, below: float, least: float, most: float) -> str:
    left = f"({above:g}" if math.isfinite(above) else (f"[{least:g}" if math.isfinite(least) else "(-inf")
    right = f"{below:g})" if math.isfinite(below) else (f"{most:g}]" if math.isfinite(most) else "inf)")
    return "a finite number" if (left, right) == ("(-inf", "inf)") else f"in {left}, {right}"
