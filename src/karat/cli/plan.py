"""`karat plan`: how many labels?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from karat import _check, plotting
from karat.cli.options import AsJson, Choice, EngineName, IdColumn, MemoryLimit, SpillDirectory, flag, with_method
from karat.cli.output import print_json, print_table, print_text, say, watch, watch_scans
from karat.designs.catalogue import make_method
from karat.errors import InvalidInput
from karat.formats.tables import FileTable
from karat.math.geometric import make_grid
from karat.resources import names_spark, open_resource
from karat.results import show

_WIDTHS = ("half_width_relative", "half_width_absolute")
_USUAL_SCORE = "score"
_SHARES = (0.01, 0.1, 0.5, 0.9)
_RUNS_COMPARED = 1
"""Simulations of certify for each guarantee that is compared: there are many."""
_COMPARED = ("certify", "paula", "stratified", "uniform")
_MEANING = {
    "epsilon": "the accuracy asked for",
    "window": "items labelled together at a grid point",
    "r_tilde": "rank from which the analysis holds (r~ in the paper)",
    "l": "grid points up to there",
    "g_l": "labelled whole up to this rank",
    "m": "least distance of grid points beyond",
    "L": "grid points in all",
    "gamma": "factor lost between grid points",
    "factor": "guaranteed: within this factor of the true precision",
    "exhaustive": "items labelled from the top",
    "draws": "items drawn from the whole list",
    "draws_per_point": "draws that each grid point needs",
    "cost": "of all labels",
}
_SAID = {"method", "items", "labels", "scores"}
_EPSILONS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.10)


@with_method
def run(
    choice: Choice,
    source: Annotated[
        list[str] | None, typer.Argument(help="The resource itself; its items are counted.", show_default=False)
    ] = None,
    items: Annotated[int | None, typer.Option("--items", help="How many items the list has.")] = None,
    score: Annotated[
        str | None,
        typer.Option("--score", help="With SOURCE: say how this column is spread. [default: 'score', if there is one]"),
    ] = None,
    id: IdColumn = None,
    engine: EngineName = "auto",
    memory_limit: MemoryLimit = None,
    spill_directory: SpillDirectory = None,
    cost_per_label: Annotated[float | None, typer.Option(help="Adds what the labels cost.")] = None,
    rates: Annotated[
        str | None, typer.Option(help="certify: assumed share of right items at some ranks: 1:.95,10000:.6")
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="All methods at several guarantees.")] = False,
    plot: Annotated[Path | None, typer.Option(help="With --compare: write the picture (PNG, SVG, PDF).")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many labels a method needs.

    Examples:

        karat plan --items 1000000 --rates 1:.95,1000000:.4 --cost-per-label 0.1

        karat plan --items 217077 --method paula --epsilon 0.03

        karat plan --items 217077 --method uniform --alpha 0.08 --precision 0.7

        karat plan --items 10000000 --compare --plot labels.png

        karat plan 'parts/*.parquet' --score confidence --method paula

        karat plan spark://master:7077/data/facts --score confidence --id fact
    """
    if items is None and not source:
        raise InvalidInput("'SOURCE' or '--items' must be given: a resource whose items are counted, or their number.")
    if items is not None and source:
        raise InvalidInput(f"'--items' must be left out where a resource is counted; got {items} and {source[0]}.")
    opening: dict[str, Any] = {
        "id": id,
        "engine": engine,
        "memory_limit": memory_limit,
        "spill_directory": spill_directory,
    }
    items, spread = (items, {}) if items is not None else _look_at(source or [], score, **opening)
    if plot is not None and not compare:
        raise InvalidInput("'--plot' goes with '--compare'.")
    if compare:
        _compare(items, choice.given, plot, as_json=as_json)
        return
    method: Any = choice.make()
    is_certify = choice.name == "certify"
    if rates is not None and not is_certify:
        raise InvalidInput("'--rates' goes with '--method certify'.")
    found = method.plan(items, rates=_read_rates(rates, items)) if is_certify else method.plan(items)
    planned = {"method": choice.name, "items": items, **found}
    if cost_per_label is not None:
        planned["cost"] = planned["labels"] * _check.number("cost_per_label", cost_per_label, least=0)
    if spread:
        planned["scores"] = spread
    if as_json:
        print_json(planned)
    else:
        _print_plan(planned)


def _print_plan(planned: dict[str, Any]) -> None:
    print_text(f"{planned['method']} needs {planned['labels']:,} labels for {planned['items']:,} items.")
    if "scores" in planned:
        listed = ", ".join(f"{name} {value:.4g}" for name, value in planned["scores"].items())
        print_text(f"Scores: {listed}.")
    if planned["method"] == "certify":
        _explain_certify(planned)
        return
    rows = [(name, _MEANING.get(name, ""), show(value) if isinstance(value, float) else f"{value:,}")
            for name, value in planned.items() if name not in _SAID and value is not None]  # fmt: skip
    print_table(["", "", ""], rows)


