"""Engine, design and labels joined: what the command line, the service and simulations all use."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.designs import catalogue
from karat.draws import Draw, Labels
from karat.engines.base import require_same_resource
from karat.errors import InvalidData, InvalidInput
from karat.formats.answers import read_word
from karat.formats.formulas import neutralise
from karat.resources import open_resource as open_resource  # noqa: PLC0414 (also named here)
from karat.slices import slice_precision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karat.curves import Curve
    from karat.designs.base import Method
    from karat.engines.base import Engine, Items
    from karat.math.path import Ranks
    from karat.slices import Slices


def reopen_resource(draw: Draw, *, source: Any = None, **opening: Any) -> Engine:
    """Rank the resource of a draw again, found where the draw says or in ``source``; it must not have changed.

    ``opening`` holds further options of `karat.open`: engine, memory_limit, spill_directory, watch.
    """
    where = draw.resource
    if where is None:
        raise InvalidInput("The draw names no resource: take it up with 'karat.curve_from' or give it a resource.")
    engine = open_resource(
        where["source"] if source is None else source,
        score=where["score"],
        id=where["id"],
        seed=draw.seed,
        higher_is_better=where["higher_is_better"],
        **{"engine": where.get("engine", "auto"), **opening},
    )
    require_same_resource(engine, draw)
    return engine


class Study:
    """One evaluation: a ranked resource and a design that says which of its items to judge.

    Examples
    --------
    >>> import pandas, karat
    >>> facts = pandas.DataFrame({"fact": [f"fact {i}" for i in range(50)], "score": [1 / (i + 1) for i in range(50)]})
    >>> study = Study(open_resource(facts, score="score", id="fact"), karat.Point(rank=20, labels=20))
    >>> items = study.ask()
    >>> study.tell({id: "yes" for id in items.ids})
    >>> print(study.curve().at(20))
    precision at 20: 1.000 [1.000, 1.000]
    """

    def __init__(
        self,
        engine: Engine,
        method: Method | None = None,
        *,
        proxy: str | None = None,
        draw: Draw | None = None,
        labels: Labels | None = None,
    ) -> None:
        self.engine = engine
        if draw is None:
            self.design = (method or catalogue.make_method("certify")).begin(
                engine.n_items,
                seed=engine.seed,
                resource={**engine.describe(), "proxy": proxy},
                identify=engine.ids_at,
                proxy=None if proxy is None else engine.classes(proxy),
            )
        else:
            if draw.n_items != engine.n_items:
                raise _check.refuse("draw", f"one of {engine.n_items:,} items, as the resource has", draw.n_items)
            require_same_resource(engine, draw)
            column = (draw.resource or {}).get("proxy")
            classes = None if column is None else engine.classes(column)
            self.design = catalogue.resume(draw, labels or Labels.none(), identify=engine.ids_at, proxy=classes)

    @classmethod
    def resume(cls, draw: Draw, labels: Labels, *, source: Any = None, **opening: Any) -> Study:
        """Take a study up again from its two documents; the resource is found where the draw says, or in ``source``.

        ``opening`` holds further options of `karat.open`: engine, memory_limit, spill_directory, watch.
        """
        engine = reopen_resource(draw, source=source, **opening)
        return cls(engine, draw=draw, labels=labels)

    @property
    def draw(self) -> Draw:
        return self.design.draw

    @property
    def labels(self) -> Labels:
        return self.design.labels

    @property
    def done(self) -> bool:
        return self.design.done

    @property
    def pending(self) -> Ranks:
        return self.design.pending

    def ask(self, n: int | None = None) -> Items:
        """Return up to ``n`` further items to judge."""
        return self.engine.items_at(self.design.ask(n))

    def tell(self, answers: Mapping[Any, Any] | Labels) -> None:
        """Take answers: a mapping from id to 1, 0, True, False, "yes", "no", "unsure", or Labels by rank."""
        if isinstance(answers, Labels):
            self.design.tell(answers)
            return
        if not isinstance(answers, Mapping):
            raise _check.refuse("answers", "a mapping from id to answer, or Labels", type(answers).__name__)
        ids = self.draw.ids
        if ids is None:
            raise InvalidInput("The draw has no ids: tell it Labels by rank.")
        rank_of = dict(zip(map(str, ids), self.draw.ranks.tolist(), strict=True))
        pairs = []
        for id_, word in answers.items():
            if str(id_) not in rank_of:
                raise _check.refuse("answers", "about items that were asked for", id_)
            try:
                value = read_word(word)
            except InvalidData as error:
                raise InvalidInput(f"'answers' for {id_!r}: {error}.") from None
            if value is not None:
                pairs.append((rank_of[str(id_)], value))
        self.design.tell(Labels.from_pairs([rank for rank, _ in pairs], [value for _, value in pairs]))

    def curve(self) -> Curve:
        return self.design.curve()

    def slices(self, by: str, *, rank: int | None = None) -> Slices:
        """Return the precision of every segment (the values of a column) of the first ``rank`` items."""
        return slice_precision(self.engine, self.draw, self.labels, by=by, rank=rank)

    def save(self, path: str | Path) -> None:
        """Write the draw to a file."""
        save_draw(path, self.draw)


def curve_from(draw: Draw, labels: Labels) -> Curve:
    """Return the curve of a draw and its labels, whatever made them."""
    return catalogue.resume(draw, labels).curve()


def save_draw(path: str | Path, draw: Draw) -> None:
    with write_whole(path) as stream:
        json.dump(draw.to_dict(), stream, indent=None, separators=(",", ":"), allow_nan=False)
        stream.write("\n")


def load_draw(path: str | Path) -> Draw:
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidData(f"{path} cannot be read: {error.strerror}.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidData(
            f"{path} is not a draw, the JSON that 'karat draw' writes ({error}). The draw comes first, then its labels."
        ) from error
    try:
        return Draw.from_dict(document)
    except InvalidData as error:
        raise InvalidData(f"{path}: {error}") from error


def write_items(path: str | Path, items: Items, *, seed: int = 0, show_scores: bool = False) -> list[str]:
    """Write items to judge as CSV with an empty column ``label``, in shuffled order; return the columns left out.

    Order and score would bias people, so the order is shuffled and rank and score are written only if asked for. A
    column of the resource that is itself called id or label is left out. Text that a spreadsheet would run as a
    formula gets a leading apostrophe.
    """
    names = list(items.payload[0]) if items.payload else []
    dropped = [name for name in names if name in {"id", "label", "rank", "score"}]
    kept = [name for name in names if name not in dropped]
    shown = ["rank", "score"] if show_scores else []
    with write_whole(path, newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", *shown, *kept, "label"])
        for place in np.random.default_rng(seed).permutation(len(items.ids)):
            scores = [int(items.ranks[place]), float(items.scores[place])] if show_scores else []
            payload = [neutralise(items.payload[place][name]) for name in kept]
            writer.writerow([neutralise(items.ids[place]), *scores, *payload, ""])
    return dropped


@contextmanager
def write_whole(path: str | Path, *, newline: str | None = None) -> Iterator[IO[str]]:
    """Open a file for writing that appears under its name only when it is complete."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror}.") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline=newline) as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        try:
            Path(name).replace(target)
        except OSError as error:
            raise InvalidInput(f"{target} cannot be written: {error.strerror}.") from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
