"""TREC runs topic by topic: what is judged, what is not, and average precision where only a part was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.errors import InvalidData
from karat.formats.trec import import_answers, import_run
from karat.math.inferred import Judged, inferred_average_precision, resample
from karat.results import Guarantee, Interval, Tabular, freeze, html_block, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from karat.formats.streams import PathOrStream
    from karat.math.path import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicScores(Tabular):
    """One run on all topics of the qrels.

    ``precision`` at each cut-off has bounds: unjudged documents count 0 below and 1 above. ``average_precision`` counts
    them as not relevant, as trec_eval does; ``inferred`` is infAP.
    """

    topics: tuple[str, ...]
    cutoffs: tuple[int, ...]
    n_retrieved: NDArray[np.int64]
    n_judged: NDArray[np.int64]
    """Retrieved documents with a judgement; the others are unjudged."""
    n_relevant: NDArray[np.int64]
    """Relevant documents of the topic, retrieved or not."""
    unjudged: Mapping[int, NDArray[np.int64]]
    """Unjudged documents among the first k."""
    precision_low: Mapping[int, Floats]
    precision_high: Mapping[int, Floats]
    average_precision: Floats
    inferred: Floats
    inferred_low: Floats
    inferred_high: Floats
    mean_inferred: Interval
    confidence_level: float
    guarantee: Guarantee = "bootstrap"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("n_retrieved", "n_judged", "n_relevant", "average_precision", "inferred"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def points(self) -> dict[str, NDArray[Any]]:
        """Return a row a topic, by column."""
        columns: dict[str, NDArray[Any]] = {
            "topic": np.array(self.topics),
            "n_retrieved": self.n_retrieved,
            "n_judged": self.n_judged,
            "n_relevant": self.n_relevant,
            "average_precision": self.average_precision,
            "inferred_ap": self.inferred,
            "inferred_ap_low": self.inferred_low,
            "inferred_ap_high": self.inferred_high,
        }
        for cut in self.cutoffs:
            columns[f"unjudged_at_{cut}"] = self.unjudged[cut]
            columns[f"precision_at_{cut}_low"] = self.precision_low[cut]
            columns[f"precision_at_{cut}_high"] = self.precision_high[cut]
        return columns

    def summary(self) -> dict[str, Any]:
        """Return the means over topics."""
        return {
            "topics": len(self.topics),
            "unjudged": int(np.sum(self.n_retrieved - self.n_judged)),
            "mean_average_precision": float(self.average_precision.mean()),
            "mean_inferred_ap": self.mean_inferred.to_dict(),
            "precision": {
                str(cut): [float(self.precision_low[cut].mean()), float(self.precision_high[cut].mean())]
                for cut in self.cutoffs
            },
        }

    def to_dict(self) -> dict[str, Any]:
        rows = {name: values.tolist() for name, values in self.points().items()}
        return {**self.summary(), "notes": list(self.notes), "by_topic": rows}

    def __str__(self) -> str:
        share = 1 - self.n_judged.sum() / max(self.n_retrieved.sum(), 1)
        cuts = "   ".join(
            f"P@{cut}: [{show(float(self.precision_low[cut].mean()))}, {show(float(self.precision_high[cut].mean()))}]"
            for cut in self.cutoffs
        )
        lines = [
            f"{len(self.topics)} topics, {self.n_retrieved.sum():,} documents retrieved, {share:.1%} of them unjudged",
            f"mean {self.mean_inferred}; unjudged as not relevant: MAP {show(float(self.average_precision.mean()))}",
            cuts,
        ]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        return html_block(str(self))


def evaluate_run(
    run: PathOrStream,
    qrels: PathOrStream,
    *,
    at: Sequence[int] = (10, 100),
    positive_from: int = 1,
    confidence_level: float = 0.95,
    n_replicates: int = 1000,
    seed: int = 0,
) -> TopicScores:
    r"""Evaluate a TREC run by topic.

    Parameters
    ----------
    qrels
        Judgements. A grade below 0 names a document of the pool that was not judged: where the judged part of the pool
        was drawn at random, infAP estimates average precision as if all had been.
    at
        Cut-offs for precision.
    positive_from
        The least grade that counts as relevant.

    Examples
    --------
    >>> import io
    >>> run = io.StringIO("1 Q0 a 1 9 me\n1 Q0 b 2 8 me\n1 Q0 c 3 7 me\n")
    >>> qrels = io.StringIO("1 0 a 1\n1 0 b 0\n1 0 d 1\n")
    >>> scores = evaluate_run(run, qrels, at=[3])
    >>> float(scores.average_precision[0]), int(scores.unjudged[3][0])
    (0.5, 1)
    """
    cutoffs = tuple(_check.whole("at", cut, least=1) for cut in at)
    level = _check.fraction("confidence_level", confidence_level)
    judged, retrieved = _read(run, qrels, positive_from=positive_from)
    rng = np.random.default_rng(_check.whole("seed", seed))
    topics = tuple(judged)
    inside = [_judge(judged[topic], retrieved.get(topic, [])) for topic in topics]
    labels = [topic.labels for topic in inside]
    drawn = np.array([resample(topic, _check.whole("n_replicates", n_replicates, least=100), rng) for topic in inside])
    tails = [(1 - level) / 2, (1 + level) / 2]
    inferred = np.array([float(inferred_average_precision(topic)[0]) for topic in inside])
    low, high = np.quantile(drawn, tails, axis=1)
    known = np.array([topic.says_something for topic in inside])
    low, high = np.where(known, low, 0.0), np.where(known, high, 1.0)
    mean, mean_low, mean_high = 0.0, 0.0, 1.0
    if known.any():
        mean = float(inferred[known].mean())
        mean_low, mean_high = mean + np.quantile((drawn - inferred[:, None])[known].mean(axis=0), tails)
    return TopicScores(
        topics=topics,
        cutoffs=cutoffs,
        n_retrieved=np.array([len(values) for values in labels]),
        n_judged=np.array([int(np.sum(values >= 0)) for values in labels]),
        n_relevant=np.array([sum(value == 1 for value in judged[topic].values()) for topic in topics]),
        unjudged={cut: np.array([int(np.sum(values[:cut] < 0)) for values in labels]) for cut in cutoffs},
        precision_low={cut: np.array([np.sum(values[:cut] == 1) / cut for values in labels]) for cut in cutoffs},
        precision_high={cut: np.array([np.sum(values[:cut] != 0) / cut for values in labels]) for cut in cutoffs},
        average_precision=np.array([_average_precision(topic) for topic in inside]),
        inferred=inferred,
        inferred_low=np.minimum(low, inferred),
        inferred_high=np.maximum(high, inferred),
        mean_inferred=Interval(
            name="infAP",
            estimate=mean,
            low=min(float(mean_low), mean),
            high=max(float(mean_high), mean),
            confidence_level=level,
            guarantee="bootstrap",
            simultaneous=False,
            method="infAP",
            n_labels=sum(value >= 0 for topic in judged.values() for value in topic.values()),
        ),
        confidence_level=level,
        notes=tuple(_notes(n_unjudged=len(retrieved.keys() - judged.keys()), n_unknown=int(np.sum(~known)))),
    )


def _notes(*, n_unjudged: int, n_unknown: int) -> Iterator[str]:
    if n_unjudged:
        yield f"{n_unjudged:,} topics of the run have no judgements and were left out."
    if n_unknown:
        yield (
            f"{n_unknown:,} topics have no relevant document among those judged, and not all were: their infAP may be "
            "anything from 0 to 1, and the mean leaves them out."
        )


def _read(
    run: PathOrStream, qrels: PathOrStream, *, positive_from: int
) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Return the grade of every pooled document by topic, and the documents of the run in trec_eval's order."""
    judged: dict[str, dict[str, int]] = {}
    try:
        answers = import_answers(qrels, positive_from=positive_from)
    except InvalidData as error:
        if len(error.defects) < 2:
            raise
        first = next(iter(error.defects)).message
        text = f"{first} {len(error.defects):,} lines are not as in qrels, which come after the run."
        raise InvalidData(text, defects=error.defects) from None
    for answer in answers:
        topic, docid = answer.item.split(" ", 1)
        judged.setdefault(topic, {})[docid] = answer.value
    lines = import_run(run)
    tags = sorted({line.tag for line in lines})
    if len(tags) > 1:
        raise InvalidData(f"The run must hold one system; got {len(tags)}: {', '.join(tags[:5])}.")
    retrieved: dict[str, list[tuple[float, str]]] = {}
    for line in lines:
        retrieved.setdefault(line.topic, []).append((line.score, line.docid))
    ordered = {
        topic: [
            docid
            for _, docid in sorted(sorted(found, key=lambda pair: pair[1], reverse=True), key=lambda pair: -pair[0])
        ]
        for topic, found in retrieved.items()
    }
    if not set(ordered) & set(judged):
        raise InvalidData("The run and the qrels have no topic in common.")
    return judged, ordered


def _judge(judged: Mapping[str, int], retrieved: Sequence[str]) -> Judged:
    labels = np.array([judged.get(docid, -1) for docid in retrieved], dtype=np.int8)
    pooled = np.array([docid in judged for docid in retrieved], dtype=np.bool_)
    seen = set(retrieved)
    missed = [value for docid, value in judged.items() if docid not in seen]
    return Judged(labels, pooled, missed.count(1), missed.count(0), missed.count(-1))


def _average_precision(topic: Judged) -> float:
    """Return average precision with unjudged documents as not relevant, over all relevant ones."""
    relevant = topic.labels == 1
    total = int(relevant.sum()) + topic.missed_relevant
    ranks = np.arange(1, len(relevant) + 1)
    return float(np.sum(np.cumsum(relevant)[relevant] / ranks[relevant]) / total) if total else 0.0
