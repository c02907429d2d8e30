"""One self-contained HTML page that a manager can read: the answer, the curve, the table, the assumptions."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING, Any

from karat import plotting
from karat.report.answers import WORTH_A_CUT, answer_all
from karat.results import show
from karat.showing import shown_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from karat.curves import Curve
    from karat.draws import Draw
    from karat.report.answers import Answer
    from karat.results import Interval

_STYLE = """
:root { --ink: #222; --soft: #666; --gold: #b8860b; --line: #e4e0d6; --paper: #fffdf8; --warn: #8a1f11; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eee; --soft: #aaa; --line: #444; --paper: #1d1c1a; --warn: #ff9d8a; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 54rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.3; border-left: .35rem solid var(--gold); padding-left: .8rem; }
h2 { font-size: 1.1rem; margin-top: 2.2rem; } p.lead { font-size: 1.15rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; }
img { max-width: 100%; background: #fff; } .soft { color: var(--soft); } .warn { color: var(--warn); font-weight: 600; }
.wide { overflow-x: auto; } figure { margin: 1rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); padding: .8rem; }
figcaption { color: var(--soft); font-size: .9rem; }
dl.questions { border: 1px solid var(--line); border-radius: .5rem; padding: .3rem 1.2rem 1rem; }
dl.questions dt { font-weight: 650; margin-top: .8rem; } dl.questions dd { margin: .15rem 0 0; }
"""


def render_report(
    curve: Curve,
    *,
    title: str = "How good are my predictions?",
    draw: Draw | None = None,
    truth: NDArray[Any] | None = None,
    others: Sequence[Curve] = (),
    commands: Sequence[str] = (),
) -> str:
    """Return the page for a curve.

    Parameters
    ----------
    draw
        Adds how the items were chosen, with their seal.
    truth
        Labels in rank order, if they are all known; drawn as a dashed line.
    others
        Further curves of the same list to compare with.
    commands
        The commands that make this page again.
    """
    everything = curve.asked_at is None
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="lead">{escape(curve.headline())}</p>',
        _warnings(curve),
        _questions(answer_all(curve, draw)),
    ]
    if everything:
        parts += [
            figure(
                curve.plot("precision", truth=truth),
                "Precision of the first items of the list, best first. The shaded range is what the labels certify.",
            ),
            "<h2>How good are the first …?</h2>",
            _rank_table(curve),
            "<h2>Where to cut</h2>",
            _cutoff_table(curve),
        ]
    parts += [
        "<h2>The whole list</h2>" if everything else f"<h2>The first {curve.asked_at:,}</h2>",
        _interval_table(curve.summary()),
    ]
    if others:
        all_curves = {curve_title(one): one.points(2000) for one in (curve, *others)}
        parts += [
            "<h2>Against other methods</h2>",
            figure(plotting.draw_bounds(all_curves, truth=truth), "What each method certifies about the same list."),
            _method_table([curve, *others]),
        ]
    if curve.is_whole:  # recall needs the whole list
        parts += [
            "<h2>More curves</h2>",
            *(figure(curve.plot(kind, truth=truth), caption) for kind, caption in _MORE.items()),
        ]
    parts += [
        "<h2>What this rests on</h2>",
        _basis(curve),
        "<h2>How to make this page again</h2>",
        _reproduce(curve, draw, commands),
    ]
    return page(title, parts)


def _questions(answers: Sequence[Answer]) -> str:
    rows = "".join(f"<dt>{escape(answer.question)}</dt><dd>{escape(answer.text)}</dd>" for answer in answers)
    return f'<dl class="questions">{rows}</dl>'


def page(title: str, parts: Sequence[str]) -> str:
    """Return a whole page of some parts (HTML, already escaped)."""
    body = "\n".join(part for part in parts if part)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


_MORE = {
    "pr": "Precision against recall inside the list.",
    "precision-yield": "Precision against yield, the number of right items found.",
    "roc": "True against false positive rate inside the list.",
}


def _warnings(curve: Curve) -> str:
    lines = [f"The labels contradict an assumption: {found.finding}" for found in curve.contradicted] + list(
        curve.notes
    )
    return "".join(f'<p class="warn">{escape(line)}</p>' for line in lines)


def figure(axes: Axes, caption: str) -> str:
    """Return a picture with its caption, the picture inside the page."""
    buffer = io.BytesIO()
    axes.set_title("", loc="left")
    plotting.save(axes, buffer)
    picture = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{picture}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _rank_table(curve: Curve) -> str:
    rows = []
    for rank in shown_ranks(curve):
        precision, found = curve.at(rank), curve.gain_at(rank)
        recall = curve.recall_at(rank)
        within = "not certified" if recall.note else _two(recall)
        right = "not known" if precision.is_share_unknown else f"{found.low:,.0f} – {found.high:,.0f}"
        rows.append([f"top {rank:,}", *_three(precision), right, within])
    return table(["items kept", "precision", "at least", "at most", "right items", "recall in the list"], rows)


def _cutoff_table(curve: Curve) -> str:
    rows = []
    for target in (0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5):
        rank = curve.cutoff(precision=target)
        if rank is not None and rank < min(WORTH_A_CUT, curve.n_items):
            rank = None  # a handful of items that happen to be right
        rows.append([f"precision at least {target:.0%}", f"keep the top {rank:,}" if rank else "no cut is certain"])
    for target in (0.5, 0.8, 0.9):
        rank = curve.cutoff(recall=target)
        rows.append([f"recall at least {target:.0%}", f"keep the top {rank:,}" if rank else "no cut is certain"])
    return table(["to be certain of", "do this"], rows)


def _interval_table(intervals: Sequence[Interval]) -> str:
    rows = [
        [interval.name, show(interval.estimate) if interval.estimated else "–", show(interval.low), show(interval.high)]
        for interval in intervals
    ]
    return table(["", "estimate", "at least", "at most"], rows)


def curve_title(curve: Curve) -> str:
    """Name a curve among those of other methods."""
    doubt = "; its assumptions are contradicted" if curve.contradicted else ""
    return f"{curve.method}: {curve.n_labels:,} labels{doubt}"


def _method_table(curves: Sequence[Curve]) -> str:
    rows = []
    for curve in curves:
        whole = curve.at(curve.n_items)
        crossed = "bounds cross" if curve.crossed else f"{whole.low:.1%} – {whole.high:.1%}"
        basis = "none: the labels contradict its assumptions" if curve.contradicted else curve.guarantee
        rows.append([curve.method, f"{curve.n_labels:,}", crossed, basis])
    return table(["method", "labels", "precision of the whole list", "guarantee"], rows)


def _basis(curve: Curve) -> str:
    kind = {
        "exact": "Every item was labelled: the numbers are exact.",
        "finite-sample": f"With probability at least {curve.confidence_level:.0%} all bounds hold at once, at every "
        "rank, for a list of any size.",
        "deterministic under assumptions": "The bounds hold for certain if the assumptions below do.",
    }.get(curve.guarantee, curve.guarantee)
    items = "".join(f"<li>{escape(str(assumption))}</li>" for assumption in curve.assumptions)
    return f"<p>{escape(kind)}</p>" + (f"<ul>{items}</ul>" if items else "")


def _reproduce(curve: Curve, draw: Draw | None, commands: Sequence[str]) -> str:
    lines = [f"Method {curve.method}, {curve.n_labels:,} labels, {curve.n_items:,} items."]
    if draw is not None:
        settings = ", ".join(f"{name} = {value}" for name, value in draw.parameters.items() if value is not None)
        lines.append(f"Settings: {settings or 'none'}; seed {draw.seed}; seal of the draw {draw.seal[:16]}….")
        if draw.resource:
            files = ", ".join(draw.resource.get("source") or ["a table in memory"])
            lines.append(f"Resource: {files}, ranked by {draw.resource.get('score')}.")
    code = f"<pre>{escape(chr(10).join(commands))}</pre>" if commands else ""
    return "".join(f'<p class="soft">{escape(line)}</p>' for line in lines) + code


def _three(interval: Interval) -> list[str]:
    if interval.is_share_unknown:
        return ["not known", "–", "–"]
    return [f"{interval.estimate:.1%}" if interval.estimated else "–", f"{interval.low:.1%}", f"{interval.high:.1%}"]


def _two(interval: Interval) -> str:
    return "not known" if interval.is_share_unknown else f"{interval.low:.1%} – {interval.high:.1%}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts, which scrolls by itself where the page is narrow."""
    top = "".join(f"<th>{escape(cell)}</th>" if cell else "<td></td>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    name = escape(", ".join(filter(None, head)))
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
