"""How often labels are wrong is learnt from votes; where it is not, the leaderboard says why."""

from __future__ import annotations

import numpy as np
import pytest

from karat.service.campaign import Campaign
from karat.service.label_errors import FEWEST_ITEMS, learn_errors
from karat.store.answers import Vote


def votes(n_items, accuracy, *, n_votes=3, seed=1):
    rng = np.random.default_rng(seed)
    for item in range(n_items):
        true = rng.random() < 0.6
        for user in range(n_votes):
            value = "yes" if true == (rng.random() < accuracy) else "no"
            yield Vote(**{"item_id": item, "user_id": user, "value": value, "ledger_id": 3 * item + user, **OTHER})


OTHER = {name: None for name in Vote._fields if name not in {"item_id", "user_id", "value", "ledger_id"}}


def test_the_majority_s_rates_are_learnt():
    """A majority of three that are right 75% of the time is right 84% of it; 4,000 items tell within .03."""
    errors, doubt = learn_errors(list(votes(4000, 0.75)), Campaign(votes=3))
    assert doubt is None
    assert [errors.sensitivity, errors.specificity] == pytest.approx([0.84375] * 2, abs=0.03)


@pytest.mark.parametrize(("settings", "given", "why"), [
    ({"votes": 1}, (200, 0.9), "only where a majority of three, five, ... votes decides"),
    ({"votes": 4}, (200, 0.9), "only where a majority"),
    ({"votes": 3, "extra": 1}, (200, 0.9), "only where a majority"),
    ({"votes": 3, "rule": "dawid-skene"}, (200, 0.9), "only where a majority"),
    ({"votes": 3}, (FEWEST_ITEMS - 1, 0.9), "from 100 items with all their votes, of which there are 99"),
    ({"votes": 3}, (4000, 0.5), "agree hardly more than by chance"),
])  # fmt: skip
def test_where_they_are_not_it_is_said_why(settings, given, why):
    errors, doubt = learn_errors(list(votes(*given)), Campaign(**settings))
    assert errors is None
    assert doubt.startswith("Labels are taken for right, and scores speak of the labels as given: ")
    assert why in doubt
