"""`karat pool`: many systems, one pool of labels."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from karat import plotting, study
from karat.cli.options import AsJson
from karat.cli.output import count, print_json, print_text, report, say
from karat.cli.pool_labels import errors, next_items, tell, truth
from karat.cli.pool_options import AnyDoc, Confidence, Folder, Metric, Relation
from karat.cli.pool_replay import bias, simulate
from karat.errors import KaratError
from karat.pool.pool import Pool
from karat.report.leaderboard import render_leaderboard

OPTIONS = {
    "half_width": "--half-width",
    "confidence_level": "--confidence",
    "seed": "--seed",
    "law": "--law",
    "learn": "--independent",
    "replace": "--replace",
    "keep_unknown": "--keep-unknown",
    "metric": "--metric",
    "interval": "--interval",
    "documents": "--document",
    "stated_in": "--stated-in",
    "sensitivity": "--sensitivity",
    "specificity": "--specificity",
    "items": "--items",
    "folder": "POOL",
    "name": "SYSTEM",
    "n": "-n",
}
"""What the arguments of `Pool` are called here, for errors."""


def create(
    pool: Folder,
    seed: Annotated[int, typer.Option(help="Decides which items are drawn.")] = 0,
    half_width: Annotated[float, typer.Option(help="How well each system's precision shall be known.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="Confidence level of each interval (of a curve: 0.95).")] = 0.9,
    law: Annotated[str, typer.Option(help="uniform, predicate, subject, entity or own.")] = "uniform",
    relation: Relation = None,
    universe: Annotated[Path | None, typer.Option(help="A file with all ids that submissions may name.")] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="Let no label decide how many more are drawn (for betting intervals).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make an empty pool.

    Examples:

        karat pool create matchers --half-width 0.04

        karat pool create kb --law entity --relation subject --relation predicate --relation object
    """
    made = Pool.create(
        pool,
        seed=seed,
        half_width=half_width,
        confidence_level=confidence,
        law=law,  # type: ignore[arg-type]
        relation=relation or (),
        universe=universe,
        learn=not independent,
    )
    report(
        {"pool": str(pool), **asdict(made.state.settings)},
        f"An empty pool in {pool}. Next: karat pool add {pool} SYSTEM PREDICTIONS",
        as_json=as_json,
    )


def add(
    pool: Folder,
    system: Annotated[str, typer.Argument(help="The system's name.")],
    predictions: Annotated[Path, typer.Argument(help="CSV, TSV, JSONL, Parquet with 'id', or a TREC run.")],
    team: Annotated[str, typer.Option(help="Who submits it.")] = "",
    judge: Annotated[bool, typer.Option("--judge", help="These are a judge model's votes, not a system.")] = False,
    depth: Annotated[int | None, typer.Option(help="Of a TREC run, keep this many ranks.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let it take the place of the system of this name.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Submit a system; a pool that does not exist is made.

    Examples:

        karat pool add matchers levenshtein levenshtein.csv

        karat pool add trec bm25 bm25.run --depth 100
    """
    is_new = not pool.exists()
    opened = Pool.create(pool) if is_new else Pool(pool)
    try:
        gone = opened.add(system, predictions, team=team, is_judge=judge, depth=depth, replace=replace)
    except KaratError:
        if is_new:
            shutil.rmtree(pool)
        raise
    added = opened.state.systems[-1]
    what = f"{system} is in with {count(added.n_predictions, 'prediction')}"
    if gone is not None:
        what = f"{system} replaces {count(gone.n_predictions, 'prediction')} with {added.n_predictions:,}"
    report(
        {**asdict(added), "replaced": None if gone is None else gone.number, "n_systems": len(opened.systems)},
        f"{what}; {count(len(opened.systems), 'system')} in {pool}. Next: karat pool next {pool}",
        as_json=as_json,
    )


def retract(
    pool: Folder, system: Annotated[str, typer.Argument(help="The system to take off.")], as_json: AsJson = False
) -> None:
    """Take a system off the leaderboard; its labels go on serving the others.

    Examples:

        karat pool retract matchers levenshtein
    """
    opened = Pool(pool)
    opened.retract(system)
    report(
        {"retracted": system, "n_systems": len(opened.systems)},
        f"{system} is off the leaderboard; {count(len(opened.systems), 'system')} in {pool}.",
        as_json=as_json,
    )


def scores(
    pool: Folder,
    metric: Metric = "f1",
    interval: Annotated[str, typer.Option(help="logit, bootstrap, or betting (guaranteed).")] = "logit",
    confidence: Confidence = None,
    anydoc: AnyDoc = False,
    plot: Annotated[Path | None, typer.Option(help="Write a picture of the intervals (PNG, SVG, PDF).")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained report.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the leaderboard: precision, recall and F1 with intervals and honest ties.

    Examples:

        karat pool scores matchers --metric precision --html leaderboard.html
    """
    board = Pool(pool).scores(
        metric,  # type: ignore[arg-type]
        interval=interval,  # type: ignore[arg-type]
        confidence_level=confidence,
        anydoc=anydoc,
    )
    if plot is not None:
        plotting.save(board.plot(), plot)
        say(f"wrote {plot}")
    if html is not None:
        with study.write_whole(html) as stream:
            stream.write(render_leaderboard(board, title=pool.name, commands=[f"karat {' '.join(sys.argv[1:])}"]))
        say(f"wrote {html}")
    if as_json:
        print_json(board.to_dict())
    else:
        print_text(str(board))


def compare(
    pool: Folder,
    first: Annotated[str, typer.Argument(help="A system.")],
    second: Annotated[str, typer.Argument(help="Another one.")],
    metric: Metric = "f1",
    confidence: Confidence = None,
    anydoc: AnyDoc = False,
    as_json: AsJson = False,
) -> None:
    """Compare two systems on the labels that both share.

    Examples:

        karat pool compare matchers levenshtein jaccard --metric precision
    """
    found = Pool(pool).compare(first, second, metric=metric, confidence_level=confidence, anydoc=anydoc)  # type: ignore[arg-type]
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(str(found))


group = typer.Typer(
    name="pool",
    help="Score many systems from one pool of labels, kept in a folder.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
_COMMANDS: tuple[Callable[..., None], ...] = (
    create,
    add,
    retract,
    next_items,
    tell,
    errors,
    truth,
    scores,
    compare,
    bias,
    simulate,
)
for command in _COMMANDS:
    group.command("next" if command is next_items else None)(command)
