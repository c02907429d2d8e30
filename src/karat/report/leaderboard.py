"""A leaderboard as one self-contained HTML page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from karat.report.page import figure, page, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.pool.leaderboard import Leaderboard


def render_leaderboard(board: Leaderboard, *, title: str = "Leaderboard", commands: Sequence[str] = ()) -> str:
    """Return the page: the table with intervals and honest ties, the picture, what it rests on."""
    rows = [
        [str(row.rank), row.system, *(str(score) for score in (row.precision, row.recall, row.f1)),
         f"{row.n_predictions:,}", f"{row.n_labels:,}"]
        for row in board.rows
    ]  # fmt: skip
    first = [row.system for row in board.rows if row.rank == 1]
    lead = f"{' and '.join(first)} {'leads' if len(first) == 1 else 'share the first place'} by {board.metric}"
    basis = f"{board.n_labels:,} labels for {board.n_items:,} items, {board.confidence_level:.0%} intervals"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="lead">{escape(f"{lead}; {basis}")}.</p>',
        *(f'<p class="warn">{escape(note)}</p>' for note in board.remarks),
        table(["rank", "system", "precision", "recall", "F1", "predictions", "labels"], rows),
        "<p class='soft'>Systems share a rank when the interval of their difference contains 0.</p>",
        figure(board.plot(), f"{board.metric} with its interval, best system on top."),
        "<h2>What this rests on</h2>",
        f"<p>{escape(board.guarantee)}.</p><ul>"
        + "".join(f"<li>{escape(a)}</li>" for a in board.assumptions)
        + "</ul>",
    ]
    if commands:
        parts.append(f"<h2>How to make this page again</h2><pre>{escape(chr(10).join(commands))}</pre>")
    return page(title, parts)
