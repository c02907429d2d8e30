import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from karat.math.pooled.inclusion import (
    design_variance,
    learned_spread,
    raise_inclusion,
    scale_for_budget,
    shared_size,
    smallest_scales,
)


def laws(seed: int, n_systems: int = 3, n_items: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    raw = rng.random((n_systems, n_items)) * (rng.random((n_systems, n_items)) < 0.6)
    raw[:, 0] += 0.1
    return raw / raw.sum(axis=1, keepdims=True)


@given(seed=st.integers(0, 10_000), target=st.floats(1e-5, 0.05), bought=st.booleans())
def test_the_smallest_scale_meets_the_target_and_a_smaller_one_does_not(seed, target, bought):
    law = laws(seed)
    before = np.random.default_rng(seed + 1).random(law.shape[1]) * 0.3 if bought else np.zeros(law.shape[1])
    scales = smallest_scales(law, before, target_variance=target)

    def worst(factor: float) -> float:
        inclusion = raise_inclusion(shared_size(law, spread=0.5 * scales[:, None]), before, scale=factor)
        return max(design_variance(row, inclusion) for row in law)

    assert worst(1.0) <= target * (1 + 1e-9)
    if scales.any():
        assert worst(1 - 1e-6) > target


def test_inclusion_never_falls_and_is_capped():
    before = np.array([0.9, 0.1, 0.0])
    after = raise_inclusion([0.2, 0.2, 5.0], before, scale=1.0)
    assert after.tolist() == [0.9, 0.2, 1.0]


def test_a_system_already_covered_needs_nothing():
    law = np.full((1, 100), 0.01)
    assert smallest_scales(law, np.ones(100), target_variance=1e-9).tolist() == [0.0]


def test_classes_with_counts_equal_the_units_they_stand_for():
    law = np.repeat([0.004, 0.012], [100, 50])
    spread = np.repeat([0.5, 0.3], [100, 50])
    whole = smallest_scales(law, target_variance=0.002, spread=spread)
    classes = smallest_scales([[0.004, 0.012]], target_variance=0.002, counts=[100, 50], spread=[0.5, 0.3])
    assert classes == pytest.approx(whole, rel=1e-9)


def inclusion_of(law, scales, before=None):
    return raise_inclusion(shared_size(law, spread=0.5 * np.asarray(scales)[:, None]), before, scale=1.0)


@given(seed=st.integers(0, 10_000), target=st.floats(1e-5, 0.05), bought=st.booleans())
def test_systems_together_need_no_more_than_the_sum_of_each(seed, target, bought):
    rng = np.random.default_rng(seed)
    member = rng.random((4, 60)) < rng.choice([0.03, 0.3, 0.9], 4)[:, None]
    member[:, 0] = True
    law = member / member.sum(axis=1, keepdims=True)
    before = rng.random(60) if bought else np.zeros(60)
    together = inclusion_of(law, smallest_scales(law, before, target_variance=target), before) - before
    each = [inclusion_of(row[None], smallest_scales(row, before, target_variance=target), before) - before
            for row in law]  # fmt: skip
    assert together.sum() <= sum(part.sum() for part in each) + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_draw_for_several_systems_is_near_the_cheapest_of_all(seed):
    """A solver that may choose every probability by itself finds none cheaper; one scale for all is dearer.

    What keeps the scales from falling to nothing costs little here, and keeps them near a share of what would do.
    """
    law, target = laws(seed) ** 2, 0.004
    law[0, 10:] = 0  # a small system among large ones
    law /= law.sum(axis=1, keepdims=True)
    weight = (0.5 * law) ** 2
    limits = target + weight.sum(axis=1)
    start = np.ones(law.shape[1])
    solved = scipy.optimize.minimize(
        np.sum, start, jac=np.ones_like, hess=lambda pi: np.zeros((pi.size, pi.size)), method="trust-constr",
        bounds=[(1e-4, 1.0)] * start.size,
        constraints=scipy.optimize.NonlinearConstraint(
            lambda pi: weight @ (1 / pi), -np.inf, limits, jac=lambda pi: -weight / pi**2,
            hess=lambda pi, v: np.diag(2 * (v @ weight) / pi**3),
        ),
        options={"maxiter": 2000, "gtol": 1e-9, "xtol": 1e-12},
    )  # fmt: skip
    held = law.any(axis=0)
    ours = inclusion_of(law, smallest_scales(law, target_variance=target, least_share=0.0)).sum()
    assert ours == pytest.approx(solved.x[held].sum(), rel=0.002)
    cautious = smallest_scales(law, target_variance=target)
    assert inclusion_of(law, cautious).sum() <= 1.02 * ours
    shared = shared_size(law, spread=0.5)

    def all_met(scale):
        return all(design_variance(row, raise_inclusion(shared, scale=scale)) <= target for row in law)

    common = next(scale for scale in np.geomspace(1, 1e4, 2000) if all_met(scale))
    assert raise_inclusion(shared, scale=common).sum() > 1.02 * ours
    alone = [smallest_scales(row, target_variance=target)[0] for row in law]
    assert (cautious >= 0.5 * np.minimum(common, alone)).all()


@given(seed=st.integers(0, 10_000), share=st.floats(0.01, 0.99))
def test_the_budget_is_met_exactly(seed, share):
    size = np.random.default_rng(seed).random(60) ** 3 + 1e-3
    budget = share * size.size
    assert raise_inclusion(size, scale=scale_for_budget(size, budget)).sum() == pytest.approx(budget)


def test_the_shared_size_is_the_cheapest_allocation():
    # At the same expected number of labels, no random change of the probabilities lowers the summed variance.
    rng = np.random.default_rng(4)
    law = laws(1)
    size = shared_size(law)
    best = raise_inclusion(size, scale=scale_for_budget(size, 12))
    held = size > 0

    def total(inclusion):
        return sum(design_variance(row, inclusion) for row in law)

    for _ in range(200):
        other = np.clip(best * np.exp(rng.normal(0, 0.2, best.size)), 1e-9, 1)
        other = np.where(held, raise_inclusion(other, scale=scale_for_budget(other[held], 12)), 0.0)
        assert total(other) >= total(best) * (1 - 1e-9)


def test_the_learned_spread_is_cautious():
    assert learned_spread([], []) == 0.5
    assert learned_spread([0.0] * 3, [1.0] * 3) > 0.45  # three labels show little
    assert learned_spread([0.0] * 10_000, [1.0] * 10_000) == 0.2
    assert learned_spread([0.9, -0.9] * 50, [1.0] * 100) == 0.5
