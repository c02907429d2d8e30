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
    ...     queue.is_held
    True
    """

    def __init__(self) -> None:
        self._waiting: deque[threading.Lock] = deque()  # the first one has it
        self._guard = threading.Lock()

    @property
    def is_held(self) -> bool:
        return bool(self._waiting)

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
