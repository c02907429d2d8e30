"""What a submission would cost: the draws it would need, made on the side and thrown away."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from karat.math.pooled.inclusion import LARGEST_SPREAD
from karat.math.pooled.intervals import normal_quantile
from karat.pool.drawing import PILOT_SHARE, admit, make_draw
from karat.pool.state import System
from karat.pool.tables import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import duckdb

    from karat.pool.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Labels that a submission would need.

    Parameters
    ----------
    n_predictions
        Predictions of the submission.
    n_new
        Those that no system in the pool has made.
    first
        Labels that are asked for at once.
    most
        Labels in all, whatever they turn out to be; less where they let the rest be guessed.
    """

    n_predictions: int
    n_new: int
    first: int
    most: int

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def previews_hold(events: Iterable[Mapping[str, Any]], asked: Callable[[], set[str]]) -> bool:
    """Say whether previews made before these events still hold; ``asked`` gives all ids asked for so far.

    Only draws and judges change what the next system needs, and labels of ids that nobody asked for: an id that was
    asked for is on no later system's account, answered or not.
    """
    told: set[str] = set()
    for event in events:
        kind = event["kind"]
        if kind == "draw" or (kind == "add" and event["is_judge"]):
            return False
        if kind == "tell":
            told.update(event["labels"])
    return not told or told <= asked()


def preview_draw(
    connection: duckdb.DuckDBPyConnection, folder: Path, state: State, *, work: Path, n_predictions: int
) -> Preview:
    """Say what the instances in ``work`` would cost as the next system; ``work`` may be written to.

    Systems that wait to enter the pool are not counted on: drawn together, they need no more units than the sum, on
    average. Where a unit is a relation, the instances of it that others of them hold come on top.
    """
    number = len(state.systems) + 1
    system = System(
        number=number, name="", version=1, team="", is_judge=False, n_predictions=n_predictions,
        folder=str(work.resolve()), hash="",
    )  # fmt: skip
    admit(connection, folder, state, number=number, place=work)
    trial = replace(state, systems=[*state.systems, system], admitted=[*state.admitted, system])
    settings = state.settings
    target = (settings.half_width / normal_quantile(settings.confidence_level)) ** 2
    counts = {}
    for name, variance in (("first", target / PILOT_SHARE if settings.learn else target), ("most", target)):
        path = work / name / "asked.parquet"
        path.parent.mkdir()
        make_draw(
            connection, folder, trial, systems=[system], target_variance=variance,
            spreads=[(LARGEST_SPREAD, LARGEST_SPREAD)], path=path,
        )  # fmt: skip
        asked = connection.execute(f"SELECT id FROM {files([path])}").fetchall()
        counts[name] = sum(row[0] not in state.labels for row in asked)
    new = connection.execute(f"SELECT count(*) FROM {files([work / 'units.parquet'])} WHERE novel").fetchall()[0][0]
    return Preview(n_predictions=n_predictions, n_new=int(new), **counts)
