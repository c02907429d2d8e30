"""`karat bands`: how far can the curve of my labelled sample be trusted?"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from karat import _check, plotting, study
from karat.bands.compare import compare_curves
from karat.bands.single import pr_band, roc_band
from karat.cli.metrics import read_labelled
from karat.cli.options import AsJson, LowerIsBetter, Score, Seed
from karat.cli.output import print_json, print_text, say
from karat.errors import InvalidInput
from karat.formats.tables import FileTable
from karat.report.bands import render_band


def run(
    source: Annotated[list[str], typer.Argument(help="CSV, TSV, JSONL or Parquet files, or a glob.")],
    score: Score,
    label: Annotated[str, typer.Option("--label", help="The column with 1 (right) and 0 (wrong).")],
    curve: Annotated[str, typer.Option(help="pr or roc.")] = "pr",
    method: Annotated[
        str,
        typer.Option(
            help="default, exact, clemencon-vayatis; one level at a time: pointwise, studentised, asymptotic."
        ),
    ] = "default",
    against: Annotated[str | None, typer.Option(help="A second system's score: band for the difference.")] = None,
    probability: Annotated[str | None, typer.Option(help="The column with each item's chance of being drawn.")] = None,
    stratum: Annotated[str | None, typer.Option(help="The column with each item's stratum.")] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    from_level: Annotated[float, typer.Option(help="Smallest recall (or false positive rate) to cover.")] = 0.05,
    to_level: Annotated[float, typer.Option(help="Largest recall (or false positive rate) to cover.")] = 0.95,
    threshold: Annotated[float | None, typer.Option(help="Also F1 at this score.")] = None,
    resampling_rate: Annotated[
        float | None, typer.Option(help="clemencon-vayatis: share of positives in the replicates.")
    ] = None,
    replicates: Annotated[int, typer.Option(help="Bootstrap replicates.")] = 2000,
    seed: Seed = 0,
    lower_is_better: LowerIsBetter = False,
    plot: Annotated[Path | None, typer.Option(help="Write a picture (PNG, SVG, PDF).")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained report.")] = None,
    as_json: AsJson = False,
) -> None:
    """Bound the PR or ROC curve of the population that a labelled sample was drawn from.

    Examples:

        karat bands sample.csv --score score --label label --plot pr.png

        karat bands sample.csv --score old --label label --against new --html b_or_a.html
    """
    _check.one_of("curve", curve, ("pr", "roc"))
    scores, labels = read_labelled(source, score=score, label=label, lower_is_better=lower_is_better)
    table = FileTable(source)
    weights: dict[str, Any] = {
        "inclusion_probabilities": None if probability is None else table.numbers(probability),
        "strata": None if stratum is None else table.texts(stratum),
    }
    shared: dict[str, Any] = {"confidence_level": confidence, "n_replicates": replicates, "seed": seed, **weights}
    levels = (from_level, to_level)
    if against is not None:
        if method != "default" or threshold is not None:
            raise InvalidInput("'--against' goes with neither '--method' nor '--threshold'.")
        other = table.numbers(against)
        second = -other if lower_is_better else other
        found: Any = compare_curves(labels, scores, second, curve=curve, level_range=levels, **shared)
        found = replace(found, names=(score, against))
        title = f"Is {against} better than {score}?"
    else:
        shared |= {"method": method, "threshold": threshold, "resampling_rate": resampling_rate}
        if curve == "pr":
            found = pr_band(labels, scores, recall_range=levels, **shared)
        else:
            found = roc_band(labels, scores, false_positive_range=levels, **shared)
        title = f"How far can the {curve.upper()} curve of {score} be trusted?"
    if plot is not None:
        plotting.save(found.plot(), plot)
        say(f"wrote {plot}")
    if html is not None:
        with study.write_whole(html) as stream:
            stream.write(render_band(found, title=title, commands=[f"karat {' '.join(sys.argv[1:])}"]))
        say(f"wrote {html}")
    if as_json:
        print_json(found.to_dict())
        return
    print_text(str(found))
    for note in found.notes:
        print_text(note)
