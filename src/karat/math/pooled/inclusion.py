"""Which units to label: permanent random numbers and the smallest inclusion probabilities that meet a target.

Every unit x carries one random number u_x for life and is labelled iff ``u_x <= pi(x)``. A draw made for the
systems in a set D raises ``pi(x)`` to ``min(1, size(x))`` with
``size(x) = sqrt(sum_{i in D} (c_i p_i(x) sigma_i(x))^2)``; pi never falls, so nothing is labelled twice and every label
serves every system. With a constant sigma, pi depends on the laws only, never on labels, and the units are
independent draws with known probabilities (Poisson sampling). A learned sigma lets two numbers a system (the spread on
units that others predict too, and on new ones) depend on earlier labels: the bias seen in simulation is below .002.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LARGEST_SPREAD = 0.5  # the standard deviation of a 0/1 label is at most a half
SMALLEST_SPREAD = 0.2
LEAST_SHARE = 0.6  # of the scale that would do for all systems: no system's own falls further
_HALVINGS = 60
_ROUNDS = 200


def shared_size(laws: ArrayLike, *, spread: ArrayLike = 1.0) -> NDArray[np.float64]:
    """Size of each unit for systems drawn together: the root of the sum of their squared masses times spreads.

    ``sum_i Var(P_i) = sum_x (sum_i p_i(x)^2 sigma_i(x)^2) (1/pi(x) - 1)`` at a fixed ``sum pi`` is least for pi
    proportional to this size.

    Examples
    --------
    >>> shared_size([[0.3, 0.7, 0.0], [0.4, 0.0, 0.6]]).round(3).tolist()
    [0.5, 0.7, 0.6]
    """
    law = np.atleast_2d(np.asarray(laws, dtype=np.float64))
    size: NDArray[np.float64] = np.sqrt(((law * np.asarray(spread, dtype=np.float64)) ** 2).sum(axis=0))
    return size


def raise_inclusion(size: ArrayLike, before: ArrayLike | None = None, *, scale: float) -> NDArray[np.float64]:
    """Inclusion probabilities after a draw of the given scale: never lower than before.

    Examples
    --------
    >>> raise_inclusion([0.1, 0.2, 0.7], [0.0, 0.5, 0.5], scale=2).tolist()
    [0.2, 0.5, 1.0]
    """
    wanted = np.minimum(1.0, scale * np.asarray(size, dtype=np.float64))
    result: NDArray[np.float64] = wanted if before is None else np.maximum(wanted, np.asarray(before))
    return result


def design_variance(
    law: ArrayLike, inclusion: ArrayLike, *, counts: ArrayLike | None = None, spread: ArrayLike = LARGEST_SPREAD
) -> float:
    """Variance of the estimated precision when residuals have standard deviation ``spread``.

    Infinite when a unit of positive mass cannot be drawn. ``counts`` says how many units share each entry.

    Examples
    --------
    >>> round(design_variance([0.01] * 100, [0.2] * 100), 6)
    0.01
    """
    mass, chance = np.asarray(law, dtype=np.float64), np.asarray(inclusion, dtype=np.float64)
    repeats = np.ones_like(mass) if counts is None else np.asarray(counts, dtype=np.float64)
    sigma = np.broadcast_to(np.asarray(spread, dtype=np.float64), mass.shape)
    held = mass > 0
    if (chance[held] <= 0).any():
        return float("inf")
    return float((repeats[held] * (mass[held] * sigma[held]) ** 2 * (1.0 / chance[held] - 1.0)).sum())


def smallest_scales(
    laws: ArrayLike,
    before: ArrayLike | None = None,
    *,
    target_variance: float,
    counts: ArrayLike | None = None,
    spread: ArrayLike = LARGEST_SPREAD,
    least_share: float = LEAST_SHARE,
) -> NDArray[np.float64]:
    """Scales ``c_i`` of a cheap draw that gives every system in it at most the target variance.

    Of all probabilities that meet every target, those with the least sum are ``sqrt(sum_i (c_i p_i sigma_i)^2)`` with
    ``c_i`` raised where the variance is above its target and lowered where it is below, until neither is left (Chromy
    1987). There the scale of a system that others serve on the way may fall to nothing, and with it the chance of units
    that it alone predicts; recall needs those. So each scale is first raised to ``least_share`` of the one that would
    do for all, or to what the system needs alone if that is less; then all are lowered together as far as the targets
    allow. Where that costs more than each alone would, the cheapest draw is taken as it is. The expected number of
    units is at most the sum of what each system would need alone.

    Parameters
    ----------
    laws
        One row a system that arrives, one column a unit (or a class of ``counts`` equal units).
    before
        Inclusion probabilities already bought for earlier systems.
    target_variance
        Variance of the estimated precision to reach, for labels of standard deviation ``spread``.
    counts
        How many units stand behind each column.
    spread
        Standard deviation of a label around its guess: one number, one a column, or one a system and column; a half
        is safe for any labels.
    least_share
        0 for the cheapest draw of all, whatever becomes of recall.

    Returns
    -------
    numpy.ndarray
        One scale a system; 0 where the labels bought before already meet the target.

    Examples
    --------
    A small system and a large one that share nothing need what they need alone:

    >>> laws = [[0.05] * 20 + [0.0] * 1000, [0.0] * 20 + [0.001] * 1000]
    >>> scales = smallest_scales(laws, target_variance=0.25 / 100)
    >>> inclusion = raise_inclusion(shared_size(laws, spread=0.5 * scales[:, None]), scale=1.0)
    >>> float(inclusion[:20].sum().round(1)), float(inclusion[20:].sum().round(1))
    (16.7, 90.9)
    """
    target = _check.number("target_variance", target_variance, above=0.0)
    law = np.atleast_2d(np.asarray(laws, dtype=np.float64))
    sigma = np.broadcast_to(np.asarray(spread, dtype=np.float64), law.shape)
    bought = np.zeros(law.shape[1]) if before is None else np.asarray(before, dtype=np.float64)
    repeats = np.ones(law.shape[1]) if counts is None else np.asarray(counts, dtype=np.float64)
    alone = np.empty(law.shape[0])
    for place, (row, own) in enumerate(zip(law, sigma, strict=True)):
        held = row > 0
        alone[place] = _smallest_factor(
            (row * own)[held], row[None, held], own[None, held], bought[held], repeats[held], target
        )
    if alone.size == 1:
        return alone
    squares = (law * sigma) ** 2
    whole = squares @ repeats  # what a variance would gain if the labelled units were no part of the population
    scales = alone.copy()
    for _ in range(_ROUNDS):
        inclusion = raise_inclusion(np.sqrt(scales**2 @ squares), bought, scale=1.0)
        shares = np.divide(repeats, inclusion, out=np.zeros_like(repeats), where=inclusion > 0)
        scales = scales * (squares @ shares) / (target + whole)

    def meeting(start: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the smallest multiple of some scales that meets every target."""
        return start * _smallest_factor(np.sqrt(start**2 @ squares), law, sigma, bought, repeats, target)

    def price(found: NDArray[np.float64]) -> float:
        return float(repeats @ (raise_inclusion(np.sqrt(found**2 @ squares), bought, scale=1.0) - bought))

    cheapest = min(meeting(scales), meeting(alone), key=price)
    common = meeting(np.ones(alone.size))
    cautious = meeting(np.maximum(cheapest, np.minimum(least_share * common, alone)))
    return cautious if price(cautious) <= sum(map(price, np.diag(alone))) else cheapest


