"""Over the public surface: a finite result or a KaratError, never NaN."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import KaratError
from karat.math.pooled.bias import leave_out_bias
from karat.math.pooled.bootstrap import bootstrap_default
from karat.math.pooled.estimate import METRICS, estimate_metrics
from karat.math.pooled.guaranteed import guaranteed_intervals
from karat.math.pooled.inclusion import design_variance, raise_inclusion, shared_size, smallest_scales
from karat.math.pooled.intervals import difference_interval, estimate_interval
from karat.math.pooled.joint import estimate_joint
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.recall import pool_recall
from karat.math.pooled.sample import sample_from_matrix


@st.composite
def pools(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_systems, n_items = draw(st.integers(1, 5)), draw(st.integers(1, 40))
    member = rng.random((n_systems, n_items)) < draw(st.sampled_from([0.05, 0.5, 1.0]))
    member[:, 0] = True
    raw = member * (1.0 if draw(st.booleans()) else rng.random((n_systems, n_items)) ** 4 + 1e-6)
    labels = (rng.random(n_items) < draw(st.sampled_from([0.0, 0.5, 1.0]))).astype(int)
    return raw / raw.sum(axis=1, keepdims=True), labels, rng


@settings(deadline=None, max_examples=150)
@given(pool=pools(), target=st.floats(1e-6, 0.5), n_inside=st.integers(0, 5))
def test_estimates_and_intervals_are_numbers(pool, target, n_inside):
    law, labels, rng = pool
    keep = law.any(axis=0)
    law, labels = law[:, keep], labels[keep]
    size = shared_size(law, spread=0.5 * smallest_scales(law, target_variance=target)[:, None])
    inclusion = raise_inclusion(size, scale=1.0)
    sample = sample_from_matrix(
        law,
        labels,
        inclusion=inclusion,
        drawn=rng.random(size.size) <= inclusion,
        fold=rng.integers(0, N_FOLDS, size.size),
        scores=(law > 0) * rng.random(law.shape),
    )
    theta = pool_recall([1] * n_inside + [0] * (5 - n_inside))
    estimates = estimate_metrics(sample, pool_recall=theta)
    everything = bootstrap_default(estimates, n_replicates=20, rng=rng)
    for metric in METRICS:
        for low, high in (estimate_interval(estimates[metric]), everything[metric]):
            assert (low >= 0).all()
            assert (low <= high).all()
            assert (high <= 1).all()
        assert all(np.isfinite(part).all() for part in difference_interval(estimates[metric]))
    low, high = guaranteed_intervals(
        sample,
        n_inside=n_inside,
        n_found=5,
        reach=np.array([(row[row > 0] / inclusion[row > 0]).max() for row in law]),
        pool_reach=float((1 / inclusion).max()),
        expected_variance=np.array([design_variance(row, inclusion) for row in law]),
        pool_variance=design_variance(np.ones(size.size), inclusion),
    )
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    assert (low <= high + 1e-9).all()


@settings(deadline=None, max_examples=100)
@given(pool=pools(), n_draws=st.integers(1, 6))
def test_joint_estimates_are_numbers(pool, n_draws):
    law, labels, rng = pool
    items = np.concatenate([rng.choice(law.shape[1], n_draws, p=row) for row in law])
    source = np.repeat(np.arange(law.shape[0]), n_draws)
    joint = estimate_joint(law[:, items], labels[items], source=source, overlap=law @ law.T)
    for part in (joint.precision, joint.recall, joint.precision_variance, joint.recall_variance, joint.n_recall):
        assert np.isfinite(part).all()
    assert np.isfinite(leave_out_bias(law > 0, labels).bias).all()


@given(values=st.lists(st.one_of(st.floats(), st.integers(-1, 2)), max_size=6))
def test_theta_is_a_number_or_a_refusal(values):
    try:
        theta = pool_recall(values)
    except KaratError:
        return
    assert 0 <= theta.value <= 1
    assert np.isfinite(theta.variance)
