import numpy as np
import pytest

from karat.math.bands.envelopes import (
    percentile_envelope,
    simultaneous_envelope,
    studentised_envelope,
    sup_radius,
    unseen,
)


def textbook_envelope(curves, confidence_level):
    """Depth of every replicate by counting, then the deepest share."""
    n_replicates, n_levels = curves.shape
    depths = [
        min(min(np.sum(curves[:, k] <= row[k]), np.sum(curves[:, k] >= row[k])) for k in range(n_levels))
        for row in curves
    ]
    wanted = np.ceil(confidence_level * n_replicates - 1e-9)
    depth = max(j for j in range(1, n_replicates // 2 + 1) if j == 1 or np.sum(np.array(depths) >= j) >= wanted)
    ordered = np.sort(curves, axis=0)
    return ordered[depth - 1], ordered[-depth]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", [False, True])
def test_envelope_equals_its_textbook_twin(seed, ties):
    rng = np.random.default_rng(seed)
    curves = np.cumsum(rng.normal(size=(150, 12)), axis=1)
    curves = np.round(curves) if ties else curves
    found = simultaneous_envelope(curves, confidence_level=0.8)
    np.testing.assert_array_equal(found, textbook_envelope(curves, 0.8))


def test_envelope_holds_the_wanted_share_and_percentiles_do_not():
    curves = np.cumsum(np.random.default_rng(0).normal(size=(2000, 50)), axis=1)

    def share(low, high):
        return np.mean(np.all((curves >= low) & (curves <= high), axis=1))

    assert share(*simultaneous_envelope(curves, confidence_level=0.95)) >= 0.95
    assert share(*percentile_envelope(curves, confidence_level=0.95)) < 0.9


def test_levels_that_are_not_judged_do_not_widen_the_others():
    rng = np.random.default_rng(0)
    calm = np.repeat(rng.normal(size=(1000, 1)), 10, axis=1)
    curves = np.hstack([calm, rng.normal(size=(1000, 10))])
    judged = np.arange(20) < 10
    alone = simultaneous_envelope(calm, confidence_level=0.95)
    found = simultaneous_envelope(curves, confidence_level=0.95, judged=judged)
    np.testing.assert_array_equal(found[0][:10], alone[0])
    assert simultaneous_envelope(curves, confidence_level=0.95)[0][0] < alone[0][0]


def test_sup_radius_with_equal_weights_is_a_quantile_and_weights_move_it():
    curves = np.arange(1.0, 101.0).reshape(100, 1)
    equal = np.full(100, 0.01)
    assert sup_radius(curves, np.zeros(1), confidence_level=0.95, weights=equal) == 95.0
    low = np.where(np.arange(100) < 50, 0.02, 0.0)
    assert sup_radius(curves, np.zeros(1), confidence_level=0.95, weights=low) == 48.0


def test_studentised_interval_turns_the_skew_around():
    rng = np.random.default_rng(0)
    curves = rng.exponential(size=(20_000, 1))
    low, high = studentised_envelope(
        curves,
        np.ones_like(curves),
        centre=np.ones(1),
        estimate=np.ones(1),
        deviation=np.ones(1),
        confidence_level=0.95,
    )
    # Quantiles of a unit exponential are -ln(.975) and -ln(.025); the long tail ends up below the estimate.
    assert low[0] == pytest.approx(1 - (-np.log(0.025) - 1), abs=0.1)
    assert high[0] == pytest.approx(1 - (-np.log(0.975) - 1), abs=0.02)


def test_levels_beyond_the_second_item_are_unseen():
    above, below = unseen(np.array([0.1, 0.2, 0.5, 0.8, 0.9]), 10)
    assert above.tolist() == [True, False, False, False, False]
    assert below.tolist() == [False, False, False, False, True]
