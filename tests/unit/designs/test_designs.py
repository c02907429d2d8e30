"""The designs of the paper: plans, curves and what they say about themselves."""

from __future__ import annotations

import builders
import numpy as np
import pytest

import karat
from karat import InvalidInput, Labels
from karat.designs.catalogue import METHODS, make_method
from karat.showing import range_text


@pytest.fixture(scope="module")
def labels():
    return builders.falling_rate(20_000, np.random.default_rng(4))


def test_methods_by_name():
    assert {"paula", "stratified", "uniform", "point"} <= set(METHODS)
    assert make_method("paula", epsilon=0.05) == karat.Paula(epsilon=0.05)
    with pytest.raises(InvalidInput, match="'method' must be one of"):
        make_method("magic")
    with pytest.raises(
        InvalidInput, match=r"'parameter' must be one that paula has \(epsilon, window, stable_after\); got"
    ):
        make_method("paula", alpha=0.1)


@pytest.mark.parametrize("name", ["paula", "stratified", "uniform", "point"])
def test_every_curve_says_what_it_is(name, labels):
    method = make_method(name)
    curve = builders.curve_of(method, labels, seed=2)
    assert curve.method == name
    assert curve.n_items == 20_000
    assert 0 < curve.n_labels <= method.plan(20_000)["labels"]
    assert curve.guarantee == ("deterministic under assumptions" if name == "paula" else "finite-sample")
    assert curve.confidence_level == (1.0 if name == "paula" else 0.95)
    assert not curve.notes or name in {"point", "uniform"}
    truth = np.cumsum(labels)
    estimate = curve.yields(np.arange(1, 20_001))[0]
    if name != "point":
        assert np.max(np.abs(estimate - truth) / np.arange(1, 20_001)) < 0.1


def test_a_method_says_how_far_it_goes():
    assert [make_method(name).goes_to(500) for name in METHODS] == [500] * len(METHODS)
    assert [karat.Certify(top=20).goes_to(500), karat.Certify(top=900).goes_to(500)] == [20, 500]
    assert karat.Point(rank=20).goes_to(500) == 20


@pytest.mark.parametrize("name", ["paula", "stratified", "uniform", "point"])
def test_without_labels_nothing_is_known(name):
    curve = make_method(name).begin(20_000).curve()
    for rank in (1, 5000, 20_000):
        interval = curve.at(rank)
        assert interval.low == 0
        assert interval.high == 1
    assert curve.n_labels == 0
    assert any("missing or unsure" in note for note in curve.notes)
    assert not any(found.estimated for found in curve.summary())
    assert "Nothing is certain" in curve.headline()


@pytest.mark.parametrize("name", ["paula", "stratified", "uniform", "point"])
@pytest.mark.parametrize(("unsure", "missing", "estimated"), [
    (1.0, 0.0, False), (0.0, 0.5, False), (0.0, 0.02, False), (0.3, 0.0, True), (0.0, 0.005, True), (0.6, 0.0, False),
])  # fmt: skip
def test_an_estimate_needs_nearly_all_answers_and_half_of_them_sure(name, labels, unsure, missing, estimated):
    design = make_method(name).begin(20_000, seed=5)
    ranks = np.random.default_rng(2).permutation(design.ask())
    values = labels[ranks - 1].copy()
    values[: int(unsure * len(ranks))] = -1
    told = ranks[int(missing * len(ranks)) :]
    design.tell(Labels.from_pairs(told, values[len(ranks) - len(told) :]))
    curve = design.curve()
    assert curve.at(20_000).estimated == estimated
    assert all(found.estimated == estimated for found in curve.summary())
    bounds = curve.at(20_000)
    if not bounds.is_share_unknown and not curve.crossed:  # bounds are spoken of though there is no estimate
        assert f"between {bounds.low:.1%} and {bounds.high:.1%} are right" in curve.headline()
        assert f"top 20,000: {range_text(bounds)}" in str(curve)


@pytest.mark.parametrize("name", ["paula", "stratified", "uniform", "point"])
def test_unsure_counts_like_missing_but_not_as_a_label(name, labels):
    rng = np.random.default_rng(1)
    curves = []
    for unsure in (True, False):
        design = make_method(name).begin(20_000, seed=5)
        ranks = design.ask()
        hidden = np.random.default_rng(1).random(len(ranks)) < 0.1
        values = np.where(hidden, -1, labels[ranks - 1])
        design.tell(Labels.from_pairs(ranks, values) if unsure else Labels.from_pairs(ranks[~hidden], values[~hidden]))
        curves.append(design.curve())
    assert np.array_equal(curves[0].yield_low, curves[1].yield_low)
    assert np.array_equal(curves[0].yield_high, curves[1].yield_high)
    assert np.array_equal(curves[0].yield_estimate, curves[1].yield_estimate)
    assert np.array_equal(curves[0].ranks, curves[1].ranks)
    assert curves[0].n_labels == curves[1].n_labels
    assert curves[0].notes == curves[1].notes
    assert [found.estimated for found in (curves[0].summary()[0], curves[1].summary()[0])] == [True, False]
    full = builders.curve_of(make_method(name), labels, seed=5)
    ranks = np.sort(rng.integers(1, 20_001, 300))
    if not curves[0].crossed and not full.crossed:
        assert np.all(curves[0].yields(ranks)[1] <= full.yields(ranks)[1])
        assert np.all(curves[0].yields(ranks)[2] >= full.yields(ranks)[2])


