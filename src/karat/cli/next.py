"""`karat next`: which items to judge next?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat import study
from karat.cli.options import AsJson, MemoryLimit, SpillDirectory
from karat.cli.output import print_json, print_text, watch_scans
from karat.designs import catalogue
from karat.errors import InvalidInput
from karat.formats.answers import read_answers
from karat.showing import target

if TYPE_CHECKING:
    from karat.draws import Draw


def run(
    draw: Annotated[Path, typer.Argument(help="The draw to extend.")],
    labels: Annotated[list[str], typer.Argument(help="Tables with 'id' (or 'rank') and 'label'.")],
    n: Annotated[int, typer.Option("-n", help="About how many further items.")] = 200,
    source: Annotated[str | None, typer.Option(help="Where the resource is now, if it was moved.")] = None,
    items_out: Annotated[
        Path | None, typer.Option("--items-out", help="Write the items as CSV with an empty column 'label'.")
    ] = None,
    show_scores: Annotated[bool, typer.Option("--show-scores", help="Put rank and score into that CSV.")] = False,
    memory_limit: MemoryLimit = None,
    spill_directory: SpillDirectory = None,
    as_json: AsJson = False,
) -> None:
    """Ask an adaptive draw for more items, now that some labels are in.

    The draw is extended by a sealed batch; nothing in it is changed. Unsure and missing answers are never redrawn.

    Examples:

        karat next draw.json labels.csv -n 200 --items-out more.csv

        karat next draw.json first.csv second.csv -n 500 --items-out third.csv
    """
    if items_out is not None and items_out.exists():
        raise InvalidInput(f"{items_out} exists: labels in it would be lost. Give '--items-out' another name.")
    document = study.load_draw(draw)
    answers = read_answers(labels, document)
    with watch_scans() as watch:
        work = study.Study.resume(
            document,
            answers,
            source=source,
            memory_limit=memory_limit,
            spill_directory=spill_directory,
            watch=watch,
        )
        items = work.ask(n)
    if len(items.ids):
        if items_out is not None:
            study.write_items(items_out, items, seed=document.seed + len(work.draw.batches), show_scores=show_scores)
        work.save(draw)
    if as_json:
        print_json({"labels": len(items.ids), "pending": len(work.pending), "done": work.done, "draw": str(draw)})
        return
    if work.done:
        reason = target(work.curve()) or "All items of the draw are labelled."
        print_text(f"Nothing more to label. {reason}{_why_not_all(document)} See: karat curve {draw} LABELS")
    elif not len(items.ids):
        print_text(f"Nothing can be laid out before the {len(work.pending):,} open answers are in.")
    else:
        print_text(f"{len(items.ids):,} more items to label; the draw in {draw} was extended.")


def _why_not_all(draw: Draw) -> str:
    """Say why a budget was not spent to the last label, if it was not."""
    budget = draw.parameters.get("budget")
    if budget is None or draw.n_ranks >= budget:
        return ""
    n_items = catalogue.make_method(draw.method, **draw.parameters).goes_to(draw.n_items)
    if draw.n_ranks == n_items:
        return f" All {n_items:,} items were asked for: there are no more that the budget could buy."
    return (
        f" {draw.n_ranks:,} of at most {budget:,} labels were asked for: a plan is kept a little below its budget, "
        "which is never exceeded."
    )
