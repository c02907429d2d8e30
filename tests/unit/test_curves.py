"""Curve: bounds at every rank, what follows from them, and how they are shown."""

from __future__ import annotations

import json
from dataclasses import replace

import builders
import numpy as np
import pytest

import karat
from karat import Curve, InvalidInput
from karat.showing import marks


@pytest.fixture(scope="module")
def labels():
    return builders.falling_rate(20_000, np.random.default_rng(7))


@pytest.fixture(scope="module")
def curve(labels):
    return builders.curve_of(karat.Uniform(labels=4000), labels, seed=1)


@pytest.fixture(scope="module")
def exact_curve():
    return builders.curve_of(karat.Paula(), [1, 1, 0, 1, 0, 0, 0, 0, 0, 0])


RANK_METRICS = ("at", "gain_at", "recall_at", "f1_at", "false_positive_rate_at", "specificity_at", "accuracy_at",
                "lift_at")  # fmt: skip


def test_zhu_through_a_curve(exact_curve):
    """N below g_l is labelled whole: every interval is a point."""
    assert exact_curve.guarantee == "exact"
    assert exact_curve.confidence_level == 1.0
    ap = exact_curve.average_precision()
    assert (ap.low, ap.estimate, ap.high) == pytest.approx((11 / 12,) * 3)
    for rank in range(1, 11):
        for name in RANK_METRICS:
            interval = getattr(exact_curve, name)(rank)
            assert interval.low == pytest.approx(interval.high)
    assert exact_curve.exact_until == 10
    assert exact_curve.cutoff(precision=0.75) == 4
    assert exact_curve.cutoff(recall=1.0) == 4
    assert "exactly" in exact_curve.headline()


@pytest.mark.parametrize("name", RANK_METRICS)
def test_intervals_hold_the_truth_and_say_everything(curve, labels, name):
    hits, n_items, total = np.cumsum(labels), len(labels), labels.sum()
    for rank in (1, 7, 1999, 2001, 9_999, 20_000):
        y = hits[rank - 1]
        truth = {
            "at": y / rank, "gain_at": y, "recall_at": y / total, "f1_at": 2 * y / (rank + total),
            "false_positive_rate_at": (rank - y) / (n_items - total),
            "specificity_at": 1 - (rank - y) / (n_items - total),
            "accuracy_at": (n_items - rank + 2 * y - total) / n_items, "lift_at": y / rank / (total / n_items),
        }[name]  # fmt: skip
        interval = getattr(curve, name)(rank)
        assert interval.low - 1e-12 <= truth <= interval.high + 1e-12
        assert interval.low <= interval.estimate <= interval.high
        assert f"{rank:,}" in interval.name
        assert (interval.method, interval.guarantee, interval.simultaneous) == ("uniform", "finite-sample", True)
        assert interval.n_labels == curve.n_labels
        assert interval.confidence_level == 0.95


@pytest.mark.parametrize("rank", [0, -1, 20_001, 1.0, 2.5, True, "x", None, [1]], ids=str)
def test_ranks_that_make_no_sense_are_refused(curve, rank):
    for name in RANK_METRICS:
        with pytest.raises(InvalidInput, match="'rank' must be a whole number from 1 to 20,000"):
            getattr(curve, name)(rank)


@pytest.mark.parametrize("positives", [0, -3, 2.5, "many", (5,), (1, 2, 3), (90_000, 80_000), True], ids=str)
def test_positives_that_make_no_sense_are_refused(curve, positives):
    for metric in (curve.recall_at, curve.f1_at):
        with pytest.raises(InvalidInput, match="positives"):
            metric(10, positives=positives)


def test_arrays_of_ranks(curve):
    ranks = np.array([5, 1, 20_000])
    estimate, low, high = curve.precision(ranks)
    assert estimate.shape == low.shape == high.shape == (3,)
    assert [curve.at(int(rank)).low for rank in ranks] == low.tolist()


def test_summary_and_dictionary(curve):
    document = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    for key in ("method", "n_items", "n_labels", "confidence_level", "guarantee", "simultaneous", "claimed_factor",
                "crossed", "assumptions", "notes", "summary", "points"):  # fmt: skip
        assert key in document
    assert set(document["summary"]) >= {"positives in the list", "average precision", "ROC AUC"}
    points = document["points"]
    assert len({len(values) for values in points.values()}) == 1
    assert points["rank"][-1] == 20_000
    for name in ("precision", "yield", "recall", "false_positive_rate"):
        for low, value, high in zip(points[f"{name}_low"], points[name], points[f"{name}_high"], strict=True):
            assert low - 1e-9 <= value <= high + 1e-9


def test_shown(curve):
    text = str(curve)
    assert len(text.splitlines()) == 3
    assert "20,000 items" in text
    assert "95% confidence" in text
    assert curve._repr_html_().startswith("<pre>")
    assert curve.to_frame().shape[1] == len(curve.points())


@pytest.mark.parametrize("kind", ["precision", "precision-yield", "pr", "roc", "hits"])
def test_plots(curve, labels, kind, tmp_path):
    from karat import plotting

    axes = curve.plot(kind, truth=labels)
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert "truth" in [text.get_text() for text in axes.get_legend().get_texts()]
    for suffix in (".png", ".svg"):
        plotting.save(axes, tmp_path / f"x{suffix}")
        assert (tmp_path / f"x{suffix}").stat().st_size > 1000
    other = plotting.new_axes()
    assert curve.plot(kind, ax=other) is other