def test_stratified_bounds_are_its_means_times_gamma(labels):
    method = karat.Stratified(epsilon=0.2, window=30, precision=0.5)
    design = method.begin(20_000, seed=1)
    builders.answer(design, labels)
    curve, grid = design.curve(), method.grid(20_000)
    from karat.math import stratified

    draws = stratified.StratifiedDraws(*(design.draw.column(name) for name in ("drawn", "first", "last")))
    means = stratified.sample_means(grid, draws, labels[draws.ranks - 1])
    _, low, high = curve.yields(grid.points)
    assert np.all(low >= np.floor(means / grid.gamma * grid.points) - 1e-9)
    assert np.all(high[1:] <= np.ceil(np.minimum(means * grid.gamma, 1) * grid.points)[1:] + 1e-9)
    np.testing.assert_allclose(curve.step("estimate", grid.points[1:]), means[1:])
    np.testing.assert_allclose(curve.step("estimate", grid.points[1:] + 1), means[1:])
    top = np.arange(1, grid.g_l + 1)
    np.testing.assert_array_equal(curve.yields(top)[1], np.cumsum(labels)[: grid.g_l])


def test_stratified_says_when_precision_is_below_its_plan():
    labels = np.tile([1, 0, 0, 0], 5000).astype(np.int8)
    method = karat.Stratified(epsilon=0.2, window=30, precision=0.5)
    (note,) = builders.curve_of(method, labels).notes
    assert "smallest estimate is 0.2" in note
    assert builders.curve_of(karat.Stratified(epsilon=0.2, window=30, precision=0.1), labels).notes == ()


def test_uniform_labels_half_at_the_top_and_draws_half():
    plan = karat.Uniform(labels=1001).plan(10_000)
    assert (plan["labels"], plan["exhaustive"], plan["draws"]) == (1001, 500, 501)
    whole = karat.Uniform(labels=20_000).plan(10_000)
    assert (whole["labels"], whole["exhaustive"], whole["draws"], whole["factor"]) == (10_000, 10_000, 0, 1.0)
    curve = builders.curve_of(karat.Uniform(labels=100), np.tile([1, 0], 30))
    assert (curve.guarantee, curve.confidence_level) == ("exact", 1.0)


def test_uniform_says_when_precision_is_below_its_plan():
    labels = np.tile([1, 0, 0, 0], 25_000).astype(np.int8)
    curve = builders.curve_of(karat.Uniform(alpha=0.2), labels)
    assert "planned for a precision of 0.7" in curve.notes[0]


def test_point_bounds_one_rank():
    labels = builders.falling_rate(20_000, np.random.default_rng(4))
    method = karat.Point(rank=5000, labels=2000)
    design = method.begin(20_000, seed=3)
    builders.answer(design, labels)
    interval, mean = design.curve().at(5000), labels[design.draw.column("drawn") - 1].mean()
    half = method.plan(20_000)["half_width"]
    assert interval.low == pytest.approx(mean - half, abs=1 / 5000)
    assert interval.high == pytest.approx(mean + half, abs=1 / 5000)
    assert interval.estimate == pytest.approx(mean)
    assert design.draw.ranks.max() <= 5000
    assert "Only rank 5,000 was asked about" in design.curve().notes[0]


def test_point_of_few_items_labels_them_all():
    curve = builders.curve_of(karat.Point(rank=30, labels=100), np.tile([1, 0], 50))
    assert curve.n_labels == 30
    assert curve.at(30).low == curve.at(30).high == 0.5
    assert curve.confidence_level == 1.0
    with pytest.raises(InvalidInput, match="'rank' must be at most the 10 items"):
        karat.Point(rank=30).plan(10)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (karat.Paula, {"epsilon": 0}),
        (karat.Paula, {"epsilon": 2}),
        (karat.Paula, {"window": 0}),
        (karat.Paula, {"stable_after": 5}),
        (karat.Stratified, {"precision": 0}),
        (karat.Stratified, {"precision": 1.5}),
        (karat.Stratified, {"confidence_level": 1}),
        (karat.Uniform, {"alpha": 0}),
        (karat.Uniform, {"alpha": float("nan")}),
        (karat.Uniform, {"labels": 1}),
        (karat.Uniform, {"confidence_level": 0}),
        (karat.Point, {"rank": 0}),
        (karat.Point, {"labels": 0}),
        (karat.Point, {"epsilon": -1}),
    ],
)
def test_wrong_parameters_are_refused_by_name(kind, wrong):
    with pytest.raises(InvalidInput, match=f"'{next(iter(wrong))}' must be"):
        kind(**wrong)


@pytest.mark.parametrize("name", ["paula", "stratified", "uniform", "point"])
def test_wrong_sizes_and_seeds_are_refused(name):
    method = make_method(name)
    for n_items in (0, -1, 2.5, "many"):
        with pytest.raises(InvalidInput, match="'n_items' must be"):
            method.begin(n_items)
    for seed in (-1, 0.5, None):
        with pytest.raises(InvalidInput, match="'seed' must be"):
            method.begin(100, seed=seed)
