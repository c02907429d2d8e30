"""The grid: exact at powers, where floating point errs, against a twin in exact rationals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import twins

from karat.errors import InvalidInput
from karat.math.geometric import make_grid

EPSILONS = (0.01, 0.03, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
KEYS = ("r_tilde", "l", "g_l", "m", "L")


def check(n_items: int, *, epsilon: float, window: int = 100) -> None:
    grid = make_grid(n_items, epsilon=epsilon, window=window)
    wanted = twins.constants(n_items, epsilon=epsilon, window=window)
    assert {key: getattr(grid, key) for key in KEYS} == {key: wanted[key] for key in KEYS}, (n_items, epsilon)
    assert grid.gamma == pytest.approx(wanted["gamma"], rel=1e-14)
    assert grid.factor == pytest.approx(wanted["factor"], rel=1e-14)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_exact_around_every_power(epsilon: float):
    powers = [j for j in range(1, 2000, 7 if epsilon < 0.05 else 1) if twins.power(epsilon, j) < 3e9][-40:]
    first = twins.ceiling_log(epsilon, 200)
    for j in {*powers[::4], first, first + 1}:
        point = twins.grid_point(epsilon, j)
        for n_items in (point - 1, point, point + 1):
            check(n_items, epsilon=epsilon, window=2)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [*EPSILONS[1:], 0.02, 0.07, 0.15, 0.3, 0.75])
def test_exact_around_all_powers(epsilon: float):
    j = 1  # epsilon .01 has 2,200 powers; the shorter test looks at a sample of them
    while (point := twins.grid_point(epsilon, j)) < 5e9:
        for n_items in {max(point - 1, 1), point}:
            assert twins.floor_log(epsilon, n_items) == make_grid(n_items, epsilon=epsilon).L, (n_items, j)
        j += 1


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_short_lists_step_back(epsilon: float):
    """Below g_l the grid still knows floor(log N), down to a single item."""
    for n_items in (1, 2, 3, 5, 17):
        assert twins.floor_log(epsilon, n_items) == make_grid(n_items, epsilon=epsilon).L, n_items


@pytest.mark.parametrize("epsilon", [0.03, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("n_items", [300, 5_000, 100_000])
def test_points_are_the_rounded_powers(epsilon: float, n_items: int):
    grid = make_grid(n_items, epsilon=epsilon, window=5)
    wanted = [twins.grid_point(epsilon, j) for j in range(grid.l, grid.L + 1)] or [n_items]
    assert grid.points.tolist() == wanted
    assert grid.points[-1] <= n_items
    assert np.all(np.diff(grid.points) >= grid.window)


def test_r_tilde_is_not_spoiled_by_binary_fractions():
    """In doubles 21 / .35 is a little more than 60, so the naive ceiling is one too many."""
    assert math.ceil(21 / 0.35) == 61
    assert make_grid(10**6, epsilon=0.35, window=19).r_tilde == 60
    for epsilon, window in itertools.product(
        (0.01, 0.03, 0.05, 0.06, 0.07, 0.15, 0.3, 0.35), (1, 19, 40, 82, 100, 159)
    ):
        check(10**6, epsilon=epsilon, window=window)


def test_a_list_that_ends_at_or_before_g_l_is_labelled_whole():
    for n_items, whole in ((1, True), (3491, True), (3492, True), (3493, False)):
        assert make_grid(n_items).labels_all is whole
    assert make_grid(100).points.tolist() == [100]
    assert make_grid(3493).n_intervals == 0


def test_stable_after_moves_the_start():
    grid = make_grid(10**6, stable_after=5000)
    assert grid.r_tilde == 5000
    assert grid.g_l == twins.grid_point(0.03, twins.ceiling_log(0.03, 5000))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"n_items": 0}, "n_items"),
        ({"n_items": 2.5}, "n_items"),
        ({"n_items": 10, "epsilon": 0}, "epsilon"),
        ({"n_items": 10, "epsilon": 1.01}, "epsilon"),
        ({"n_items": 10, "epsilon": float("nan")}, "epsilon"),
        ({"n_items": 10, "epsilon": "much"}, "epsilon"),
        ({"n_items": 10, "window": 0}, "window"),
        ({"n_items": 10, "stable_after": 3399}, "stable_after"),
    ],
)
def test_refused(arguments: dict, word: str):
    n_items = arguments.pop("n_items")
    with pytest.raises(InvalidInput, match=f"'{word}' must be"):
        make_grid(n_items, **arguments)
