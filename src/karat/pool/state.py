"""What a pool's log says: settings, systems, draws, labels, true relations. A pure function of the events."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from karat.errors import InvalidData
from karat.math.agreement.vote_errors import ErrorRates
from karat.math.agreement.votes import UNSURE
from karat.pool.tables import Batch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Fixed when the pool is created."""

    seed: int
    half_width: float
    confidence_level: float
    law: str
    relation: tuple[str, ...]
    learn: bool
    has_universe: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One submission; a name may come back with a higher version."""

    number: int
    name: str
    version: int
    team: str
    is_judge: bool
    n_predictions: int
    folder: str
    hash: str
    receipt: str = ""
    """What its sender knows this submission by, so that it is added once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One sealed draw: its systems, its coefficients, and the file of instances it asks for.

    ``reach`` and ``variance`` of each system, and of the pool's units, are what guaranteed intervals bet on.
    """

    number: int
    systems: tuple[int, ...]
    is_final: bool
    known: tuple[float, ...]
    new: tuple[float, ...]
    n_asked: int
    file: str
    hash: str
    reach: dict[str, float]
    variance: dict[str, float]
    unit_reach: float
    unit_variance: float


@dataclass(slots=True)
class State:
    """Everything the log says, in the order it was said."""

    settings: Settings
    systems: list[System] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    truth: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    stated_in: list[int | None] = field(default_factory=list)
    retracted: set[int] = field(default_factory=set)
    admitted: list[System] = field(default_factory=list)
    errors: ErrorRates | None = None
    sure: frozenset[str] = frozenset()

    def apply(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        kind, body = event["kind"], {key: value for key, value in event.items() if key != "kind"}
        if kind == "add":
            # The same name again is a resubmission: the earlier version leaves the leaderboard.
            self.retracted |= {system.number for system in self.systems if system.name == body["name"]}
            self.systems.append(System(**body))
            if body["is_judge"]:
                self.admitted.append(self.systems[-1])
        elif kind == "draw":
            draw = Draw(**{**body, **{name: tuple(body[name]) for name in ("systems", "known", "new")}})
            self.draws.append(draw)
            inside = {system.number for system in self.admitted}
            self.admitted += [self.systems[number - 1] for number in draw.systems if number not in inside]
        elif kind == "tell":
            self.labels.update(body["labels"])
        elif kind == "truth":
            if body.get("replace"):
                self.truth, self.documents, self.weights, self.stated_in = [], [], [], []
            self.truth.extend(body["relations"])
            self.documents.extend(body["documents"])
            self.weights.extend(body.get("weights") or [1.0] * len(body["relations"]))
            self.stated_in.extend(body.get("stated_in") or [None] * len(body["relations"]))
        elif kind == "errors":
            given = body["errors"]
            self.errors = None if given is None else ErrorRates(
                **{**given, "covariance": tuple(tuple(row) for row in given["covariance"])}
            )  # fmt: skip
            self.sure = frozenset(body.get("sure", ()))
        elif kind == "retract":
            self.retracted.add(body["system"])
        else:
            raise InvalidData(f"the log holds an event of unknown kind '{kind}'; a newer karat may have written it.")

    @property
    def competitors(self) -> list[System]:
        """Systems in the pool, in the order of admission, retracted ones included: their labels still serve."""
        return [system for system in self.admitted if not system.is_judge]

    @property
    def n_unsure(self) -> int:
        """Number of answers that leave it open."""
        return sum(label == UNSURE for label in self.labels.values())

    def waiting(self) -> list[System]:
        """Systems that are submitted but not yet in the pool."""
        inside = {system.number for system in self.admitted}
        return [s for s in self.systems if s.number not in inside and s.number not in self.retracted]

    def unfinished(self) -> tuple[int, ...] | None:
        """Return the systems whose pilot draw was made but not their final one, if any of them still competes."""
        final = {draw.systems for draw in self.draws if draw.is_final}
        for draw in self.draws:
            if draw.systems not in final and not set(draw.systems) <= self.retracted:
                return draw.systems
        return None

    def without_last_draw(self) -> State:
        """Return the state as it was before the last draw, with all labels."""
        first = {number for draw in self.draws[:-1] for number in draw.systems}
        return replace(
            self,
            draws=self.draws[:-1],
            admitted=[system for system in self.admitted if system.is_judge or system.number in first],
        )

    def before(self, systems: Sequence[System]) -> State:
        """Return the state just before these systems, drawn together, were admitted."""
        numbers = [system.number for system in systems]
        first_draw = next(k for k, draw in enumerate(self.draws) if list(draw.systems) == numbers)
        first = min(self.admitted.index(system) for system in systems)
        return replace(self, draws=self.draws[:first_draw], admitted=self.admitted[:first])

    def batches(self, n_draws: int | None = None) -> list[Batch]:
        """Batches after the first draws; draws of one system alone merge into the larger coefficients."""
        return _batches(self.draws[:n_draws])

    def batches_since(self, systems: list[int]) -> list[Batch]:
        """Batches since these systems came, together: no other draw is made between their pilot and the rest."""
        return _batches([draw for draw in self.draws if list(draw.systems) == systems])

    def unit_files(self, folder: Path) -> list[Path]:
        """List the unit files of the competitors."""
        return [folder / system.folder / "units.parquet" for system in self.competitors]


def _batches(draws: Sequence[Draw]) -> list[Batch]:
    batches: list[Batch] = []
    alone: dict[tuple[int, ...], tuple[float, float]] = {}
    for draw in draws:
        if len(draw.systems) > 1:
            batches.append(Batch(systems=draw.systems, known=draw.known, new=draw.new))
        else:
            known, new = alone.get(draw.systems, (0.0, 0.0))
            alone[draw.systems] = (max(known, draw.known[0]), max(new, draw.new[0]))
    return batches + [Batch(systems=s, known=(known,), new=(new,)) for s, (known, new) in alone.items()]


def read_state(events: list[dict[str, Any]]) -> State:
    """Replay the events of a log."""
    if not events or events[0].get("kind") != "create":
        raise InvalidData("the log does not begin with the creation of a pool.")
    first = {key: value for key, value in events[0].items() if key not in {"kind", "format"}}
    if events[0]["format"] != FORMAT:
        raise InvalidData(f"the pool has format {events[0]['format']}; this karat reads format {FORMAT}.")
    state = State(settings=Settings(**{**first, "relation": tuple(first["relation"])}))
    for event in events[1:]:
        state.apply(event)
    return state
