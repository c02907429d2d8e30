"""Small results: intervals, assumptions, frames."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from karat import Assumption, Interval, MissingExtra
from karat.results import freeze, make_frame, show


def interval(**changes) -> Interval:
    values = {
        "name": "precision at 10", "estimate": 0.5, "low": 0.4, "high": 0.6, "confidence_level": 0.95,
        "guarantee": "finite-sample", "simultaneous": True, "method": "uniform", "n_labels": 10,
    }  # fmt: skip
    return Interval(**{**values, **changes})


def test_an_interval_says_what_it_is():
    assert str(interval()) == "precision at 10: 0.500 [0.400, 0.600]"
    document = json.loads(json.dumps(interval().to_dict()))
    for key in ("estimate", "low", "high", "confidence_level", "guarantee", "simultaneous", "method", "n_labels"):
        assert key in document
    assert not interval().crossed
    assert interval(low=0.7).crossed
    assert "crossed: the labels contradict" in str(interval(low=0.7))
    with pytest.raises(AttributeError):
        interval().low = 0.1


def test_an_assumption_says_what_the_labels_say():
    found = Assumption(statement="Precision falls", verdict="contradicted", finding="It rises at 10.")
    assert str(found) == "Precision falls: contradicted. It rises at 10."
    assert found.to_dict() == {"statement": "Precision falls", "verdict": "contradicted", "finding": "It rises at 10."}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.000"), (1.0, "1.000"), (0.98765, "0.988"), (12_345.0, "12,345"), (12_345.6, "12,346"), (3.14159, "3.142"),
     (2e-5, "0.00002"), (-7.0, "-7")],
)  # fmt: skip
def test_numbers_are_shown_with_the_digits_that_matter(value, text):
    assert show(value) == text


def test_frozen_arrays_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        freeze(np.arange(3))[0] = 9


@pytest.mark.parametrize("missing", [(), ("pandas",), ("pandas", "polars")])
def test_a_frame_in_whatever_is_installed(monkeypatch, missing):
    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)
    frame = make_frame({"rank": np.array([1, 2]), "precision": np.array([1.0, 0.5])})
    assert type(frame).__module__.split(".")[0] == ("pandas", "polars", "pyarrow")[len(missing)]


def test_a_frame_with_nothing_installed(monkeypatch):
    for module in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match="needs pandas, polars or pyarrow"):
        make_frame({"rank": np.array([1])})
