"""Segments by name: their numbers, their columns, and the share of delta that each gets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import karat
from karat.math.sampled import Answers, Groups, bound_totals
from karat.slices import slice_precision

N, K, LABELS = 6000, 7, 1500  # enough that no bound is merely what was seen


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(6)
    kinds = np.array([None, "b", "a", "long " * 40, "é", "c", "d"], dtype=object)[rng.integers(0, K, N)]
    facts = pd.DataFrame(
        {"id": np.arange(N), "score": rng.random(N), "kind": kinds, "precision": rng.integers(0, 2, N)}
    )
    study = karat.Study(karat.open(facts, score="score", id="id", seed=2), karat.Point(labels=LABELS))
    study.tell({int(item): int(item) % 3 > 0 for item in study.ask().ids})
    return study, facts


def test_segments_are_those_of_numpy(study):
    """The twin sorts texts of a fixed width, which a column with one long text makes too large."""
    study, facts = study
    codes, names = study.engine.segments("kind")
    texts = facts["kind"].fillna("").to_numpy().astype(str)
    expected, inverse = np.unique(texts, return_inverse=True)
    assert names == expected.tolist()
    ids = np.array(study.engine.ids_at(np.arange(1, N + 1)))
    assert codes.tolist() == inverse[ids].tolist()


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_each_of_k_segments_gets_its_share_of_delta(study, level):
    study, _ = study
    found = slice_precision(study.engine, study.draw, study.labels, by="kind", confidence_level=level)
    codes, _ = study.engine.segments("kind")
    groups = Groups(codes, K)
    sampled = karat.Point(labels=LABELS).sample(study.draw).sampled
    low, high = study.labels.bounds(sampled.ranks)
    sizes = groups.sizes()
    totals = bound_totals(Answers(sampled, low, high, groups), sizes=sizes, delta=(1 - level) / K)
    order = np.argsort(-sizes, kind="stable")
    assert found.low.tolist() == pytest.approx((totals.low / sizes)[order].tolist())
    assert found.high.tolist() == pytest.approx((totals.high / sizes)[order].tolist())
    whole = bound_totals(Answers(sampled, low, high, groups), sizes=sizes, delta=1 - level)
    assert np.all(whole.high - whole.low < totals.high - totals.low)  # the number of segments costs something


def test_a_column_called_precision_does_not_hide_the_precision(study):
    study, _ = study
    found = study.slices("precision")
    columns = found.points()
    assert next(iter(columns)) == "segment"
    assert sorted(columns["segment"].tolist()) == ["0", "1"]
    assert columns["precision"].tolist() == found.estimate.tolist()
    assert [set(row) >= {"segment", "precision", "n_items"} for row in found.to_dict()["segments"]] == [True, True]
    assert next(iter(study.slices("kind").points())) == "kind"
