"""ExactCurve: every label is known, so every number is exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check, showing
from karat.errors import InvalidInput
from karat.math import ranking
from karat.results import Tabular, html_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from karat.math.path import Ranks
    from karat.math.ranking import Ranking, Ties


class LabelledCurve(Tabular):
    """What every fully labelled curve shows, however its numbers were computed."""

    __slots__ = ()

    def points(self, most: int | None = None) -> dict[str, NDArray[Any]]:
        raise NotImplementedError

    def summary(self, at: Sequence[int] = ()) -> dict[str, Any]:
        raise NotImplementedError

    def plot(self, kind: str = "precision", *, ax: Axes | None = None, name: str | None = None) -> Axes:
        """Draw "precision", "precision-yield", "pr", "roc" or "hits"."""
        from karat import plotting  # noqa: PLC0415

        return plotting.draw_exact({name or "exact": self.points(2000)}, kind, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        return {**self.summary(), "points": {key: values.tolist() for key, values in self.points(500).items()}}

    def __str__(self) -> str:
        return showing.exact_text(self.summary())

    def _repr_html_(self) -> str:
        return html_block(str(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactCurve(LabelledCurve):
    """A fully labelled ranking: hit, precision, recall, PR, ROC curves and their summaries.

    ``ties`` says how items with equal scores count: "threshold" keeps them together (scikit-learn's numbers), "random"
    gives the expectation over their orders.
    """

    ranking: Ranking
    ties: Ties = "threshold"

    @property
    def n_items(self) -> int:
        return self.ranking.n_items

    @property
    def n_positives(self) -> int:
        return self.ranking.n_positives

    @property
    def base_rate(self) -> float:
        return self.ranking.base_rate

    def average_precision(self) -> float:
        return ranking.average_precision(self.ranking, ties=self.ties)

    def roc_auc(self) -> float:
        return ranking.roc_auc(self.ranking)

    def best_f1(self) -> dict[str, float]:
        """Return the best F1 with its threshold and rank."""
        f1, threshold, rank = ranking.best_f1(self.ranking)
        return {"f1": f1, "threshold": threshold, "rank": rank}

    def dcg(self, top: int | None = None) -> float:
        return ranking.discounted_gain(self.ranking, top=_top(top))

    def ndcg(self, top: int | None = None) -> float:
        return ranking.normalised_discounted_gain(self.ranking, top=_top(top))

    def at(self, rank: int, *, positives: int | None = None, beta: float = 1.0) -> dict[str, float | None]:
        """Return everything at a cut after ``rank`` items; None where a metric is undefined.

        ``positives`` is the number of positives in the whole universe, if it is larger than the list.
        """
        rank = _check.whole("rank", rank, least=1, most=self.n_items)
        beta = _check.number("beta", beta, above=0, most=1e100)
        kept_array, hits_array = ranking.hits_at(self.ranking, np.array([rank]), ties=self.ties)
        kept, hits = float(kept_array[0]), float(hits_array[0])
        total = self.n_positives if positives is None else _check.whole("positives", positives, least=self.n_positives)
        return cut_metrics(kept, hits, n_items=self.n_items, n_positives=self.n_positives, total=total, beta=beta)

    def points(self, most: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the curve at every distinct score, or at about ``most`` with those of extreme precision among them."""
        scores, ranks, hits = self.ranking.scores[1:], self.ranking.ranks[1:], self.ranking.hits[1:]
        keep = np.arange(len(ranks)) if most is None else ranking.thin_curve(ranks, hits, most=most)
        return curve_points(scores[keep], ranks[keep], hits[keep], n_items=self.n_items, n_positives=self.n_positives)

    def summary(self, at: Sequence[int] = ()) -> dict[str, Any]:
        """Return all single numbers; None where one is undefined."""
        return {
            "n_items": self.n_items,
            "n_positives": self.n_positives,
            "base_rate": self.base_rate,
            "ties": self.ties,
            "n_distinct_scores": len(self.ranking.ranks) - 1,
            "average_precision": _or_none(self.average_precision),
            "roc_auc": _or_none(self.roc_auc),
            "best_f1": _or_none(self.best_f1),
            "dcg": self.dcg(),
            "ndcg": _or_none(self.ndcg),
            "recall_concave_until": ranking.concave_until(self.ranking),
            "precision_falls_until": ranking.precision_falls_until(self.ranking),
            "at": [self.at(rank) for rank in at],
        }


def exact(y_true: ArrayLike, y_score: ArrayLike, *, ties: Ties = "threshold") -> ExactCurve:
    """Rank items whose labels are all known; higher scores rank first.

    Examples
    --------
    >>> curve = exact([1, 0, 0, 1, 0, 0, 0, 1, 0, 0], [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])  # Zhu's algorithm B
    >>> curve.average_precision()
    0.625
    """
    labels, scores = _check.binary_labels("y_true", y_true), _check.finite_scores("y_score", y_score)
    _check.same_length("y_true", len(labels), "y_score", len(scores))
    _check.whole("number of items", len(labels), least=1)
    _check.one_of("ties", ties, ("threshold", "random"))
    return ExactCurve(ranking=ranking.rank_items(labels, scores), ties=ties)


def _top(top: int | None) -> int | None:
    return None if top is None else _check.whole("top", top, least=1)


def cut_metrics(
    kept: float, hits: float, *, n_items: int, n_positives: int, total: int, beta: float = 1.0
) -> dict[str, float | None]:
    """Return all metrics of a cut that keeps so many items with so many hits; None where one is undefined."""
    n_negatives = n_items - n_positives
    recall = hits / total if total else None
    rate = (kept - hits) / n_negatives if n_negatives else None
    return {
        "rank": kept,
        "precision": hits / kept,
        "recall": recall,
        "true_positive_rate": recall,
        "sensitivity": recall,
        "false_positive_rate": rate,
        "specificity": None if rate is None else 1 - rate,
        "yield": hits,
        "gain": hits,
        "hit_rate": hits / n_items,
        "f_beta": (1 + beta**2) * hits / (kept + beta**2 * total),
        "accuracy": (hits + n_negatives - (kept - hits)) / n_items,
        "lift": hits / kept / (n_positives / n_items) if n_positives else None,
    }


def curve_points(
    scores: NDArray[np.float64], ranks: Ranks, hits: Ranks, *, n_items: int, n_positives: int
) -> dict[str, NDArray[Any]]:
    """Return everything that is drawn about points of an exact curve."""
    return {
        "rank": ranks,
        "threshold": scores,
        "precision": hits / ranks,
        "recall": hits / max(n_positives, 1),
        "false_positive_rate": (ranks - hits) / max(n_items - n_positives, 1),
        "yield": hits.astype(np.float64),
        "detected": ranks / n_items,
        "hit_rate": hits / n_items,
    }


def _or_none(compute: Any) -> Any:
    try:
        return compute()
    except InvalidInput:
        return None
