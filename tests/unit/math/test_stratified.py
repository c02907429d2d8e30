"""Algorithm 1's bookkeeping: s draws at every grid point, kept, replaced and averaged as the paper says."""

from __future__ import annotations

import math

import numpy as np
import pytest
import twins
from scipy.stats import chisquare

from karat.math import stratified
from karat.math.geometric import make_grid

GRID = make_grid(3000, epsilon=0.2, window=10)


@pytest.mark.parametrize("n_draws", [1, 7, 200])
def test_every_sample_has_s_draws_from_its_own_ranks(n_draws):
    draws = stratified.draw(GRID, n_draws=n_draws, rng=np.random.default_rng(1))
    samples = twins.stratified_samples(draws.first, draws.last, draws.ranks, len(GRID.points))
    for k, sample in enumerate(samples):
        assert len(sample) == n_draws
        assert 1 <= min(sample) <= max(sample) <= GRID.points[k]
    fresh = draws.first > 0
    assert np.all(draws.ranks[fresh] > GRID.points[draws.first[fresh] - 1])
    assert np.all(draws.ranks <= GRID.points[draws.first])


def test_means_are_those_of_the_samples():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, GRID.n_items).astype(np.int8)
    draws = stratified.draw(GRID, n_draws=60, rng=rng)
    samples = twins.stratified_samples(draws.first, draws.last, draws.ranks, len(GRID.points))
    wanted = [np.mean([labels[rank - 1] for rank in sample]) for sample in samples]
    got = stratified.sample_means(GRID, draws, labels[draws.ranks - 1])
    np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_each_sample_is_uniform_on_its_ranks():
    draws = stratified.draw(GRID, n_draws=40_000, rng=np.random.default_rng(3))
    for k in (0, 1, len(GRID.points) // 2, len(GRID.points) - 1):
        sample = draws.ranks[(draws.first <= k) & (k <= draws.last)]
        edges = np.linspace(0, GRID.points[k], 11).astype(int) + 0.5
        counts, exact = np.histogram(sample, bins=edges)[0], np.diff(edges)
        assert chisquare(counts, exact / exact.sum() * counts.sum()).pvalue > 1e-4


def test_a_sampler_that_never_replaces_is_caught():
    """The wrong variant: keeping every draw leaves the last sample at the top of the list."""
    stuck = np.random.default_rng(3).integers(1, GRID.points[0] + 1, size=40_000)
    counts = np.histogram(stuck, bins=np.linspace(0.5, GRID.points[-1] + 0.5, 11))[0]
    assert chisquare(counts).pvalue < 1e-4


def test_replacement_share_is_what_the_plan_counts_on():
    n_draws = 5000
    draws = stratified.draw(GRID, n_draws=n_draws, rng=np.random.default_rng(4))
    fresh = np.bincount(draws.first, minlength=len(GRID.points))[1:]
    share = 1 - GRID.points[:-1] / GRID.points[1:]
    np.testing.assert_allclose(fresh / n_draws, share, atol=5 * math.sqrt(0.25 / n_draws))


def test_s_is_theorem_2():
    grid = make_grid(10_000_000)
    wanted = math.log((545 - 276) / 0.025) / (2 * (grid.gamma - 1) ** 2 * 0.25)
    assert stratified.draws_per_point(grid, least_precision=0.5, confidence_level=0.95) == pytest.approx(wanted)
    assert stratified.draws_per_point(make_grid(100), least_precision=0.5, confidence_level=0.95) == 0
    assert stratified.expected_labels(make_grid(100), least_precision=0.5, confidence_level=0.95) == 100
