"""A certified pass, batch by batch: ask for ranks to label, tell the answers, read the bounds at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.math.certify.bounds import Bounds, intersect
from karat.math.certify.cells import MOST_CLASSES, PENDING, Cells
from karat.math.certify.course import NO_PARENTS, NO_PROXY, make_course, pilot_forecast, pilot_size
from karat.math.certify.judge import look_bounds, trivial_bounds, worst_share
from karat.math.certify.look import Look
from karat.math.certify.pilot import Pilot, first_pilot_rank, pilot_ranks
from karat.math.certify.steps import NO_BUDGET

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from karat.math.certify.settings import Settings


class Walk:
    """A pass down a ranking of ``n_items``, as the settings ask.

    Everything the walk does next is a function of the cells laid out and the answers given so far, so `resume`
    continues exactly where an interrupted walk stopped.

    Parameters
    ----------
    settings
        What is wanted.
    n_items
        Length of the ranking.
    seed
        Decides every draw.
    proxy
        A cheap guess for every item, as one small class (0, 1, ... at most 14) an item in rank order. It may be
        anything that was fixed before the walk: a poor one costs little and cannot endanger the bounds.

    Examples
    --------
    >>> from karat.math.certify.settings import Settings
    >>> walk = Walk(Settings(from_rank=100, absolute=0.1), n_items=2000, seed=1)
    >>> while not walk.done:
    ...     cells = walk.ask(20)
    ...     asked = cells.ranks[cells.new]
    ...     walk.tell(asked, asked % 3 > 0)
    >>> bounds = walk.bounds()
    >>> bool(bounds.low[-1] <= 1333 <= bounds.high[-1]), walk.target_met
    (True, True)
    """

    def __init__(self, settings: Settings, *, n_items: int, seed: int, proxy: ArrayLike | None = None) -> None:
        self.settings = settings
        self.n_items = _check.whole("n_items", n_items, least=1)
        self.seed = _check.whole("seed", seed)
        self.proxy = _checked_proxy(proxy, self.n_items)
        self.n_classes = int(self.proxy.max()) + 1 if len(self.proxy) else 1
        last_rank = min(self.n_items, settings.top or self.n_items)
        n_pilot = pilot_size(settings, last_rank=last_rank)
        first_rank = first_pilot_rank(settings.from_rank, last_rank)
        self._pilot = Pilot(pilot_ranks(n_pilot, n_items=last_rank, seed=self.seed, first_rank=first_rank))
        self._batches: list[Cells] = []
        self._looks: list[Look] = []
        self._finished: Bounds | None = None  # bounds of the looks before the current one

    # ------------------------------------------------------------------ asking and telling

    def ask(self, n: int | None = None) -> Cells:
        """Lay out the next cells and return them; those with ``new`` are to be labelled.

        Parameters
        ----------
        n
            About how many new labels are wanted, at most (None: one batch, the finest planning). The pilot is
            asked for first and whole; nothing else is asked for until it is answered.

        Returns
        -------
        Cells
            Empty when the walk is done, or when it must wait for answers (of the pilot, or of a look).
        """
        if n is not None:
            _check.whole("n", n, least=1)
        if self.n_classes > 1 and not len(self.proxy):
            raise _check.refuse("proxy", "given again before more can be asked for", None)
        if not self._pilot.is_asked:
            self._pilot.is_asked = True
            if len(self._pilot):
                self._batches.append(self._pilot.cells(self.n_classes))
                return self._batches[-1]
        laid_out: list[Cells] = []
        left = NO_BUDGET if n is None else n
        while left > 0 and self._can_go_on():
            if not self._looks or self._looks[-1].laid_out:
                if laid_out:  # what a look begins with must not depend on how the one before ended
                    break
                self._begin_look()
                continue
            cells = self._looks[-1].lay_out(left, known=self._known)
            laid_out.append(cells)
            left -= int(cells.new.sum())
            if n is None and cells.new.any():
                break
        self._batches += laid_out
        return Cells.joined(laid_out) if laid_out else Cells.none()

    def tell(self, ranks: ArrayLike, values: ArrayLike) -> None:
        """Take answers: 1, 0, or -1 for "unsure", in any order, for any ranks asked for.

        An unsure item is never drawn anew; a later answer for the same rank replaces the earlier one. Where labels
        may be wrong, a pilot item that a cell draws is asked for again, and the second answer is the cell's.
        """
        told = np.atleast_1d(np.asarray(ranks))
        answers = np.atleast_1d(np.asarray(values))
        _check.same_length("ranks", len(told), "values", len(answers))
        bad = np.flatnonzero(~np.isin(answers, (0, 1, -1)))
        if bad.size:
            raise _check.refuse("values", "1, 0 or -1 (unsure)", answers[bad[0]].item())
        answers = answers.astype(np.int8)
        in_pilot = self._pilot.holds(told)
        held = np.zeros(len(told), np.bool_)
        for look in self._looks:
            held |= look.holds(told)
        unasked = np.flatnonzero(~held & ~in_pilot)
        if unasked.size:
            raise _check.refuse("ranks", "ranks that were asked for", told[unasked[0]].item())
        for look in self._looks:
            look.take(told, answers)
        for_pilot = in_pilot & ~held if self._is_noisy else in_pilot
        revised = self._pilot.take(told[for_pilot], answers[for_pilot])
        self._finished = None
        if revised and self._looks:  # bets and forecast rest on the pilot
            self._restore_looks([look.cells() for look in self._looks])

    @property
    def _is_noisy(self) -> bool:
        return self.settings.label_errors is not None

    def _known(self, ranks: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the answers that are there already: the pilot's (unless labels may be wrong) and earlier looks'."""
        values = np.full(len(ranks), PENDING, np.int8) if self._is_noisy else self._pilot.values_at(ranks)
        for look in self._looks:
            earlier = look.values_at(ranks)
            values = np.where(earlier != PENDING, earlier, values)
        return values

    # ------------------------------------------------------------------ looks

    def _can_go_on(self) -> bool:
        """Say whether there are cells to lay out before any further answer."""
        if not self._pilot.is_answered:
            return False
        if not self._looks:
            return self.settings.budget is None or self.settings.budget > self.n_pilot
        if not self._looks[-1].laid_out:
            return True
        return len(self._looks) < self.settings.looks and not len(self._looks[-1].pending) and not self.target_met

    def _begin_look(self) -> None:
        self._finished = self.bounds() if self._looks else None
        course = make_course(
            self.settings,
            look=len(self._looks) + 1,
            n_items=self.n_items,
            seed=self.seed,
            forecast=pilot_forecast(self.settings, self._pilot.ranks, self._pilot.values, n_items=self.n_items),
            n_pilot=len(self._pilot),
            parents=self._looks[-1].as_parents() if self._looks else NO_PARENTS,
            proxy=self.proxy,
            n_classes=self.n_classes,
        )
        self._looks.append(Look(course))

    def _restore_looks(self, cells_of_looks: list[Cells]) -> None:
        """Build the looks anew from their cells, keeping all answers."""
        answers = self._looks
        self._looks = []
        for cells in cells_of_looks:
            self._begin_look()
            self._looks[-1].restore(cells, known=self._known)
            for look in answers:
                ranks = look.cells().ranks
                self._looks[-1].take(ranks, look.values_at(ranks))

    @classmethod
    def resume(
        cls,
        settings: Settings,
        *,
        n_items: int,
        seed: int,
        cells: Cells,
        ranks: ArrayLike,
        values: ArrayLike,
        proxy: ArrayLike | None = None,
    ) -> Walk:
        """Return the walk that laid out these cells and was told these answers, as if never interrupted.

        Cells that this seed, proxy and pilot cannot have drawn are refused. Answers come in the order they were
        told; it matters only where the same rank was told twice. Without the proxy that the cells were drawn with,
        the bounds can be read, and nothing more be asked for.
        """
        walk = cls(settings, n_items=n_items, seed=seed, proxy=proxy)
        told, answers = np.atleast_1d(np.asarray(ranks)), np.atleast_1d(np.asarray(values))
        _check.same_length("ranks", len(told), "values", len(answers))
        if len(cells) == 0:
            return walk
        walk.n_classes = max(walk.n_classes, cells.counts.shape[1])
        walk._pilot.is_asked = True
        if not np.array_equal(cells.ranks[cells.look == 0], walk._pilot.ranks):
            raise _check.refuse("cells", "led by the pilot of this seed and these settings", "another pilot")
        walk._batches = [cells]
        in_pilot = walk._pilot.holds(told)
        if not walk._is_noisy:
            walk.tell(told[in_pilot], answers[in_pilot])
        else:  # the first answer for a rank is the pilot's, a second one its cell's
            _, first = np.unique(told, return_index=True)
            in_pilot &= np.isin(np.arange(len(told)), first)
            walk.tell(told[in_pilot], answers[in_pilot])
        n_looks = int(cells.look.max())
        if n_looks and not walk._pilot.is_answered:
            raise _check.refuse("values", "given for the whole pilot before any cell", "unanswered pilot items")
        walk._restore_looks([cells.part(cells.look == look) for look in range(1, n_looks + 1)])
        walk.tell(told[~in_pilot], answers[~in_pilot])
        return walk

    # ------------------------------------------------------------------ reading

    @property
    def cells(self) -> Cells:
        """All cells laid out so far, the pilot's items first."""
        return Cells.joined(self._batches) if self._batches else Cells.none()

    def answers(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Return the ranks answered and their answers, as `resume` takes them."""
        ranks, values = [self._pilot.ranks], [self._pilot.values]
        for look in self._looks:
            ranks.append(look.cells().ranks)
            values.append(look.values_at(ranks[-1]))
        all_ranks, all_values = np.concatenate(ranks), np.concatenate(values)
        told = all_values != PENDING
        return all_ranks[told], all_values[told]

    @property
    def pending(self) -> NDArray[np.int64]:
        """Ranks asked for and not yet answered."""
        return np.unique(np.concatenate([self._pilot.pending, *(look.pending for look in self._looks)]))

    @property
    def n_pilot(self) -> int:
        """How many labels the pilot asks for."""
        return len(self._pilot)

    @property
    def n_asked(self) -> int:
        """Labels asked for so far; never more than the budget."""
        return sum(int(cells.new.sum()) for cells in self._batches)

    @property
    def n_labels(self) -> int:
        """Answers given so far."""
        return self.n_asked - len(self.pending)

    @property
    def rank_reached(self) -> int:
        """The last rank for which the current look has laid out a cell."""
        return self._looks[-1].reached if self._looks else 0

    @property
    def answered_until(self) -> int:
        """The last rank that answers stand behind, in any look: nothing is estimated below."""
        return max((look.answered_until for look in self._looks), default=0)

    @property
    def look(self) -> int:
        """The number of the current look; 0 before the first."""
        return len(self._looks)

    @property
    def done(self) -> bool:
        """Whether nothing more will be asked for and no answer is out."""
        return (self._pilot.is_asked or not len(self._pilot)) and not len(self.pending) and not self._can_go_on()

    @property
    def worst_share(self) -> float:
        """Largest half-width over its tolerance at the ranks that are judged."""
        return worst_share(self.bounds(), self.settings)

    @property
    def target_met(self) -> bool:
        """Whether every judged rank is bounded as tightly as asked for."""
        return self.worst_share <= 1.0

    def bounds(self) -> Bounds:
        """Return bounds on the yield at knots, valid now and whatever the open answers turn out to be.

        They hold at all ranks at once with the confidence level of the settings; `bounds_at` carries them to
        other ranks. Beyond the last cell they are the trivial ones. Should low exceed high anywhere, the data lie
        in the part that the confidence level leaves out.
        """
        if not self._looks:
            return trivial_bounds(self.n_items)
        if self._finished is None:
            self._finished = trivial_bounds(self.n_items)
            for look in self._looks[:-1]:
                self._finished = self._and_look(self._finished, look)
        return self._and_look(self._finished, self._looks[-1])

    def _and_look(self, before: Bounds, look: Look) -> Bounds:
        own = look_bounds(*look.raw_bounds(), settings=self.settings, n_items=self.n_items)
        return own if look.course.look == 1 else intersect(before, own, until=look.answered_until)


def _checked_proxy(proxy: ArrayLike | None, n_items: int) -> NDArray[np.uint8]:
    if proxy is None:
        return NO_PROXY
    classes = np.asarray(proxy)
    _check.same_length("proxy", len(classes), "the ranking", n_items)
    if classes.ndim != 1 or classes.dtype.kind not in "biu" or classes.min() < 0 or classes.max() >= MOST_CLASSES:
        raise _check.refuse("proxy", f"whole numbers from 0 to {MOST_CLASSES - 1}", f"values of type {classes.dtype}")
    return np.ascontiguousarray(classes, np.uint8)
