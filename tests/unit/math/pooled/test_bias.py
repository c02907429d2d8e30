import numpy as np
import pytest

from karat.errors import InvalidInput
from karat.math.pooled.bias import half_pool_bias, leave_out_bias, merge_instances, pooled_score


def test_leaving_out_by_hand():
    predicted = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0]])
    labels = [1, 1, 0, 1, 1]  # the last was found by people: no system has it
    study = leave_out_bias(predicted, labels)
    assert study.expected[0] == pytest.approx([2 / 3, 2 / 3])
    assert study.expected[1] == pytest.approx([2 / 4, 2 / 4])
    # Without the first system item 0 is unknown: 1 right of 3 predictions, 1 of 3 true items.
    assert study.pooled[:, 0] == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def test_a_team_is_left_out_as_a_whole():
    predicted = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 1]])
    alone = leave_out_bias(predicted, [1, 1, 1])
    team = leave_out_bias(predicted, [1, 1, 1], teams=["a", "a", "b"])
    assert alone.bias[0, 0] == 0  # the twin keeps its predictions in the pool
    assert team.bias[0, 0] == 0.5


def test_a_system_without_predictions_of_its_own_suffers_nothing():
    predicted = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    assert leave_out_bias(predicted, [1, 0, 1]).bias == pytest.approx(np.zeros((3, 3)))


def test_ignoring_provenance_shrinks_the_bias():
    rng = np.random.default_rng(0)
    relations = np.repeat(np.arange(60), 4)
    true = np.repeat(rng.random(60) < 0.5, 4)
    labels = (true & (rng.random(240) < 0.9)).astype(int)
    predicted = rng.random((6, 240)) < 0.25
    official = leave_out_bias(predicted, labels, relations=relations)
    anydoc = leave_out_bias(*merge_instances(predicted, labels, relations=relations))
    assert np.median(anydoc.bias[0]) < 0.5 * np.median(official.bias[0])


def test_half_of_the_teams():
    rng = np.random.default_rng(1)
    labels = (rng.random(300) < 0.5).astype(int)
    predicted = rng.random((6, 300)) < 0.3
    study = half_pool_bias(predicted, labels, teams=list("aabbcc"), n_trials=30, rng=rng)
    assert (study.bias[0] > 0.02).all()
    assert set(study.to_dict()) == {"precision", "recall", "f1"}
    with pytest.raises(InvalidInput, match="at least two teams"):
        half_pool_bias(predicted, labels, teams=["a"] * 6, rng=rng)


def test_scores_of_nothing_are_numbers():
    assert pooled_score([0, 0], [0, 0]) == (0.0, 0.0, 0.0)
