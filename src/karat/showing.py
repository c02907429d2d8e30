"""How a Curve is shown: as columns, as a JSON document, as a sentence, as three lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.math import derive, regions
from karat.math.path import Floats, thin
from karat.results import or_null, show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from karat.curves import Curve
    from karat.results import Interval


def tabulate(curve: Curve, most: int) -> dict[str, NDArray[Any]]:
    """Return columns of precision, yield, recall and false positive rate with bounds, at a spread of ranks.

    Where no labels stand behind an estimate it is NaN; the bounds are there.
    """
    knots = curve.ranks[thin(curve.ranks, most=most)]
    between = np.geomspace(1, curve.n_items, most // 2).astype(np.int64)
    ranks = np.unique(np.concatenate([knots, between]))
    ranks = ranks[ranks > 0]
    estimate, low, high = curve.yields(ranks)
    total = max(float(curve.yield_estimate[-1]), 1e-12)
    negatives = max(curve.n_items - total, 1e-12)
    known = curve.known_at(ranks)
    recall, rate = derive.recall(known), derive.false_positive_rate(known)
    at_rank = (ranks <= curve.reach) & (curve.asked_at is None or ranks == curve.asked_at)
    of_list = at_rank & curve.is_whole  # recall and rates need labels of the whole list
    rows: list[tuple[str, NDArray[np.bool_], Floats, Floats, Floats]] = [
        ("precision", at_rank, estimate / ranks, low / ranks, high / ranks),
        ("yield", at_rank, estimate, low, high),
        ("recall", of_list, np.clip(estimate / total, 0, 1), recall.low, recall.high),
        ("false_positive_rate", of_list, np.clip((ranks - estimate) / negatives, 0, 1), rate.low, rate.high),
    ]
    table: dict[str, NDArray[Any]] = {"rank": ranks}
    for name, estimated, middle, below, above in rows:
        table |= {name: np.where(estimated, middle, np.nan), f"{name}_low": below, f"{name}_high": above}
    return table | {f"step_{name}": np.where(at_rank, curve.step(name, ranks), np.nan) for name in curve.steps}


def band(curve: Curve, kind: str) -> tuple[Floats, Floats, Floats] | None:
    """Return abscissae with low and high of a PR, ROC or precision-yield curve; None for curves over the rank."""
    shares = np.linspace(0, 1, 201)
    if kind == "pr":
        return shares[1:], *curve.precision_at_recall(shares[1:])
    if kind == "roc":
        return shares, *curve.recall_at_false_positive_rate(shares)
    if kind == "precision-yield" and not curve.crossed and curve.yield_high[-1] >= 1:
        hits = np.unique(np.linspace(1, curve.yield_high[-1], 400).round())
        return hits, *regions.precision_at_yield(curve.ranks, curve.yield_low, curve.yield_high, hits=hits)
    return None


def document(curve: Curve) -> dict[str, Any]:
    return {
        "method": curve.method,
        "n_items": curve.n_items,
        "n_labels": curve.n_labels,
        "labelled_until": curve.reach,
        "asked_at": curve.asked_at,
        "confidence_level": curve.confidence_level,
        "guarantee": curve.guarantee,
        "simultaneous": curve.simultaneous,
        "claimed_factor": curve.claimed_factor,
        "worst_over_target": curve.worst_over_target,
        "target_met": None if curve.worst_over_target is None else curve.worst_over_target <= 1,
        "crossed": curve.crossed,
        "assumptions": [assumption.to_dict() for assumption in curve.assumptions],
        "notes": list(curve.notes),
        "summary": {item.name: item.to_dict() for item in curve.summary()},
        "points": {name: or_null(values) for name, values in curve.points().items()},
    }


def shown_ranks(curve: Curve, *, least: int = 10) -> list[int]:
    """Return the ranks worth a row: powers of ten and the last rank that the labels speak of, if they speak of any."""
    if curve.asked_at is not None:
        return [curve.asked_at]
    return [] if curve.at(curve.main_rank).is_share_unknown else marks(curve.main_rank, least=least)


def marks(last: int, *, least: int = 10) -> list[int]:
    """Return the powers of ten below a rank, and the rank.

    Examples
    --------
    >>> marks(2500)
    [10, 100, 1000, 2500]
    """
    return [*(10**k for k in range(1, 12) if least <= 10**k < last), last]


def headline(curve: Curve) -> str:
    rank = curve.main_rank
    top = f"the top {rank:,} of " if rank < curve.n_items else ""
    which = f"{top}{curve.n_items:,} items"
    whole = curve.at(rank)
    basis = f"{curve.method}, {curve.n_labels:,} labels"
    if whole.is_share_unknown:
        return f"Nothing is certain about {curve.n_items:,} items ({basis})."
    if curve.crossed:
        guess = f"About {whole.estimate:.1%} of {which} are right, but n" if whole.estimated else "N"
        return f"{guess}othing is certified: the bounds of {curve.method} cross ({curve.n_labels:,} labels)."
    how = {
        "exact": "exactly",
        "deterministic under assumptions": "if its assumptions hold",
    }.get(curve.guarantee, f"at {curve.confidence_level:.0%} confidence")
    return f"Of {which}, between {whole.low:.1%} and {whole.high:.1%} are right ({how}; {basis})."


def text(curve: Curve) -> str:
    found = [(rank, curve.at(rank)) for rank in shown_ranks(curve, least=100)]
    spread = "   ".join(f"top {rank:,}: {range_text(interval)}" for rank, interval in found)
    doubts = " ".join(assumption.finding for assumption in curve.contradicted)
    basis = f"{curve.guarantee}; the labels contradict it: {doubts}" if doubts else meaning(curve)
    lines = [headline(curve), f"Precision: {spread}" if spread else "", f"Guarantee: {basis}", target(curve)]
    return "\n".join(line for line in lines if line)


def range_text(interval: Interval) -> str:
    """Write an interval of a share; an estimate only where labels stand behind it."""
    if interval.is_share_unknown:
        return "not known"
    bounds = f"[{show(interval.low)}, {show(interval.high)}]"
    return f"{show(interval.estimate)} {bounds}" if interval.estimated else bounds


def meaning(curve: Curve) -> str:
    """Say what the guarantee means."""
    scope = "at all ranks at once" if curve.simultaneous and curve.asked_at is None else "at the rank asked for"
    untested = [assumption.statement for assumption in curve.assumptions if assumption.verdict == "not testable"]
    given = "".join(f", if {text[:1].lower()}{text[1:]}" for text in untested)
    level = f"{curve.confidence_level:.0%} confidence"
    return {
        "exact": "exact.",
        "finite-sample": f"finite-sample: the ranges hold {scope} with {level}, whatever the list is like{given}.",
    }.get(curve.guarantee, f"{curve.guarantee}.")


def target(curve: Curve) -> str:
    """Say whether the width asked for was reached, if one was."""
    if curve.worst_over_target is None:
        return ""
    if curve.worst_over_target <= 1:
        return f"Target: met (the widest range is {curve.worst_over_target:.2f} of the width asked for)."
    nearly = curve.worst_over_target < 1.05  # "1 times" would say nothing
    times = f"{curve.worst_over_target:.3f}" if nearly else f"{curve.worst_over_target:.3g}"
    return f"Target: not met (the widest range is {times} times the width asked for)."


def exact_text(numbers: Mapping[str, Any]) -> str:
    """Say the numbers of a fully labelled ranking in three lines."""
    shown = {name: "undefined" if numbers[name] is None else show(numbers[name])
             for name in ("average_precision", "roc_auc", "ndcg")}  # fmt: skip
    best = numbers["best_f1"]
    f1 = "undefined" if best is None else f"{show(best['f1'])} at the top {best['rank']:,}"
    falls = numbers["precision_falls_until"]
    trend = (
        "never rises, though it may within a step"
        if falls == numbers["n_items"]
        else f"first rises after rank {falls:,}"
    )
    return (
        f"{numbers['n_positives']:,} of {numbers['n_items']:,} items are right: {numbers['base_rate']:.1%} "
        "(every label known).\n"
        f"Average precision {shown['average_precision']}, ROC AUC {shown['roc_auc']}, nDCG {shown['ndcg']}, "
        f"best F1 {f1}.\n"
        f"Looked at in 50 equal steps down the list, precision {trend}."
    )
