"""`karat trec`: a TREC run by topic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table, print_text
from karat.results import show
from karat.topics import evaluate_run


def run(
    run: Annotated[Path, typer.Argument(help="A run: 'topic Q0 docid rank score tag' a line.")],
    qrels: Annotated[Path, typer.Argument(help="Judgements: 'topic 0 docid grade' a line.")],
    at: Annotated[list[int] | None, typer.Option("--at", help="A cut-off; may be repeated.")] = None,
    positive_from: Annotated[int, typer.Option(help="The least grade that counts as relevant.")] = 1,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    by_topic: Annotated[bool, typer.Option("--by-topic", help="A row a topic.")] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate a run by topic: unjudged documents counted, precision bounded, average precision inferred.

    A grade below 0 names a document of the pool that was not judged.

    Examples:

        karat trec run.txt qrels.txt --at 10 --by-topic
    """
    found = evaluate_run(run, qrels, at=at or (10, 100), positive_from=positive_from, confidence_level=confidence)
    if as_json:
        print_json(found.to_dict())
        return
    print_text(str(found))
    if by_topic:
        columns = found.points()
        head = ["topic", "n_retrieved", "n_judged", "n_relevant", "average_precision", "inferred_ap"]
        head += ["inferred_ap_low", "inferred_ap_high"]
        rows = zip(*(columns[name] for name in head), strict=True)
        print_table(head, [[row[0], *(f"{count:,}" for count in row[1:4]), *(show(float(value)) for value in row[4:])]
                           for row in rows])  # fmt: skip
