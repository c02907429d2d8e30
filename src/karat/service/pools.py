"""The pools behind the evaluations: folders beside the database, opened once and told every label.

The database holds who answered what; the pool holds submissions, draws and the labels that the answers come to. Both
are only ever added to. Before the pool is used it is told what changed, so a crash between the two costs nothing.
"""

from __future__ import annotations

import shutil
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.math.agreement.votes import UNSURE
from karat.pool.pool import Pool
from karat.service.campaign import Campaign
from karat.service.label_errors import learn_errors
from karat.service.labels import read_labels
from karat.store import answers, gold, projects
from karat.store.projects import NewItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from karat.pool.leaderboard import Leaderboard
    from karat.store.database import Database
    from karat.store.evaluations import EvaluationRow

    Describe = Callable[[Sequence[str], dict[str, dict[str, Any]]], list[dict[str, Any]]]


def default_home(database: Database) -> Path:
    """Return where pools are kept if nothing else is said: beside a SQLite file, else in the working folder."""
    if database.is_sqlite:
        file = Path(str(database.url.database))
        return file.with_name(f"{file.stem}-pools")
    return Path("karat-pools")


class Pools:
    """All pools of an installation."""

    def __init__(self, database: Database, home: Path, *, clock: Callable[[], float]) -> None:
        self.home = home
        self._database = database
        self._clock = clock
        self._live: dict[int, _Live] = {}
        self._lock = threading.Lock()

    def create(self, folder: str, **settings: Any) -> None:
        """Make the folder of a new evaluation."""
        self.home.mkdir(parents=True, exist_ok=True)
        Pool.create(self.home / folder, **settings)
        (self.home / folder / "incoming").mkdir()

    def remove(self, folder: str) -> None:
        """Take away the folder of an evaluation that came to nothing."""
        shutil.rmtree(self.home / folder, ignore_errors=True)

    def incoming(self, row: EvaluationRow) -> Path:
        """Return where submissions wait that are checked but not yet paid for."""
        return self.home / row.folder / "incoming"

    @contextmanager
    def use(self, row: EvaluationRow) -> Iterator[Pool]:
        """Give an evaluation's pool, alone, and told of every answer."""
        live = self._of(row)
        with live.lock:
            live.catch_up(self._database)
            yield live.pool

    def scores(self, row: EvaluationRow, metric: str) -> tuple[Leaderboard, str | None]:
        """Return the leaderboard, computed anew only if something changed, and why labels are taken for right if so."""
        live = self._of(row)
        with live.lock:
            live.catch_up(self._database)
            return live.scores(metric), live.doubt

    def lay_out(self, row: EvaluationRow, campaign: Campaign, describe: Describe) -> int:
        """Put what the pool asks for before people; return how many items are new.

        Nothing is drawn while items are open: the next draw is planned with their labels.
        """
        live = self._of(row)
        with live.lock:
            with self._database.read() as connection:
                if projects.count_labels(connection, row.project_id).get(None, 0):
                    return 0
            live.catch_up(self._database)
            asked = live.pool.next()
            if not asked:
                return 0
            shown = describe(asked, live.pool.items(asked))
            draw = len(live.pool.state.draws)
            with self._database.write() as connection:
                projects.lock_project(connection, row.project_id)
                known = projects.labels_by_name(connection, row.project_id)
                fresh = [(name, payload) for name, payload in zip(asked, shown, strict=True) if name not in known]
                # asked for in the order of their random numbers: answered in this order, scores hold at any time
                new = [NewItem(len(known) + place + 1, name, 0.0, place, payload)
                       for place, (name, payload) in enumerate(fresh)]  # fmt: skip
                projects.add_items(connection, row.project_id, new, batch=draw, votes=campaign.votes)
            return len(new)

    def is_done(self, row: EvaluationRow) -> bool:
        """Whether every accepted system is known as well as was asked for."""
        with self._database.read() as connection:
            if projects.count_labels(connection, row.project_id).get(None, 0):
                return False
        with self.use(row) as pool:
            return not pool.state.waiting() and pool.state.unfinished() is None

    def _of(self, row: EvaluationRow) -> _Live:
        with self._lock:
            if row.project_id not in self._live:
                self._live[row.project_id] = _Live(row.project_id, Pool(self.home / row.folder))
            return self._live[row.project_id]


class _Live:
    """A pool in memory."""

    def __init__(self, project_id: int, pool: Pool) -> None:
        self.lock = threading.RLock()
        self.pool = pool
        self._project_id = project_id
        self.doubt: str | None = None
        self._version: tuple[int, ...] | None = None
        self._scores: dict[str, tuple[int, Leaderboard]] = {}

    def catch_up(self, database: Database) -> None:
        """Tell the pool the labels that the answers come to by now, and how often such labels are wrong.

        A label that was withdrawn counts as unsure until it is given anew: what was drawn since was planned with it.
        """
        with database.read() as connection:
            version = (*answers.version(connection, self._project_id), *gold.version(connection, self._project_id))
            if version == self._version:
                self.pool.refresh()  # another process may have let systems in
                return
            project = projects.get_project(connection, self._project_id)
            campaign = Campaign.from_dict(project.settings)
            names = projects.item_names(connection, project.id)
            labels = {names[row.item_id]: row.label for row in read_labels(connection, project)}
            ruled = answers.adjudicated_items(connection, project.id)
            sure = ruled.union(gold.drawn(connection, project.id))
            learnt = learn_errors(answers.list_votes(connection, project.id), campaign, ruled=ruled)
        self.pool.refresh()
        told = self.pool.state.labels
        now = {name: UNSURE if label is None else label for name, label in labels.items()
               if label is not None or name in told}  # fmt: skip
        self.pool.tell(now, replace=True, keep_unknown=True)
        self.pool.tell_errors(learnt.errors, sure={names[item] for item in sure})
        self.doubt = learnt.doubt
        self._version = version

    def scores(self, metric: str) -> Leaderboard:
        n_events = self.pool.refresh()
        known = self._scores.get(metric)
        if known is None or known[0] != n_events:
            board = self.pool.scores(metric)  # type: ignore[arg-type]
            self._scores[metric] = (n_events, board)
            return board
        return known[1]