def _look_at(source: list[str], score: str | None, *, engine: str, **opening: Any) -> tuple[int, dict[str, float]]:
    """Count the items of a resource and, where a score is named or usual, say how it is spread."""
    if score is None and not names_spark(source, engine):
        table = FileTable(source)
        if _USUAL_SCORE not in table.columns:
            return table.n_rows, {}
    with watch_scans() as watch:
        resource = open_resource(source, score=score or _USUAL_SCORE, engine=engine, watch=watch, **opening)
        n_items = resource.n_items
        ranks = np.array([1, *(max(1, round(n_items * share)) for share in _SHARES), n_items])
        names = ["highest", *(f"top {share:.0%}" for share in _SHARES), "lowest"]
        return n_items, dict(zip(names, map(float, resource.scores_at(ranks)), strict=True))


def _explain_certify(planned: dict[str, Any]) -> None:
    print_text(
        f"For bounds {planned['target']}; simulated: {planned['labels_low']:,} to {planned['labels_high']:,} labels."
    )
    for row in planned["budgets"]:
        widths = [f"±{row['half_width_relative']:.0%}", f"±{row['half_width_absolute']:.3f}"]
        width = " or ".join(text for text, key in zip(widths, _WIDTHS, strict=True) if row[key] > 0)
        print_text(f"  {row['labels']:>6,} labels: {'within target' if row['worst_over_target'] <= 1 else width}")
    ends = list(planned["assumed_rates"].items())
    print_text(
        f"Assumed: {ends[0][1]:.2f} of the items right at the top, {ends[-1][1]:.2f} at rank {int(ends[-1][0]):,}"
    )
    print_text("(other lists: --rates 1:.95,10000:.6; the bounds hold whatever the list is like).")
    if "cost" in planned:
        print_text(f"Cost: {planned['cost']:,.2f}")


def _read_rates(text: str | None, items: int) -> dict[int, float] | None:
    if text is None:
        return None
    rates: dict[int, float] = {}
    for part in text.split(","):
        rank, _, rate = part.partition(":")
        try:
            rates[int(rank) if rate else items] = float(rate or rank)
        except ValueError:
            raise InvalidInput(f"'--rates' must look like 1:.95,10000:.6 or .8; got {text!r}.") from None
    return rates


def _compare(items: int, given: dict[str, Any], plot: Path | None, *, as_json: bool) -> None:
    stray = sorted(flag(key) for key in set(given) - {"window", "precision", "confidence_level"})
    if stray:
        raise InvalidInput(f"'--compare' takes --window, --precision and --confidence; got {', '.join(stray)}.")
    window = given.get("window")
    planned_precision, level = given.get("precision", 0.5), given.get("confidence_level", 0.95)
    rows: list[dict[str, Any]] = []
    for epsilon in watch("planning")(_EPSILONS):
        shared = {"epsilon": epsilon} | ({} if window is None else {"window": window})
        sampling = {"precision": planned_precision, "confidence_level": level}
        paula = make_method("paula", **shared).plan(items)
        stratified = make_method("stratified", **shared, **sampling).plan(items)
        factor = make_grid(items, **shared).factor
        uniform = make_method("uniform", alpha=factor - 1, **sampling).plan(items)
        certify: Any = make_method("certify", target="relative", relative=factor - 1, confidence_level=level)
        rates = {1: planned_precision, items: planned_precision}
        certified = certify.plan(items, rates=rates, budgets=(), runs=_RUNS_COMPARED)
        rows.append({"epsilon": epsilon, "factor": factor, "certify": certified["labels"], "paula": paula["labels"],
                     "stratified": stratified["labels"], "uniform": uniform["labels"]})  # fmt: skip
    if plot is not None:
        axes = plotting.draw_label_counts(
            [row["factor"] for row in rows],
            {name: [row[name] for row in rows] for name in _COMPARED},
            title=f"Labels for a guarantee on all of {items:,} items",
        )
        plotting.save(axes, plot)
        say(f"wrote {plot}")
    if as_json:
        print_json({"items": items, "precision": planned_precision, "confidence_level": level,
                    "certify_runs": _RUNS_COMPARED, "rows": rows})  # fmt: skip
        return
    print_table(
        ["epsilon", "factor", *_COMPARED],
        [[f"{row['epsilon']:g}", f"{row['factor']:.4f}", *(f"{row[name]:,}" for name in _COMPARED)]
         for row in rows],
        title=f"Labels so that precision is known within a factor, at every rank of {items:,} items "
        f"(planned for precision {planned_precision:g}, confidence {level:.0%}; certify simulated once)",
    )  # fmt: skip