def _smallest_factor(
    size: NDArray[np.float64],
    law: NDArray[np.float64],
    sigma: NDArray[np.float64],
    bought: NDArray[np.float64],
    counts: NDArray[np.float64],
    target: float,
) -> float:
    """Smallest factor of a size that gives every system at most the target variance."""

    def is_met(scale: float) -> bool:
        inclusion = raise_inclusion(size, bought, scale=scale)
        pairs = zip(law, sigma, strict=True)
        return all(design_variance(row, inclusion, counts=counts, spread=own) <= target for row, own in pairs)

    if is_met(0.0):
        return 0.0
    # Bisection on the logarithm: at the upper end every unit is labelled and the variance is 0.
    high = float(1.0 / size[size > 0].min())
    low = high
    while is_met(low) and low > high * 1e-18:
        high, low = low, low / 16.0
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        if is_met(middle):
            high = middle
        else:
            low = middle
    return high


def learned_spread(residuals: ArrayLike, weights: ArrayLike, *, caution: float = 1.15, n_prior: float = 10.0) -> float:
    """Estimate, with caution, the standard deviation of labels around their cross-fitted guesses.

    Ten labels of the largest spread are mixed in, the variance is raised by 15%, and the result stays between .2
    and .5, so that a lucky start does not stop the labelling.

    Examples
    --------
    >>> learned_spread([], [])
    0.5
    >>> round(learned_spread([0.3, -0.3] * 200, [1.0] * 400), 3)
    0.329
    """
    residual, weight = np.asarray(residuals, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if residual.size == 0:
        return LARGEST_SPREAD
    prior = n_prior * float(weight.mean())
    largest = LARGEST_SPREAD**2
    variance = (float((weight * residual**2).sum()) + prior * largest) / (float(weight.sum()) + prior)
    return float(np.sqrt(min(max(caution * variance, SMALLEST_SPREAD**2), largest)))


def scale_for_budget(size: ArrayLike, budget: float) -> float:
    """Scale at which the expected number of labelled units, ``sum min(1, scale * size)``, equals the budget.

    Examples
    --------
    >>> scale = scale_for_budget([1.0, 1.0, 8.0], 2.0)
    >>> raise_inclusion([1.0, 1.0, 8.0], scale=scale).tolist()
    [0.5, 0.5, 1.0]
    """
    descending = np.sort(np.asarray(size, dtype=np.float64))[::-1]
    descending = descending[descending > 0]
    wanted = _check.number("budget", budget, above=0.0)
    if wanted >= descending.size:
        return float(1.0 / descending[-1])
    # With the k largest capped at 1, the rest share what is left; the right k is the first that caps no other.
    rest = np.cumsum(descending[::-1])[::-1]
    scales = (wanted - np.arange(descending.size)) / rest
    first = int(np.argmax((scales > 0) & (scales * descending <= 1.0 + 1e-12)))
    return float(scales[first])
