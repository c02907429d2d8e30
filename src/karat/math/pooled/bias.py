"""The pooling-bias study: what a system would have scored, had it not been in the pool that got judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolingBias:
    """True and pooled precision, recall and F1 of every system, one row a metric; bias is true minus pooled."""

    expected: NDArray[np.float64]
    pooled: NDArray[np.float64]

    @property
    def bias(self) -> NDArray[np.float64]:
        """How much pooling takes from each system."""
        difference: NDArray[np.float64] = self.expected - self.pooled
        return difference

    def to_dict(self) -> dict[str, Any]:
        """Median and largest bias of each metric, ready for JSON."""
        names = ("precision", "recall", "f1")
        return {
            name: {"median": float(np.median(row)), "max": float(row.max())}
            for name, row in zip(names, self.bias, strict=True)
        }


def pooled_score(
    predicted: ArrayLike, labels: ArrayLike, *, judged: ArrayLike | None = None, relations: ArrayLike | None = None
) -> tuple[float, float, float]:
    """Precision, recall and F1 of one system by pooling, as shared tasks do: what nobody judged counts as wrong.

    Parameters
    ----------
    predicted
        1 where the system predicts the instance.
    labels
        1 where the instance is right.
    judged
        1 where the instance was in the pool that got judged; by default everything was, and the score is true.
    relations
        Relation that each instance states: precision is over instances, recall over distinct relations.

    Examples
    --------
    Figure 2 of Chaganty et al.: instance 6 of system C is right, but was not in the pool.

    >>> right, relations = [1, 1, 1, 1, 0, 1], ["o1", "o2", "o3", "o2", "o3", "o4"]
    >>> system_c = [1, 0, 0, 1, 0, 1]
    >>> pooled_score(system_c, right, relations=relations)[:2]
    (1.0, 0.75)
    >>> pooled = pooled_score(system_c, right, judged=[1, 1, 1, 1, 1, 0], relations=relations)
    >>> round(pooled[0], 3), round(pooled[1], 3)
    (0.667, 0.667)
    """
    right = _check.binary_labels("labels", labels).astype(bool)
    seen = np.ones(right.size, dtype=bool) if judged is None else np.asarray(judged).astype(bool)
    return _score(np.asarray(predicted).astype(bool), right, seen, _relation_codes(relations, right.size))


def leave_out_bias(
    predicted: ArrayLike, labels: ArrayLike, *, teams: ArrayLike | None = None, relations: ArrayLike | None = None
) -> PoolingBias:
    """Leave each system, or its whole team, out of the judged pool and score it against the rest.

    Parameters
    ----------
    predicted
        One row a system, one column an instance.
    labels
        Labels of all instances, those that no system predicts (found by people) included.
    teams
        Team of each system; by default every system is its own team.
    relations
        Relation that each instance states, for recall over distinct relations; by default the instance itself.
        With the instances of a relation merged into one column this is the ``anydoc`` score.

    Examples
    --------
    >>> leave_out_bias([[1, 1, 0], [0, 1, 1]], [1, 1, 1]).bias.round(3).tolist()
    [[0.5, 0.5], [0.167, 0.167], [0.3, 0.3]]
    """
    member = np.atleast_2d(np.asarray(predicted)).astype(bool)
    right = _check.binary_labels("labels", labels).astype(bool)
    team = np.arange(member.shape[0]) if teams is None else np.unique(np.asarray(teams), return_inverse=True)[1]
    _check.same_length("predicted", member.shape[0], "teams", team.size)
    key = _relation_codes(relations, right.size)
    everything = np.ones(right.size, dtype=bool)
    rows = [_score(member[i], right, everything, key) for i in range(member.shape[0])]
    pooled = []
    for i in range(member.shape[0]):
        own = team == team[i]
        unique = np.any(member[own], axis=0) & ~np.any(member[~own], axis=0)
        pooled.append(_score(member[i], right, ~unique, key))
    return PoolingBias(expected=np.array(rows).T, pooled=np.array(pooled).T)


def half_pool_bias(
    predicted: ArrayLike,
    labels: ArrayLike,
    *,
    teams: ArrayLike,
    relations: ArrayLike | None = None,
    n_trials: int = 500,
    rng: np.random.Generator,
) -> PoolingBias:
    """Judge the pool of a random half of the teams, score the systems of the other half, and average.

    Examples
    --------
    >>> study = half_pool_bias(np.eye(4), np.ones(4), teams=list("aabb"), n_trials=8, rng=np.random.default_rng(0))
    >>> study.bias[0].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    member = np.atleast_2d(np.asarray(predicted)).astype(bool)
    right = _check.binary_labels("labels", labels).astype(bool)
    names, team = np.unique(np.asarray(teams), return_inverse=True)
    if names.size < 2:
        raise _check.refuse("teams", "at least two teams", names.size)
    key = _relation_codes(relations, right.size)
    by_people = ~member.any(axis=0)
    everything = np.ones(right.size, dtype=bool)
    expected = np.array([_score(row, right, everything, key) for row in member]).T
    total, times = np.zeros_like(expected), np.zeros(member.shape[0])
    for _ in range(_check.whole("n_trials", n_trials, least=1)):
        inside = np.isin(team, rng.permutation(names.size)[: (names.size + 1) // 2])
        judged = np.any(member[inside], axis=0) | by_people
        for i in np.flatnonzero(~inside):
            total[:, i] += np.array(_score(member[i], right, judged, key))
            times[i] += 1
    # A system that was never left out shows no bias.
    pooled = np.where(times > 0, total / np.maximum(times, 1), expected)
    return PoolingBias(expected=expected, pooled=pooled)


def merge_instances(
    predicted: ArrayLike, labels: ArrayLike, *, relations: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """Ignore provenance (``anydoc``): one column a relation, right if any of its instances is.

    Examples
    --------
    >>> member, right = merge_instances([[1, 0, 0], [0, 1, 1]], [1, 0, 0], relations=["a", "a", "b"])
    >>> member.astype(int).tolist(), right.tolist()
    ([[1, 0], [1, 1]], [1, 0])
    """
    member = np.atleast_2d(np.asarray(predicted)).astype(bool)
    right = _check.binary_labels("labels", labels)
    key = _relation_codes(relations, right.size)
    n_relations = int(key.max()) + 1
    merged = np.zeros((member.shape[0], n_relations), dtype=bool)
    for row, target in zip(member, merged, strict=True):
        target[key[row]] = True
    truth = np.zeros(n_relations, dtype=np.int8)
    truth[key[right > 0]] = 1
    return merged, truth


def _relation_codes(relations: ArrayLike | None, n_items: int) -> NDArray[np.int64]:
    if relations is None:
        return np.arange(n_items)
    codes = np.unique(np.asarray(relations), return_inverse=True)[1]
    _check.same_length("labels", n_items, "relations", codes.size)
    return codes


def _score(
    member: NDArray[np.bool_], right: NDArray[np.bool_], judged: NDArray[np.bool_], key: NDArray[np.int64]
) -> tuple[float, float, float]:
    known = right & judged
    n_true = np.unique(key[known]).size
    precision = float((known & member).sum()) / max(int(member.sum()), 1)
    recall = np.unique(key[known & member]).size / max(n_true, 1)
    f1 = 2.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return precision, recall, f1
