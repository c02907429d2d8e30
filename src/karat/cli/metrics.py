"""`karat metrics`: every label is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from karat import plotting
from karat.cli.options import AsJson, LowerIsBetter, MemoryLimit, Score, SpillDirectory
from karat.cli.output import print_json, print_table, print_text, say, watch_scans
from karat.errors import InvalidData
from karat.exact_curve import ExactCurve, exact
from karat.formats.tables import FileTable
from karat.measured import MeasuredCurve, measure
from karat.results import show

SORTED_ROWS = 5_000_000
"""Up to this many rows are sorted in memory; more go into buckets."""


def read_labelled(source: list[str], *, score: str, label: str, lower_is_better: bool) -> tuple[np.ndarray, np.ndarray]:
    """Read scores (higher first) and labels of 0 and 1."""
    table = FileTable(source)
    table.require(score)
    try:
        values = table.numbers(label)
    except InvalidData as error:  # words, say
        raise InvalidData(str(error).replace("expected a finite number", "expected 0 or 1")) from None
    bad = np.flatnonzero((values != 0) & (values != 1))
    if bad.size:
        path, row = table.locate(int(bad[0]))
        raise InvalidData(
            f"{path}, row {row}, column '{label}': expected 0 or 1; got {values[bad[0]]:g} "
            f"({len(bad):,} such rows in all)."
        )
    scores = table.numbers(score)
    return -scores if lower_is_better else scores, values.astype(np.int8)


def run(
    source: Annotated[list[str], typer.Argument(help="CSV, TSV, JSONL or Parquet files, or a glob.")],
    score: Score,
    label: Annotated[str, typer.Option("--label", help="The column with 1 (right) and 0 (wrong).")],
    at: Annotated[list[int] | None, typer.Option("--at", help="A rank to report; may be repeated.")] = None,
    ties: Annotated[
        str, typer.Option(help="'threshold' (tied items together) or 'random' (expectation).")
    ] = "threshold",
    lower_is_better: LowerIsBetter = False,
    plot: Annotated[Path | None, typer.Option(help="Write a picture (PNG, SVG, PDF).")] = None,
    kind: Annotated[str, typer.Option(help=f"What to draw: {', '.join(plotting.KINDS)}.")] = "pr",
    memory_limit: MemoryLimit = None,
    spill_directory: SpillDirectory = None,
    as_json: AsJson = False,
) -> None:
    """Compute the exact metrics of a fully labelled ranking of any size.

    Examples:

        karat metrics results.parquet --score score --label label --at 100 --at 1000

        karat metrics results.csv --score score --label label --plot roc.svg --kind roc --json
    """
    curve: ExactCurve | MeasuredCurve
    if FileTable(source).n_rows > SORTED_ROWS:
        with watch_scans() as watch:
            curve = measure(
                source,
                score=score,
                label=label,
                ties=ties,  # type: ignore[arg-type]
                higher_is_better=not lower_is_better,
                at=at or [],
                memory_limit=memory_limit,
                spill_directory=spill_directory,
                watch=watch,
            )
    else:
        scores, labels = read_labelled(source, score=score, label=label, lower_is_better=lower_is_better)
        curve = exact(labels, scores, ties=ties)  # type: ignore[arg-type]
    summary = curve.summary(at or [])
    if plot is not None:
        plotting.save(curve.plot(kind), plot)
        say(f"wrote {plot}")
    if as_json:
        print_json(summary)
        return
    print_text(str(curve))
    if at:
        names = ("precision", "recall", "f_beta", "yield", "lift", "specificity", "accuracy")
        heads = ["F1" if name == "f_beta" else name for name in names]
        print_table(["items kept", *heads], [[f"top {row['rank']:,.0f}", *(_cell(row[name]) for name in names)]
                                             for row in summary["at"]])  # fmt: skip
        for wanted, row in zip(at, summary["at"], strict=True):
            if row["rank"] != wanted:
                print_text(
                    f"Rank {wanted:,} stands among items with equal scores, which are kept together: top "
                    f"{row['rank']:,.0f}. '--ties random' takes the expectation over their orders."
                )


def _cell(value: float | None) -> str:
    return "undefined" if value is None else show(value)
