"""One look down the list: its cells, the answers so far, and their evaluation, carried on as answers come in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from karat import _check
from karat.math.certify.band import Tally, evaluate
from karat.math.certify.cells import PENDING, UNSURE, Cells, Drawn
from karat.math.certify.layout import Parents, describe, first_wrong_draw
from karat.math.certify.steps import NO_BUDGET, Course, next_batch
from karat.math.path import MOST_MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class Look:
    """The cells of one look in rank order, with their answers.

    The evaluation of the longest answered stretch from the top is kept; only what follows the first open answer
    is evaluated anew each time.
    """

    def __init__(self, course: Course) -> None:
        self.course = course
        self._n = 0
        self._n_settled = 0
        self._tally = self._fresh_tally()
        kinds = {"ends": np.int64, "ranks": np.int64, "tilt": np.int64, "classes": np.int64, "values": np.int8}
        self._columns: dict[str, NDArray[Any]] = {name: np.empty(64, kind) for name, kind in kinds.items()}
        self._columns |= {name: np.empty(64) for name in ("probabilities", "low", "high", "estimate")}
        self._columns |= {name: np.empty(64, np.bool_) for name in ("bought", "new")}
        self._columns["counts"] = np.empty((64, course.n_classes), np.int64)

    def _fresh_tally(self) -> Tally:
        return Tally.empty(len(self.course.bets.thetas), self.course.n_classes)

    def _column(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self._n]

    @property
    def reached(self) -> int:
        """Last rank that has a cell."""
        return int(self._column("ends")[-1]) if self._n else 0

    @property
    def n_bought(self) -> int:
        """Labels this look has drawn beyond those it kept."""
        return int(np.count_nonzero(self._column("bought")))

    @property
    def laid_out(self) -> bool:
        """Whether there are no more cells to lay out."""
        first = len(self.course.parents.ends) == 0
        return self.reached >= self.course.last_rank or (first and self.n_bought >= self.course.budget)

    @property
    def pending(self) -> IntArray:
        """Ranks whose answer is out."""
        waiting: IntArray = self._column("ranks")[self._column("values") == PENDING]
        return waiting

    @property
    def answered_until(self) -> int:
        """The last answered cell's end above which at most 1% of the items wait for an answer and half are unsure."""
        ends, values = self._column("ends"), self._column("values")
        sizes = np.diff(ends, prepend=0)
        missing, unsure = (np.cumsum(sizes * (values == what)) for what in (PENDING, UNSURE))
        backed = (values != PENDING) & (missing <= MOST_MISSING * ends) & (2 * (missing + unsure) <= ends)
        return int(ends[backed].max(initial=0))

    def as_parents(self) -> Parents:
        """Return the cells for the next look to split."""
        return Parents(*(self._column(name).astype(np.int64) for name in ("ends", "ranks", "tilt")))

    def cells(self, first: int = 0) -> Cells:
        """Return the cells from the given one on."""
        names = ("ends", "ranks", "probabilities", "tilt", "new", "classes", "counts")
        columns = {name: self._column(name)[first:].copy() for name in names}
        return Cells(look=np.full(self._n - first, self.course.look), **columns)

    def lay_out(self, wanted: int, *, known: Callable[[IntArray], NDArray[np.int8]]) -> Cells:
        """Lay out one more batch; ``known`` gives the answers that are there already."""
        first = self._n
        batch = next_batch(self._planning_tally(), self.course, self.n_bought, min(wanted, NO_BUDGET))
        values = known(batch.ranks)
        self._append({**batch._asdict(), "values": values, "bought": batch.new, "new": batch.new & (values == PENDING)})
        return self.cells(first)

    def restore(self, cells: Cells, *, known: Callable[[IntArray], NDArray[np.int8]]) -> None:
        """Take cells from a stored draw, after checking that this seed and these settings may have drawn them."""
        course = self.course
        starts = np.concatenate([[0], cells.ends[:-1]])
        in_order = bool(np.all(starts < cells.ends)) and (len(cells) == 0 or cells.ends[-1] <= course.last_rank)
        if not in_order or not bool(np.all((starts < cells.ranks) & (cells.ranks <= cells.ends))):
            raise _check.refuse("cells", "in rank order, each with a rank of its own", f"look {course.look}")
        classes, counts = cells.classes, cells.counts
        if len(course.proxy) > 0 or course.n_classes == 1:  # without the proxy the cells are taken as they are
            classes, counts = self._checked_draws(cells)
        kept = np.isin(cells.ranks, course.parents.ranks)
        columns: dict[str, NDArray[Any]] = {
            "classes": classes,
            "counts": counts,
            "values": known(cells.ranks),
            "bought": ~kept,
        }
        named = ("ends", "ranks", "probabilities", "tilt", "new")
        columns |= {name: getattr(cells, name) for name in named}
        self._append(columns)

    def _checked_draws(self, cells: Cells) -> tuple[IntArray, IntArray]:
        course = self.course
        classes, counts, probabilities = describe(
            0, cells.ends, cells.ranks, cells.tilt, course.proxy, course.n_classes
        )
        wrong = first_wrong_draw(
            cells.ends, cells.ranks, cells.tilt, counts, course.parents, course.proxy, course.look, course.seed
        )
        if wrong >= 0 or not np.allclose(probabilities, cells.probabilities, rtol=1e-9, atol=0.0):
            place = wrong if wrong >= 0 else int(np.argmax(abs(probabilities - cells.probabilities)))
            raise _check.refuse("cells", "drawn by this seed and proxy", f"rank {cells.ranks[place]}")
        return classes, counts

    def _append(self, columns: dict[str, NDArray[Any]]) -> None:
        more = self._n + len(columns["ends"])
        for name, old in self._columns.items():
            if more > len(old):
                self._columns[name] = np.empty((2 * more, *old.shape[1:]), old.dtype)
                self._columns[name][: self._n] = old[: self._n]
            if name in columns:
                self._columns[name][self._n : more] = columns[name]
        self._n = more

    def holds(self, ranks: IntArray) -> NDArray[np.bool_]:
        """Say which of the ranks this look has drawn."""
        return np.isin(ranks, self._column("ranks"))

    def take(self, ranks: IntArray, values: NDArray[np.int8]) -> None:
        """Take answers; ranks that this look has not drawn are passed over."""
        if self._n == 0:
            return
        own = self._column("ranks")
        place = np.minimum(np.searchsorted(own, ranks), self._n - 1)
        held = own[place] == ranks
        changed = held & (self._column("values")[place] != values)
        self._columns["values"][place[changed]] = values[changed]
        if np.any(place[changed] < self._n_settled):  # an answer was revised: start over
            self._n_settled = 0
            self._tally = self._fresh_tally()

    def values_at(self, ranks: IntArray) -> NDArray[np.int8]:
        """Return this look's answers for ranks, pending where it has none."""
        values = np.full(len(ranks), PENDING, np.int8)
        if self._n:
            place = np.minimum(np.searchsorted(self._column("ranks"), ranks), self._n - 1)
            held = self._column("ranks")[place] == ranks
            values[held] = self._column("values")[place[held]]
        return values

    def _evaluate(self, tally: Tally, first: int, last: int, *, expect: bool, out: tuple[FloatArray, ...]) -> None:
        columns = self._columns
        drawn = Drawn(columns["ends"], columns["classes"], columns["counts"], columns["tilt"])
        course = self.course
        evaluate(tally, drawn, columns["values"], course.bets, course.rules, course.table, first, last, expect, *out)

    def _settle(self) -> None:
        """Carry the kept evaluation on to the first open answer."""
        waiting = np.flatnonzero(self._column("values")[self._n_settled :] == PENDING)
        last = self._n_settled + int(waiting[0]) if waiting.size else self._n
        if last > self._n_settled:
            out = tuple(self._columns[name] for name in ("low", "high", "estimate"))
            self._evaluate(self._tally, self._n_settled, last, expect=False, out=out)
            self._n_settled = last

    def _planning_tally(self) -> Tally:
        """Return the tally at the last cell, open answers counted as they are expected to turn out."""
        self._settle()
        if self._n_settled == self._n:
            return self._tally
        tally = self._tally.copy()
        scratch = tuple(np.empty(self._n) for _ in range(3))
        self._evaluate(tally, self._n_settled, self._n, expect=True, out=scratch)
        return tally

    def raw_bounds(self) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Return cell ends and bounds and estimate of the (observed) yield there."""
        self._settle()
        out = tuple(self._columns[name] for name in ("low", "high", "estimate"))
        if self._n_settled < self._n:
            self._evaluate(self._tally.copy(), self._n_settled, self._n, expect=False, out=out)
        low, high, estimate = (column[: self._n].copy() for column in out)
        return self._column("ends").astype(np.int64), low, high, estimate
