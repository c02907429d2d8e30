"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.designs import catalogue

if TYPE_CHECKING:
    from karat.designs.base import Method

DEFAULT_METHOD = "paula"

MethodName = Annotated[
    str, typer.Option("--method", help=f"One of {', '.join(catalogue.METHODS)}.", rich_help_panel="Method")
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        help="paula, stratified: ratio of the grid. point: wanted factor 1 + epsilon.", rich_help_panel="Method"
    ),
]
Window = Annotated[
    int | None, typer.Option(help="paula, stratified: labels at each grid point.", rich_help_panel="Method")
]
StableAfter = Annotated[
    int | None, typer.Option(help="paula, stratified: label everything up to this rank.", rich_help_panel="Method")
]
Alpha = Annotated[float | None, typer.Option(help="uniform: wanted factor 1 + alpha.", rich_help_panel="Method")]
Precision = Annotated[
    float | None,
    typer.Option(help="stratified, uniform, point: the precision to plan for.", rich_help_panel="Method"),
]
Confidence = Annotated[
    float | None, typer.Option(help="Probability that all bounds hold at once.", rich_help_panel="Method")
]
LabelCount = Annotated[
    int | None, typer.Option("--labels", help="uniform, point: buy this many labels.", rich_help_panel="Method")
]
Rank = Annotated[int | None, typer.Option("--rank", help="point: the rank in question.", rich_help_panel="Method")]
Score = Annotated[str, typer.Option("--score", help="The column to rank by.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="The column that names an item; row numbers if not given.")]
LowerIsBetter = Annotated[bool, typer.Option("--lower-is-better", help="Rank the smallest scores first.")]
Seed = Annotated[int, typer.Option("--seed", help="Makes every random choice repeatable.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def make_method(name: str, **given: Any) -> Method:
    """Return the method with the options that were given."""
    return catalogue.make_method(name, **{key: value for key, value in given.items() if value is not None})
