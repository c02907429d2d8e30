"""The tables and the picture of `docs/explanation/label-efficiency.md`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from benchmarks.labels.at_ranks import BUDGETS
from benchmarks.labels.whole_curve import METHODS, ratios
from karat import plotting

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "explanation" / "label-efficiency.md"
PICTURE = DOCS / "pictures" / "label-efficiency.png"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
_TARGETED = tuple(name for name in METHODS if "budget" not in name)
_DRAWN = {"uniform": "s", "log-stratified": "D", "PAULA": "^", "certify": "o", "certify, judge right 90%": "*"}

_WIDTH = (
    "Largest half-width from rank 1,000 on over the default target, max(.02 r, .08 Y): at most 1 is as tight as asked "
    "for. Median over replications."
)
_THREE_RANKS = (
    "Error: geometric mean over the rankings of the root mean squared error, over that of certify with as many "
    "labels (below 1: better than certify). Width: the same of the mean width. Covered: the least over the rankings "
    "of the share of replications in which all three intervals hold."
)
_PROMISE = (
    "The paper promises its two step curves within a factor of the truth, not a bracket at every rank. Factor: the "
    "largest between either curve and the truth, at any rank. Between: the share of the grid points at which the truth "
    "lies between the two. Crossed: the share of the replications in which the lower exceeds the upper somewhere."
)


def tables(rankings, curves, points, promises):
    """Return all tables as Markdown."""
    found = {(row.ranking, row.method): row for row in curves}
    names = [ranking.name for ranking in rankings]
    parts = [
        "### Labels bought",
        _table(
            ["ranking", "items", "right", "runs", *_TARGETED],
            [
                [ranking.name, f"{ranking.n_items:,}", f"{ranking.labels.mean():.1%}", _runs(found, ranking.name)]
                + [f"{found[ranking.name, method].labels:,.0f}" for method in _TARGETED]
                for ranking in rankings
            ],
        ),
        "Geometric mean over the rankings of the labels of a method over those of certify: "
        + ", ".join(f"{name} **{ratio:.1f}**" for name, ratio in ratios(curves).items())
        + ".",
        "### Coverage",
        "Share of replications whose bounds hold the truth at every rank.",
        _by_ranking(names, found, METHODS, lambda row: f"{row.coverage:.2f}"),
        "### Width",
        _WIDTH,
        _by_ranking(names, found, METHODS, lambda row: f"{row.width:.2f}"),
        "Geometric mean over the rankings of the width of a method over that of certify: "
        + ", ".join(f"{name} **{ratio:.2f}**" for name, ratio in ratios(curves, "width").items())
        + ".",
        "### Actual error",
        "Worst error of the estimated precision from rank 1,000 on. Median over replications.",
        _by_ranking(names, found, METHODS, lambda row: f"{row.error:.3f}"),
        "### PAULA's own promise",
        _PROMISE,
        _table(
            ["ranking", "promised factor", "factor", "kept", "between", "crossed"],
            [
                [row.ranking, f"{row.promised:.3f}", f"{row.factor:.3f}", _kept(row)]
                + [f"{share:.0%}" for share in (row.between, row.crossed)]
                for row in sorted(promises, key=lambda row: names.index(row.ranking))
            ],
        ),
        "### Three ranks, equally many labels",
        f"{_THREE_RANKS} Rankings: {', '.join(dict.fromkeys(row.ranking for row in points))}.",
        _table(
            ["method", *(f"{what}, {budget:,} labels" for budget in BUDGETS for what in ("error", "width", "covered"))],
            _point_rows(points),
        ),
    ]
    return "\n\n".join(parts)


def _kept(row):
    return "yes" if row.factor <= row.promised else "**no**"


def _runs(found, name):
    counts = {row.replications for (ranking, _), row in found.items() if ranking == name}
    return str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def _by_ranking(names, found, methods, cell):
    return _table(["ranking", *methods], [[name, *(cell(found[name, method]) for method in methods)] for name in names])


def _point_rows(points):
    found = {(row.ranking, row.method, row.budget): row for row in points}
    names = list(dict.fromkeys(row.ranking for row in points))
    rows = []
    for method in dict.fromkeys(row.method for row in points):
        cells = [method]
        for budget in BUDGETS:
            own = [found[name, method, budget] for name in names]
            base = [found[name, "certify", budget] for name in names]
            cells.append(_mean_ratio([row.error for row in own], [row.error for row in base]))
            if own[0].width is None:
                cells += ["none given", "none given"]
            else:
                cells.append(_mean_ratio([row.width for row in own], [row.width for row in base]))
                cells.append(f"{min(row.coverage for row in own):.2f}")
        rows.append(cells)
    return rows


def _mean_ratio(values, base):
    floor = 1e-4  # an error below this is as good as none
    ratio = np.log(np.maximum(values, floor) / np.maximum(base, floor))
    return f"{np.exp(np.mean(ratio)):.2f}"


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def draw(curves):
    """Return the picture: labels by ranking and method, on a logarithmic scale."""
    names = list(dict.fromkeys(row.ranking for row in curves))
    axes = plotting.new_axes(8.0, 0.42 * len(names) + 1.4)
    labels = {(row.ranking, row.method): row.labels for row in curves}
    names.sort(key=lambda name: -labels[name, "certify"])
    colours = (plotting.GREY, plotting.BLUE, plotting.RED, plotting.GOLD, plotting.GREEN)
    for place, name in enumerate(names):
        ends = [labels[name, "certify"], labels[name, "PAULA"]]
        axes.plot(ends, [place, place], color="#dddddd", linewidth=3, zorder=0)
    for (method, marker), colour in zip(_DRAWN.items(), colours, strict=True):
        values = [labels[name, method] for name in names]
        axes.scatter(values, range(len(names)), marker=marker, color=colour, s=52, label=method, zorder=2)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("labels bought for the whole curve")
    axes.grid(visible=True, axis="x", color="#eeeeee")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=8, ncols=5, loc="lower center", bbox_to_anchor=(0.45, 1.0))
    return axes


def write(text, curves):
    """Put the tables between the marks of the page, and the picture beside the others."""
    old = PAGE.read_text(encoding="utf-8")
    block = f"{BEGIN}\n\n{text}\n\n{END}"
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: block, old, flags=re.DOTALL), encoding="utf-8")
    plotting.save(draw(curves), PICTURE)
    print(f"wrote {PAGE} and {PICTURE}")
