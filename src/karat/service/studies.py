"""The designs behind the projects: asked for more items as answers arrive, asked for the curve at any time.

The database holds the truth (the draw, batch by batch, and the answers); what is kept here is a copy that is brought up
to date before it is used. Several processes may do so at once: the one that writes a batch first wins, the others throw
theirs away unseen, because a batch has its number and the number is a key.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy.exc import IntegrityError

from karat.designs import catalogue
from karat.designs.certify import Certify
from karat.draws import UNSURE, Draw, Labels
from karat.service.labels import read_labels
from karat.service.shown import plain
from karat.store import answers, desk, gold, projects
from karat.store.projects import NewItem
from karat.study import reopen_resource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from karat.curves import Curve
    from karat.designs.base import Design
    from karat.engines.base import Engine
    from karat.math.path import Ranks
    from karat.service.campaign import Campaign
    from karat.store.database import Database
    from karat.store.projects import LabelRow, Project


class Studies:
    """All designs of an installation."""

    def __init__(self, database: Database, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._live: dict[int, _Live] = {}
        self._lock = threading.Lock()

    def begin(self, connection: Connection, project_id: int, *, engine: Engine, design: Design, votes: int) -> None:
        """Write a new design's draw and its first items."""
        document = design.draw.to_dict()
        del document["batches"]
        now = self._clock()
        projects.add_draw(connection, project_id, document, now=now)
        write_batches(connection, project_id, lay_out(design.draw, engine), votes=votes, now=now)
        with self._lock:
            self._live.pop(project_id, None)

    def replenish(self, project: Project, campaign: Campaign) -> int:
        """Ask the design for more items if few untouched ones are left; return how many were laid out."""
        live = self._of(project)
        with live.lock:
            with self._database.read() as connection:
                untouched = desk.count_untouched(connection, project.id, most=campaign.ahead)
            if untouched > campaign.ahead // 2:
                return 0
            live.refresh(self._database)
            design = live.require()
            if design.done:
                return 0
            before = len(design.draw.batches)
            design.ask(campaign.ahead - untouched)
            if len(design.draw.batches) == before:
                return 0
            try:
                sheets = lay_out(design.draw, live.engine(), first=before)  # slow: outside of the transaction
                with self._database.write() as connection:
                    write_batches(connection, project.id, sheets, votes=campaign.votes, now=self._clock())
            except IntegrityError:  # another process was faster: its batches count
                live.forget()
                return 0
            except BaseException:
                live.forget()
                raise
            return sum(len(sheet.items) for sheet in sheets)

    def warm_up(self) -> None:
        """Open every running project's resource and load what is compiled, so that the first person need not wait."""
        walk = Certify(pilot=20, from_rank=50).begin(500, seed=0)
        for _ in range(3):
            ranks = walk.ask(20)
            walk.tell(Labels.from_pairs(ranks, ranks % 2))
        walk.curve()
        with self._database.read() as connection:
            found = [
                project
                for project, _ in projects.list_projects(connection)
                if project.state == "open" and projects.has_draw(connection, project.id)
            ]
        for project in found:
            live = self._of(project)
            with live.lock:
                live.refresh(self._database)
                if not live.require().done:
                    live.engine()

    def curve(self, project: Project) -> Curve:
        """Return the curve that the answers so far give."""
        live = self._of(project)
        with live.lock:
            live.refresh(self._database)
            return live.curve()

    def design(self, project: Project) -> Design:
        """Return the design, up to date; it is for reading."""
        live = self._of(project)
        with live.lock:
            live.refresh(self._database)
            return live.require()

    def resource_of(self, project: Project) -> Mapping[str, Any] | None:
        """Return what the draw says about its resource; that never changes."""
        live = self._of(project)
        if live.resource is None:
            with live.lock:
                live.refresh(self._database)
                live.resource = live.require().draw.resource or {}
        return live.resource

    def _of(self, project: Project) -> _Live:
        with self._lock:
            return self._live.setdefault(project.id, _Live(project))


