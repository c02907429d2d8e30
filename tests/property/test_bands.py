"""Over the public surface: a finite result or a KaratError, never NaN."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.bands import compare_curves, pr_band, roc_band
from karat.errors import KaratError
from karat.math.bands.methods import METHODS

labelled = st.lists(
    st.tuples(st.booleans(), st.one_of(st.integers(-3, 3).map(float), st.floats(-1e12, 1e12), st.just(np.nan))),
    min_size=1,
    max_size=60,
)


def check(make):
    try:
        result = make()
    except KaratError:
        return
    assert np.all(np.isfinite(result.low) & np.isfinite(result.high))
    assert np.all((result.low <= result.estimate) & (result.estimate <= result.high))
    json.dumps(result.to_dict(), allow_nan=False)
    assert len(str(result).split("\n")) == 3


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    labelled,
    st.sampled_from(sorted(METHODS)),
    st.sampled_from([pr_band, roc_band]),
    st.floats(0.05, 0.999),
    st.sampled_from(["gaussian", "box"]),
)
def test_band_is_finite_or_refused(items, method, make, confidence_level, kernel):
    labels, scores = [one[0] for one in items], [one[1] for one in items]
    check(
        lambda: make(labels, scores, method=method, confidence_level=confidence_level, kernel=kernel, n_replicates=100)
    )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(labelled, st.sampled_from(["pr", "roc"]), st.booleans())
def test_comparison_is_finite_or_refused(items, curve, weighted):
    labels, scores = [one[0] for one in items], [one[1] for one in items]
    shares = np.linspace(0.1, 1, len(items)) if weighted else None
    check(
        lambda: compare_curves(
            labels, scores, scores[::-1], curve=curve, inclusion_probabilities=shares, n_replicates=100
        )
    )
