"""Recall of the pool: what its variance rests on."""

import numpy as np
import pytest

from karat.math.pooled.recall import pool_recall


def test_degrees_are_those_of_documents_and_fewer_where_some_weigh_most():
    inside, documents = [1, 0] * 20, np.repeat(np.arange(20), 2)
    mixed = [1, 1, 0, 0] * 10
    assert pool_recall(mixed, documents).degrees == 19
    assert pool_recall(mixed).degrees == 39
    heavy = np.where(documents < 2, 1000.0, 1.0)
    assert pool_recall(mixed, documents, weights=heavy).degrees == pytest.approx(4, rel=0.01)
    assert pool_recall(inside, documents).degrees == 19  # no document differs from another


@pytest.mark.parametrize("is_ours", [True, False])
def test_unequal_weights_ask_for_fewer_degrees(is_ours):
    """20 documents drawn with chances as unequal as exp(1.5 N(0, 1)), 2,000 times; counting documents falls short."""
    from scipy import stats

    rng = np.random.default_rng(3)
    n = 20_000
    size, theta, chance = rng.integers(3, 12, n), rng.beta(2, 2, n), np.exp(1.5 * rng.normal(size=n))
    expected = (size * theta).sum() / size.sum()
    held = 0
    for _ in range(2000):
        drawn = rng.choice(n, 20, p=chance / chance.sum())
        documents = np.repeat(np.arange(20), size[drawn])
        inside = (rng.random(documents.size) < np.repeat(theta[drawn], size[drawn])).astype(int)
        found = pool_recall(inside, documents, weights=np.repeat(1 / chance[drawn], size[drawn]))
        half = stats.t.ppf(0.95, found.degrees if is_ours else 19) * np.sqrt(found.variance)
        held += abs(found.value - expected) <= half
    assert (held / 2000 > 0.84) == is_ours
