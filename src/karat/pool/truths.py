"""What the labels of the chosen instances say, and what they would say if unsure answers fell one way or the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.math.agreement.votes import UNSURE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.math.agreement.vote_errors import ErrorRates

OPEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Truths:
    """Labels of instances, and how systems hold them.

    Parameters
    ----------
    labels
        1, 0 or -1 (unsure) of each instance.
    unit
        The unit of each instance.
    mass
        Systems by instances: the mass of each under each system's law, 0 where it is not predicted.
    unit_mass
        Systems by units: the same, summed.
    by_unit
        An instance is right if any of its unit is: units are single instances, or provenance is ignored.
    sure
        Which labels are right even where others may be wrong (somebody ruled on them); none by default.
    """

    labels: NDArray[np.int64]
    unit: NDArray[np.int64]
    mass: NDArray[np.float64]
    unit_mass: NDArray[np.float64]
    by_unit: bool
    sure: NDArray[np.bool_] | None = None

    @property
    def n_unsure(self) -> int:
        """Number of unsure labels."""
        return int((self.labels == UNSURE).sum())

    def settled(self, errors: ErrorRates | None = None) -> dict[str, Any]:
        """Return ``right``, ``found`` and ``true`` of `PoolSample`, and their noise, with unsure answers half right."""
        return self._parts(np.full(self.labels.size, OPEN), errors)

    def leaning(self, row: int, *, to: float, errors: ErrorRates | None = None) -> dict[str, Any]:
        """Return the same with unsure answers ``to`` (0 or 1) for what a system predicts, the opposite elsewhere.

        Precision, recall and F1 of the system are lowest with 0 and highest with 1: a right instance of its own adds
        to each of them, one that it lacks takes away from its recall. By unit, it holds what any of its unit states.
        """
        held = self.unit_mass[row][self.unit] > 0 if self.by_unit else self.mass[row] > 0
        return self._parts(np.where(held, to, 1.0 - to), errors)

    def _parts(self, instead: NDArray[np.float64], errors: ErrorRates | None) -> dict[str, Any]:
        """Return the parts with ``instead`` in the place of unsure labels.

        A unit is true unless all its instances are wrong: 1 - prod(1 - y), which stays unbiased where each y is.
        """
        unsure = self.labels == UNSURE
        labels = self.labels.astype(np.float64)
        values, noise = labels, np.zeros(labels.size)
        if errors is not None:
            doubted = ~unsure if self.sure is None else ~unsure & ~self.sure
            values = np.where(doubted, errors.corrected(labels), labels)
            noise = np.where(doubted, errors.noise(labels), 0.0)
        values = np.where(unsure, instead, values)
        n_systems, n_units = self.unit_mass.shape
        true, noise_true = self._any(np.ones(values.size, dtype=bool), values, noise)
        if self.by_unit:
            held = self.unit_mass > 0
            right, found = np.broadcast_to(true, held.shape), held * true
            noise_right, noise_found = np.broadcast_to(noise_true, held.shape), held * noise_true
        else:
            right, noise_right, found, noise_found = np.zeros((4, n_systems, n_units))
            for row, mass in enumerate(self.mass):
                total = np.where(self.unit_mass[row] > 0, self.unit_mass[row], 1.0)
                share = mass / total[self.unit]
                np.add.at(right[row], self.unit, share * values)
                np.add.at(noise_right[row], self.unit, share**2 * noise)
                found[row], noise_found[row] = self._any(mass > 0, values, noise)
        parts: dict[str, Any] = {"right": right, "found": found, "true": true}
        if errors is not None:
            parts |= {"noise_right": noise_right, "noise_found": noise_found, "noise_true": noise_true}
        return parts

    def _any(
        self, held: NDArray[np.bool_], values: NDArray[np.float64], noise: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return for each unit whether any of the held instances is right, and the variance of that.

        It is held at 0 from below, so that of units with several instances it is too large on average, never too small.
        """
        none, square, without = np.ones((3, self.unit_mass.shape[1]))
        miss = 1.0 - values[held]
        np.multiply.at(none, self.unit[held], miss)
        np.multiply.at(square, self.unit[held], miss**2)
        np.multiply.at(without, self.unit[held], miss**2 - noise[held])
        return 1.0 - none, np.maximum(square - without, 0.0)
