"""Pools opened once more, for work that takes long and writes nothing: nobody who uses a pool waits for it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from karat.pool.pool import Pool
from karat.store.queue import Queue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karat.service.pools import Pools
    from karat.store.evaluations import EvaluationRow


class Aside:
    """A second look at each pool of an installation, one at a time and in turn: hold it for one system, not for all.

    Who holds it must not ask for the pool itself.
    """

    def __init__(self, pools: Pools) -> None:
        self._pools = pools
        self._open: dict[int, tuple[Queue, Pool]] = {}
        self._guard = threading.Lock()

    @contextmanager
    def use(self, row: EvaluationRow) -> Iterator[Pool]:
        """Give a pool as its log is by now, to look at."""
        with self._guard:
            if row.project_id not in self._open:
                self._open[row.project_id] = (Queue(), Pool(self._pools.home / row.folder))
            queue, pool = self._open[row.project_id]
        with queue:
            pool.refresh()
            yield pool
