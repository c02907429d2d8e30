"""The pool's log: one JSON line an event, each sealed by the hash of all lines before it.

The log is the pool: a file that no line names does not count, so whatever breaks off before its line is written
leaves the pool as it was.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from karat.errors import InvalidData, KaratError

if TYPE_CHECKING:
    from pathlib import Path

LOG_NAME = "log.jsonl"


class Log:
    """An append-only list of events in a folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG_NAME
        self._size = 0
        self._seal = ""
        self.events: list[dict[str, Any]] = []
        if self._path.exists():
            self._read()

    def append(self, event: dict[str, Any]) -> None:
        """Write one event for good: it is on the disk before this returns."""
        text = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        seal = _seal(self._seal, text)
        line = json.dumps({"seal": seal, "event": event}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = (line + "\n").encode()
        with self._path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_size > self._size:
                self._drop_torn_tail()
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(data)
        self._seal = seal
        self.events.append(event)

    def _read(self) -> None:
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1  # a last line without its end was torn by a crash: it never counted
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                entry = json.loads(line)
                event, seal = entry["event"], entry["seal"]
            except (ValueError, KeyError, TypeError):
                raise InvalidData(f"{self._path}, line {number}: not an event of a pool's log.") from None
            text = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            self._seal = _seal(self._seal, text)
            if seal != self._seal:
                raise InvalidData(f"{self._path}, line {number}: changed after it was written; its seal does not fit.")
            self.events.append(event)
        self._size = whole

    def _drop_torn_tail(self) -> None:
        tail = self._path.read_bytes()[self._size :]
        if b"\n" in tail:
            raise KaratError(f"{self._path} was changed by another process; open the pool again.")
        os.truncate(self._path, self._size)


def _seal(before: str, text: str) -> str:
    return hashlib.sha256((before + text).encode()).hexdigest()
