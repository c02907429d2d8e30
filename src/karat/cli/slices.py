"""`karat slices`: how good is each segment?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat import plotting, study
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table, print_text, say
from karat.formats.answers import read_answers
from karat.showing import range_text
from karat.slices import slice_precision


def run(
    draw: Annotated[Path, typer.Argument(help="The draw that 'karat draw' wrote.")],
    labels: Annotated[list[str], typer.Argument(help="Tables with 'id' (or 'rank') and 'label'.")],
    by: Annotated[str, typer.Option("--by", help="The column that names the segment of an item.")],
    rank: Annotated[
        int | None, typer.Option(help="Only the first so many items; as far as the draw goes if not given.")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Probability that all segments' bounds hold; the draw's if not given.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Where the resource is now, if it was moved.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a forest plot (PNG, SVG, PDF).")] = None,
    as_json: AsJson = False,
) -> None:
    """Bound the precision of every segment from the labels of the whole list; the number of segments is accounted for.

    Examples:

        karat slices draw.json to_label.csv --by relation

        karat slices draw.json to_label.csv --by relation --rank 10000 --plot relations.png
    """
    document = study.load_draw(draw)
    answers = read_answers(labels, document)
    engine = study.reopen_resource(document, source=source, engine="memory")
    found = slice_precision(engine, document, answers, by=by, rank=rank, confidence_level=confidence)
    if plot is not None:
        plotting.save(found.plot(), plot)
        say(f"wrote {plot}")
    if as_json:
        print_json(found.to_dict())
        return
    print_table(
        [by, "precision", "items", "labels"],
        [
            [name, range_text(found.at(name)), *(f"{count[place]:,}" for count in (found.n_items, found.n_labels))]
            for place, name in enumerate(found.names)
        ],
    )
    print_text(
        f"Among the top {found.rank:,}; with {found.confidence_level:.0%} confidence all {len(found)} intervals hold."
    )
    for note in found.notes:
        print_text(note)
