"""The compiled keys are those of the formula, and the table counts what a sort would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines import ties
from karat.engines.base import HASH_BITS
from karat.engines.keys import LinearKey, TieKey, whole_numbers

RNG = np.random.default_rng(1)


@given(
    st.lists(st.tuples(st.floats(-1e300, 1e300), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=50),
    st.integers(0, 5),
    st.sampled_from([1, 9, HASH_BITS]),
)
def test_compiled_keys_are_those_of_the_formula(rows, seed, hash_bits):
    scores, numbers = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], dtype=np.int64)
    key = TieKey(step=LinearKey.between(scores.min(), scores.max()), seed=seed, hash_bits=hash_bits)
    expected = key.of(scores, numbers, whole=whole_numbers)
    np.testing.assert_array_equal(ties.tie_keys(key, scores, numbers), expected)


@pytest.mark.parametrize("at_once", [65_536, 400_000])
@pytest.mark.parametrize("n_keys", [1, 1000, 300_000])
def test_the_table_counts_and_grows(n_keys, at_once):
    keys, scores = RNG.integers(0, n_keys, 400_000) << 15, RNG.normal(size=400_000)
    table = ties.KeyTable()
    for start in range(0, len(keys), at_once):
        table.add(keys[start : start + at_once], scores[start : start + at_once])
    found = table.histogram()
    order = np.argsort(found.values)
    values, group, counts = np.unique(keys, return_inverse=True, return_counts=True)
    lowest, highest = np.full(len(values), np.inf), np.full(len(values), -np.inf)
    np.minimum.at(lowest, group, scores)
    np.maximum.at(highest, group, scores)
    expected = (values, counts, lowest, highest)
    for column, oracle in zip(found, expected, strict=True):
        np.testing.assert_array_equal(column[order], oracle)


@given(st.sets(st.integers(0, 2**47), min_size=1, max_size=200))
def test_the_set_holds_what_is_wanted(wanted):
    keys = np.array(sorted(wanted))
    others = np.setdiff1d(np.r_[keys + 1, keys - 1, RNG.integers(0, 2**47, 200)].clip(0), keys)
    found = ties.KeySet(keys.astype(np.float64))
    assert found.holds(keys).all()
    assert not found.holds(others).any()
