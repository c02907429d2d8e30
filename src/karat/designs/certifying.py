"""A certified pass in progress: asks for ranks, takes answers, gives the curve at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.designs.base import require_asked, unanswered_note
from karat.math.certify.cells import Cells
from karat.math.certify.forecast import NextLabels, next_labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from karat.curves import Curve
    from karat.designs.base import Identify
    from karat.designs.certify import Certify
    from karat.draws import Draw, Labels
    from karat.math.certify.walk import Walk
    from karat.math.path import Ranks


class CertifyDesign:
    """Ask and tell around a walk down the list; each batch is sealed before its labels are seen."""

    def __init__(self, method: Certify, walk: Walk, draw: Draw, labels: Labels, identify: Identify | None) -> None:
        self.method = method
        self.walk = walk
        self.draw = draw
        self.labels = labels
        self._identify = identify

    def ask(self, n: int | None = None) -> Ranks:
        while len(cells := self.walk.ask(n)):
            ranks = cells.ranks[cells.new]
            ids = None if self._identify is None else self._identify(ranks)
            self.draw = self.draw.append(ranks, columns=_columns_of(cells), ids=ids)
            if len(ranks):
                return ranks
        return np.zeros(0, dtype=np.int64)

    def tell(self, labels: Labels) -> None:
        require_asked(self.draw, labels)
        self.walk.tell(labels.ranks, labels.values)
        self.labels = self.labels.and_then(labels)

    def curve(self) -> Curve:
        notes = unanswered_note(self.draw, self.labels) + self._progress_note()
        return self.method.curve_of(
            self.walk.bounds(), self.draw.n_items, self.labels.n_sure, notes, labelled_until=self.walk.answered_until
        )

    def forecast(self, n_more: Sequence[int] = (100, 500)) -> list[NextLabels]:
        """Simulate what the next labels would buy, at the rates seen so far."""
        return next_labels(self.walk, n_more)

    @property
    def pending(self) -> Ranks:
        asked = self.draw.ranks
        return asked[~np.isin(asked, self.labels.ranks)]

    @property
    def done(self) -> bool:
        return self.walk.done

    def _progress_note(self) -> tuple[str, ...]:
        last = self.method.goes_to(self.draw.n_items)
        if self.walk.done or self.walk.rank_reached >= last:
            return ()
        round_ = f" in round {self.walk.look} of at most {self.method.looks}" if self.method.looks > 1 else ""
        reached = f"rank {self.walk.rank_reached:,} of {last:,}"
        return (f"Items are laid out down to {reached} so far{round_}; ask for the next ones.",)


def _columns_of(cells: Cells) -> dict[str, NDArray[Any]]:
    return {name: getattr(cells, name) for name in Cells.__slots__}


def cells_of(columns: Mapping[str, NDArray[Any]]) -> Cells:
    """Return the cells that a batch of a stored draw describes."""
    kinds = {"probabilities": np.float64, "new": np.bool_}
    cells: dict[str, NDArray[Any]] = {name: columns[name].astype(kinds.get(name, np.int64)) for name in Cells.__slots__}
    cells["counts"] = cells["counts"].reshape(len(cells["ends"]), -1)
    return Cells(**cells)
