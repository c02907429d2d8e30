"""What submissions that wait would cost: as things are now, not as they were when they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from karat.errors import KaratError
from karat.service.sources import called
from karat.store import evaluations

if TYPE_CHECKING:
    from pathlib import Path

    from karat.pool.pool import Pool
    from karat.service.aside import Aside
    from karat.service.pools import Pools
    from karat.store.database import Database
    from karat.store.evaluations import EvaluationRow, Submission


class Prices:
    """The prices of all submissions that wait; one is found anew only if the pool's draws changed it."""

    def __init__(self, database: Database, pools: Pools, aside: Aside) -> None:
        self._database = database
        self._pools = pools
        self._aside = aside

    def of_file(self, row: EvaluationRow, file: Path) -> dict[str, int]:
        """Return what a file's labels cost as things are, and when that was found."""
        with self._pools.use(row):
            pass  # it is told of every answer; finding the price keeps nobody from it
        with self._aside.use(row) as pool:
            return _price(pool, file)

    def now(self, row: EvaluationRow, found: Submission) -> Submission:
        """Return a submission with the price that holds now."""
        if found.state != "checked" or self.file(row, found.id) is None:
            return found
        with self._pools.use(row):
            pass
        with self._aside.use(row) as pool:
            return self.under(pool, row, found)

    def under(self, pool: Pool, row: EvaluationRow, found: Submission) -> Submission:
        """Return a submission with the price that holds in a pool which the caller holds; as stored once it is gone."""
        while True:  # until what is stored holds: others may find its price too, or draw meanwhile
            with self._database.read() as connection:
                (found,) = evaluations.list_submissions(connection, row.project_id, id=found.id)
            file = self.file(row, found.id)
            if found.state != "checked" or file is None or pool.previews_hold(found.priced_at):
                return found
            try:
                with called(file, found.file):
                    price = _price(pool, file)
            except (KaratError, duckdb.Error):
                if file.exists():
                    raise
                continue  # accepted, retracted or replaced meanwhile
            with self._database.write() as connection:
                evaluations.set_price(connection, found.id, was=found.priced_at, **price)

    def file(self, row: EvaluationRow, id: int) -> Path | None:
        """Return the file of a submission that waits; None once another took its place."""
        return next(self._pools.incoming(row).glob(f"{id}.*"), None)


def _price(pool: Pool, file: Path) -> dict[str, int]:
    at = pool.refresh()  # before the preview, which takes in more if there is more
    found = pool.preview(file)
    return {"n_predictions": found.n_predictions, "n_new": found.n_new, "first_labels": found.first,
            "most_labels": found.most, "priced_at": at}  # fmt: skip
