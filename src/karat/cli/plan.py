"""`karat plan`: how many labels?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from karat import plotting
from karat.cli.options import AsJson, Choice, EngineName, MemoryLimit, SpillDirectory, with_method
from karat.cli.output import print_json, print_table, print_text, say, watch_scans
from karat.designs.paula import Paula
from karat.designs.stratified import Stratified
from karat.designs.uniform import Uniform
from karat.errors import InvalidInput
from karat.formats.tables import FileTable
from karat.resources import open_resource
from karat.results import show

_SHARES = (0.01, 0.1, 0.5, 0.9)
_EPSILONS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.10)


@with_method
def run(
    choice: Choice,
    source: Annotated[
        list[str] | None, typer.Argument(help="The resource itself; its items are counted.", show_default=False)
    ] = None,
    items: Annotated[int | None, typer.Option("--items", help="How many items the list has.")] = None,
    score: Annotated[str | None, typer.Option("--score", help="With SOURCE: say how this column is spread.")] = None,
    engine: EngineName = "auto",
    memory_limit: MemoryLimit = None,
    spill_directory: SpillDirectory = None,
    cost_per_label: Annotated[float | None, typer.Option(help="Adds what the labels cost.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="All methods at several guarantees.")] = False,
    plot: Annotated[Path | None, typer.Option(help="With --compare: write the picture (PNG, SVG, PDF).")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many labels a method needs.

    Examples:

        karat plan --items 217077 --method paula --epsilon 0.03

        karat plan --items 217077 --method uniform --alpha 0.08 --precision 0.7

        karat plan --items 10000000 --compare --plot labels.png

        karat plan 'parts/*.parquet' --score score --method paula
    """
    if (items is None) == (not source):
        raise InvalidInput("'--items' or a resource must be given, not both.")
    spread: dict[str, float] = {}
    if source:
        with watch_scans() as watch:
            items, spread = _look_at(source, score, engine=engine, memory_limit=memory_limit,
                                     spill_directory=spill_directory, watch=watch)  # fmt: skip
    assert items is not None  # noqa: S101
    if plot is not None and not compare:
        raise InvalidInput("'--plot' goes with '--compare'.")
    if compare:
        _compare(items, choice.given, plot, as_json=as_json)
        return
    planned = {"method": choice.name, "items": items, **choice.make().plan(items)}
    if cost_per_label is not None:
        planned["cost"] = planned["labels"] * cost_per_label
    if spread:
        planned["scores"] = spread
    if as_json:
        print_json(planned)
        return
    print_text(f"{choice.name} needs {planned['labels']:,} labels for {items:,} items.")
    rows = [(name, show(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value))
            for name, value in planned.items() if name not in {"method", "items", "labels", "scores"}]  # fmt: skip
    print_table(["", ""], rows)
    if spread:
        print_table(["score", *spread], [["", *(f"{value:.4g}" for value in spread.values())]])


def _look_at(source: list[str], score: str | None, **opening: Any) -> tuple[int, dict[str, float]]:
    """Count the items of a resource and, if a score is named, say how it is spread."""
    if score is None:
        return FileTable(source).n_rows, {}
    resource = open_resource(source, score=score, **opening)
    n_items = resource.n_items
    ranks = np.array([1, *(max(1, round(n_items * share)) for share in _SHARES), n_items])
    names = ["highest", *(f"top {share:.0%}" for share in _SHARES), "lowest"]
    return n_items, dict(zip(names, map(float, resource.scores_at(ranks)), strict=True))


def _compare(items: int, given: dict[str, Any], plot: Path | None, *, as_json: bool) -> None:
    stray = set(given) - {"window", "precision", "confidence_level"}
    if stray:
        raise InvalidInput(f"'--compare' takes --window, --precision and --confidence; got {', '.join(sorted(stray))}.")
    window = given.get("window")
    planned_precision, level = given.get("precision", 0.5), given.get("confidence_level", 0.95)
    rows: list[dict[str, Any]] = []
    for epsilon in _EPSILONS:
        shared = {"epsilon": epsilon} | ({} if window is None else {"window": window})
        paula = Paula(**shared).plan(items)
        stratified = Stratified(precision=planned_precision, confidence_level=level, **shared).plan(items)
        factor = Paula(**shared).grid(items).factor
        uniform = Uniform(alpha=factor - 1, precision=planned_precision, confidence_level=level).plan(items)
        rows.append({"epsilon": epsilon, "factor": factor, "paula": paula["labels"],
                     "stratified": stratified["labels"], "uniform": uniform["labels"]})  # fmt: skip
    if plot is not None:
        names = ("paula", "stratified", "uniform")
        axes = plotting.draw_label_counts(
            [row["factor"] for row in rows],
            {name: [row[name] for row in rows] for name in names},
            title=f"Labels for a guarantee on all of {items:,} items",
        )
        plotting.save(axes, plot)
        say(f"wrote {plot}")
    if as_json:
        print_json({"items": items, "precision": planned_precision, "confidence_level": level, "rows": rows})
        return
    print_table(
        ["epsilon", "factor", "paula", "stratified", "uniform"],
        [[f"{row['epsilon']:g}", f"{row['factor']:.4f}", *(f"{row[n]:,}" for n in ("paula", "stratified", "uniform"))]
         for row in rows],
        title=f"Labels for {items:,} items (sampling planned for precision {planned_precision:g}, {level:.0%})",
    )  # fmt: skip
