"""Waiting in line."""

from __future__ import annotations

import threading
from collections import deque
from typing import Self


class Queue:
    """A lock that threads get in the order in which they asked for it.

    Examples
    --------
    >>> with Queue() as queue:
    ...     len(queue)
    1
    """

    def __init__(self) -> None:
        self._waiting: deque[threading.Lock] = deque()  # the first one has it
        self._guard = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def __enter__(self) -> Self:
        mine = threading.Lock()
        mine.acquire()
        with self._guard:
            self._waiting.append(mine)
            if self._waiting[0] is mine:
                mine.release()
        mine.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._waiting.popleft()
            if self._waiting:
                self._waiting[0].release()
