"""Amounts of money: counted in decimals and rounded once, so that the page, the API and the commands say the same."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

_CENT = Decimal("0.01")


def multiply(count: int, price: float) -> float:
    """Return a price so many times, as a decimal says it; for the price of a few, which may be less than a cent.

    Examples
    --------
    >>> 3 * 0.1, multiply(3, 0.1)
    (0.30000000000000004, 0.3)
    """
    return float(count * _exact(price))


def total(*parts: tuple[int, float]) -> float:
    """Return what counts at their prices come to, in hundredths.

    Examples
    --------
    >>> total((51, 0.05)), total((1000, 0.0075), (3, 0.05))
    (2.55, 7.65)
    """
    exact = sum((count * _exact(price) for count, price in parts), Decimal())
    return float(exact.quantize(_CENT, rounding=ROUND_HALF_UP))


def _exact(price: float) -> Decimal:
    """Return the decimal that was written: the shortest one that reads as this number."""
    return Decimal(repr(float(price)))
