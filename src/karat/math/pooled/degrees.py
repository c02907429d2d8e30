"""How well a variance is known that was estimated from few draws: its degrees of freedom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

DEGREES_OF_DRAW = 2.0
"""Of the square of one term in a sum over independent draws.

The variance of the sum of squares is then estimated by the sum of fourth powers, whatever the law of a term is.
"""


def satterthwaite(variance: ArrayLike, fourth: ArrayLike) -> NDArray[np.float64]:
    """Degrees of freedom of a sum of squares: its own square over the sum of fourth powers by degrees.

    Examples
    --------
    Eight equal squares with two degrees each, and a sum of which nothing is known better:

    >>> satterthwaite([8.0, 8.0], [8 / 2, 0.0]).tolist()
    [16.0, inf]
    """
    total, powers = np.asarray(variance, dtype=np.float64), np.asarray(fourth, dtype=np.float64)
    unsure = powers > 0
    degrees = np.where(unsure, total**2 / np.where(unsure, powers, 1.0), np.inf)
    return np.maximum(degrees, 1.0)  # less is rounding: no sum is known less well than its parts
