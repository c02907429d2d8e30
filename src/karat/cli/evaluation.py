"""`karat evaluation`: run an evaluation service, submit to one, read its leaderboard."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from karat.cli.evaluation_results import publish, scores, status, truth
from karat.cli.evaluation_submissions import accept, allow, retract, submissions, submit
from karat.cli.options import AsJson, Db
from karat.cli.output import report
from karat.errors import InvalidInput

OPTIONS = {
    "half_width": "--half-width",
    "confidence_level": "--confidence",
    "seed": "--seed",
    "law": "--law",
    "title": "TITLE",
    "votes": "--votes",
    "price": "--price",
    "documents": "--documents",
    "token_price": "--token-price",
    "pair_price": "--pair-price",
    "predicates": "--predicates",
    "types": "--type",
    "read": "--read",
    "read_law": "--read-law",
    "system": "SYSTEM",
}
"""What the library's arguments are called here, for errors."""


def create(
    title: Annotated[str, typer.Argument(help="What it is called.")],
    documents: Annotated[
        Path | None,
        typer.Option(help="Relations in these documents are evaluated: .txt, a folder or .zip (with brat's .ann), "
                     ".jsonl, .json of Label Studio. Without it, any items with an id."),
    ] = None,
    predicates: Annotated[
        Path | None, typer.Option(help="A TOML file: each predicate's name and how people read it.")
    ] = None,
    type: Annotated[list[str] | None, typer.Option("--type", help="A kind of mention; may be repeated.")] = None,
    question: Annotated[str | None, typer.Option(help="What people are asked about each item.")] = None,
    guidelines: Annotated[Path | None, typer.Option(help="A Markdown file, shown to all.")] = None,
    votes: Annotated[int, typer.Option(help="How many people judge an item.")] = 3,
    price: Annotated[float, typer.Option(help="What one answer costs.")] = 0.0,
    currency: Annotated[str, typer.Option(help="For showing the price.")] = "",
    half_width: Annotated[float, typer.Option(help="How well each system's precision shall be known.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="Confidence level of all intervals.")] = 0.9,
    law: Annotated[str, typer.Option(help="uniform, predicate, subject, entity or own.")] = "uniform",
    seed: Annotated[int, typer.Option(help="Decides which items are drawn.")] = 0,
    read: Annotated[
        int | None, typer.Option(help="Also draw so many documents to be read exhaustively, for recall.")
    ] = None,
    read_law: Annotated[str, typer.Option(help="How they are drawn: uniform or entity.")] = "uniform",
    token_price: Annotated[float, typer.Option(help="What reading a token costs.")] = 0.0,
    pair_price: Annotated[float, typer.Option(help="What judging a pair of mentions costs.")] = 0.0,
    db: Db = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Start an evaluation in the labelling service; `karat serve` shows it.

    Examples:

        karat evaluation create "Relations in the news" --documents news.jsonl --predicates predicates.toml --read 20

        karat evaluation create "Entity matching" --question "Is it the same product?"
    """
    from karat.documents.read import read_documents  # noqa: PLC0415  # those that ask a server need none of it
    from karat.service.evaluation_beginning import EvaluationPlan, begin_evaluation  # noqa: PLC0415
    from karat.service.evaluation_task import EvaluationTask  # noqa: PLC0415
    from karat.service.installation import Installation  # noqa: PLC0415
    from karat.web.settings import Settings  # noqa: PLC0415

    given = read_documents(documents) if documents is not None else []
    words = _read_predicates(predicates) if predicates is not None else {}
    more: dict[str, Any] = {"types": tuple(type)} if type else {}
    said: dict[str, Any] = {"question": question} if question else {}
    if guidelines is not None:
        said["guidelines"] = _read_text(guidelines)
    plan = EvaluationPlan(
        title=title,
        task=EvaluationTask(kind="relations" if given else "items", predicates=words, token_price=token_price,
                            pair_price=pair_price, **more),
        settings={"votes": votes, "price": price, "currency": currency, **said},
        pool={"seed": seed, "half_width": half_width, "confidence_level": confidence, "law": law},
        documents=given,
        read=read,
        read_law=read_law,
    )  # fmt: skip
    settings = Settings.read(db=db)
    house = Installation(settings.db, pools=settings.pools)
    try:
        slug, reading = begin_evaluation(house, plan, by=house.owner())
        folder = str(house.pools.home / house.evaluations.row(house.project(slug)).folder)
    finally:
        house.close()
    about = f" with {len(given):,} {'document' if len(given) == 1 else 'documents'}" if given else ""
    found = {"project": slug, "reading": reading, "pool": folder, "n_documents": len(given)}
    report(found, f"Evaluation {slug}{about}. Now: karat serve", as_json=as_json)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error


def _read_predicates(path: Path) -> dict[str, str]:
    try:
        found = tomllib.loads(_read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is no TOML: {error}.") from error
    for name, words in found.items():
        if not isinstance(words, str):
            raise InvalidInput(f"{path}: '{name}' must be text, as in {name} = \"works for\"; got {words!r}.")
    return found


group = typer.Typer(
    name="evaluation",
    help="Let others submit systems to a task, and score them from few labels.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
for _command in (create, submit, submissions, status, allow, accept, retract, scores, publish, truth):
    group.command()(_command)
