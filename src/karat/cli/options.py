"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from karat.designs import catalogue
from karat.errors import InvalidInput

if TYPE_CHECKING:
    from karat.designs.base import Method

DEFAULT_METHOD = "certify"

Score = Annotated[str, typer.Option("--score", help="The column to rank by.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="The column that names an item; row numbers if not given.")]
LowerIsBetter = Annotated[bool, typer.Option("--lower-is-better", help="Rank the smallest scores first.")]
ProxyColumn = Annotated[
    str | None, typer.Option("--proxy", help="certify: a column with a cheap guess (a judge model's vote or chance).")
]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        help="'auto', 'memory', 'duckdb', 'spark' or a Spark master (spark://host:7077).",
        rich_help_panel="Large resources",
    ),
]
CheckIds = Annotated[
    bool,
    typer.Option(
        "--check-ids", help="Look for missing and doubled ids in all items.", rich_help_panel="Large resources"
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option("--memory-limit", help="How much DuckDB may take, such as 4GB.", rich_help_panel="Large resources"),
]
SpillDirectory = Annotated[
    Path | None,
    typer.Option(
        "--spill-directory",
        help="Where to put what does not fit into memory; removed at the end.",
        rich_help_panel="Large resources",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Makes every random choice repeatable.")]
Db = Annotated[
    str | None, typer.Option("--db", help="The service's database: a path, or a URL of PostgreSQL. [default: karat.db]")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _option(kind: Any, flag: str, help_text: str) -> Any:
    return Annotated[kind, typer.Option(flag, help=help_text, rich_help_panel="Method")]


# parameter of a method -> its option
_METHOD_OPTIONS: dict[str, Any] = {
    "confidence_level": _option(float | None, "--confidence", "Probability that all bounds hold at once."),
    "target": _option(str | None, "--target", "certify: within 'relative', 'absolute' or 'either' of the truth."),
    "relative": _option(float | None, "--relative", "certify: wanted relative tightness."),
    "absolute": _option(float | None, "--absolute", "certify: wanted absolute tightness of precision."),
    "from_rank": _option(int | None, "--from-rank", "certify: the tightness counts from this rank on."),
    "top": _option(int | None, "--top", "certify: only this many items matter."),
    "budget": _option(int | None, "--budget", "certify: buy at most this many labels."),
    "looks": _option(int | None, "--looks", "certify: label in so many rounds."),
    "side": _option(str | None, "--side", "certify: 'both', or only the 'lower' or 'upper' bound."),
    "lean": _option(bool | None, "--lean", "certify: fewer labels, tightness missed a little more often."),
    "pilot": _option(int | None, "--pilot", "certify: labels for planning."),
    "pending": _option(int | None, "--pending", "certify: how many answers are usually out at once."),
    "sensitivity": _option(
        str | None, "--sensitivity", "certify: chance that a right item is labelled right: .95 or .9-.97."
    ),
    "specificity": _option(str | None, "--specificity", "certify: chance that a wrong item is labelled wrong."),
    "gold_positives": _option(
        str | None, "--gold-positives", "certify: right gold items labelled right / in all: 97/100."
    ),
    "gold_negatives": _option(str | None, "--gold-negatives", "certify: wrong gold items labelled wrong / in all."),
    "epsilon": _option(
        float | None, "--epsilon", "paula, stratified: ratio of the grid. point: wanted factor 1 + epsilon."
    ),
    "window": _option(int | None, "--window", "paula, stratified: labels at each grid point."),
    "stable_after": _option(int | None, "--stable-after", "paula, stratified: label everything up to this rank."),
    "alpha": _option(float | None, "--alpha", "uniform: wanted factor 1 + alpha."),
    "precision": _option(float | None, "--precision", "stratified, uniform, point: the precision to plan for."),
    "labels": _option(int | None, "--labels", "uniform, point: buy this many labels."),
    "rank": _option(int | None, "--rank", "point: the rank in question."),
}


class Choice(NamedTuple):
    """A method by name and the options that were given for it."""

    name: str
    given: dict[str, Any]

    def make(self) -> Method:
        return catalogue.make_method(self.name, **{key: _read(key, value) for key, value in self.given.items()})


def with_method(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option --method and the options of all methods; it takes a ``choice`` in their place."""
    own = [parameter for parameter in inspect.signature(command, eval_str=True).parameters.values()
           if parameter.name != "choice"]  # fmt: skip
    name = inspect.Parameter(
        "method",
        inspect.Parameter.KEYWORD_ONLY,
        default=DEFAULT_METHOD,
        annotation=_option(str, "--method", f"One of {', '.join(catalogue.METHODS)}."),
    )
    options = [
        inspect.Parameter(f"method_{key}", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for key, annotation in _METHOD_OPTIONS.items()
    ]

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        options_ = {key: given.pop(f"method_{key}") for key in _METHOD_OPTIONS}
        chosen = {key: value for key, value in options_.items() if value is not None}
        return command(choice=Choice(given.pop("method"), chosen), **given)

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own] + [name, *options]
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped


def _read(key: str, value: Any) -> Any:
    if key in {"sensitivity", "specificity"}:
        return _numbers(key, value, "-", float, "a number or a range such as .9-.97")
    if key in {"gold_positives", "gold_negatives"}:
        return _numbers(key, value, "/", int, "two counts such as 97/100")
    return value


def _numbers(key: str, text: str, separator: str, kind: type, expected: str) -> Any:
    try:
        numbers = tuple(kind(part) for part in text.split(separator))
    except ValueError:
        numbers = ()
    if len(numbers) not in {1, 2} or (kind is int and len(numbers) != 2):
        raise InvalidInput(f"'{key}' must be {expected}; got {text!r}.")
    return numbers[0] if len(numbers) == 1 else numbers
