"""The common face of all designs, and the one implementation that fixed designs share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from karat import _check
from karat.draws import Draw, Labels
from karat.errors import InvalidData
from karat.math.path import MOST_MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from karat.curves import Curve
    from karat.draws import Id
    from karat.math.path import Ranks
    from karat.math.sampled import Sampled

    Identify = Callable[[Ranks], Sequence[Id]]
    """Gives the ids of ranks, so that a draw can be joined with labels by id."""
    Proxy = NDArray[np.uint8]


class Design(Protocol):
    """Ask for ranks, tell their labels, read the curve."""

    draw: Draw
    labels: Labels

    def ask(self, n: int | None = None) -> Ranks:
        """Return up to ``n`` further ranks to label (all that can be laid out now, if None)."""
        ...

    def tell(self, labels: Labels) -> None:
        """Take answers; of two for one rank the later counts."""
        ...

    def curve(self) -> Curve:
        """Return the bounds that the labels so far give."""
        ...

    @property
    def pending(self) -> Ranks:
        """Ranks asked for and not yet answered."""
        ...

    @property
    def done(self) -> bool:
        """Whether the goal is met."""
        ...


class Method(Protocol):
    """The parameters of a design; it starts one and takes one up again."""

    name: ClassVar[str]

    def plan(self, n_items: int) -> dict[str, Any]:
        """Return how many labels a list of n_items needs, and the constants behind it."""
        ...

    def goes_to(self, n_items: int) -> int:
        """Return the last rank that the method speaks of in a list of n_items."""
        ...

    def begin(
        self,
        n_items: int,
        *,
        seed: int,
        resource: Mapping[str, Any] | None = None,
        identify: Identify | None = None,
        proxy: Proxy | None = None,
    ) -> Design:
        """Start a design; a proxy is one small class an item in rank order, where the method takes one."""
        ...

    def resume(
        self, draw: Draw, labels: Labels, *, identify: Identify | None = None, proxy: Proxy | None = None
    ) -> Design:
        """Take a design up again from its two documents."""
        ...

    def sample(self, draw: Draw) -> Sample:
        """Return the draws with the stretches they stand for, to be read for other purposes."""
        ...

    def replay(self, labels: NDArray[np.int8], *, seed: int, proxy: Proxy | None = None) -> tuple[Curve, int]:
        """Run the whole design against known labels in rank order; return the curve and how many were bought."""
        ...


class Sample(NamedTuple):
    """What a draw tells about groups of items that it was not made for."""

    sampled: Sampled
    delta_share: float = 1.0
    """The part of 1 - confidence_level that these draws may spend."""
    notes: tuple[str, ...] = ()


class Layout(NamedTuple):
    """Distinct ranks to label, and what the estimate must know about how they were drawn."""

    ranks: Ranks
    columns: Mapping[str, ArrayLike]


class FixedMethod(ABC):
    """A method that lays out all its ranks before the first label: a frozen dataclass of its parameters."""

    __slots__ = ()
    name: ClassVar[str]

    @abstractmethod
    def plan(self, n_items: int) -> dict[str, Any]:
        """Return how many labels a list of n_items needs, and the constants behind it."""

    def goes_to(self, n_items: int) -> int:
        """Return the last rank that the method speaks of in a list of n_items."""
        return n_items

    @abstractmethod
    def lay_out(self, n_items: int, rng: np.random.Generator) -> Layout:
        """Return the ranks to label."""

    @abstractmethod
    def sample(self, draw: Draw) -> Sample:
        """Return the draws with the stretches they stand for, to be read for other purposes."""

    @abstractmethod
    def estimate(self, draw: Draw, labels: Labels) -> Curve:
        """Return the curve that the labels give."""

    def begin(
        self,
        n_items: int,
        *,
        seed: int = 0,
        resource: Mapping[str, Any] | None = None,
        identify: Identify | None = None,
        proxy: Proxy | None = None,
    ) -> FixedDesign:
        """Start a design: one sealed batch."""
        self._refuse_proxy(proxy)
        n_items = _check.whole("n_items", n_items, least=1)
        seed = _check.whole("seed", seed)
        layout = self.lay_out(n_items, np.random.default_rng(seed))
        parameters = asdict(self)  # type: ignore[call-overload]
        draw = Draw(method=self.name, parameters=parameters, seed=seed, n_items=n_items, resource=resource)
        ids = None if identify is None else identify(layout.ranks)
        draw = draw.append(layout.ranks, columns=layout.columns, ids=ids)
        return FixedDesign(self, draw, Labels.none(), 0)

    def resume(
        self, draw: Draw, labels: Labels, *, identify: Identify | None = None, proxy: Proxy | None = None
    ) -> FixedDesign:
        """Take a design up again from its two documents."""
        del identify  # everything was laid out at the beginning
        self._refuse_proxy(proxy)
        require_same_method(self, draw)
        if not draw.batches:
            raise InvalidData(f"The draw of {self.name} has no batch: nothing was asked for.")
        design = FixedDesign(self, draw, Labels.none(), draw.n_ranks)
        design.tell(labels)
        return design

    def replay(self, labels: NDArray[np.int8], *, seed: int, proxy: Proxy | None = None) -> tuple[Curve, int]:
        """Run the whole design against known labels in rank order; return the curve and how many were bought."""
        design = self.begin(len(labels), seed=seed, proxy=proxy)
        ranks = design.ask()
        design.tell(Labels.from_pairs(ranks, labels[ranks - 1]))
        return design.curve(), len(ranks)

    def _refuse_proxy(self, proxy: Proxy | None) -> None:
        if proxy is not None:
            raise _check.refuse("proxy", f"left out: {self.name} has no use for one", "a proxy", "certify has.")


class FixedDesign:
    """Ask/tell around a fixed method: one sealed batch, handed out in pieces."""

    def __init__(self, method: FixedMethod, draw: Draw, labels: Labels, n_handed_out: int) -> None:
        self.method = method
        self.draw = draw
        self.labels = labels
        self._n_handed_out = n_handed_out

    def ask(self, n: int | None = None) -> Ranks:
        ranks = self.draw.ranks
        stop = len(ranks) if n is None else self._n_handed_out + _check.whole("n", n, least=1)
        piece = ranks[self._n_handed_out : stop]
        self._n_handed_out += len(piece)
        return piece

    def tell(self, labels: Labels) -> None:
        require_asked(self.draw, labels)
        self.labels = self.labels.and_then(labels)

    def curve(self) -> Curve:
        curve = self.method.estimate(self.draw, self.labels)
        return curve if is_answered(self.draw, self.labels) else replace(curve, labelled_until=0)

    @property
    def pending(self) -> Ranks:
        handed_out = self.draw.ranks[: self._n_handed_out]
        return handed_out[~np.isin(handed_out, self.labels.ranks)]

    @property
    def done(self) -> bool:
        return bool(np.isin(self.draw.ranks, self.labels.ranks).all())


def require_same_method(method: Any, draw: Draw) -> None:
    """Raise if a draw was made by another method, or with other parameters, than the one that takes it up."""
    if draw.method != method.name:
        raise _check.refuse("draw", f"one of {method.name}", f"one of {draw.method}")
    own = json.loads(json.dumps(asdict(method)))
    for name, given in json.loads(json.dumps(dict(draw.parameters))).items():
        if given != own.get(name):
            raise _check.refuse("draw", f"made with {name} = {own.get(name)!r}", given)


def shuffled(ranks: Ranks, draw: Draw) -> Ranks:
    """Return draws that were stored in order as if they had been made one after the other."""
    return np.random.default_rng([draw.seed, len(ranks)]).permutation(ranks)


def require_asked(draw: Draw, labels: Labels) -> None:
    """Raise if a label belongs to a rank that was never asked for: it would not be part of the sample."""
    stray = labels.ranks[~np.isin(labels.ranks, draw.ranks)]
    if stray.size:
        raise _check.refuse("labels", "for ranks that the draw asked for", f"rank {stray[0]}")


def is_answered(draw: Draw, labels: Labels) -> bool:
    """Return whether labels stand behind an estimate: at most 1% of the answers are out, and half of all are sure."""
    n_missing = draw.n_ranks - int(np.isin(draw.ranks, labels.ranks).sum())
    return n_missing <= MOST_MISSING * draw.n_ranks and 2 * labels.n_sure >= draw.n_ranks


def unanswered_note(draw: Draw, labels: Labels) -> tuple[str, ...]:
    """Say how many ranks have no sure label yet, and how they count."""
    n_open = int(np.sum(labels.at(draw.ranks) == -1))
    if not n_open:
        return ()
    return (f"{n_open:,} of {draw.n_ranks:,} labels are missing or unsure: each counts 0 below and 1 above.",)
