"""Labels that are wrong at known rates: corrected values and their variance hold given the truth."""

import itertools

import numpy as np
import pytest

from karat.math.agreement.vote_errors import ErrorRates, majority_errors
from karat.pool.truths import Truths

ERRORS = ErrorRates(sensitivity=0.95, specificity=0.75, covariance=((0.0, 0.0), (0.0, 0.0)), n_items=1000)
CHANCE = {1: {1: 0.95, 0: 0.05}, 0: {1: 0.25, 0: 0.75}}


@pytest.mark.parametrize("truth", [0, 1])
def test_value_and_noise_are_unbiased_given_the_truth(truth):
    labels = np.array([0.0, 1.0])
    chance = np.array([CHANCE[truth][0], CHANCE[truth][1]])
    values = ERRORS.corrected(labels)
    assert chance @ values == pytest.approx(truth)
    assert chance @ ERRORS.noise(labels) == pytest.approx(chance @ (values - truth) ** 2)


@pytest.mark.parametrize("truth", list(itertools.product((0, 1), repeat=2)))
def test_a_unit_of_two_instances_has_no_less_noise_than_its_variance(truth):
    """Over all labels that the truth may give: the unit's value is unbiased, its noise no smaller than its variance."""
    mean = square = noise = 0.0
    for labels in itertools.product((0, 1), repeat=2):
        chance = CHANCE[truth[0]][labels[0]] * CHANCE[truth[1]][labels[1]]
        parts = Truths(labels=np.array(labels), unit=np.zeros(2, dtype=np.int64), mass=np.full((1, 2), 0.5),
                       unit_mass=np.ones((1, 1)), by_unit=True).settled(ERRORS)  # fmt: skip
        mean += chance * parts["true"][0]
        square += chance * parts["true"][0] ** 2
        noise += chance * parts["noise_true"][0]
    assert mean == pytest.approx(max(truth))
    assert square - mean**2 <= noise + 1e-12
    assert noise <= 1.5 * (square - mean**2)


def test_a_sure_label_stays_as_told():
    labels, unit = np.array([1, 0, 1, -1]), np.arange(4)
    parts = Truths(labels=labels, unit=unit, mass=np.ones((1, 4)), unit_mass=np.ones((1, 4)), by_unit=True,
                   sure=np.array([True, True, False, True])).settled(ERRORS)  # fmt: skip
    assert parts["true"] == pytest.approx([1.0, 0.0, 0.75 / 0.7, 0.5])
    assert parts["noise_true"] == pytest.approx([0.0, 0.0, 0.75 * 0.05 / 0.7**2, 0.0])


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_rates_are_those_of_the_items_nobody_ruled_on(share):
    """Against the rates of a simulated crowd; those of all items differ by .02 and more once half are ruled on."""
    rng = np.random.default_rng(5)
    truth = rng.random(200_000) < 0.6
    positive = rng.binomial(3, np.where(truth, 0.9, 0.2))
    ruled = (positive % 3 > 0) & (rng.random(truth.size) < share)
    found = majority_errors(positive, n_votes=3, share_ruled=share)
    label = positive > 1
    assert found.sensitivity == pytest.approx(label[truth & ~ruled].mean(), abs=0.004)
    assert found.specificity == pytest.approx(1 - label[~truth & ~ruled].mean(), abs=0.004)