def test_unknown_kind_and_step_are_refused(curve):
    with pytest.raises(InvalidInput, match="'kind' must be one of 'precision'"):
        curve.plot("pie")
    with pytest.raises(InvalidInput, match="'name' must be one of"):
        curve.step("lower", [1])


def test_a_curve_cannot_be_written(curve):
    with pytest.raises(ValueError, match="read-only"):
        curve.yield_low[0] = 1
    with pytest.raises(AttributeError):
        curve.method = "other"


def test_the_arrays_of_a_caller_stay_as_they_were():
    ranks, low, high = np.arange(4), np.array([0.0, 0.2, 0.3, 0.4]), np.array([0.0, 0.9, 1.5, 2.2])
    kept = low.copy(), high.copy()
    Curve(method="x", n_items=3, n_labels=0, ranks=ranks, yield_low=low, yield_high=high,
          yield_estimate=(low + high) / 2, confidence_level=0.9, guarantee="finite-sample")  # fmt: skip
    np.testing.assert_array_equal(low, kept[0])
    np.testing.assert_array_equal(high, kept[1])
    low[0] = 5.0  # still the caller's own


def test_cutoffs_are_certain_and_the_next_is_not(curve):
    ranks = np.arange(1, 20_001)
    low = curve.precision(ranks)[1]
    for target in (0.5, 0.7, 0.8):
        found = curve.cutoff(precision=target)
        sure = ranks[low >= target - 1e-9]
        assert found == (sure.max() if sure.size else None)
    assert curve.cutoff(precision=0.999) in {None, *ranks[low >= 0.999 - 1e-9].tolist()}
    recall = [curve.recall_at(int(rank)).low for rank in (curve.cutoff(recall=0.5), curve.cutoff(recall=0.5) - 1)]
    assert recall[0] >= 0.5 - 1e-9 > recall[1]


def test_exact_until_stops_at_the_first_open_label():
    design = karat.Paula(epsilon=0.25, window=6).begin(500)
    ranks = design.ask()
    values = np.ones(len(ranks), dtype=int)
    values[10] = -1
    design.tell(karat.Labels.from_pairs(ranks, values))
    assert design.curve().exact_until == 10


# --- as far as the labels speak


def test_marks():
    assert marks(1) == [1]
    assert marks(10) == [10]
    assert marks(11) == [10, 11]
    assert marks(10**6)[-2:] == [10**5, 10**6]


def test_documents_and_tables_say_nothing_where_nothing_is_labelled(labels):
    curve, _ = karat.Certify(top=3000).replay(labels, seed=1)
    document = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert (document["labelled_until"], document["asked_at"]) == (3000, None)
    whole = document["summary"]["precision at 20,000"]
    assert (whole["estimate"], whole["estimated"]) == (None, False)
    assert whole["low"] < whole["high"]
    points = document["points"]
    for rank, precision, hits, recall in zip(
        *(points[name] for name in ("rank", "precision", "yield", "recall")), strict=True
    ):
        assert (precision is None) == (hits is None) == (rank > 3000)
        assert recall is None
    for name in ("precision_low", "precision_high", "recall_low", "recall_high"):
        assert None not in points[name]
    beyond = int(np.sum(np.array(points["rank"]) > 3000))
    assert beyond > 10
    assert curve.to_pandas()["precision"].isna().sum() == beyond
    assert curve.to_polars()["precision"].null_count() == beyond
    assert curve.to_arrow()["precision"].null_count == beyond


def test_of_one_rank_that_was_asked_about_there_is_one_point(labels):
    document = builders.curve_of(karat.Point(rank=1000, labels=200), labels).to_dict()
    assert (document["labelled_until"], document["asked_at"]) == (1000, 1000)
    points = document["points"]
    assert [rank for rank, value in zip(points["rank"], points["precision"], strict=True) if value is not None] == [
        1000
    ]


# --- crossed bounds


@pytest.fixture(scope="module")
def crossed():
    """Uniform draws that missed every wrong item: possible, if very unlikely."""
    draw = karat.Draw(method="uniform", parameters={"labels": 900}, seed=0, n_items=1000)
    plan = karat.Uniform(labels=900).plan(1000)
    drawn = np.arange(plan["exhaustive"] + 1, plan["exhaustive"] + 1 + plan["draws"])
    ranks = np.unique(np.r_[1 : plan["exhaustive"] + 1, drawn])
    draw = draw.append(ranks, columns={"drawn": drawn})
    labels = karat.Labels.from_pairs(ranks, (ranks > plan["exhaustive"]).astype(int))
    return karat.curve_from(draw, labels)


def test_crossed_bounds_certify_nothing(crossed):
    assert crossed.crossed
    assert "About 100.0% of 1,000 items are right, but nothing is certified" in crossed.headline()
    top = replace(crossed, labelled_until=400)
    assert "About 0.0% of the top 400 of 1,000 items are right, but nothing is certified" in top.headline()
    none = replace(crossed, labelled_until=0)
    assert none.headline().startswith("Nothing is certified: the bounds of uniform cross")
    assert not none.average_precision().estimated
    assert crossed.cutoff(recall=0.1) is None
    for name in RANK_METRICS[2:-1]:
        interval = getattr(crossed, name)(700)
        assert (interval.low, interval.high) == (0, 1)
        assert interval.note
    json.dumps(crossed.to_dict(), allow_nan=False)


def test_crossed_bounds_beyond_the_exact_part_give_no_certain_cutoff(crossed):
    found = crossed.cutoff(precision=0.5)
    assert found is None or found <= crossed.exact_until
