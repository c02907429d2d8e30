"""`karat init`: a project of the labelling service from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from karat import study
from karat.cli.options import AsJson, Choice, Db, IdColumn, LowerIsBetter, ProxyColumn, Score, Seed, with_method
from karat.cli.output import print_json, print_text
from karat.errors import InvalidInput
from karat.formats.tables import FileTable
from karat.service.campaign import Campaign
from karat.service.gold import empty_columns, read_questions
from karat.service.installation import Installation
from karat.service.shown import shown_columns
from karat.web.settings import Settings


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
    template: Annotated[
        str, typer.Option(help="How an item is laid out: fields, pair, triple, text, search or spans.")
    ] = "fields",
    field: Annotated[list[str] | None, typer.Option("--field", help="A column to show; may be repeated.")] = None,
    votes: Annotated[int, typer.Option(help="How many people judge an item.")] = 1,
    extra: Annotated[int, typer.Option(help="How many more judge it where they disagree.")] = 0,
    rule: Annotated[
        str, typer.Option(help="How votes become a label: majority, dawid-skene or gold-weighted.")
    ] = "majority",
    tie: Annotated[str, typer.Option(help="What a tie means: unsure, positive or negative.")] = "unsure",
    gold: Annotated[Path | None, typer.Option(help="A table of items with known answers, mixed in.")] = None,
    gold_label: Annotated[str, typer.Option(help="The column of the gold table with the answers.")] = "label",
    gold_share: Annotated[float, typer.Option(help="Share of gold questions among what people get.")] = 0.1,
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
    text = ""
    if guidelines is not None:
        try:
            text = guidelines.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{guidelines} cannot be read: {error}.") from error
    campaign = Campaign(
        question=question, guidelines=text, template=template, fields=tuple(field or ()), votes=votes,
        extra=extra, rule=rule, tie=tie, gold_share=0.0 if gold is None else gold_share, price=price,
        currency=currency, show_scores=show_scores,
    )  # fmt: skip
    engine = study.open_resource(source, score=score, id=id, seed=seed, higher_is_better=not lower_is_better)
    questions = []
    if gold is not None:
        some = engine.items_at(np.arange(1, min(engine.n_items, 1000) + 1)).payload
        columns = shown_columns(some[0], campaign, proxy=proxy)
        named = id if id is not None and id in FileTable(gold).columns else None
        questions = read_questions(gold, truth=gold_label, id=named, columns=columns, template=template,
                                   may_be_empty=empty_columns(some))  # fmt: skip
    house = Installation(Settings.read(db=db).db)
    try:
        project = house.create_project(
            title or Path(source[0]).stem,
            engine,
            campaign,
            by=house.owner(),
            method=Choice(choice.name, campaign.suit(choice.name, choice.given)).make(),
            proxy=proxy,
        )
        if gold is not None:
            house.gold.add(project, campaign, questions, by=house.owner())
        ready = house.progress.summary(project, campaign)["laid_out"]
    finally:
        house.close()
    if as_json:
        print_json({"project": project.slug, "n_items": engine.n_items, "ready": ready})
        return
    print_text(f"Project {project.slug}: {engine.n_items:,} items, {ready:,} ready to label. Now: karat serve")
