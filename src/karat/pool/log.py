"""The pool's log: one JSON line an event, each sealed by the hash of all lines before it.

The log is the pool: a file that no line names does not count, so whatever breaks off before its line is written
leaves the pool as it was.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOG_NAME = "log.jsonl"
LOCK_NAME = "lock"


class Log:
    """An append-only list of events in a folder, which several processes may write to in turn."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG_NAME
        self._size = 0
        self._seal = ""
        self.events: list[dict[str, Any]] = []
        self.catch_up()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep all other writers out, and read what they wrote before."""
        with self._path.with_name(LOCK_NAME).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.catch_up()
            yield

    def append(self, event: dict[str, Any]) -> None:
        """Write one event for good, inside `writing`: it is on the disk before this returns."""
        seal = _seal(self._seal, _as_text(event))
        data = (_as_text({"seal": seal, "event": event}) + "\n").encode()
        with self._path.open("ab") as file:
            file.truncate(self._size)  # a line torn by a crash never counted
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(data)
        self._seal = seal
        self.events.append(event)

    def catch_up(self) -> bool:
        """Read the lines that came since the last look; says whether there were any."""
        if not self._path.exists() or self._path.stat().st_size == self._size:
            return False
        with self._path.open("rb") as file:
            file.seek(self._size)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.splitlines():
            number = len(self.events) + 1
            try:
                entry = json.loads(line)
                event, seal = entry["event"], entry["seal"]
            except (ValueError, KeyError, TypeError):
                raise InvalidData(f"{self._path}, line {number}: not an event of a pool's log.") from None
            self._seal = _seal(self._seal, _as_text(event))
            if seal != self._seal:
                raise InvalidData(f"{self._path}, line {number}: changed after it was written; its seal does not fit.")
            self.events.append(event)
        self._size += len(whole)
        return bool(whole)


def _as_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _seal(before: str, text: str) -> str:
    return hashlib.sha256((before + text).encode()).hexdigest()
