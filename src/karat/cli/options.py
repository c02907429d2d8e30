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


def flag(parameter: str) -> str:
    """Return the option of a method's parameter."""
    return "--confidence" if parameter == "confidence_level" else "--" + parameter.replace("_", "-")


def _option(kind: Any, flag: str, help_text: str) -> Any:
    return Annotated[kind, typer.Option(flag, help=help_text, rich_help_panel="Method")]


# parameter of a method -> kind and help of its option; defaults are said here, as importing all methods takes long
METHOD_PARAMETERS: dict[str, tuple[type, str]] = {
    "confidence_level": (float, "Probability that all bounds hold at once. [default: 0.95]"),
    "target": (
        str,
        "certify: tightness to either side of the bounds' middle: relative, absolute or either. [default: either]",
    ),
    "relative": (float, "certify: to either side, as a share of the right items. [default: 0.08]"),
    "absolute": (float, "certify: to either side, in precision. [default: 0.02]"),
    "from_rank": (int, "certify: the target counts from this rank on. [default: 1000]"),
    "top": (int, "certify: only this many items matter. [default: all]"),
    "budget": (int, "certify: buy at most this many labels. [default: what the target needs]"),
    "looks": (int, "certify: label in so many rounds. [default: 1]"),
    "side": (str, "certify: 'both', or only the 'lower' or 'upper' bound. [default: both]"),
    "lean": (bool, "certify: fewer labels, the target missed a little more often."),
    "pilot": (int, "certify: labels for planning. [default: by the length of the list]"),
    "pending": (int, "certify: how many answers are usually out at once. [default: 0]"),
    "sensitivity": (
        str,
        "certify: chance that a right item is labelled right: .95 or .9-.97. [default: labels are right]",
    ),
    "specificity": (str, "certify: chance that a wrong item is labelled wrong. [default: labels are right]"),
    "gold_positives": (str, "certify: right gold items labelled right / in all: 97/100. [default: none]"),
    "gold_negatives": (str, "certify: wrong gold items labelled wrong / in all. [default: none]"),
    "epsilon": (
        float,
        "paula, stratified: ratio of the grid [default: 0.03]. point: wanted factor 1 + epsilon [default: 0.05].",
    ),
    "window": (int, "paula, stratified: labels at each grid point. [default: 100]"),
    "stable_after": (int, "paula, stratified: label everything up to this rank. [default: what the analysis needs]"),
    "alpha": (float, "uniform: wanted factor 1 + alpha. [default: 0.08]"),
    "precision": (float, "The precision to plan for: uniform, point [default: 0.7], stratified [default: 0.5]."),
    "labels": (int, "uniform, point: buy this many labels. [default: what the wanted factor needs]"),
    "rank": (int, "point: the rank in question. [default: the whole list]"),
}


class Choice(NamedTuple):
    """A method by name and the options that were given for it."""

    name: str
    given: dict[str, Any]

    def make(self) -> Method:
        known = catalogue.parameters_of(self.name)
        stray = [flag(key) for key in self.given if key not in known]
        if stray:
            taken = ", ".join(flag(key) for key in known)
            raise InvalidInput(f"'{stray[0]}' does not go with '--method {self.name}', which takes {taken}.")
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
        inspect.Parameter(
            f"method_{key}",
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=_option(kind | None, flag(key), text),
        )
        for key, (kind, text) in METHOD_PARAMETERS.items()
    ]

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        options_ = {key: given.pop(f"method_{key}") for key in METHOD_PARAMETERS}
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
