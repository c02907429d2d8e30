"""What the labels of the chosen instances say, and what they would say if unsure answers fell one way or the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.math.agreement.votes import UNSURE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Parts = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

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
    """

    labels: NDArray[np.int64]
    unit: NDArray[np.int64]
    mass: NDArray[np.float64]
    unit_mass: NDArray[np.float64]
    by_unit: bool

    @property
    def n_unsure(self) -> int:
        """Number of unsure labels."""
        return int((self.labels == UNSURE).sum())

    def settled(self) -> Parts:
        """Return ``right``, ``found`` and ``true`` of `PoolSample` with unsure answers half right."""
        return self._parts(np.where(self.labels == UNSURE, OPEN, self.labels))

    def leaning(self, row: int, *, to: float) -> Parts:
        """Return the same with unsure answers ``to`` (0 or 1) for what a system predicts, the opposite elsewhere.

        Precision, recall and F1 of the system are lowest with 0 and highest with 1: a right instance of its own adds
        to each of them, one that it lacks takes away from its recall.
        """
        leaned = np.where(self.mass[row] > 0, to, 1.0 - to)
        return self._parts(np.where(self.labels == UNSURE, leaned, self.labels))

    def _parts(self, values: NDArray[np.float64]) -> Parts:
        n_systems, n_units = self.unit_mass.shape
        true = np.zeros(n_units)
        np.maximum.at(true, self.unit, values)
        if self.by_unit:
            return np.broadcast_to(true, self.unit_mass.shape), (self.unit_mass > 0) * true, true
        right, found = np.zeros((2, n_systems, n_units))
        for row, mass in enumerate(self.mass):
            held = mass > 0
            np.add.at(right[row], self.unit[held], (mass * values)[held])
            np.maximum.at(found[row], self.unit[held], values[held])
        return right / np.where(self.unit_mass > 0, self.unit_mass, 1.0), found, true
