"""Slow textbook versions of what karat computes fast: plain loops over the definitions, nothing of karat's used."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

# --- exact metrics of labels in rank order


def average_precision(labels) -> float:
    """Sum over ranks of precision times the gain in recall."""
    total, hits, area = sum(labels), 0, 0.0
    for rank, label in enumerate(labels, start=1):
        hits += label
        area += hits / rank * label / total
    return area


def roc_auc(labels) -> float:
    """Share of (positive, negative) pairs in the right order."""
    right = pairs = 0
    for i, first in enumerate(labels):
        for second in labels[i + 1 :]:
            right += first > second
            pairs += first != second
    return right / pairs


def tie_orders(labels, scores):
    """Yield the labels in every order that sorts the scores, each order as likely as the others."""
    items = sorted(zip(scores, labels, strict=True), key=lambda item: -item[0])
    groups = [[label for _, label in group] for _, group in itertools.groupby(items, key=lambda item: item[0])]
    for parts in itertools.product(*(list(itertools.permutations(group)) for group in groups)):
        yield [label for part in parts for label in part]


def expected_over_ties(metric, labels, scores) -> float:
    """Average a metric of labels in rank order over all orders of tied items."""
    return float(np.mean([metric(order) for order in tie_orders(labels, scores)]))


# --- the grid in exact rationals


def decimal(epsilon: float) -> Fraction:
    """Return the epsilon that was typed, .03 as 3/100 and not as the nearest binary number."""
    return Fraction(repr(float(epsilon)))


def power(epsilon: float, j: int) -> Fraction:
    return (1 + decimal(epsilon)) ** j


def grid_point(epsilon: float, j: int) -> int:
    return math.ceil(power(epsilon, j))


def floor_log(epsilon: float, n: int) -> int:
    """Return the largest j with (1 + epsilon)^j <= n."""
    ratio, value, j = 1 + decimal(epsilon), Fraction(1), 0
    while value * ratio <= n:
        value, j = value * ratio, j + 1
    return j


def ceiling_log(epsilon: float, n: int) -> int:
    """Return the smallest j with (1 + epsilon)^j >= n."""
    ratio, value, j = 1 + decimal(epsilon), Fraction(1), 0
    while value < n:
        value, j = value * ratio, j + 1
    return j


def constants(n_items: int, *, epsilon: float, window: int, stable_after: int | None = None) -> dict:
    """Return all constants of the paper's section 4.2 and the number of labels."""
    exact = decimal(epsilon)
    r_tilde = math.ceil((window + 2) / exact) if stable_after is None else stable_after
    first, last = ceiling_log(epsilon, r_tilde), floor_log(epsilon, n_items)
    m = math.floor(exact * power(epsilon, first) - 1)
    gamma = 1 + exact + (2 + exact) / m
    g_l = grid_point(epsilon, first)
    labels = n_items if n_items <= g_l else g_l + window * (last - first)
    return {
        "r_tilde": r_tilde,
        "l": first,
        "g_l": g_l,
        "m": m,
        "L": last,
        "gamma": float(gamma),
        "factor": float(gamma * (1 + exact)),
        "labels": labels,
    }


# --- Algorithm 2


