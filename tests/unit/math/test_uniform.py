"""Uniform sampling: the paper's equations and bounds, rank by rank."""

from __future__ import annotations

import math

import numpy as np
import pytest
import twins

from karat.math import path, uniform


def test_equations_2_to_5():
    assert uniform.labels_for_point(epsilon=0.05, precision=0.7, confidence_level=0.95) == math.ceil(
        math.log(40) / (2 * 0.05**2 * 0.7**2)
    )
    assert uniform.half_width(np.array([2000]), confidence_level=0.95)[0] == pytest.approx(
        math.sqrt(math.log(40) / 4000)
    )
    total = uniform.total_labels(217_077, alpha=0.08, precision=0.7, confidence_level=0.95)
    assert total == pytest.approx(47_030, abs=1)
    # Half of the total drawn from the list gives the wanted factor from the other half on: eqs (4) and (5) agree.
    from_rank = uniform.accurate_from_rank(217_077, n_draws=total / 2, alpha=0.08, precision=0.7, confidence_level=0.95)
    assert from_rank == pytest.approx(total / 2, rel=1e-9)


@pytest.mark.parametrize(("precision", "wanted"), [(0.7, 31_794), (0.616, 41_056)])
def test_the_papers_accurate_from_rank(precision, wanted):
    """With its stated p = .7 eq. (4) gives 31,794; the printed 41,056 needs p = .616."""
    got = uniform.accurate_from_rank(217_077, n_draws=17_392, alpha=0.08, precision=precision, confidence_level=0.95)
    assert got == pytest.approx(wanted, rel=1e-3)


def test_half_width_without_draws_says_nothing():
    assert uniform.half_width(np.array([0, 1]), confidence_level=0.95, n_ranks=10).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("seed", range(5))
def test_bounds_agree_with_the_book_at_every_rank(seed):
    rng = np.random.default_rng(seed)
    n_items = 200
    labels = rng.integers(0, 2, n_items).astype(np.int8)
    drawn = np.sort(rng.integers(1, n_items + 1, size=120))
    asked = labels[drawn - 1]
    known = uniform.bound_yields(drawn, asked, asked, n_items=n_items, confidence_level=0.9, n_ranks=n_items)
    assert np.all(np.diff(known.ranks) > 0)
    at_knots = dict(zip(known.ranks.tolist(), zip(known.low, known.high, strict=True), strict=True))
    for rank, (low, high) in at_knots.items():
        wanted = twins.uniform_bounds(rank, drawn, asked, confidence_level=0.9, n_ranks=n_items)
        assert (low, high) == pytest.approx(wanted, abs=1e-9)
    # Between knots only steps of 0 and 1 are used: looser than a bound of its own by at most a quarter of the gap.
    knots = np.r_[0, known.ranks]
    low, high = path.make_consistent(knots, np.r_[0, known.low], np.r_[0, known.high])
    every = np.arange(known.ranks[0], n_items + 1)
    at_low, at_high = path.bounds_at(knots, low, high, at=every)
    gap = np.diff(known.ranks).max()
    for rank, below, above in zip(every, at_low, at_high, strict=True):
        own = twins.uniform_bounds(int(rank), drawn, asked, confidence_level=0.9, n_ranks=n_items)
        assert below >= own[0] - gap / 4 - 1
        assert above <= own[1] + gap / 4 + 1


def test_open_labels_count_both_ways():
    drawn = np.array([1, 5, 5, 9])
    known = uniform.bound_yields(
        drawn, np.array([0, 1, 1, 0], dtype=np.int8), np.array([1, 1, 1, 0], dtype=np.int8), n_items=10,
        confidence_level=0.9, n_ranks=10,
    )  # fmt: skip
    wanted_low = twins.uniform_bounds(10, drawn, [0, 1, 1, 0], confidence_level=0.9, n_ranks=10)[0]
    wanted_high = twins.uniform_bounds(10, drawn, [1, 1, 1, 0], confidence_level=0.9, n_ranks=10)[1]
    assert (known.low[-1], known.high[-1]) == pytest.approx((wanted_low, wanted_high))
