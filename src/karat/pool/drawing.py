"""Make a draw: how many labels the waiting systems still need, and which instances those are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.math.pooled.estimate import cross_fitted_residuals
from karat.math.pooled.inclusion import (
    LARGEST_SPREAD,
    design_variance,
    learned_spread,
    raise_inclusion,
    shared_size,
    smallest_scales,
)
from karat.math.pooled.intervals import normal_quantile
from karat.pool.admission import write_units
from karat.pool.scoring import gather
from karat.pool.tables import UNIFORM, Batch, copy, files, inclusion_sql

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

    from karat.pool.state import State, System

PILOT_SHARE = 0.25  # of the labels that the worst case asks for; then the spread is learned
LARGEST_BATCH = 5_000_000  # predictions; more are drawn system by system


def next_draw(connection: duckdb.DuckDBPyConnection, folder: Path, state: State, work: Path) -> dict[str, Any] | None:
    """Make the next draw, if any system needs one: its files in ``work``, and what the log shall say of it.

    Systems whose pilot is labelled come first, then those that wait to enter the pool: all of them together, or the
    first alone where they are too large to be drawn together.
    """
    settings = state.settings
    target = (settings.half_width / normal_quantile(settings.confidence_level)) ** 2
    is_final = True
    if unfinished := state.unfinished():
        systems = [state.systems[number - 1] for number in unfinished]
        if not all((folder / system.folder / "bought.parquet").is_file() for system in systems):
            _admit_together(connection, folder, state.before(systems), systems)  # the pool is of an older version
        spreads = learned_spreads(connection, folder, state, systems)
    elif waiting := state.waiting():
        together = sum(system.n_predictions for system in waiting) <= LARGEST_BATCH
        systems = waiting if together else waiting[:1]
        state = _admit_together(connection, folder, state, systems)
        spreads = [(LARGEST_SPREAD, LARGEST_SPREAD)] * len(systems)
        if settings.learn:
            is_final, target = False, target / PILOT_SHARE
    else:
        return None
    numbers = make_draw(
        connection,
        folder,
        state,
        systems=systems,
        target_variance=target,
        spreads=spreads,
        path=work / "asked.parquet",
    )
    return {"is_final": is_final, **numbers}


def admit(connection: duckdb.DuckDBPyConnection, folder: Path, state: State, *, number: int, place: Path) -> None:
    """Write a system's units and its overlap with all that are in the pool."""
    write_units(
        connection,
        place,
        system=number,
        earlier=[(system.number, folder / system.folder / "units.parquet") for system in state.competitors],
        judges=[(s.number, folder / s.folder / "units.parquet") for s in state.admitted if s.is_judge],
        asked=[folder / draw.file for draw in state.draws],
        batches=state.batches(),
    )


def _admit_together(
    connection: duckdb.DuckDBPyConnection, folder: Path, state: State, systems: Sequence[System]
) -> State:
    """Admit systems one after the other; return the state that counts them in."""
    for system in systems:
        admit(connection, folder, state, number=system.number, place=folder / system.folder)
        state = replace(state, admitted=[*state.admitted, system])
    return state


def learned_spreads(
    connection: duckdb.DuckDBPyConnection, folder: Path, state: State, systems: Sequence[System]
) -> list[tuple[float, float]]:
    """Spread of each system's labels around their guesses, on units known before the systems came and on new ones."""
    gathered = gather(connection, folder, state)
    residuals = cross_fitted_residuals(gathered.sample)
    weight = 1.0 / gathered.sample.inclusion
    rows = [row for row, system in enumerate(gathered.systems) if system in systems]
    fresh = gathered.novel[rows].any(axis=0)
    spreads = []
    for row in rows:
        held = gathered.sample.mass[row] > 0
        known, new = (learned_spread(residuals[held & part], weight[held & part]) for part in (~fresh, fresh))
        spreads.append((known, new))
    return spreads


