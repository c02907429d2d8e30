"""Many systems, one pool of labels: submit, ask, tell, score, compare; kept in a folder."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from karat import _check
from karat.errors import InvalidData, InvalidInput
from karat.math.pooled.estimate import METRICS
from karat.pool.drawing import admit, next_draw
from karat.pool.law import LAWS, law_of
from karat.pool.leaderboard import Difference, Leaderboard
from karat.pool.log import LOG_NAME, Log
from karat.pool.preview import preview_draw
from karat.pool.rating import differences, rate
from karat.pool.read import copy_ids, load_submission, refuse_unknown
from karat.pool.scoring import gather_settled, inclusion_by_id
from karat.pool.state import FORMAT, read_state
from karat.pool.tables import files, read_payload, workspace, write_instances, write_payload
from karat.pool.telling import changes, read_told, refuse_strangers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import duckdb

    from karat.math.agreement.vote_errors import LabelErrors
    from karat.math.pooled.estimate import Metric
    from karat.pool.law import Law
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
        if not (self.folder / LOG_NAME).is_file():
            raise InvalidData(f"{self.folder} holds no pool; Pool.create makes one.")
        self._log = Log(self.folder)
        self._state = read_state(self._log.events)
        self._asked: list[list[str]] = []  # the ids of each draw, read once

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
            How well the precision of each system shall be known: labels are asked for until then.
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
        return self._state

    def refresh(self) -> int:
        """Take in what other processes wrote; return how many events the log has."""
        self._catch_up()
        return len(self._log.events)

    @property
    def systems(self) -> list[System]:
        """Systems that compete, waiting ones included; a resubmitted system counts once."""
        gone = self._state.retracted
        return [s for s in self._state.systems if not s.is_judge and s.number not in gone]

    @property
    def n_labels(self) -> int:
        """Number of labels told."""
        return len(self._state.labels)

    def add(
        self,
        name: str,
        predictions: str | Path,
        *,
        team: str = "",
        is_judge: bool = False,
        depth: int | None = None,
        replace: bool = False,
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
        """
        if not name or not name.strip():
            raise _check.refuse("name", "a name", name)
        with self._writing(), workspace(self.folder) as (connection, work):
            earlier = next((s for s in self._state.systems[::-1] if s.name == name), None)
            if earlier is not None and (earlier.number in self._state.retracted):
                earlier = None
            if earlier is not None and not replace:
                raise InvalidInput(
                    f"'{name}' is in the pool already, with {earlier.n_predictions:,} predictions; to put "
                    f"{Path(predictions).name} in their place, pass replace=True."
                )
            number = len(self._state.systems) + 1
            n_predictions = self._check_in(connection, Path(predictions), work, is_judge=is_judge, depth=depth)
            if is_judge:
                admit(connection, self.folder, self._state, number=number, place=work)
            place = f"systems/{number:04d}"
            _move(work, self.folder / place)
            self._append(
                {
                    "kind": "add",
                    "number": number,
                    "name": name,
                    "version": 1 + sum(system.name == name for system in self._state.systems),
                    "team": team or name,
                    "is_judge": is_judge,
                    "n_predictions": n_predictions,
                    "folder": place,
                    "hash": _hash(self.folder / place / "instances.parquet"),
                }
            )
        return earlier

    def _check_in(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        work: Path,
        *,
        is_judge: bool = False,
        depth: int | None = None,
    ) -> int:
        """Check a file of predictions and write its instances into ``work``; return how many there are."""
        settings = self._state.settings
        law = "uniform" if is_judge else settings.law
        source = load_submission(connection, path, relation=settings.relation, extra=LAWS[law], depth=depth)
        if settings.has_universe:
            refuse_unknown(connection, source, self.folder / "universe.parquet")
        mass = law_of(connection, source, law)
        write_payload(connection, work / "payload.parquet")
        write_instances(connection, work / "instances.parquet", mass=mass, seed=settings.seed)
        return int(mass.size)

    def preview(self, predictions: str | Path, *, depth: int | None = None) -> Preview:
        """Check a file of predictions as `add` does and say how many labels it would need; nothing is kept."""
        self._catch_up()
        with workspace(self.folder) as (connection, work):
            n_predictions = self._check_in(connection, Path(predictions), work, depth=depth)
            return preview_draw(connection, self.folder, self._state, work=work, n_predictions=n_predictions)

    def items(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return what the predictions say about ids in columns other than id and score; ids without any are missing."""
        with workspace(self.folder) as (connection, _):
            paths = [self.folder / system.folder / "payload.parquet" for system in self._state.systems]
            return read_payload(connection, paths, ids)

    def next(self, n: int | None = None) -> list[str]:
        """Ids to label next, the most useful first; empty when every system is known as well as was asked for.

        Systems added since the last call enter the pool together. The labels come in two steps: a pilot, and what
        is still needed once its labels are told. Ids stay in the list until they are told.
        """
        if n is not None:
            _check.whole("n", n, least=1)
        self._catch_up()
        while True:
            pending = self._pending()
            if pending or not self._draw():
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
        with self._writing():
            self._pending()  # reads what was asked for
            if not keep_unknown:
                asked = {item for draw in self._asked for item in draw}
                refuse_strangers(self.folder, self._state, given, read, asked=asked)
            changed = changes(self._state, given, read, replace=replace)
            new = sum(item not in self._state.labels for item in changed)
            if changed:
                self._append({"kind": "tell", "labels": changed})
            return new

    def tell_truth(
        self,
        relations: Sequence[str],
        documents: Sequence[str] = (),
        *,
        weights: Sequence[float] = (),
        replace: bool = False,
    ) -> None:
        """Take in true relations found by annotating random documents exhaustively, for the recall of the pool.

        Parameters
        ----------
        relations
            Each named as the submissions do: its id, or its relation columns joined by ``chr(31)``.
        documents
            The document of each; the uncertainty is then that between documents.
        weights
            One over the probability with which the document of each was drawn, up to scale; equal if not given.
        replace
            Let these take the place of all that were told before.
        """
        if documents:
            _check.same_length("relations", len(relations), "documents", len(documents))
        if weights:
            _check.same_length("relations", len(relations), "weights", len(weights))
            weights = [_check.number("weights", weight, above=0.0) for weight in weights]
        with self._writing():
            mixed = bool(documents) != bool(self._state.documents) and self._state.truth
            if mixed and not replace:
                raise InvalidInput("'documents' must be given for all true relations or for none.")
            event: dict[str, Any] = {"kind": "truth", "relations": list(relations), "documents": list(documents)}
            if weights:
                event["weights"] = list(weights)
            if replace:
                event["replace"] = True
            self._append(event)

    def tell_errors(self, errors: LabelErrors | None, *, sure: Collection[str] = ()) -> None:
        """Tell how often labels are wrong; scores are corrected for it. None says that they are right.

        Parameters
        ----------
        errors
            The rates of all labels but the sure ones.
        sure
            Ids whose labels are right, because somebody ruled on them or their answer was known: they stay as told.
        """
        known = frozenset(sure) if errors is not None else frozenset()
        if errors is not None:
            for name in ("sensitivity", "specificity"):
                _check.number(name, getattr(errors, name), above=0.0, most=1.0)
            if errors.power <= 0.0:
                raise _check.refuse("sensitivity", "more than 1 less specificity", errors.sensitivity)
        with self._writing():
            if (errors, known) != (self._state.errors, self._state.sure):
                event: dict[str, Any] = {"kind": "errors", "errors": None if errors is None else asdict(errors)}
                self._append({**event, "sure": sorted(known)} if known else event)

    def retract(self, name: str) -> None:
        """Take a system off the leaderboard. Labels bought for it stay and go on serving the others."""
        with self._writing():
            self._append({"kind": "retract", "system": self._find(name).number})

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
        level = self._state.settings.confidence_level if confidence_level is None else confidence_level
        self._catch_up()
        pending = self._pending()
        with workspace(self.folder) as (connection, _):
            state, gathered, theta, n_inside = gather_settled(connection, self.folder, self._state, anydoc=anydoc)
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
        level = self._state.settings.confidence_level if confidence_level is None else confidence_level
        numbers = [self._find(name).number for name in (first, second)]
        self._catch_up()
        with workspace(self.folder) as (connection, _):
            _, gathered, theta, _ = gather_settled(connection, self.folder, self._state, anydoc=anydoc)
        rows = {system.number: row for row, system in enumerate(gathered.systems)}
        if missing := [n for n in numbers if n not in rows]:
            name = self._state.systems[missing[0] - 1].name
            raise InvalidInput(f"'{name}' has too few labels yet; answer what next asks for.")
        i, j = (rows[number] for number in numbers)
        value, low, high = differences(gathered, theta=theta, metric=metric, confidence_level=level)
        return Difference(
            first=first,
            second=second,
            metric=metric,
            estimate=float(value[i, j]),
            low=float(low[i, j]),
            high=float(high[i, j]),
            confidence_level=level,
            n_labels=int(gathered.sample.fold.size),
        )

    def label_pool(self) -> list[dict[str, Any]]:
        """Return the labels told for what was drawn: id, label, and the probability that its unit was drawn."""
        self._catch_up()
        if not self._state.draws:
            return []
        with workspace(self.folder) as (connection, _):
            inclusion = inclusion_by_id(connection, self.folder, self._state)
        return [{"id": item, "label": self._state.labels[item], "inclusion": chance}
                for item, chance in inclusion.items() if item in self._state.labels]  # fmt: skip

    def verify(self) -> None:
        """Check that the files which the log names are as they were written; refuses the first that is not."""
        named = [(f"{system.folder}/instances.parquet", system.hash) for system in self._state.systems]
        named += [(draw.file, draw.hash) for draw in self._state.draws]
        for name, expected in named:
            path = self.folder / name
            if not path.is_file() or _hash(path) != expected:
                raise InvalidData(f"{path}: missing, or changed after it was written.")

    def _draw(self) -> bool:
        """Seal the next draw, if any system needs one."""
        with self._writing(), workspace(self.folder) as (connection, work):
            if self._pending():
                return True  # another process drew meanwhile
            draw = next_draw(connection, self.folder, self._state, work)
            if draw is None:
                return False
            number = len(self._state.draws) + 1
            place = f"draws/{number:04d}"
            _move(work, self.folder / place)
            file = f"{place}/asked.parquet"
            self._append({"kind": "draw", "number": number, "file": file, "hash": _hash(self.folder / file), **draw})
        return True

    def _pending(self) -> list[str]:
        """Ids asked for and not told, in the order of asking."""
        while len(self._asked) < len(self._state.draws):
            draw = self._state.draws[len(self._asked)]
            with workspace(self.folder) as (connection, _):
                rows = connection.execute(
                    f"SELECT id FROM {files([self.folder / draw.file])} ORDER BY priority, id"  # noqa: S608
                ).fetchall()
            self._asked.append([row[0] for row in rows])
        told = self._state.labels
        return [item for asked in self._asked for item in asked if item not in told]

    def _find(self, name: str) -> System:
        for system in self.systems:
            if system.name == name:
                return system
        raise _check.refuse("name", "one of " + ", ".join(repr(s.name) for s in self.systems), name)

    def _append(self, event: dict[str, Any]) -> None:
        self._log.append(event)
        self._state.apply(event)

    def _catch_up(self) -> None:
        """Take in what other processes wrote."""
        n_known = len(self._log.events)
        self._log.catch_up()
        for event in self._log.events[n_known:]:
            self._state.apply(event)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the pool alone, up to date."""
        n_known = len(self._log.events)
        with self._log.writing():
            for event in self._log.events[n_known:]:
                self._state.apply(event)
            yield


def _move(work: Path, target: Path) -> None:
    """Move the files of a finished piece of work to their place, over what a broken-off piece may have left."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in work.glob("*.parquet"):
        path.replace(target / path.name)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
