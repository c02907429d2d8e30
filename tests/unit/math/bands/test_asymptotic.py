import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from karat.math.bands.asymptotic import precision_variance, sample_slope, sensitivity_variance, tail_slope
from karat.math.bands.ordering import counts_above, descending_labels, midpoint_levels, precision_curve
from karat.math.bands.smoothing import SmoothTails

LEVELS = np.array([0.2, 0.5, 0.8])
RATE = 0.3


def binormal(shift=1.0):
    threshold = shift + ndtri(1 - LEVELS)
    return ndtr(-threshold), np.exp(-(threshold**2) / 2 + (threshold - shift) ** 2 / 2)


def simulated_variance(*, anchor_is_positive, n_items=4000, n_runs=3000):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n_runs):
        labels = rng.random(n_items) < RATE
        ordered, _ = descending_labels(labels, rng.standard_normal(n_items) + labels, rng=rng)
        counts = counts_above(ordered, LEVELS, anchor_is_positive=anchor_is_positive)
        n_positives = int(labels.sum())
        found.append(
            precision_curve(LEVELS, counts, n_positives=n_positives) if anchor_is_positive else counts / n_positives
        )
    return n_items * np.var(found, axis=0)


def misprinted_variance(tail, slope):
    """Eq. (9) as printed: the leading factor stands before the first term only."""
    precision = RATE * LEVELS / (RATE * LEVELS + (1 - RATE) * tail)
    return (
        (1 - RATE) * precision**4 * tail**2 / (LEVELS**2 * RATE**3)
        + (1 - RATE) ** 2 * LEVELS * (1 - LEVELS) * slope**2 / RATE**3
        + (1 - RATE) * tail * (1 - tail) / RATE**2
    )


def test_precision_variance_equals_the_simulated_one_and_the_misprint_does_not():
    tail, slope = binormal()
    simulated = simulated_variance(anchor_is_positive=True)
    # A sample variance of 3,000 has a relative deviation of .026; the limit itself is some per cent off at n = 4000.
    np.testing.assert_allclose(precision_variance(LEVELS, tail, slope=slope, positive_rate=RATE), simulated, rtol=0.12)
    assert np.all(np.abs(misprinted_variance(tail, slope) / simulated - 1) > 0.12)


def test_sensitivity_variance_equals_the_simulated_one():
    threshold = ndtri(1 - LEVELS)
    tail = ndtr(1 - threshold)
    slope = np.exp(-((threshold - 1) ** 2) / 2 + threshold**2 / 2)
    found = sensitivity_variance(LEVELS, tail, slope=slope, positive_rate=RATE)
    np.testing.assert_allclose(found, simulated_variance(anchor_is_positive=False), rtol=0.12)


@pytest.mark.parametrize("width", [0.01, 0.05])
def test_slopes_of_a_known_map(width):
    grid = np.linspace(0, 1, 10_001)
    tails = SmoothTails(anchor_tail=grid, counted_tail=grid**2)
    levels = midpoint_levels(200)
    inner = slice(15, -15)
    np.testing.assert_allclose(tail_slope(tails, levels, width=width)[inner], 2 * levels[inner], atol=1e-3)
    np.testing.assert_allclose(sample_slope(levels**2, levels, width=width)[inner], 2 * levels[inner], atol=1e-9)
