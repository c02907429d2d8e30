"""The order of items: by score, then a seeded hash, then the id."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.base import hash_ids
from karat.engines.memory import order_items


def slow_order(scores, numbers, seed):
    hashes = [int(hash_ids(np.array([number]), seed=seed)[0]) for number in numbers]
    return sorted(range(len(scores)), key=lambda row: (-scores[row], hashes[row], numbers[row]))


@given(
    st.lists(st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.5]), min_size=1, max_size=40),
    st.integers(0, 2**32),
    st.randoms(use_true_random=False),
)
def test_order_agrees_with_plain_sorting(scores, seed, random):
    numbers = random.sample(range(-(10**12), 10**12), len(scores))
    got = order_items(np.array(scores), np.array(numbers), seed=seed)
    assert got.tolist() == slow_order(scores, numbers, seed)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=50), st.integers(0, 2**62))
def test_hashes_are_in_range_for_any_number(numbers, seed):
    hashed = hash_ids(np.array(numbers), seed=seed)
    assert hashed.min() >= 0
    assert hashed.max() < 2**31 - 1
    np.testing.assert_array_equal(hashed, hash_ids(np.array(numbers), seed=seed))


def test_hashes_look_random():
    """Neighbouring ids: spread evenly, no trend, other orders for other seeds."""
    numbers = np.arange(1, 100_001)
    for seed in range(3):
        hashed = hash_ids(numbers, seed=seed) / (2**31 - 1)
        counts = np.histogram(hashed, bins=50, range=(0, 1))[0]
        assert np.sum((counts - 2000) ** 2 / 2000) < 120  # chi-square with 49 degrees of freedom
        assert abs(np.corrcoef(numbers, hashed)[0, 1]) < 0.02
    assert np.corrcoef(hash_ids(numbers, seed=1), hash_ids(numbers, seed=2))[0, 1] < 0.02
