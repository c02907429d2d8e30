"""Arrays -> matplotlib artists; knows none of karat's types."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Columns = Mapping[str, NDArray[Any]]

GOLD, INK, BLUE, RED, GREY, GREEN = "#b8860b", "#222222", "#3465a4", "#b03a2e", "#888888", "#2e7d5b"
COLOURS = (GOLD, BLUE, RED, GREEN, "#7b5ea7", GREY)

_DPI = 150
_SHOWING = {"matplotlib.pyplot", "ipykernel"}

KINDS: dict[str, tuple[str, str, str, str]] = {
    "precision": ("rank", "precision", "items kept, best first", "precision"),
    "precision-yield": ("yield", "precision", "yield (right items found)", "precision"),
    "pr": ("recall", "precision", "recall", "precision"),
    "roc": ("false_positive_rate", "recall", "false positive rate", "true positive rate"),
    "hits": ("rank", "yield", "items kept, best first", "right items found"),
}


def new_axes(width: float = 7.0, height: float = 4.2) -> Axes:
    """Return axes that a notebook and ``pyplot.show()`` show; where neither is in use, pyplot is not touched.

    pyplot keeps every figure it makes in one list for the whole process, which is no good in a service.
    """
    shape: dict[str, Any] = {"figsize": (width, height), "layout": "constrained"}
    if _SHOWING & sys.modules.keys():
        from matplotlib import pyplot  # noqa: PLC0415

        return pyplot.figure(**shape).add_subplot()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(dpi=_DPI, **shape)
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def draw_curve(
    points: Columns,
    kind: str = "precision",
    *,
    band: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None = None,
    ax: Axes | None = None,
    truth: NDArray[Any] | None = None,
    title: str = "",
    name: str = "estimate",
    colour: str = GOLD,
) -> Axes:
    """Draw an estimated curve (NaN: no estimate) with its bounds, or a band over its own abscissae, and the truth."""
    x, y, x_label, y_label = KINDS[_check.one_of("kind", kind, KINDS)]
    axes = ax if ax is not None else new_axes()
    horizontal = points[x]
    across, low, high = (horizontal, points[f"{y}_low"], points[f"{y}_high"]) if band is None else band
    axes.fill_between(
        across,
        low,
        high,
        color=colour,
        alpha=0.22,
        linewidth=0,
        label="certain range" if name == "estimate" else f"{name}: certain range",
    )
    estimated = np.isfinite(horizontal) & np.isfinite(points[y])
    if estimated.sum() > 1:  # one point is no line
        axes.plot(horizontal[estimated], points[y][estimated], color=colour, linewidth=1.4, label=name)
    for step, step_colour in (("step_lower", BLUE), ("step_upper", RED), ("step_estimate", BLUE)):
        if kind == "precision" and step in points:
            # where the bounds meet, the steps are the exact curve
            open_ = (points["precision_low"] < points["precision_high"]) & np.isfinite(points[step])
            axes.step(horizontal[open_], points[step][open_], where="post", color=step_colour, linewidth=0.8,
                      label=step.replace("_", " "))  # fmt: skip
    if truth is not None:
        _draw_truth(axes, truth, kind)
    _finish(axes, kind, x_label, y_label, title, points)
    return axes


def draw_exact(curves: Mapping[str, Columns], kind: str, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the exact curves of several systems; hit curves with the perfect and the random one (Zhu's Figure 2)."""
    x, y, x_label, y_label = KINDS[_check.one_of("kind", kind, KINDS)]
    axes = ax if ax is not None else new_axes()
    for (name, points), colour in zip(curves.items(), _cycle(len(curves)), strict=True):
        axes.plot(points[x], points[y], color=colour, linewidth=1.4, label=name)
    first = next(iter(curves.values()))
    if kind == "hits":
        n_items, total = float(first["rank"][-1]), float(first["yield"][-1])
        axes.plot([0, total, n_items], [0, total, total], color=GREY, linestyle=":", label="perfect")
        axes.plot([0, n_items], [0, total], color=GREY, linestyle="--", label="random")
    if kind == "roc":
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="random")
    _finish(axes, kind, x_label, y_label, title, first)
    return axes


