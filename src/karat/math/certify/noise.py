"""Wrong labels: from bounds on the yield of observed labels to bounds on the true yield."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat import _check
from karat.math.binomial import clopper_pearson

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelErrors:
    """How often labels are right, as intervals.

    Parameters
    ----------
    sensitivity
        Least and most probability that a true item is labelled 1. It may differ from item to item in between.
    specificity
        The same for a false item being labelled 0.
    delta_spent
        Probability with which the intervals may be wrong; it is taken off the band's.

    Examples
    --------
    >>> LabelErrors(sensitivity=(0.75, 1.0), specificity=(0.5, 0.75)).gain()
    0.5
    """

    sensitivity: tuple[float, float]
    specificity: tuple[float, float]
    delta_spent: float = 0.0

    def __post_init__(self) -> None:
        for name, (least, most) in (("sensitivity", self.sensitivity), ("specificity", self.specificity)):
            _check.number(name, least, least=0.0, most=1.0)
            _check.number(name, most, least=0.0, most=1.0)
            if least > most:
                raise _check.refuse(name, "an interval (least, most)", (least, most))
        _check.number("delta_spent", self.delta_spent, least=0.0, below=1.0)

    def gain(self, side: str = "both") -> float:
        """Return the observed yield that one more true item brings, as the bounds reckon; 0 if labels say nothing."""
        low = self.sensitivity[1] + self.specificity[0] - 1.0
        high = self.sensitivity[0] + self.specificity[1] - 1.0
        return max({"both": 0.5 * (low + high), "lower": low, "upper": high}[side], 0.0)

    @staticmethod
    def from_gold(
        positives: tuple[int, int], negatives: tuple[int, int], *, delta: float, side: str = "both"
    ) -> LabelErrors:
        """Estimate the rates from gold items whose truth is known.

        Parameters
        ----------
        positives
            How many true gold items were labelled 1, and how many true gold items there were.
        negatives
            How many false gold items were labelled 0, and how many there were.
        delta
            Probability with which any limit that is used may be wrong; Clopper-Pearson, shared equally.
        side
            'both' uses all four limits; 'lower' and 'upper' use two, each with twice the share.

        Examples
        --------
        >>> errors = LabelErrors.from_gold((97, 100), (196, 200), delta=0.01)
        >>> [round(end, 3) for end in errors.sensitivity + errors.specificity]
        [0.886, 0.997, 0.934, 0.997]
        """
        _check.fraction("delta", delta)
        _check.one_of("side", side, ("both", "lower", "upper"))
        each = delta / 4 if side == "both" else delta / 2
        limits = []
        for name, (right, total) in (("positives", positives), ("negatives", negatives)):
            _check.whole(name, total)
            _check.whole(name, right, most=total)
            least, most = clopper_pearson(right, total, confidence_level=1.0 - 2.0 * each)
            limits.append((float(least), float(most)))
        sensitivity, specificity = limits
        if side == "lower":  # the lower bound rests on the most sensitivity and the least specificity alone
            sensitivity, specificity = (0.0, sensitivity[1]), (specificity[0], 1.0)
        elif side == "upper":
            sensitivity, specificity = (sensitivity[0], 1.0), (0.0, specificity[1])
        return LabelErrors(sensitivity=sensitivity, specificity=specificity, delta_spent=delta)


def true_yield_bounds(
    ranks: NDArray[np.int64], low: FloatArray, high: FloatArray, *, errors: LabelErrors
) -> tuple[FloatArray, FloatArray]:
    """Turn bounds on the expected yield of observed labels into bounds on the true yield.

    With sensitivity at most a+ and specificity at least b-, the observed yield of r items is at most
    ``a+ Y + (1 - b-) (r - Y)``, which bounds Y from below; the mirror image bounds it from above. Where labels may
    be no better than chance (a + b <= 1) a bound says nothing.

    Examples
    --------
    >>> errors = LabelErrors(sensitivity=(0.9, 0.9), specificity=(0.9, 0.9))
    >>> true_yield_bounds(np.array([100]), np.array([50.0]), np.array([58.0]), errors=errors)
    (array([50.]), array([60.]))
    """
    low_rate = errors.sensitivity[1] + errors.specificity[0] - 1.0
    high_rate = errors.sensitivity[0] + errors.specificity[1] - 1.0
    true_low = np.zeros(len(ranks))
    true_high = ranks.astype(np.float64)
    if low_rate > 0.0:
        true_low = np.clip((low - ranks * (1.0 - errors.specificity[0])) / low_rate, 0.0, ranks)
    if high_rate > 0.0:
        true_high = np.clip((high - ranks * (1.0 - errors.specificity[1])) / high_rate, 0.0, ranks)
    return true_low, true_high
