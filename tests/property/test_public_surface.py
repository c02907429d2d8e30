"""Over the public surface: a finite result or a KaratError, never NaN, never an accident."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat import KaratError
from karat.exact_curve import exact

awkward = st.one_of(
    st.integers(-3, 400),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([None, "", "x", True, 0, 1, -1, 0.5, 10**12, 1e308]),
)


def assert_finite(value, where: str = "") -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            assert_finite(inner, f"{where}.{key}")
    elif isinstance(value, (list, tuple)):
        for inner in value:
            assert_finite(inner, where)
    elif isinstance(value, float):
        assert math.isfinite(value), where


def check_curve(curve) -> None:
    document = curve.to_dict()
    assert_finite(document)
    json.dumps(document, allow_nan=False)
    n_items = curve.n_items
    for rank in {1, max(1, n_items // 2), n_items}:
        for name in ("at", "gain_at", "recall_at", "f1_at", "false_positive_rate_at", "specificity_at", "accuracy_at",
                     "lift_at"):  # fmt: skip
            interval = getattr(curve, name)(rank)
            assert_finite(interval.to_dict())
            if not curve.crossed:
                assert interval.low <= interval.estimate <= interval.high, interval
                most = {"gain_at": rank, "lift_at": n_items / rank}.get(name, 1)
                assert interval.low >= -1e-12
                assert interval.high <= most + 1e-9
    for interval in (curve.average_precision(), curve.roc_auc()):
        assert 0 <= interval.low <= interval.high <= 1
    for target in (0.1, 0.5, 1.0):
        for found in (curve.cutoff(precision=target), curve.cutoff(recall=target)):
            assert found is None or 1 <= found <= n_items
    assert str(curve)
    assert curve.headline()


METHODS = st.one_of(
    st.builds(karat.Paula, epsilon=st.sampled_from([0.1, 0.25, 0.5, 1.0]), window=st.integers(1, 6)),
    st.builds(
        karat.Stratified,
        epsilon=st.sampled_from([0.25, 0.5, 1.0]),
        window=st.integers(1, 6),
        precision=st.floats(0.05, 1),
        confidence_level=st.floats(0.01, 0.99),
    ),
    st.builds(
        karat.Uniform,
        alpha=st.floats(0.01, 100),
        precision=st.floats(0.01, 1),
        confidence_level=st.floats(0.01, 0.999),
        labels=st.none() | st.integers(2, 500),
    ),
    st.builds(
        karat.Point,
        epsilon=st.floats(0.05, 2),
        precision=st.floats(0.1, 1),
        confidence_level=st.floats(0.01, 0.999),
        labels=st.none() | st.integers(1, 500),
    ),
)


@settings(max_examples=150)
@given(METHODS, st.integers(1, 300), st.integers(0, 2**32), st.data())
def test_every_design_on_any_labels(method, n_items, seed, data):
    """Any parameters, any list, any part of the labels, some unsure."""
    plan = method.plan(n_items)
    assert_finite(plan)
    assert 0 <= plan["labels"] <= n_items
    design = method.begin(n_items, seed=seed)
    ranks = design.ask()
    assert np.all(np.diff(np.sort(ranks)) > 0)
    assert len(ranks) == 0 or (ranks.min() >= 1 and ranks.max() <= n_items)
    truth = np.random.default_rng(data.draw(st.integers(0, 99))).random(len(ranks)) < data.draw(
        st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])
    )
    share = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    values = np.where(np.arange(len(ranks)) < share * len(ranks), truth, data.draw(st.sampled_from([-1, 0])))
    told = data.draw(st.integers(0, len(ranks)))
    design.tell(karat.Labels.from_pairs(ranks[:told], values[:told]))
    check_curve(design.curve())


@settings(max_examples=200)
@given(st.sampled_from([karat.Paula, karat.Stratified, karat.Uniform, karat.Point]), st.data())
def test_any_parameters(kind, data):
    """Whatever is passed as a parameter: a plan with finite numbers, or a KaratError."""
    from dataclasses import fields

    names = data.draw(st.lists(st.sampled_from([field.name for field in fields(kind)]), unique=True, max_size=3))
    given_values = {name: data.draw(awkward) for name in names}
    epsilon = given_values.get("epsilon")
    if isinstance(epsilon, float) and 0 < epsilon < 0.01:
        given_values["epsilon"] = 0.01  # a tiny epsilon takes long; see test_a_tiny_epsilon_is_quick_or_refused
    n_items = data.draw(st.one_of(st.integers(1, 10**6), awkward))
    try:
        plan = kind(**given_values).plan(n_items)
    except KaratError:
        return
    assert_finite(plan)


@pytest.mark.parametrize("value", [5e-324, 1e-200, 1e-100, 1e100, 1e200, 1.7e308, 10**400], ids=lambda v: str(v)[:8])
def test_parameters_at_the_ends_of_the_number_range(value):
    """Squares that overflow or vanish: a plan with finite numbers, or a KaratError."""
    for kind, name in (
        (karat.Uniform, "alpha"),
        (karat.Uniform, "precision"),
        (karat.Point, "epsilon"),
        (karat.Point, "precision"),
        (karat.Stratified, "precision"),
    ):
        try:
            plan = kind(**{name: value}).plan(10_000)
        except KaratError:
            continue
        assert_finite(plan)
        assert 0 <= plan["labels"] <= 10_000


@pytest.mark.parametrize("epsilon", [1e-7, 1e-12])
def test_a_tiny_epsilon_is_quick_or_refused(epsilon):
    """r~ = 102 / epsilon is far beyond any list: no need to walk there one power at a time."""
    program = f"import karat; print(karat.Paula(epsilon={epsilon}).plan(10**6)['labels'])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=15, check=False)
    assert ran.stdout.strip() == "1000000" or "karat.errors.InvalidInput" in ran.stderr


@settings(max_examples=80)
@given(
    st.lists(st.tuples(st.sampled_from([0, 1]), st.floats(-1e300, 1e300)), min_size=1, max_size=30),
    st.sampled_from(["threshold", "random"]),
)
def test_exact_metrics_of_anything(rows, ties):
    labels, scores = zip(*rows, strict=True)
    curve = exact(labels, scores, ties=ties)
    summary = curve.summary([1, len(rows)])
    assert_finite(summary)
    for name in ("average_precision", "roc_auc", "ndcg"):
        assert summary[name] is None or -1e-12 <= summary[name] <= 1 + 1e-12
    assert_finite(curve.to_dict())
    assert str(curve)


@settings(max_examples=150)
@given(st.lists(awkward, max_size=5), st.lists(awkward, max_size=5))
def test_exact_metrics_refuse_the_rest(labels, scores):
    try:
        curve = exact(labels, scores)
    except KaratError:
        return
    assert_finite(curve.summary())


@settings(max_examples=150)
@given(st.lists(awkward, max_size=6), st.lists(awkward, max_size=6))
def test_labels_from_anything(ranks, values):
    try:
        labels = karat.Labels.from_pairs(ranks, values)
    except KaratError:
        return
    assert set(labels.at(labels.ranks).tolist()) <= {-1, 0, 1}
    assert set(labels.ranks.tolist()) == {int(rank) for rank in ranks}


@settings(max_examples=100)
@given(st.lists(awkward, min_size=1, max_size=6), st.booleans())
def test_a_resource_of_anything(scores, named):
    table = pd.DataFrame({"id": [f"i{n}" for n in range(len(scores))], "score": pd.Series(scores, dtype=object)})
    try:
        engine = karat.open(table, score="score", id="id" if named else None)
    except KaratError:
        return
    items = engine.items_at(np.arange(1, len(scores) + 1))
    assert np.all(np.isfinite(items.scores))
    assert np.all(np.diff(items.scores) <= 0)


def test_a_simulation_refuses_what_it_cannot_use():
    scores, labels = np.arange(20.0), np.tile([1, 0], 10).astype(np.int8)
    run = {"method": karat.Point(labels=5), "replications": 2}
    assert_finite(karat.simulate(scores, labels, **run).to_dict())
    for wrong in (
        {"scores": np.r_[np.nan, scores[1:]]},
        {"scores": np.r_[np.inf, scores[1:]]},
        {"scores": scores[1:]},
        {"labels": np.r_[2, labels[1:]].astype(np.int8)},
        {"scores": np.zeros(0), "labels": np.zeros(0, dtype=np.int8)},
    ):
        given_values = {"scores": scores, "labels": labels, **wrong}
        with pytest.raises(KaratError):
            karat.simulate(given_values["scores"], given_values["labels"], **run)
    for wrong in ({"replications": 0}, {"seed": -1}, {"judged_from": 0}, {"judged_from": -5}):
        with pytest.raises(KaratError):
            karat.simulate(scores, labels, **{**run, **wrong})


def test_a_simulation_takes_plain_lists():
    scores, labels = [3.0, 2.0, 1.0], [1, 0, 1]
    result = karat.simulate(scores, labels, method=karat.Paula(), replications=1)
    assert result.coverage == 1.0


def test_all_public_names_exist_and_are_listed():
    assert sorted(karat.__all__) == sorted(set(karat.__all__))
    for name in karat.__all__:
        assert getattr(karat, name) is not None
