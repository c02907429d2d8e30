"""Replay a fully labelled resource as if its labels had to be bought: coverage, error, labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.engines.memory import order_items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from karat.curves import Curve
    from karat.designs.base import Method
    from karat.math.path import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What many replications say about a method on one resource."""

    method: str
    n_items: int
    replications: int
    confidence_level: float
    labels_mean: float
    labels_max: int
    coverage: float
    """Share of replications whose bounds hold the truth at every rank."""
    covered_ranks: float
    """Mean share of ranks whose bounds hold the truth."""
    claimed_factor: float | None
    factor_max: float | None
    """Worst ratio between curve and truth over ranks and replications; None if unbounded."""
    factor_median: float | None
    """The same, median over replications."""
    width_median: float
    """Widest bounds on precision from rank ``judged_from`` on: median over replications."""
    error_median: float
    """Worst error of the estimated precision from rank ``judged_from`` on: median over replications."""
    error_p95: float
    judged_from: int
    target_met: float | None
    """Share of replications that came out as tight as the method was asked to be, if it was asked."""
    worst_over_target: float | None
    """Largest half-width over the one asked for: median over replications."""

    contradicted: float
    """Share of replications in which the labels contradicted the method's assumptions."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def _why(self) -> str:
        return f" (the labels contradict its assumptions in {self.contradicted:.0%})" if self.contradicted else ""

    def __str__(self) -> str:
        claim = "" if self.claimed_factor is None else f" (claimed {self.claimed_factor:.4f})"
        factor = (
            "" if self.factor_max is None else f"\nworst factor to the truth at any rank {self.factor_max:.4f}{claim}"
        )
        return (
            f"{self.method}: {self.labels_mean:,.0f} labels of {self.n_items:,} items, mean of {self.replications}\n"
            f"coverage: truth inside the bounds at every rank in {self.coverage:.1%} of replications{self._why()}; "
            f"at {self.covered_ranks:.2%} of all ranks\n"
            f"from rank {self.judged_from:,} on: bounds on precision at most {self.width_median:.3f} wide (median); "
            f"estimate off by at most {self.error_median:.4f} (median), {self.error_p95:.4f} (95th percentile){factor}"
        )


def simulate(
    scores: Floats,
    labels: NDArray[np.int8],
    *,
    method: Method,
    replications: int = 20,
    seed: int = 0,
    judged_from: int = 1000,
    proxy: NDArray[np.uint8] | None = None,
    watch: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Simulation:
    """Run a method many times on a resource whose labels are all known; higher scores rank first.

    Examples
    --------
    >>> import karat
    >>> scores, labels = -np.arange(5000.0), np.ones(5000, dtype=np.int8)
    >>> simulate(scores, labels, method=karat.Paula(), replications=2).coverage
    1.0
    """
    scores, labels = _check.finite_scores("scores", scores), _check.binary_labels("labels", labels)
    _check.same_length("scores", len(scores), "labels", len(labels))
    _check.whole("number of items", len(scores), least=1)
    seed = _check.whole("seed", seed)
    judged_from = _check.whole("judged_from", judged_from, least=1)
    replications = _check.whole("replications", replications, least=1)
    n_items = len(scores)
    first = min(judged_from, n_items)
    ranks, numbers = np.arange(1, n_items + 1), np.arange(1, n_items + 1)
    bought, covered, factors, widths, errors, shares, contradicted = [], [], [], [], [], [], []
    curve: Curve | None = None
    for replication in watch(range(replications)):
        own_seed = int(np.random.SeedSequence([seed, replication]).generate_state(1)[0])
        order = order_items(scores, numbers, seed=own_seed)
        ranked = labels[order]
        curve, n_labels = method.replay(ranked, seed=own_seed, proxy=None if proxy is None else proxy[order])
        if curve.worst_over_target is not None:
            shares.append(curve.worst_over_target)
        truth = np.cumsum(ranked, dtype=np.int64)
        estimate, low, high = curve.yields(ranks)
        bought.append(n_labels)
        contradicted.append(bool(curve.contradicted))
        covered.append(float(np.mean((low <= truth) & (truth <= high))))
        factors.append(_worst_factor(curve, truth, low, high))
        widths.append(float(np.max((high - low)[first - 1 :] / ranks[first - 1 :])))
        errors.append(float(np.max(np.abs(estimate - truth)[first - 1 :] / ranks[first - 1 :])))
    assert curve is not None  # noqa: S101
    return Simulation(
        method=method.name,
        n_items=n_items,
        replications=replications,
        confidence_level=curve.confidence_level,
        labels_mean=float(np.mean(bought)),
        labels_max=int(max(bought)),
        coverage=float(np.mean([share == 1.0 for share in covered])),
        covered_ranks=float(np.mean(covered)),
        claimed_factor=curve.claimed_factor,
        factor_max=_finite(max(factors)),
        factor_median=_finite(float(np.median(factors))),
        width_median=float(np.median(widths)),
        error_median=float(np.median(errors)),
        error_p95=float(np.quantile(errors, 0.95)),
        judged_from=first,
        target_met=float(np.mean(np.array(shares) <= 1)) if shares else None,
        worst_over_target=_finite(float(np.median(shares))) if shares else None,
        contradicted=float(np.mean(contradicted)),
    )


def _worst_factor(curve: Curve, truth: NDArray[np.int64], low: Floats, high: Floats) -> float:
    """Return the worst ratio to the truth of what the method promises a factor for: step curves, else the bounds."""
    ranks = np.arange(1, len(truth) + 1)
    candidates = [curve.step(name, ranks) * ranks for name in curve.steps] or [low, high]
    worst = 1.0
    for values in candidates:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.maximum(values / truth, truth / values)
        ratio[(values == 0) & (truth == 0)] = 1.0
        worst = max(worst, float(ratio.max()))
    return worst


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
