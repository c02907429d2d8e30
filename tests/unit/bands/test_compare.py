import json
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from karat.bands import compare_curves
from karat.errors import InvalidInput
from karat.math.bands.areas import delong

mpl.use("Agg")
import matplotlib.pyplot as plt

QUICK = {"n_replicates": 300}


def systems(n_items=400, first_shift=1.0, second_shift=2.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(n_items) < 0.4
    noise = rng.normal(size=n_items)
    first = first_shift * labels + noise
    second = second_shift * labels + 0.7 * noise + 0.7 * rng.normal(size=n_items)
    return labels, first, second


@pytest.mark.parametrize("curve", ["pr", "roc"])
def test_a_clearly_better_system_is_named_with_its_range(curve):
    labels, first, second = systems()
    result = compare_curves(labels, first, second, curve=curve, **QUICK)
    which, start, end = result.certain_ranges[0]
    assert which == "second"
    assert start < end
    assert f"the second system from {start:.3f} to {end:.3f}" in result.verdict
    assert result.verdict.startswith("The second system is better. Certainly higher")
    assert result.scalars["roc_auc"].low > 0
    swapped = compare_curves(labels, second, first, curve=curve, **QUICK)
    assert {name for name, _, _ in swapped.certain_ranges} == {"first"}


def test_equal_systems_are_never_told_apart():
    labels, first, _ = systems()
    result = compare_curves(labels, first, first, **QUICK)
    assert result.certain_ranges == ()
    assert result.verdict.startswith("Neither system has certainly higher precision at any recall")
    assert np.all(result.estimate == 0)


def test_ties_of_equal_systems_are_broken_alike():
    labels, first, _ = systems()
    result = compare_curves(labels, np.round(first), np.round(first), **QUICK)
    assert np.all(result.estimate == 0)


def test_differences_are_those_of_scikit_learn():
    labels, first, second = systems()
    result = compare_curves(labels, first, second, **QUICK)
    for name, score in (("average_precision", average_precision_score), ("roc_auc", roc_auc_score)):
        assert result.scalars[name].estimate == pytest.approx(score(labels, second) - score(labels, first))
    np.testing.assert_array_equal(result.estimate, result.second - result.first)


def test_pairing_is_used():
    """Two nearly equal systems: their difference is known far better than either curve."""
    labels, first, _ = systems()
    near = first + 0.05 * np.random.default_rng(9).normal(size=first.size)
    unrelated = (
        np.random.default_rng(8).permutation(first[labels]),
        np.random.default_rng(8).permutation(first[~labels]),
    )
    apart = np.empty_like(first)
    apart[labels], apart[~labels] = unrelated
    paired = compare_curves(labels, first, near, curve="roc", **QUICK).scalars["roc_auc"]
    unpaired = compare_curves(labels, first, apart, curve="roc", **QUICK).scalars["roc_auc"]
    assert paired.high - paired.low < 0.6 * (unpaired.high - unpaired.low)


def test_the_auc_interval_is_at_least_delongs():
    labels, first, second = systems()
    found = compare_curves(labels, first, second, curve="roc", **QUICK).scalars["roc_auc"]
    areas, covariance = delong(labels, first, second)
    deviation = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert found.low <= areas[1] - areas[0] - 1.9599 * deviation
    assert found.high >= areas[1] - areas[0] + 1.9599 * deviation


@pytest.mark.parametrize("curve", ["pr", "roc"])
def test_few_items_give_the_difference_of_exact_bands(curve):
    labels, first, second = systems(100)
    labels[np.flatnonzero(labels)[6:]] = False
    result = compare_curves(labels, first, second, curve=curve)
    assert (result.method, result.guarantee) == ("exact", "finite-sample")
    assert "exact bands" in result.notes[0]
    assert np.all((result.low <= result.estimate) & (result.estimate <= result.high))


def test_where_the_sample_has_seen_too_little_the_difference_stays_open():
    labels, first, second = systems(200)
    labels[np.flatnonzero(labels)[15:]] = False
    result = compare_curves(labels, first, second, **QUICK)
    open_ends = (result.recall * 15 < 2) | ((1 - result.recall) * 15 < 2)
    assert np.all(result.low[open_ends] == -1)
    assert np.all(result.high[open_ends] == 1)
    assert np.all(result.high[~open_ends] - result.low[~open_ends] < 2)


def test_weights_and_strata_are_used():
    labels, first, second = systems()
    shares = np.where(first > 0.5, 0.9, 0.3)
    weighted = compare_curves(labels, first, second, inclusion_probabilities=shares, strata=shares > 0.5, **QUICK)
    plain = compare_curves(labels, first, second, **QUICK)
    assert not np.array_equal(weighted.estimate, plain.estimate)
    few = np.arange(labels.size) < 5
    with pytest.raises(InvalidInput, match="at least 10 items of each class when labels are weighted"):
        compare_curves(few, first, second, inclusion_probabilities=shares)


def test_result_can_be_written_down_and_drawn():
    result = compare_curves(*systems(), **QUICK)
    kept = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert kept["verdict"] == result.verdict
    assert len(str(result).split("\n")) == 3
    axes = result.plot()
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), result.estimate)
    plt.close(axes.figure)


def test_wrong_arguments_are_refused():
    labels, first, second = systems()
    with pytest.raises(InvalidInput, match="'curve' must be 'pr' or 'roc'; got 'lift'"):
        compare_curves(labels, first, second, curve="lift")
    with pytest.raises(InvalidInput, match="'second_score' must have the same length"):
        compare_curves(labels, first, second[1:])


def test_of_many_stretches_the_longest_are_named():
    labels, first, second = systems()
    result = compare_curves(labels, first, second, **QUICK)
    sign = np.zeros(result.levels.size)
    for start, end in ((2, 3), (5, 9), (12, 30), (33, 34), (36, 60)):
        sign[start:end] = 1.0
    sign[70:90] = -1.0
    made = replace(result, low=np.where(sign > 0, 0.1, -0.1), high=np.where(sign < 0, -0.05, 0.2))
    at = [f"{level:.3f}" for level in result.levels]
    assert made.verdict.startswith(
        f"Each is better somewhere. Certainly higher precision by recall: the first system from {at[70]} to {at[89]}; "
        f"the second system from {at[5]} to {at[8]}, from {at[12]} to {at[29]}, from {at[36]} to {at[59]} and in 2 "
        "shorter stretches"
    )
