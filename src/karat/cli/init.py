"""`karat init`: a project of the labelling service from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat import study
from karat.cli.options import AsJson, Choice, Db, IdColumn, LowerIsBetter, ProxyColumn, Score, Seed, with_method
from karat.cli.output import print_json, print_text
from karat.errors import InvalidInput


@with_method
def run(
    choice: Choice,
    source: Annotated[list[str], typer.Argument(help="CSV, TSV, JSONL or Parquet files, or a glob.")],
    score: Score,
    id: IdColumn = None,
    db: Db = None,
    title: Annotated[str | None, typer.Option(help="What the project is called; the file's name if not given.")] = None,
    question: Annotated[str, typer.Option(help="What people are asked about each item.")] = "Is this right?",
    guidelines: Annotated[Path | None, typer.Option(help="A Markdown file, shown beside the items.")] = None,
    template: Annotated[str, typer.Option(help="How an item is laid out: fields, pair, triple or text.")] = "fields",
    field: Annotated[list[str] | None, typer.Option("--field", help="A column to show; may be repeated.")] = None,
    votes: Annotated[int, typer.Option(help="How many people judge an item.")] = 1,
    price: Annotated[float, typer.Option(help="What one answer costs.")] = 0.0,
    currency: Annotated[str, typer.Option(help="For showing the price.")] = "",
    show_scores: Annotated[bool, typer.Option("--show-scores", help="Let people see rank and score.")] = False,
    seed: Seed = 0,
    lower_is_better: LowerIsBetter = False,
    proxy: ProxyColumn = None,
    as_json: AsJson = False,
) -> None:
    """Start a labelling project on a resource; the database is made if there is none.

    Examples:

        karat init facts.parquet --score confidence --id fact --question "Is this fact true?"

        karat serve
    """
    from karat.service.campaign import Campaign  # noqa: PLC0415  # the other commands need not wait for it
    from karat.service.installation import Installation  # noqa: PLC0415
    from karat.web.settings import Settings  # noqa: PLC0415

    text = ""
    if guidelines is not None:
        try:
            text = guidelines.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{guidelines} cannot be read: {error}.") from error
    campaign = Campaign(
        question=question, guidelines=text, template=template, fields=tuple(field or ()), votes=votes,
        price=price, currency=currency, show_scores=show_scores,
    )  # fmt: skip
    given: dict[str, Any] = dict(choice.given)
    if choice.name == "certify":
        given.setdefault("pending", campaign.ahead)
    engine = study.open_resource(source, score=score, id=id, seed=seed, higher_is_better=not lower_is_better)
    house = Installation(Settings.read(db=db).db)
    try:
        project = house.create_project(
            title or Path(source[0]).stem,
            engine,
            campaign,
            by=house.owner(),
            method=Choice(choice.name, given).make(),
            proxy=proxy,
        )
        ready = house.progress.summary(project, campaign)["laid_out"]
    finally:
        house.close()
    if as_json:
        print_json({"project": project.slug, "n_items": engine.n_items, "ready": ready})
        return
    print_text(f"Project {project.slug}: {engine.n_items:,} items, {ready:,} ready to label. Now: karat serve")
