"""A band, or the difference of two curves, as one self-contained HTML page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from karat.report.page import figure, page, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.bands.result import Band, Comparison


def render_band(found: Band | Comparison, *, title: str, commands: Sequence[str] = ()) -> str:
    """Return the page: what it is in a sentence, the picture, the numbers, what they rest on."""
    first = str(found).partition("\n")[0]
    rows = [[name.replace("_", " "), *(f"{value:.3f}" for value in (i.estimate, i.low, i.high))]
            for name, i in found.scalars.items()]  # fmt: skip
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="lead">{escape(found.in_a_sentence())}</p>',
        f"<p>{escape(first)}.</p>",
        *(f'<p class="warn">{escape(note)}</p>' for note in found.notes),
        figure(found.plot(), "The curve with its band."),
        table(["", "estimate", "low", "high"], rows),
        "<h2>What this rests on</h2><ul>" + "".join(f"<li>{escape(text)}</li>" for text in found.assumptions) + "</ul>",
    ]
    if commands:
        parts.append(f"<h2>How to make this page again</h2><pre>{escape(chr(10).join(commands))}</pre>")
    return page(title, parts)