def draw_bounds(
    curves: Mapping[str, Columns], *, truth: NDArray[Any] | None = None, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the precision bounds of several methods over each other, with the truth if it is known."""
    axes = ax if ax is not None else new_axes()
    for (name, points), colour in zip(curves.items(), _cycle(len(curves)), strict=True):
        axes.fill_between(points["rank"], points["precision_low"], points["precision_high"], color=colour, alpha=0.25,
                          linewidth=0.6, label=name)  # fmt: skip
    if truth is not None:
        _draw_truth(axes, truth, "precision")
    _finish(axes, "precision", KINDS["precision"][2], "precision", title, next(iter(curves.values())))
    return axes


def draw_forest(
    names: Sequence[str],
    estimate: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    *,
    line: float | None = None,
    ax: Axes | None = None,
    title: str = "",
    quantity: str = "precision",
    shown: NDArray[Any] | None = None,
) -> Axes:
    """Draw an interval a row, the first on top, with a dashed line for all together.

    ``shown`` says which rows have an estimate, if not all.
    """
    axes = ax if ax is not None else new_axes(7.0, 1.2 + 0.3 * len(names))
    places = np.arange(len(names))[::-1]
    axes.hlines(places, low, high, color=GOLD, linewidth=3, alpha=0.55)
    dots = np.ones(len(places), dtype=np.bool_) if shown is None else shown
    axes.plot(estimate[dots], places[dots], "o", color=INK, markersize=4, clip_on=False)
    if line is not None:
        axes.axvline(line, color=GREY, linestyle="--", linewidth=1)
        axes.text(line, 1.0, " all", color=GREY, ha="left", va="bottom", transform=axes.get_xaxis_transform())
    axes.set_yticks(places, list(names))
    axes.set(xlim=(0, 1), ylim=(-0.7, len(names) - 0.3), xlabel=quantity)
    if title:
        axes.set_title(title, fontsize=9, loc="left", wrap=True)
    axes.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return axes


def draw_label_counts(
    factors: Sequence[float], counts: Mapping[str, Sequence[float]], *, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw labels against the guaranteed factor, one line a method (PAULA's Figure 1)."""
    axes = ax if ax is not None else new_axes()
    for (name, values), colour in zip(counts.items(), _cycle(len(counts)), strict=True):
        axes.plot(factors, values, color=colour, marker="o", markersize=3, linewidth=1.4, label=name)
    axes.set_yscale("log")
    axes.set(xlabel="guaranteed factor", ylabel="labels", title=title)
    _decorate(axes)
    return axes


def save(axes: Axes, path: Any) -> None:
    """Write the picture and be done with it; the ending of the name says in which format."""
    figure: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
    try:
        figure.savefig(path, dpi=_DPI)
    except ValueError as error:
        raise InvalidInput(f"{path} cannot be written: {error}.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close(figure)


def _draw_truth(axes: Axes, truth: NDArray[Any], kind: str) -> None:
    n_items = len(truth)
    hits = np.cumsum(truth, dtype=np.float64)
    keep = np.unique(np.r_[np.geomspace(1, n_items, 3000), np.linspace(1, n_items, 3000)].astype(np.int64))
    ranks, hits = keep, hits[keep - 1]
    total = max(hits[-1], 1.0)
    columns = {
        "rank": ranks,
        "yield": hits,
        "precision": hits / ranks,
        "recall": hits / total,
        "false_positive_rate": (ranks - hits) / max(n_items - total, 1.0),
    }
    x, y, *_ = KINDS[kind]
    axes.plot(columns[x], columns[y], color=INK, linewidth=1.0, linestyle=(0, (4, 2)), label="truth")


def _finish(axes: Axes, kind: str, x_label: str, y_label: str, title: str, points: Columns) -> None:
    axes.set(xlabel=x_label, ylabel=y_label)
    if title:
        axes.set_title(title, fontsize=9, loc="left", wrap=True)
    if kind == "precision":
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        n_items = float(points["rank"][-1])
        axes.set_xlim(min(max(10.0, n_items / 1e5), n_items / 2), n_items)
        shown = points["rank"] >= axes.get_xlim()[0]
        lows = np.concatenate([points[name][shown] for name in ("precision_low", "precision") if name in points])
        axes.set_ylim(max(0.0, float(np.nanmin(lows)) - 0.05), 1.02)
    if kind in {"pr", "roc"}:
        axes.set(xlim=(0, 1), ylim=(0, 1.02))
    _decorate(axes)


def _decorate(axes: Axes) -> None:
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


def _cycle(count: int) -> list[str]:
    return [COLOURS[place % len(COLOURS)] for place in range(count)]