class Paula:
    """PAULA by the book: windows, telescoping sums, step curves and brackets, one rank at a time."""

    def __init__(self, labels, *, epsilon: float, window: int) -> None:
        known = constants(len(labels), epsilon=epsilon, window=window)
        self.n_items, self.window, self.labels = len(labels), window, [int(v) for v in labels]
        self.g = [grid_point(epsilon, j) for j in range(known["l"], known["L"] + 1)]
        self.lower, self.upper = [sum(self.labels[: self.g[0]])], [sum(self.labels[: self.g[0]])]
        for old, new in itertools.pairwise(self.g):
            self.lower.append(self.lower[-1] + (new - old) * self.rate(new))
            self.upper.append(self.upper[-1] + (new - old) * self.rate(old))

    def rate(self, rank: int) -> Fraction:
        return Fraction(sum(self.labels[rank - self.window : rank]), self.window)

    def ranks(self) -> list[int]:
        """Return the ranks that are labelled."""
        chosen = set(range(1, self.g[0] + 1))
        for point in self.g[1:]:
            chosen |= set(range(point - self.window + 1, point + 1))
        return sorted(chosen)

    def place(self, rank: int) -> int:
        return max(j for j, point in enumerate(self.g) if point <= rank)

    def bracket(self, rank: int) -> tuple[float, float]:
        if rank <= self.g[0]:
            return (float(sum(self.labels[:rank])),) * 2
        j = self.place(rank)
        low, high = self.lower[j], self.upper[j] + rank - self.g[j]
        if j + 1 < len(self.g):
            low, high = max(low, self.lower[j + 1] - (self.g[j + 1] - rank)), min(high, self.upper[j + 1])
        return float(low), float(high)

    def step(self, rank: int) -> tuple[float, float]:
        if rank <= self.g[0]:
            return (sum(self.labels[:rank]) / rank,) * 2
        j = self.place(rank)
        return float(self.lower[j] / self.g[j]), float(self.upper[j] / self.g[j])


def is_m_monotone(labels, *, m: int, start: int) -> bool:
    """A.1: p(r1) >= p(r2) whenever r1 >= start and r2 >= r1 + m."""
    hits = np.cumsum(labels)
    precision = hits / np.arange(1, len(hits) + 1)
    best_after = np.maximum.accumulate(precision[::-1])[::-1]
    first, second = precision[start - 1 : len(hits) - m], best_after[start - 1 + m :]
    return bool(np.all(first >= second - 1e-12))


def holds_on_grid(labels, points, *, window: int) -> bool:
    """Return the grid form of A.2, with p(g_l) >= the window's rate at g_l."""
    v = [int(label) for label in labels]

    def rate(first: int, last: int) -> Fraction:
        return Fraction(sum(v[first:last]), last - first)

    pieces = (
        rate(new - window, new) <= rate(old, new) <= rate(old - window, old) for old, new in itertools.pairwise(points)
    )
    return rate(0, points[0]) >= rate(points[0] - window, points[0]) and all(pieces)


# --- Algorithm 1


def stratified_samples(first, last, ranks, n_points: int) -> list[list[int]]:
    """Return the multiset X_k of each grid point from the spans of the draws."""
    return [sorted(r for r, a, b in zip(ranks, first, last, strict=True) if a <= k <= b) for k in range(n_points)]


# --- uniform draws


def hoeffding(n_draws: int, confidence_level: float, n_ranks: int) -> float:
    return math.sqrt(math.log(2 * n_ranks / (1 - confidence_level)) / (2 * n_draws))


def uniform_bounds(rank: int, drawn, labels, *, confidence_level: float, n_ranks: int) -> tuple[float, float] | None:
    """Return eq. (3) at one rank from the draws at or before it; None if there is none."""
    inside = [label for r, label in zip(drawn, labels, strict=True) if r <= rank]
    if not inside:
        return None
    mean, half = sum(inside) / len(inside), hoeffding(len(inside), confidence_level, n_ranks)
    return max(mean - half, 0.0) * rank, min(mean + half, 1.0) * rank


# --- all lists of labels inside bounds


def paths_inside(n_items: int, knots, low, high) -> np.ndarray:
    """Return Y(0..N) of every list of labels whose yield at the knots is inside the bounds, one list a row."""
    lists = np.array(list(itertools.product((0, 1), repeat=n_items)), dtype=np.int64).reshape(-1, n_items)
    paths = np.concatenate([np.zeros((len(lists), 1), dtype=np.int64), np.cumsum(lists, axis=1)], axis=1)
    at = paths[:, knots]
    return paths[np.all((at >= np.asarray(low) - 1e-9) & (at <= np.asarray(high) + 1e-9), axis=1)]
