"""Argument checks: one sentence that names the argument, what it must be, and what it was."""

from __future__ import annotations

import math

import numpy as np
import pytest

from karat import _check
from karat.errors import InvalidData, InvalidInput, KaratError, MissingExtra


def test_errors_are_also_the_built_in_a_caller_expects():
    assert issubclass(InvalidInput, (KaratError, ValueError))
    assert issubclass(InvalidData, InvalidInput)
    assert issubclass(MissingExtra, ImportError)
    assert issubclass(MissingExtra, KaratError)


def test_wording():
    with pytest.raises(InvalidInput) as caught:
        _check.number("epsilon", 2, above=0, most=1)
    assert str(caught.value) == "'epsilon' must be in (0, 1]; got 2."
    with pytest.raises(InvalidInput) as caught:
        _check.one_of("method", "magic", ["paula", "point"])
    assert str(caught.value) == "'method' must be one of 'paula', 'point'; got 'magic'."


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, None, "x", [], {}, 10**400, 1j], ids=lambda v: str(v)[:9]
)
def test_a_number_is_finite(value):
    with pytest.raises(InvalidInput, match="'x' must be a finite number"):
        _check.number("x", value)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.1, math.nan])
def test_a_fraction_is_strictly_inside(value):
    with pytest.raises(InvalidInput, match=r"'x' must be in \(0, 1\)"):
        _check.fraction("x", value)


@pytest.mark.parametrize("value", [1.5, "3", None, True, math.nan, math.inf, -1, 11])
def test_a_whole_number(value):
    with pytest.raises(InvalidInput, match="'x' must be a whole number of at least 0 and at most 10"):
        _check.whole("x", value, most=10)


def test_whole_numbers_of_all_kinds_are_taken():
    for value in (3, 3.0, np.int32(3), np.float64(3), np.uint8(3)):
        assert _check.whole("x", value) == 3
        assert type(_check.whole("x", value)) is int


@pytest.mark.parametrize("values", [[10**400, 1], [None], ["a"], [[1.0]], [1j], [math.nan], "abc", {"a": 1}])
def test_scores_are_finite_numbers(values):
    with pytest.raises(InvalidInput, match="'s' must be"):
        _check.finite_scores("s", values)


def test_the_place_of_a_defect_is_named():
    with pytest.raises(InvalidInput, match=r"got nan\. It stands at position 2"):
        _check.finite_scores("s", [1, 2, math.nan])
    with pytest.raises(InvalidInput, match=r"got 3\. It stands at position 1"):
        _check.binary_labels("v", [0, 3, 4])
