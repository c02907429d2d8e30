"""Take in a file of predictions: check it, write its instances, name it in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat import _check
from karat.errors import InvalidInput
from karat.pool.drawing import admit
from karat.pool.law import LAWS, law_of
from karat.pool.preview import preview_draw
from karat.pool.read import load_submission, refuse_unknown
from karat.pool.tables import workspace, write_instances, write_payload

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from karat.pool.preview import Preview
    from karat.pool.records import Records
    from karat.pool.state import System


def submit(
    records: Records,
    name: str,
    predictions: Path,
    *,
    team: str,
    is_judge: bool,
    depth: int | None,
    replace: bool,
    receipt: str,
) -> System | None:
    """Add a system to the log; return the one whose place it takes, if any."""
    if not name or not name.strip():
        raise _check.refuse("name", "a name", name)
    with records.writing(), workspace(records.folder) as (connection, work):
        state = records.state
        if receipt and any(system.receipt == receipt for system in state.systems):
            return None
        earlier = next((s for s in state.systems[::-1] if s.name == name), None)
        if earlier is not None and earlier.number in state.retracted:
            earlier = None
        if earlier is not None and not replace:
            raise InvalidInput(
                f"'{name}' is in the pool already, with {earlier.n_predictions:,} predictions; to put "
                f"{predictions.name} in their place, pass replace=True."
            )
        number = len(state.systems) + 1
        n_predictions = _check_in(connection, records, predictions, work, is_judge=is_judge, depth=depth)
        if is_judge:
            admit(connection, records.folder, state, number=number, place=work)
        place = f"systems/{number:04d}"
        records.keep(work, place)
        records.append(
            {
                "kind": "add",
                "number": number,
                "name": name,
                "version": 1 + sum(system.name == name for system in state.systems),
                "team": team or name,
                "is_judge": is_judge,
                "n_predictions": n_predictions,
                "folder": place,
                "hash": records.hash_of(f"{place}/instances.parquet"),
                **({"receipt": receipt} if receipt else {}),
            }
        )
    return earlier


def preview(records: Records, predictions: Path, *, depth: int | None) -> Preview:
    """Say what a file of predictions would cost."""
    with workspace(records.folder) as (connection, work):
        n_predictions = _check_in(connection, records, predictions, work, is_judge=False, depth=depth)
        return preview_draw(connection, records.folder, records.state, work=work, n_predictions=n_predictions)


def _check_in(
    connection: duckdb.DuckDBPyConnection,
    records: Records,
    path: Path,
    work: Path,
    *,
    is_judge: bool,
    depth: int | None,
) -> int:
    """Check a file of predictions and write its instances into ``work``; return how many there are."""
    settings = records.state.settings
    law = "uniform" if is_judge else settings.law
    source = load_submission(connection, path, relation=settings.relation, extra=LAWS[law], depth=depth)
    if settings.has_universe:
        refuse_unknown(connection, source, records.folder / "universe.parquet")
    mass = law_of(connection, source, law)
    write_payload(connection, work / "payload.parquet")
    write_instances(connection, work / "instances.parquet", mass=mass, seed=settings.seed)
    return int(mass.size)