class _Live:
    """A design in memory."""

    def __init__(self, project: Project) -> None:
        self.lock = threading.RLock()
        self.resource: Mapping[str, Any] | None = None
        self._project = project  # how votes become labels never changes
        self._design: Design | None = None
        self._engine: Engine | None = None
        self._version: tuple[int, ...] | None = None
        self._curve: Curve | None = None

    def forget(self) -> None:
        self._design = self._version = self._curve = None

    def require(self) -> Design:
        assert self._design is not None  # noqa: S101  # refresh() comes first
        return self._design

    def engine(self) -> Engine:
        """Return the resource, opened when it is first needed: the curve of old answers needs it not."""
        if self._engine is None:
            self._engine = reopen_resource(self.require().draw)
        return self._engine

    def refresh(self, database: Database) -> None:
        with database.read() as connection:
            n_batches = projects.count_batches(connection, self._project.id)
            version = (n_batches, *answers.version(connection, self._project.id),
                       *gold.version(connection, self._project.id))  # fmt: skip
            if self._design is not None and version == self._version:
                return
            rows = read_labels(connection, self._project)
            document = None
            if self._design is None or n_batches != len(self._design.draw.batches):
                document = projects.draw_document(connection, self._project.id)
        self._curve = None
        if document is not None:
            draw = Draw.from_dict(document)
            column = (draw.resource or {}).get("proxy")
            if column is not None and self._engine is None:
                self._engine = reopen_resource(draw)
            classes = None if column is None or self._engine is None else self._engine.classes(column)
            labels = labels_for_design(rows)
            self._design = catalogue.resume(draw, labels, identify=self._identify, proxy=classes)
        else:
            self._tell(rows)
        self._version = version

    def curve(self) -> Curve:
        if self._curve is None:
            self._curve = self.require().curve()
        return self._curve

    def _tell(self, rows: Sequence[LabelRow]) -> None:
        design = self.require()
        known = dict(zip(design.labels.ranks.tolist(), design.labels.values.tolist(), strict=True))
        now = {row.rank: UNSURE if row.label is None else row.label for row in rows
               if row.label is not None or row.rank in known}  # fmt: skip
        changed = {rank: label for rank, label in now.items() if known.get(rank) != label}
        if changed:
            design.tell(Labels.from_pairs(list(changed), list(changed.values())))

    def _identify(self, ranks: Ranks) -> Sequence[int | str]:
        return self.engine().ids_at(ranks)


def labels_for_design(rows: Sequence[LabelRow]) -> Labels:
    """Return the labels of all items as a design takes them.

    An open item of the first batch, where there are later ones, had a label that was withdrawn: what comes later was
    planned with it, so it counts as unsure (0 below, 1 above) until it is answered anew.
    """
    last = max((row.batch for row in rows), default=0)
    told = [(row.rank, UNSURE if row.label is None else row.label) for row in rows
            if row.label is not None or (row.batch == 0 and last > 0)]  # fmt: skip
    return Labels.from_pairs([rank for rank, _ in told], [label for _, label in told])


class Sheet(NamedTuple):
    """A sealed batch and its items, ready to be written."""

    number: int
    document: Mapping[str, Any]
    items: list[NewItem]


def lay_out(draw: Draw, engine: Engine, *, first: int = 0) -> list[Sheet]:
    """Fetch the items of a draw's batches, from the given number on; each batch gets an order of its own."""
    documents = draw.to_dict()["batches"]
    sheets = []
    for number in range(first, len(draw.batches)):
        batch = draw.batches[number]
        found = engine.items_at(batch.ranks) if len(batch.ranks) else None
        new_items = []
        if found is not None:
            # the order must not give away the rank; it need not be secret, so the seal seeds it
            places = np.random.default_rng(int(batch.seal[:16], 16)).permutation(len(batch.ranks)).tolist()
            rows = zip(batch.ranks.tolist(), found.ids, found.scores.tolist(), places, found.payload, strict=True)
            new_items = [NewItem(rank, str(id_), score, place, plain(payload))
                         for rank, id_, score, place, payload in rows]  # fmt: skip
        sheets.append(Sheet(number, documents[number], new_items))
    return sheets


def write_batches(connection: Connection, project_id: int, sheets: Sequence[Sheet], *, votes: int, now: float) -> None:
    """Write sealed batches and put their items before people."""
    for sheet in sheets:
        projects.add_batch(connection, project_id, sheet.number, document=sheet.document, now=now)
        projects.add_items(connection, project_id, sheet.items, batch=sheet.number, votes=votes)
