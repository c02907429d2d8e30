"""What a certified pass is asked for, checked once and then taken on trust."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from karat import _check

if TYPE_CHECKING:
    from karat.math.certify.noise import LabelErrors

SLACK, LEAN_SLACK = 0.935, 0.955
PENDING_SLACK, MANY_PENDING_SLACK, PENDING_IN_LOOKS_SLACK = 0.905, 0.88, 0.915
SIDES = ("both", "lower", "upper")
_LAST_LOOK_SHARE = 0.9
_LOOK_GROWTH = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Target, confidence and manner of a certified pass.

    The half-width of the band on the yield shall be at most ``max(absolute * rank, relative * yield)`` at every
    rank from ``from_rank`` on. With a ``budget`` that tolerance gives the shape only: the band becomes as tight,
    in its units, as the budget allows.

    Parameters
    ----------
    confidence_level
        Probability with which the band holds at all ranks at once.
    relative, absolute
        Tolerance as a share of the yield and as a share of the rank. Either may be 0, not both.
    from_rank
        Smaller ranks are bounded too, but their width is not judged.
    top
        Only ranks up to here matter (None: all).
    budget
        Most labels to buy, the pilot and all looks included (None: as many as the target needs).
    looks
        Number of passes, each finer than the last; one may stop after any of them.
    side
        'both', or 'lower' or 'upper' for one bound alone, which then has all of 1 - confidence_level. Its distance
        from the estimate is then held to the tolerance, where a band's half-width may share it unevenly.
    lean
        Aim closer to the tolerance: about 3% fewer labels, the target missed by a little more often.
    pilot
        Labels spread over the list for planning (None: chosen by the length of the list and the budget).
    pending
        How many answers are usually out at once; planning is then more careful.
    label_errors
        How often labels are wrong (None: the bounds speak about the labels as given).

    Examples
    --------
    >>> Settings().tolerance(rank=2000, estimate=1500.0)
    120.0
    >>> Settings(absolute=2)
    Traceback (most recent call last):
    ...
    karat.errors.InvalidInput: 'absolute' must be in [0, 1]; got 2.
    """

    confidence_level: float = 0.95
    relative: float = 0.08
    absolute: float = 0.02
    from_rank: int = 1000
    top: int | None = None
    budget: int | None = None
    looks: int = 1
    side: str = "both"
    lean: bool = False
    pilot: int | None = None
    pending: int = 0
    label_errors: LabelErrors | None = field(default=None)

    def __post_init__(self) -> None:
        _check.fraction("confidence_level", self.confidence_level)
        _check.number("relative", self.relative, least=0.0, most=1.0)
        _check.number("absolute", self.absolute, least=0.0, most=1.0)
        if self.relative == 0.0 == self.absolute:
            raise _check.refuse("relative", "above 0 unless 'absolute' is", self.relative)
        _check.whole("from_rank", self.from_rank, least=1)
        if self.top is not None:
            _check.whole("top", self.top, least=1)
        if self.budget is not None:
            _check.whole("budget", self.budget, least=0)
        _check.whole("looks", self.looks, least=1, most=20)
        _check.one_of("side", self.side, SIDES)
        if self.pilot is not None:
            _check.whole("pilot", self.pilot, least=0)
        _check.whole("pending", self.pending, least=0)
        if self.label_errors is not None and self.label_errors.delta_spent >= self.delta - 1e-12:
            raise _check.refuse(
                "label_errors", "estimated with less than all of 1 - confidence_level", self.label_errors.delta_spent
            )

    @property
    def delta(self) -> float:
        """Probability with which the band may miss."""
        return 1.0 - self.confidence_level

    @property
    def n_sides(self) -> int:
        """2 for a band, 1 for one bound alone."""
        return 2 if self.side == "both" else 1

    @property
    def slack(self) -> float:
        """Share of the tolerance that planning aims at."""
        if self.budget is not None:
            return 1.0
        if self.pending > 0 and self.looks > 1:  # a later look makes up for what an earlier one could not know
            return PENDING_IN_LOOKS_SLACK
        if self.pending > 0:
            return MANY_PENDING_SLACK if self.pending > 20 else PENDING_SLACK
        return LEAN_SLACK if self.lean else SLACK

    def tolerance(self, *, rank: float, estimate: float) -> float:
        """Return the half-width that is good enough at a rank whose yield is about the estimate."""
        return max(self.absolute * rank, self.relative * estimate)

    def look_delta(self, look: int) -> float:
        """Return the share of delta that look 1, 2, ... may spend: fixed beforehand, most of it for the last."""
        spent = 0.0 if self.label_errors is None else self.label_errors.delta_spent
        delta = self.delta - spent
        if self.looks == 1:
            return delta
        return delta * (_LAST_LOOK_SHARE if look == self.looks else (1.0 - _LAST_LOOK_SHARE) / (self.looks - 1))

    def look_scale(self, look: int) -> float:
        """Return how many times the tolerance look 1, 2, ... aims at; labels double from look to look."""
        return math.sqrt(_LOOK_GROWTH) ** (self.looks - look)

    def look_budget(self, look: int, *, n_pilot: int) -> int | None:
        """Return how many new labels look 1, 2, ... may buy: fixed beforehand, so that no look learns from the last."""
        if self.budget is None:
            return None
        left = max(self.budget - n_pilot, 0)
        before, upto = (int(left / _LOOK_GROWTH ** (self.looks - k)) if k else 0 for k in (look - 1, look))
        return upto - before
