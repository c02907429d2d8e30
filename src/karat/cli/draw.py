"""`karat draw`: which items to judge?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat import study
from karat.cli.options import (
    AsJson,
    CheckIds,
    Choice,
    EngineName,
    IdColumn,
    LowerIsBetter,
    MemoryLimit,
    ProxyColumn,
    Score,
    Seed,
    SpillDirectory,
    with_method,
)
from karat.cli.output import print_json, print_text, say, watch_scans
from karat.errors import InvalidInput


@with_method
def run(
    choice: Choice,
    source: Annotated[list[str], typer.Argument(help="CSV, TSV, JSONL or Parquet files, a glob, or kb.duckdb::TABLE.")],
    score: Score,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the draw.")],
    id: IdColumn = None,
    seed: Seed = 0,
    items_out: Annotated[
        Path | None, typer.Option("--items-out", help="Write the items as CSV with an empty column 'label'.")
    ] = None,
    show_scores: Annotated[bool, typer.Option("--show-scores", help="Put rank and score into that CSV.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    lower_is_better: LowerIsBetter = False,
    proxy: ProxyColumn = None,
    engine: EngineName = "auto",
    check_ids: CheckIds = False,
    memory_limit: MemoryLimit = None,
    spill_directory: SpillDirectory = None,
    as_json: AsJson = False,
) -> None:
    """Choose the items to judge and write them down.

    Examples:

        karat draw facts.parquet --score confidence --id fact -o draw.json --items-out to_label.csv

        karat draw 'parts/*.parquet' --score score --id id --method paula --memory-limit 4GB -o draw.json

        karat draw /data/facts --score score --id id --engine spark://master:7077 -o draw.json

        karat draw 'parts/*.csv' --score score --method uniform --labels 2000 --seed 7 -o draw.json
    """
    method = choice.make()
    for option, path in (("--output", output), ("--items-out", items_out)):
        if path is not None and path.exists() and not overwrite:
            raise InvalidInput(
                f"{path} exists: labels bought for it would be lost. Give '{option}' another name, or '--overwrite'."
            )
    with watch_scans() as watch:
        resource = study.open_resource(
            source,
            score=score,
            id=id,
            seed=seed,
            higher_is_better=not lower_is_better,
            engine=engine,
            check_ids=check_ids,
            memory_limit=memory_limit,
            spill_directory=spill_directory,
            watch=watch,
        )
        work = study.Study(resource, method, proxy=proxy)
        items = work.ask()
    if items_out is not None:
        dropped = study.write_items(items_out, items, seed=seed, show_scores=show_scores)
        if dropped:
            say(f"left out of {items_out}: the resource's own column {', '.join(map(repr, dropped))}")
    work.save(output)
    if as_json:
        print_json({"n_items": resource.n_items, "labels": len(items.ids), "method": method.name, "draw": str(output)})
        return
    print_text(f"{len(items.ids):,} of {resource.n_items:,} items to label now ({method.name}); draw in {output}.")
    goes_on = method.name == "certify"
    n_draws = len(items.ids) if goes_on else method.plan(resource.n_items)["labels"]
    if n_draws > len(items.ids):
        print_text(f"They come from {n_draws:,} draws: an item that is drawn again is labelled once.")
    _say_what_next(output, items_out, goes_on=goes_on)


def _say_what_next(output: Path, items_out: Path | None, *, goes_on: bool) -> None:
    if items_out is None:
        print_text("Only their ids were written; '--items-out to_label.csv' gives a table to fill.")
    else:
        print_text(f"Fill the column 'label' of {items_out} (1 or 0; yes, no, unsure).")
    labels = items_out or "LABELS"
    if goes_on:
        print_text("These are the first ones. When they are labelled, ask for more, until nothing is left:")
        print_text(f"  karat next {output} {labels} --items-out more.csv")
    print_text("Then:")
    print_text(f"  karat curve {output} {labels}{' more.csv' if goes_on else ''}")
