"""Admit a system: compare it with every system in the pool, one file after the other, each read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.math.pooled.overlap import SUMS, add_overlap, match_sorted, raise_shared
from karat.math.pooled.proxy import N_FOLDS
from karat.pool.tables import copy, files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb
    from numpy.typing import NDArray

    from karat.pool.tables import Batch


@dataclass(slots=True, kw_only=True)
class Units:
    """The units of a system by ascending key."""

    key: NDArray[np.uint64]
    mass: NDArray[np.float64]
    score: NDArray[np.float64]
    novel: NDArray[np.bool_]

    @classmethod
    def read(cls, connection: duckdb.DuckDBPyConnection, query: str) -> Units:
        found = connection.execute(query).fetchnumpy()
        return cls(
            key=np.asarray(found["key"], dtype=np.uint64),
            mass=np.asarray(found["mass"], dtype=np.float64),
            score=np.asarray(found["score"], dtype=np.float64),
            novel=np.asarray(found["novel"], dtype=np.bool_),
        )


@dataclass(slots=True)
class Bought:
    """The largest inclusion probability that any batch gives each of a system's units.

    A batch gives ``min(1, sqrt(sum of its systems' (coefficient * mass)^2))``; its systems come one after the other.
    """

    n_units: int
    batches: Sequence[Batch]
    inclusion: NDArray[np.float64] = field(init=False)
    _open: dict[int, tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]] = field(init=False)

    def __post_init__(self) -> None:
        self.inclusion = np.zeros(self.n_units)
        self._open = {}

    def add(self, system: int, places: NDArray[np.int64], theirs: Units) -> None:
        """Take in a system's masses on the shared units: ``places`` says where its units stand among ours."""
        for number, batch in enumerate(self.batches):
            if system not in batch.systems:
                continue
            own = batch.systems.index(system)
            if len(batch.systems) == 1:
                raise_shared(self.inclusion, places, theirs.mass, theirs.novel, batch.known[own], batch.new[own])
                continue
            shared = places >= 0
            at, mass, novel = places[shared], theirs.mass[shared], theirs.novel[shared]
            if number not in self._open:
                self._open[number] = (*np.zeros((2, self.n_units)), np.zeros(self.n_units, dtype=np.bool_))
            known, new, is_novel = self._open[number]
            known[at] += (batch.known[own] * mass) ** 2
            new[at] += (batch.new[own] * mass) ** 2
            is_novel[at] |= novel
            if system == batch.systems[-1]:
                size = np.sqrt(np.where(is_novel, new, known))
                np.maximum(self.inclusion, np.minimum(size, 1.0), out=self.inclusion)
                del self._open[number]


def write_units(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    *,
    system: int,
    earlier: Sequence[tuple[int, Path]],
    judges: Sequence[tuple[int, Path]],
    asked: Sequence[Path],
    batches: Sequence[Batch],
) -> None:
    """Admit a system: write its units and the sums of its overlap with every system admitted before.

    Parameters
    ----------
    connection
        Where to read and write.
    folder
        Holds ``instances.parquet``; gets ``units.parquet``, ``overlap.parquet``, ``asked.parquet`` (its units that were
        asked for before it came) and ``bought.parquet`` (the inclusion probabilities bought before it came).
    system
        The system's number.
    earlier, judges
        Numbers and unit files of the systems and judges admitted before, in the order of admission. Judges' units are
        not in the pool, so they do not make a unit known.
    asked
        Files of the draws so far.
    batches
        The draws so far.
    """
    mine = Units.read(
        connection,
        "SELECT key, sum(mass) AS mass, max(score) AS score, true AS novel "
        f"FROM {files([folder / 'instances.parquet'])} GROUP BY key ORDER BY key",
    )
    fold = ((mine.key & np.uint64(2047)) % np.uint64(N_FOLDS)).astype(np.int64)  # as tables.FOLD
    bought = Bought(len(mine.key), batches)
    overlaps: list[tuple[int, NDArray[np.float64]]] = []
    for number, path in [*earlier, *judges]:
        theirs = Units.read(connection, f"SELECT key, mass, score, novel FROM {files([path])}")
        places = match_sorted(mine.key, theirs.key)
        if (number, path) in earlier:
            mine.novel[places[places >= 0]] = False
            bought.add(number, places, theirs)
        sums = add_overlap(places, mine.mass, mine.score, mine.novel, fold, theirs.mass, theirs.score)
        overlaps.append((number, sums))
    itself = np.arange(len(mine.key))
    overlaps.append((system, add_overlap(itself, mine.mass, mine.score, mine.novel, fold, mine.mass, mine.score)))
    _write(connection, folder, system=system, mine=mine, bought=bought.inclusion, asked=asked)
    _write_overlaps(connection, folder / "overlap.parquet", system, overlaps)


def _write(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    *,
    system: int,
    mine: Units,
    bought: NDArray[np.float64],
    asked: Sequence[Path],
) -> None:
    columns = {"key": mine.key, "mass": mine.mass, "score": mine.score, "novel": mine.novel, "bought": bought}
    connection.register("unit", columns)
    unit = f"SELECT {system}::INTEGER AS system, key, mass, score, novel FROM unit"
    copy(connection, f"{unit} ORDER BY key", folder / "units.parquet")
    before = f"SEMI JOIN {files(asked)} a USING (key)" if asked else "WHERE false"
    copy(connection, f"{unit} {before} ORDER BY key", folder / "asked.parquet")
    copy(connection, "SELECT key, bought FROM unit ORDER BY key", folder / "bought.parquet")
    connection.unregister("unit")


def _write_overlaps(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    system: int,
    overlaps: Sequence[tuple[int, NDArray[np.float64]]],
) -> None:
    table = np.concatenate([sums for _, sums in overlaps])
    others = np.repeat([number for number, _ in overlaps], N_FOLDS)
    folds = np.tile(np.arange(N_FOLDS), len(overlaps))
    shared = table[:, 0] > 0
    columns: dict[str, Any] = {"other": others[shared], "fold": folds[shared]}
    columns |= {name: np.ascontiguousarray(table[shared, place]) for place, name in enumerate(SUMS)}
    connection.register("shared_sums", columns)
    copy(
        connection,
        f"SELECT {system}::INTEGER AS system, other::INTEGER AS other, fold::INTEGER AS fold, "
        f"{', '.join(SUMS)} FROM shared_sums ORDER BY other, fold",
        path,
    )
    connection.unregister("shared_sums")
