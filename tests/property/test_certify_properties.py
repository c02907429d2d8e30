"""Whatever the list and the wish: finite, consistent bounds, the budget obeyed, resuming exact."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.math.certify.settings import Settings
from karat.math.certify.simulate import simulate_pass
from karat.math.certify.walk import Walk

wishes = st.fixed_dictionaries(
    {
        "confidence_level": st.sampled_from([0.5, 0.8, 0.95, 1 - 1e-6]),
        "relative": st.sampled_from([0.0, 0.02, 0.3, 1.0]),
        "absolute": st.sampled_from([0.01, 0.2, 1.0]),
        "from_rank": st.integers(1, 400),
        "top": st.none() | st.integers(1, 400),
        "budget": st.none() | st.integers(0, 120),
        "looks": st.integers(1, 3),
        "side": st.sampled_from(["both", "lower", "upper"]),
        "pilot": st.none() | st.integers(0, 60),
    }
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    wish=wishes, n_items=st.integers(1, 300), seed=st.integers(0, 2**62), rate=st.floats(0, 1), proxied=st.booleans()
)
def test_any_walk_gives_sound_bounds(wish, n_items, seed, rate, proxied):
    rng = np.random.default_rng(seed)
    labels = (rng.random(n_items) < rate).astype(int)
    proxy = rng.integers(0, 3, n_items) if proxied else None
    wish = Settings(**wish)
    result = simulate_pass(labels, wish, seed=seed, proxy=proxy)
    knots, low, high, estimate = result.bounds
    for bound in (low, high, estimate):
        assert np.all(np.isfinite(bound))
    for bound in (low, high):
        steps = np.diff(bound)
        assert np.all(steps >= -1e-9)
        assert np.all(steps <= np.diff(knots) + 1e-9)
    assert knots[0] == 0
    assert knots[-1] == n_items
    seen = labels[np.unique(result.cells.ranks[result.cells.look > 0]) - 1]
    assert low[-1] <= n_items - np.sum(seen == 0) + 1e-9
    assert result.n_labels <= min(n_items, n_items if wish.budget is None else wish.budget)
    walk = Walk.resume(
        wish,
        n_items=n_items,
        seed=seed,
        cells=result.cells,
        ranks=result.cells.ranks,
        values=labels[result.cells.ranks - 1],
        proxy=proxy,
    )
    assert np.array_equal(walk.bounds().low, low)
    assert np.array_equal(walk.bounds().high, high)
    assert walk.done
