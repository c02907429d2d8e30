"""Sampling laws: how much each prediction of one system counts towards its precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SUM_TOLERANCE = 1e-6


def uniform_law(n_items: int) -> NDArray[np.float64]:
    """Every prediction counts the same.

    Examples
    --------
    >>> uniform_law(4).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    n_items = _check.whole("n_items", n_items, least=1)
    return np.full(n_items, 1.0 / n_items)


def macro_law(groups: ArrayLike) -> NDArray[np.float64]:
    """Every group (a predicate, a subject, a search topic) counts the same, whatever its size.

    Examples
    --------
    >>> macro_law(["born", "born", "born", "wrote"]).round(3).tolist()
    [0.167, 0.167, 0.167, 0.5]
    """
    sizes = _sizes(_column("groups", groups))
    return _normalised(1.0 / sizes)


def entity_law(subjects: ArrayLike, predicates: ArrayLike, *, relations: ArrayLike) -> NDArray[np.float64]:
    """Chaganty et al.'s law: rare subjects and predicates count more, entities known for many relations too.

    The mass of a prediction is proportional to u_subject / (c_subject c_predicate), with c the number of
    predictions sharing the subject or the predicate and u the number of distinct relations of the subject.

    Examples
    --------
    >>> entity_law(["ann", "ann", "bob"], ["born", "wrote", "born"], relations=[1, 2, 3]).tolist()
    [0.25, 0.5, 0.25]
    """
    subject, predicate = _column("subjects", subjects), _column("predicates", predicates)
    relation = _column("relations", relations)
    _check.same_length("subjects", subject.size, "predicates", predicate.size)
    _check.same_length("subjects", subject.size, "relations", relation.size)
    _, subject_code = np.unique(subject, return_inverse=True)
    _, relation_code = np.unique(relation, return_inverse=True)
    n_relations = int(relation_code.max()) + 1
    distinct = np.unique(subject_code.astype(np.int64) * n_relations + relation_code)
    relations_of_subject = np.bincount(distinct // n_relations)[subject_code]
    return _normalised(relations_of_subject / (_sizes(subject) * _sizes(predicate)))


def own_law(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Check a law that the user brings: positive numbers that sum to 1.

    Examples
    --------
    >>> own_law([0.5, 0.25, 0.25]).tolist()
    [0.5, 0.25, 0.25]
    """
    mass = _check.finite_scores("probabilities", probabilities)
    if mass.size == 0 or (mass <= 0).any():
        worst = "no numbers" if mass.size == 0 else mass.min().item()
        raise _check.refuse("probabilities", "positive numbers", worst)
    if abs(mass.sum() - 1.0) > SUM_TOLERANCE:
        raise _check.refuse("probabilities", "numbers that sum to 1", float(mass.sum()))
    return _normalised(mass)


def _column(name: str, values: ArrayLike) -> NDArray[np.generic]:
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise _check.refuse(name, "one-dimensional and not empty", f"shape {array.shape}")
    return array


def _sizes(groups: NDArray[np.generic]) -> NDArray[np.float64]:
    _, code, count = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(count[code], dtype=np.float64)


def _normalised(mass: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(mass / mass.sum(), dtype=np.float64)
