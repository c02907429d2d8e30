"""What was asked for and is not answered, and the next draw when nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.pool.drawing import next_draw
from karat.pool.tables import files, workspace

if TYPE_CHECKING:
    from karat.pool.records import Records


class Asking:
    """The ids that a pool's draws asked for; the file of each draw is read once."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._asked: list[list[str]] = []

    def everything(self) -> set[str]:
        """Return all ids asked for so far."""
        self._read()
        return {item for asked in self._asked for item in asked}

    def pending(self) -> list[str]:
        """Return the ids asked for and not told, in the order of asking."""
        self._read()
        told = self._records.state.labels
        return [item for asked in self._asked for item in asked if item not in told]

    def draw(self) -> bool:
        """Seal the next draw, if any system needs one; says whether there may be something to answer."""
        records = self._records
        with records.writing(), workspace(records.folder) as (connection, work):
            if self.pending():
                return True  # another process drew meanwhile
            draw = next_draw(connection, records.folder, records.state, work)
            if draw is None:
                return False
            number = len(records.state.draws) + 1
            place = f"draws/{number:04d}"
            records.keep(work, place)
            file = f"{place}/asked.parquet"
            records.append({"kind": "draw", "number": number, "file": file, "hash": records.hash_of(file), **draw})
        return True

    def _read(self) -> None:
        records = self._records
        while len(self._asked) < len(records.state.draws):
            draw = records.state.draws[len(self._asked)]
            with workspace(records.folder) as (connection, _):
                rows = connection.execute(
                    f"SELECT id FROM {files([records.folder / draw.file])} ORDER BY priority, id"
                ).fetchall()
            self._asked.append([row[0] for row in rows])
