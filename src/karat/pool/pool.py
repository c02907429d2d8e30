"""Many systems, one pool of labels: submit, ask, tell, score, compare; kept in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from karat import _check
from karat.math.pooled.estimate import METRICS
from karat.pool.asking import Asking
from karat.pool.law import LAWS
from karat.pool.log import Log
from karat.pool.preview import previews_hold
from karat.pool.rating import contrast, rate
from karat.pool.read import copy_ids
from karat.pool.records import Records
from karat.pool.scoring import gather_settled, inclusion_by_id
from karat.pool.state import FORMAT
from karat.pool.submitting import preview, submit
from karat.pool.tables import read_payload, workspace
from karat.pool.telling import changes, errors_event, read_told, refuse_strangers, truth_event

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from karat.math.agreement.vote_errors import ErrorRates
    from karat.math.pooled.estimate import Metric
    from karat.pool.law import Law
    from karat.pool.leaderboard import Difference, Leaderboard
    from karat.pool.preview import Preview
    from karat.pool.rating import IntervalKind
    from karat.pool.state import State, System


class Pool:
    r"""A folder of submissions, draws and labels, all in files that are only ever added to.

    Submit systems with `add`, ask what to label with `next`, answer with `tell`, and read `scores` at any time;
    a pool can be opened again with ``Pool(folder)``. Everything it says follows from its files.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> scratch = tempfile.TemporaryDirectory()
    >>> folder = pathlib.Path(scratch.name)
    >>> _ = (folder / "a.csv").write_text("id,score\n" + "".join(f"x{k},{k}\n" for k in range(60)))
    >>> _ = (folder / "b.csv").write_text("id,score\n" + "".join(f"x{k},{k}\n" for k in range(30, 90)))
    >>> pool = Pool.create(folder / "pool", seed=1)
    >>> pool.add("a", folder / "a.csv"); pool.add("b", folder / "b.csv")
    >>> while asked := pool.next():
    ...     _ = pool.tell({name: int(name[1:]) % 3 > 0 for name in asked})
    >>> [row.system for row in pool.scores().rows]
    ['a', 'b']
    >>> scratch.cleanup()
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._records = Records(self.folder)
        self._asking = Asking(self._records)

    @classmethod
    def create(
        cls,
        folder: str | Path,
        *,
        seed: int = 0,
        half_width: float = 0.05,
        confidence_level: float = 0.9,
        law: Law = "uniform",
        relation: Sequence[str] = (),
        universe: str | Path | None = None,
        learn: bool = True,
    ) -> Self:
        """Make an empty pool.

        Parameters
        ----------
        folder
            A new or empty folder.
        seed
            Decides which units are drawn.
        half_width, confidence_level
            How well the precision of each system shall be known: as many labels are asked for as that should take,
            judged by those of a first step. Where these mislead, an interval ends wider (or narrower) than planned.
        law
            How predictions count towards precision: ``uniform``; ``predicate`` or ``subject``, where each
            predicate or subject counts the same (macro average); ``entity``, the law of Chaganty et al.; ``own``,
            the column ``probability`` of each submission.
        relation
            Columns that together name the relation an instance states. Recall is then over distinct relations,
            and all instances of a drawn relation are labelled. By default every instance is its own relation.
        universe
            A file with a column ``id``: submissions may name no other ids.
        learn
            Let labels told so far decide how many more are needed, which saves many. False keeps the design
            independent of all labels, as guaranteed intervals need.
        """
        place = Path(folder)
        if place.exists() and any(place.iterdir()):
            raise _check.refuse("folder", "a new or empty folder", str(place))
        settings = {
            "seed": _check.whole("seed", seed),
            "half_width": _check.number("half_width", half_width, above=0.0, below=0.5),
            "confidence_level": _check.fraction("confidence_level", confidence_level),
            "law": _check.one_of("law", law, LAWS),
            "relation": [relation] if isinstance(relation, str) else list(relation),
            "learn": bool(learn),
            "has_universe": universe is not None,
        }
        place.mkdir(parents=True, exist_ok=True)
        if universe is not None:
            with workspace(place) as (connection, _):
                copy_ids(connection, Path(universe), place / "universe.parquet")
        log = Log(place)
        with log.writing():
            log.append({"kind": "create", "format": FORMAT, **settings})
        return cls(place)

    @property
    def state(self) -> State:
        """What the log says: settings, systems, draws and labels."""
        return self._records.state

    def refresh(self) -> int:
        """Take in what other processes wrote; return how many events the log has."""
        self._records.catch_up()
        return self._records.n_events

    @property
    def systems(self) -> list[System]:
        """Systems that compete, waiting ones included; a resubmitted system counts once."""
        gone = self.state.retracted
        return [s for s in self.state.systems if not s.is_judge and s.number not in gone]

    @property
    def n_labels(self) -> int:
        """Number of labels told."""
        return len(self.state.labels)

    def add(
        self,
        name: str,
        predictions: str | Path,
        *,
        team: str = "",
        is_judge: bool = False,
        depth: int | None = None,
        replace: bool = False,
        receipt: str = "",
    ) -> System | None:
        """Submit a system; return the one it replaces, if ``replace`` allows that.

        Parameters
        ----------
        name
            Name of the system.
        predictions
            CSV, TSV, JSONL or Parquet with a column ``id`` and, where there is one, ``score``, plus what the
            pool's law and relation need; or a TREC run (``.run``, ``.trec``), whose items are "topic docid" and
            whose topic is the subject. A file with any fault is refused as a whole. Other columns are kept, to be
            shown to those who label (see `items`).
        team
            Who submits it, for the study of pooling bias.
        is_judge
            The file holds a judge's votes: items it takes for right, ``score`` saying how surely. A judge helps to
            guess labels; it is neither scored nor drawn from.
        depth
            Of a TREC run, keep the ranks up to this one.
        replace
            Let it take the place of the system that has this name now; its labels stay.
        receipt
            What you know this submission by: if it is in the pool already, nothing happens, so that it may be tried
            again after a crash, and from several processes at once.
        """
        return submit(
            self._records,
            name,
            Path(predictions),
            team=team,
            is_judge=is_judge,
            depth=depth,
            replace=replace,
            receipt=receipt,
        )

    def preview(self, predictions: str | Path, *, depth: int | None = None) -> Preview:
        """Check a file of predictions as `add` does and say how many labels it would need; nothing is kept."""
        self._records.catch_up()
        return preview(self._records, Path(predictions), depth=depth)

    def previews_hold(self, since: int) -> bool:
        """Say whether what `preview` said when the log had so many events (see `refresh`) is what it would say now."""
        n_events = self.refresh()
        return since <= n_events and previews_hold(self._records.events_since(since), self._asking.everything)

    def items(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return what the predictions say about ids in columns other than id and score; ids without any are missing."""
        with workspace(self.folder) as (connection, _):
            paths = [self.folder / system.folder / "payload.parquet" for system in self.state.systems]
            return read_payload(connection, paths, ids)

    def next(self, n: int | None = None) -> list[str]:
        """Ids to label next, the most useful first; empty when every system is known as well as was asked for.

        Systems added since the last call enter the pool together. The labels come in two steps: a pilot, and what
        is still needed once its labels are told. Ids stay in the list until they are told.
        """
        if n is not None:
            _check.whole("n", n, least=1)
        self._records.catch_up()
        while True:
            pending = self._asking.pending()
            if pending or not self._asking.draw():
                return pending[:n]

    def tell(
        self,
        labels: Mapping[str, int] | str | Path,
        *,
        replace: bool = False,
        keep_unknown: bool = False,
        least_grade: int = 1,
    ) -> int:
        """Take in labels (1 right, 0 wrong, -1 unsure) by id, or a file (``id, label`` or qrels).

        Labels of items that were not asked for are kept until a draw asks for them. An unsure answer is never asked
        for again; it counts as wrong in the lower ends of intervals and as right in the upper ends until another
        answer takes its place.

        Parameters
        ----------
        labels
            The labels; qrels may name items that no submission holds.
        replace
            Let labels contradict earlier ones, which stay in the log.
        keep_unknown
            Keep labels of ids that no submission holds, for later ones; otherwise they are refused.
        least_grade
            Of qrels: the least grade that counts as right.

        Returns
        -------
        int
            How many labels are new.
        """
        given, read = read_told(self.folder, labels, least_grade=least_grade)
        with self._records.writing():
            if not keep_unknown:
                refuse_strangers(self.folder, self.state, given, read, asked=self._asking.everything())
            changed = changes(self.state, given, read, replace=replace)
            new = sum(item not in self.state.labels for item in changed)
            if changed:
                self._records.append({"kind": "tell", "labels": changed})
            return new

    def tell_truth(
        self,
        relations: Sequence[str],
        documents: Sequence[str] = (),
        *,
        weights: Sequence[float] = (),
        stated_in: Sequence[int | None] = (),
        replace: bool = False,
    ) -> None:
        """Take in true relations found by annotating random documents exhaustively, for the recall of the pool.

        Parameters
        ----------
        relations
            Each named as the submissions do: its id, or its relation columns joined by ``chr(31)``.
        documents
            The document of each; the uncertainty is then that between documents, and a relation told twice for one
            document counts once.
        weights
            One over the probability with which the document of each was drawn, up to scale; equal if not given.
        stated_in
            In how many documents of the whole collection each is stated; one where that is None or not given. A
            relation that many documents state is met more often; with this it counts once all the same.
        replace
            Let these take the place of all that were told before.
        """
        with self._records.writing():
            self._records.append(
                truth_event(
                    self.state,
                    relations,
                    documents=documents,
                    weights=weights,
                    stated_in=stated_in,
                    replace=replace,
                )
            )

    def tell_errors(self, errors: ErrorRates | None, *, sure: Collection[str] = ()) -> None:
        """Tell how often labels are wrong; scores are corrected for it. None says that they are right.

        Parameters
        ----------
        errors
            The rates of all labels but the sure ones.
        sure
            Ids whose labels are right, because somebody ruled on them or their answer was known: they stay as told.
        """
        with self._records.writing():
            if event := errors_event(self.state, errors, sure=sure):
                self._records.append(event)

    def retract(self, name: str) -> None:
        """Take a system off the leaderboard. Labels bought for it stay and go on serving the others."""
        with self._records.writing():
            self._records.append({"kind": "retract", "system": self._find(name).number})

    def scores(
        self,
        metric: Metric = "f1",
        *,
        interval: IntervalKind = "logit",
        confidence_level: float | None = None,
        anydoc: bool = False,
    ) -> Leaderboard:
        """Score all systems in the pool, best first.

        Parameters
        ----------
        metric
            What to rank by: ``precision``, ``recall`` or ``f1``.
        interval
            ``logit`` (asymptotic), ``bootstrap``, or ``betting``, which is guaranteed in finite samples and needs
            a pool created with ``learn=False``.
        confidence_level
            By default the pool's.
        anydoc
            Ignore provenance: an instance is right if any instance of its relation is.
        """
        _check.one_of("metric", metric, METRICS)
        level = self.state.settings.confidence_level if confidence_level is None else confidence_level
        self._records.catch_up()
        pending = self._asking.pending()
        with workspace(self.folder) as (connection, _):
            state, gathered, theta, n_inside = gather_settled(connection, self.folder, self.state, anydoc=anydoc)
        return rate(
            gathered,
            state,
            theta=theta,
            n_inside=n_inside,
            metric=metric,
            interval=interval,
            confidence_level=_check.fraction("confidence_level", level),
            n_pending=len(pending),
        )

    def compare(
        self,
        first: str,
        second: str,
        *,
        metric: Metric = "f1",
        confidence_level: float | None = None,
        anydoc: bool = False,
    ) -> Difference:
        """Compare two systems on the labels that both share."""
        _check.one_of("metric", metric, METRICS)
        level = self.state.settings.confidence_level if confidence_level is None else confidence_level
        pair = self._find(first), self._find(second)
        self._records.catch_up()
        with workspace(self.folder) as (connection, _):
            _, gathered, theta, _ = gather_settled(connection, self.folder, self.state, anydoc=anydoc)
        return contrast(gathered, *pair, theta=theta, metric=metric, confidence_level=level)

    def label_pool(self) -> list[dict[str, Any]]:
        """Return the labels told for what was drawn: id, label, and the probability that its unit was drawn."""
        self._records.catch_up()
        if not self.state.draws:
            return []
        with workspace(self.folder) as (connection, _):
            inclusion = inclusion_by_id(connection, self.folder, self.state)
        return [{"id": item, "label": self.state.labels[item], "inclusion": chance}
                for item, chance in inclusion.items() if item in self.state.labels]  # fmt: skip

    def verify(self) -> None:
        """Check that the files which the log names are as they were written; refuses the first that is not."""
        self._records.verify()

    def _find(self, name: str) -> System:
        for system in self.systems:
            if system.name == name:
                return system
        raise _check.refuse("name", "one of " + ", ".join(repr(s.name) for s in self.systems), name)