def make_draw(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    state: State,
    *,
    systems: Sequence[System],
    target_variance: float,
    spreads: Sequence[tuple[float, float]],
    path: Path,
) -> dict[str, Any]:
    """Find the smallest draw that meets the target and write the instances it asks for to ``path``.

    ``state`` must already count the systems as admitted.

    ``spreads`` are, for each system, those of units that earlier systems predict and of new ones. Returns the draw's
    numbers.
    """
    numbers = [system.number for system in systems]
    _collect_classes(connection, folder, state, systems)
    masses = ", ".join(f"m{number}" for number in numbers)
    columns = connection.execute(
        f"SELECT {masses}, before, novel, count(*) AS n FROM batch GROUP BY ALL ORDER BY ALL"
    ).fetchnumpy()
    law = np.stack([np.asarray(columns[f"m{number}"], dtype=np.float64) for number in numbers])
    before = np.asarray(columns["before"], dtype=np.float64)
    counts = np.asarray(columns["n"], dtype=np.float64)
    novel = np.asarray(columns["novel"], dtype=bool)
    spread = np.stack([np.where(novel, new, known) for known, new in spreads])
    scales = smallest_scales(law, before, target_variance=target_variance, counts=counts, spread=spread)
    after = raise_inclusion(shared_size(law, spread=spread * scales[:, None]), before, scale=1.0)
    batch = Batch(
        systems=tuple(numbers),
        known=tuple(float(scale) * known for scale, (known, _) in zip(scales, spreads, strict=True)),
        new=tuple(float(scale) * new for scale, (_, new) in zip(scales, spreads, strict=True)),
    )
    n_asked = _write_asked(connection, folder, state, systems=systems, batch=batch, path=path)
    positive = after > 0
    return {
        "systems": numbers,
        "known": list(batch.known),
        "new": list(batch.new),
        "n_asked": n_asked,
        "reach": {str(n): float((row[positive] / after[positive]).max()) for n, row in zip(numbers, law, strict=True)},
        "variance": {
            str(n): design_variance(row, after, counts=counts, spread=LARGEST_SPREAD)
            for n, row in zip(numbers, law, strict=True)
        },
        "unit_reach": float((1.0 / after[positive]).max()),
        "unit_variance": design_variance(novel.astype(np.float64), after, counts=counts, spread=LARGEST_SPREAD),
    }


def _collect_classes(
    connection: duckdb.DuckDBPyConnection, folder: Path, state: State, systems: Sequence[System]
) -> None:
    """Table ``batch``: each unit of the systems, its masses, what was bought before, whether it is new to the pool.

    What was bought before the systems came is known since their admission, and what their own draws bought since
    follows from their own masses: the other systems' units need not be read.
    """
    numbers = [system.number for system in systems]
    own = files([folder / system.folder / "units.parquet" for system in systems])
    masses = ", ".join(f"sum(CASE WHEN system = {n} THEN mass ELSE 0 END) AS m{n}" for n in numbers)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE mine AS SELECT key, {masses}, bool_or(novel) AS novel FROM {own} GROUP BY key"
    )
    bought = files([folder / system.folder / "bought.parquet" for system in systems])
    inclusion = f"SELECT key, bought AS inclusion FROM {bought}"
    later = state.batches_since(numbers)
    if later:
        inclusion += f" UNION ALL {inclusion_sql(later, own)}"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE batch AS SELECT m.*, i.inclusion AS before FROM mine m "
        f"JOIN (SELECT key, max(inclusion) AS inclusion FROM ({inclusion}) GROUP BY key) i USING (key)"
    )
    connection.execute("DROP TABLE mine")


def _write_asked(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    state: State,
    *,
    systems: Sequence[System],
    batch: Batch,
    path: Path,
) -> int:
    """Write the instances of the drawn units that no earlier draw asked for, nearest to certainty first.

    Beside them, ``rows.parquet`` keeps what every system says of the units: scoring then reads no large file.
    """
    known, new = (
        " + ".join(f"({value!r} * m{number}) ** 2" for number, value in zip(batch.systems, values, strict=True))
        for values in (batch.known, batch.new)
    )
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE drawn AS SELECT * FROM (
            SELECT key, greatest(before, least(1.0, sqrt(CASE WHEN novel THEN {new} ELSE {known} END)))
            AS inclusion FROM batch) WHERE {UNIFORM} <= inclusion"""
    )
    # A unit of one instance has it in the file of any system that holds it.
    holders = state.competitors if state.settings.relation else systems
    instances = files([folder / system.folder / "instances.parquet" for system in holders])
    asked = [folder / draw.file for draw in state.draws]
    earlier = f"ANTI JOIN (SELECT id FROM {files(asked)}) e USING (id)" if asked else ""
    copy(
        connection,
        f"""SELECT key, id, min({UNIFORM} / inclusion) AS priority
            FROM (SELECT DISTINCT i.key, i.id, d.inclusion FROM {instances} i JOIN drawn d USING (key)) {earlier}
            GROUP BY key, id ORDER BY priority, id""",
        path,
    )
    seen = f"ANTI JOIN {files(asked)} e USING (key)" if asked else ""
    fresh = f"(SELECT DISTINCT key FROM {files([path])} {seen})"
    admitted = files([folder / system.folder / "units.parquet" for system in state.admitted])
    copy(
        connection,
        f"SELECT u.* FROM {admitted} u SEMI JOIN {fresh} f USING (key) ORDER BY key, system",
        path.with_name("rows.parquet"),
    )
    count = connection.execute(f"SELECT count(*) FROM {files([path])}").fetchall()[0][0]
    for table in ("batch", "drawn"):
        connection.execute(f"DROP TABLE {table}")
    return int(count)
