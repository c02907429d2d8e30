"""Keys keep the order, in numpy, in SQL and in a table library alike."""

from __future__ import annotations

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.engines.base import HASH_BITS, hash_ids, number_texts
from karat.engines.keys import LinearKey, RoundedKey, ScoreKey, TieKey, next_key, whole_numbers
from karat.engines.sql import Sql, _floor, _sql_key

finite = st.floats(allow_nan=False, allow_infinity=False)
some_scores = st.lists(finite, min_size=1, max_size=50).map(lambda values: np.array(sorted(values)))


def keys_for(scores):
    largest = float(np.abs(scores).max())
    linear = LinearKey.between(float(scores[0]), float(scores[-1]))
    rounded = [RoundedKey.below(largest, bits=bits) for bits in (1, 2, 12, 27, 40, 52)]
    return [linear, linear.finer(1), linear.finer(16), *rounded, ScoreKey()]


@given(some_scores)
def test_no_key_reverses_two_scores(scores):
    for key in keys_for(scores):
        values = key.of(scores, None, whole=whole_numbers)
        assert np.isfinite(values).all()
        assert (np.diff(values) >= 0).all(), key


@given(some_scores)
def test_coarse_keys_fit_into_sixteen_bits_and_finer_ones_split_them(scores):
    key = LinearKey.between(float(scores[0]), float(scores[-1]))
    coarse = key.of(scores, None, whole=whole_numbers)
    assert coarse.min() >= 0
    assert coarse.max() < 2**16
    for bits in (1, 7, 16):
        np.testing.assert_array_equal(key.finer(bits).of(scores, None, whole=whole_numbers) >> bits, coarse)


@settings(max_examples=20)
@given(some_scores)
def test_sql_and_tables_compute_the_same_bits(scores):
    frame = pl.DataFrame({"score": scores, "number": np.arange(len(scores)) - 7})
    step = keys_for(scores)[0]
    ties = [TieKey(step=step, seed=3, hash_bits=bits) for bits in (9, HASH_BITS)]
    for key in [*keys_for(scores), *ties]:
        expected = key.of(scores, frame["number"].to_numpy(), whole=whole_numbers)
        found = duckdb.sql(f"SELECT {_sql_key(key)} AS value FROM frame").fetchnumpy()["value"]
        np.testing.assert_array_equal(np.asarray(found, dtype=expected.dtype), expected)
        column = key.of(nw.col("score"), nw.col("number"), whole=lambda value: value.floor())
        table = nw.from_native(frame).select(column.alias("value"))["value"].to_numpy()
        np.testing.assert_array_equal(table.astype(expected.dtype), expected)


def test_a_key_that_reverses_would_be_noticed():
    scores = np.linspace(-1, 1, 100)
    assert (np.diff(np.abs(scores)) < 0).any()


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_hashes_agree_with_python_integers_of_any_size(seed):
    numbers = np.array([0, 1, -1, 2**31, -(2**31) - 5, 2**63 - 1, -(2**63)])
    words = np.random.SeedSequence(seed).generate_state(2)
    prime = 2**31 - 1
    multiplier, shift = int(words[0]) % (prime - 1) + 1, int(words[1]) % prime
    for number, found in zip(numbers.tolist(), hash_ids(numbers, seed=seed).tolist(), strict=True):
        mixed = (number % prime * multiplier + shift) % prime
        assert found == (mixed * mixed * 48271 + mixed) % prime


def test_text_numbers_are_the_first_sixty_bits():
    import hashlib

    texts = ["", "a", "é“”", "x" * 1000]
    expected = [int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:15], 16) for text in texts]
    assert number_texts(texts).tolist() == expected


def test_every_chain_of_keys_ends():
    for tied in (False, True):
        step = LinearKey.between(0.0, 1.0)
        key, n_keys = step, 0
        while key is not None and n_keys < 100:
            are_tied = tied or isinstance(key, (ScoreKey, TieKey))
            key = next_key(key, step=step, tied=are_tied, n_bins=10**6, seed=0, largest=1.0)
            n_keys += 1
        assert key is None


def test_sql_is_arithmetic():
    assert str(_floor((Sql("x") - -0.5) * 2)) == "floor(((x - '-0.5'::DOUBLE) * 2::BIGINT))"
