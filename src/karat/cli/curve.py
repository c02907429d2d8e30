"""`karat curve`: what do the labels say?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat import plotting, study
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table, print_text, say
from karat.designs import catalogue
from karat.designs.certifying import CertifyDesign
from karat.errors import InvalidInput
from karat.formats.answers import read_answers
from karat.report.page import render_report
from karat.results import show
from karat.showing import range_text, shown_ranks

if TYPE_CHECKING:
    from karat.curves import Curve, Positives
    from karat.designs.base import Design
    from karat.results import Interval


def run(
    draw: Annotated[Path, typer.Argument(help="The draw that 'karat draw' wrote.")],
    labels: Annotated[list[str], typer.Argument(help="Tables with 'id' (or 'rank') and 'label'.")],
    at: Annotated[list[int] | None, typer.Option("--at", help="A rank to report; may be repeated.")] = None,
    positives: Annotated[
        str | None, typer.Option(help="Positives in the whole universe, for recall and F1: 5000 or 4000-6000.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained report.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the precision curve (PNG, SVG, PDF).")] = None,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="certify: add what the next 100 and 500 labels would buy.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bound the whole precision curve from the labels that are in.

    Missing and unsure labels count 0 in the lower and 1 in the upper bound.

    Examples:

        karat curve draw.json to_label.csv

        karat curve draw.json to_label.csv --at 1000 --at 50000 --html report.html --plot curve.png
    """
    document = study.load_draw(draw)
    answers = read_answers(labels, document)
    design = catalogue.resume(document, answers)
    curve = design.curve()
    if forecast and (document.resource or {}).get("proxy"):  # going on needs the proxy, and so the resource
        design = study.Study.resume(document, answers).design
    ahead = design.forecast() if forecast and isinstance(design, CertifyDesign) and not design.done else []
    known_positives = _read_positives(positives)
    ranks = at or shown_ranks(curve)
    rows = [_at(curve, rank, known_positives) for rank in ranks]
    if plot is not None:
        plotting.save(curve.plot(), plot)
        say(f"wrote {plot}")
    if html is not None:
        commands = [f"karat curve {draw} {' '.join(labels)} --html {html}"]
        with study.write_whole(html) as stream:
            stream.write(render_report(curve, draw=document, commands=commands))
        say(f"wrote {html}")
    if as_json:
        tables = [{"rank": rank, **{name: interval.to_dict() for name, interval in row.items()}}
                  for rank, row in zip(ranks, rows, strict=True)]  # fmt: skip
        print_json({**curve.to_dict(), "at": tables, "forecast": [asdict(row) for row in ahead]})
        return
    print_text(str(curve))
    for note in curve.notes:
        print_text(note)
    if forecast and not ahead:
        print_text(_why_no_forecast(design))
    for row in ahead:
        print_text(
            f"{row.n_more:,} more labels would reach rank {row.rank_reached:,}, there at "
            f"{row.worst_share_so_far:.2f} of the wanted half-width (over all ranks: {row.worst_share:.2f})."
        )
    cells = [[f"top {rank:,}", *_cells(row)] for rank, row in zip(ranks, rows, strict=True)]
    heads = ["items kept", "precision", "right items", "recall", "F1"]
    width = len(heads) if curve.asked_at is None or known_positives is not None else 3  # others need the whole list
    print_table(heads[:width], [row[:width] for row in cells])
    if curve.asked_at is not None:
        return
    print_table(["", "estimate", "low", "high"],
                [[i.name, show(i.estimate) if i.estimated else "–", show(i.low), show(i.high)]
                 for i in curve.summary()])  # fmt: skip


def _why_no_forecast(design: Design) -> str:
    if isinstance(design, CertifyDesign):
        return "No forecast: nothing is left to label; more labels need a new draw with another target or budget."
    return f"No forecast: {design.draw.method} lays out all its labels at once; certify can go on."


def _at(curve: Curve, rank: int, positives: Positives) -> dict[str, Interval]:
    return {
        "precision": curve.at(rank),
        "yield": curve.gain_at(rank),
        "recall": curve.recall_at(rank, positives=positives),
        "f1": curve.f1_at(rank, positives=positives),
        "false_positive_rate": curve.false_positive_rate_at(rank),
        "specificity": curve.specificity_at(rank),
        "accuracy": curve.accuracy_at(rank),
        "lift": curve.lift_at(rank),
    }


def _cells(row: dict[str, Interval]) -> list[str]:
    count = row["yield"]
    right = f"[{count.low:,.0f}, {count.high:,.0f}]"
    if row["precision"].is_share_unknown:
        right = "not known"
    elif count.estimated:
        right = f"{count.estimate:,.0f} {right}"
    return [range_text(row["precision"]), right, range_text(row["recall"]), range_text(row["f1"])]


def _read_positives(text: str | None) -> Positives:
    if text is None:
        return None
    parts = text.replace(",", "").split("-")
    if not 1 <= len(parts) <= 2 or not all(part.strip().isdigit() for part in parts):
        raise InvalidInput(f"'--positives' must be a number or a range such as 4000-6000; got {text!r}.")
    numbers = [int(part) for part in parts]
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
