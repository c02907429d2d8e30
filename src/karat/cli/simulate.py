"""`karat simulate`: would it have worked on data like mine?"""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli.metrics import read_labelled
from karat.cli.options import AsJson, Choice, LowerIsBetter, ProxyColumn, Score, Seed, with_method
from karat.cli.output import print_json, print_text, watch
from karat.formats.tables import FileTable
from karat.math.proxy import make_classes
from karat.simulation import simulate


@with_method
def run(
    choice: Choice,
    source: Annotated[list[str], typer.Argument(help="CSV, TSV, JSONL or Parquet files, or a glob.")],
    score: Score,
    label: Annotated[str, typer.Option("--label", help="The column with 1 (right) and 0 (wrong).")],
    replications: Annotated[int, typer.Option(help="How often to replay.")] = 20,
    seed: Seed = 0,
    judged_from: Annotated[int, typer.Option(help="Errors count from this rank on.")] = 1000,
    lower_is_better: LowerIsBetter = False,
    proxy: ProxyColumn = None,
    as_json: AsJson = False,
) -> None:
    """Replay a fully labelled file as if its labels had to be bought.

    Examples:

        karat simulate labelled.parquet --score score --label label --method paula --replications 20 --seed 5 --json
    """
    method = choice.make()
    scores, truth = read_labelled(source, score=score, label=label, lower_is_better=lower_is_better)
    classes = None if proxy is None else make_classes(FileTable(source).numbers(proxy))
    result = simulate(
        scores,
        truth,
        method=method,
        replications=replications,
        seed=seed,
        judged_from=judged_from,
        proxy=classes,
        watch=watch("replaying"),
    )
    if as_json:
        print_json(result.to_dict())
    else:
        print_text(str(result))
