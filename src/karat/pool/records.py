"""A pool's folder as it is kept: the log, what it says, and the files it names."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from karat.errors import InvalidData
from karat.pool.log import LOG_NAME, Log
from karat.pool.state import read_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Records:
    """The log of a folder and the state it describes; whatever is added is on the disk before it counts."""

    def __init__(self, folder: Path) -> None:
        if not (folder / LOG_NAME).is_file():
            raise InvalidData(f"{folder} holds no pool; 'karat pool create {folder}' or Pool.create makes one.")
        self.folder = folder
        self._log = Log(folder)
        self.state = read_state(self._log.events)

    @property
    def n_events(self) -> int:
        """Number of events in the log."""
        return len(self._log.events)

    def events_since(self, n_events: int) -> list[dict[str, Any]]:
        """Return what came into the log after so many events."""
        return self._log.events[n_events:]

    def append(self, event: dict[str, Any]) -> None:
        """Write an event to the log, inside `writing`."""
        self._log.append(event)
        self.state.apply(event)

    def catch_up(self) -> None:
        """Take in what other processes wrote."""
        n_known = self.n_events
        self._log.catch_up()
        self._apply_since(n_known)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the pool alone, up to date."""
        n_known = self.n_events
        with self._log.writing():
            self._apply_since(n_known)
            yield

    def keep(self, work: Path, place: str) -> None:
        """Move the files of a finished piece of work to their place, over what a broken-off piece may have left."""
        target = self.folder / place
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for path in work.glob("*.parquet"):
            path.replace(target / path.name)

    def hash_of(self, file: str) -> str:
        """Return the hash under which the log names a file."""
        with (self.folder / file).open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()

    def verify(self) -> None:
        """Refuse the first file that is not as it was when the log named it."""
        named = [(f"{system.folder}/instances.parquet", system.hash) for system in self.state.systems]
        named += [(draw.file, draw.hash) for draw in self.state.draws]
        for name, expected in named:
            path = self.folder / name
            if not path.is_file() or self.hash_of(name) != expected:
                raise InvalidData(f"{path}: missing, or changed after it was written.")

    def _apply_since(self, n_known: int) -> None:
        for event in self._log.events[n_known:]:
            self.state.apply(event)
