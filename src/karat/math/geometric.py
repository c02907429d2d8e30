"""The geometric grid g_j = ceil((1+epsilon)^j) and the constants that PAULA and stratified sampling share.

Powers are taken in 60-digit decimals of the epsilon that the user typed, so that ``3400 = 102 / .03`` is exact and
``floor(log N)`` is right at N = g_j and N = g_j - 1, where binary floating point errs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
from numpy.typing import NDArray

from karat import _check

_EXACT = Context(prec=60)
DEFAULT_EPSILON = 0.03
DEFAULT_WINDOW = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The grid for a list of n_items, with the constants of PAULA's section 4.2 under their names there."""

    n_items: int
    epsilon: float
    window: int
    r_tilde: int
    l: int  # noqa: E741
    g_l: int
    m: int
    L: int
    gamma: float
    points: NDArray[np.int64]
    """The grid points g_l, ..., g_L that lie inside the list; just g_l capped at n_items when the list ends before."""

    @property
    def factor(self) -> float:
        """The factor gamma (1 + epsilon) that PAULA and stratified sampling promise."""
        return self.gamma * (1 + self.epsilon)

    @property
    def has_comparable_ranks(self) -> bool:
        """Whether two ranks are as far apart as A.1 (no rise over m ranks from r~ on) asks; else it says nothing."""
        return self.n_items >= self.r_tilde + self.m

    @property
    def labels_all(self) -> bool:
        """Whether the list is so short that every item is labelled and the curve is exact."""
        return self.n_items <= self.g_l

    @property
    def n_intervals(self) -> int:
        """How many grid points follow g_l."""
        return len(self.points) - 1


def make_grid(
    n_items: int,
    *,
    epsilon: float = DEFAULT_EPSILON,
    window: int = DEFAULT_WINDOW,
    stable_after: int | None = None,
) -> Grid:
    """Return the grid of a list of ``n_items``.

    Examples
    --------
    >>> grid = make_grid(217_077)
    >>> grid.l, grid.g_l, grid.m, grid.L, round(grid.factor, 4)
    (276, 3492, 103, 415, 1.0812)
    """
    n_items = _check.whole("n_items", n_items, least=1)
    epsilon = _check.number("epsilon", epsilon, above=0, most=1)
    window = _check.whole("window", window, least=1)
    exact = Decimal(repr(epsilon))
    least = _ceiling(_EXACT.divide(Decimal(window + 2), exact))
    r_tilde = least if stable_after is None else _check.whole("stable_after", stable_after)
    if r_tilde < least:
        raise _check.refuse("stable_after", f"at least (window + 2) / epsilon = {least:,}", stable_after)

    ratio = _EXACT.add(Decimal(1), exact)
    first = _exponent(ratio, r_tilde)
    power = _EXACT.power(ratio, first)
    if power < r_tilde:
        first, power = first + 1, _EXACT.multiply(power, ratio)
    g_l = _ceiling(power)
    m = int(_EXACT.subtract(_EXACT.multiply(exact, power), Decimal(1)).to_integral_value(ROUND_FLOOR))
    points = [min(g_l, n_items)]
    while (power := _EXACT.multiply(power, ratio)) <= n_items:
        points.append(_ceiling(power))
    return Grid(
        n_items=n_items,
        epsilon=epsilon,
        window=window,
        r_tilde=r_tilde,
        l=first,
        g_l=g_l,
        m=m,
        L=_exponent(ratio, n_items),
        gamma=1 + epsilon + (2 + epsilon) / m,
        points=np.array(points, dtype=np.int64),
    )


def _exponent(ratio: Decimal, value: int) -> int:
    """Return floor(log of value to the base ratio), from 1 on."""
    guess = int(_EXACT.divide(_EXACT.ln(Decimal(value)), _EXACT.ln(ratio)))
    while _EXACT.power(ratio, guess) > value:
        guess -= 1
    while _EXACT.power(ratio, guess + 1) <= value:
        guess += 1
    return guess


def _ceiling(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_CEILING))
