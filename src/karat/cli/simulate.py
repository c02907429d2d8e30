"""`karat simulate`: would it have worked on data like mine?"""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli import options
from karat.cli.metrics import read_labelled
from karat.cli.options import (
    Alpha,
    AsJson,
    Confidence,
    Epsilon,
    LabelCount,
    LowerIsBetter,
    MethodName,
    Precision,
    Rank,
    Score,
    Seed,
    StableAfter,
    Window,
)
from karat.cli.output import print_json, print_text, watch
from karat.simulate import simulate


def run(
    source: Annotated[list[str], typer.Argument(help="CSV, TSV, JSONL or Parquet files, or a glob.")],
    score: Score,
    label: Annotated[str, typer.Option("--label", help="The column with 1 (right) and 0 (wrong).")],
    method: MethodName = options.DEFAULT_METHOD,
    replications: Annotated[int, typer.Option(help="How often to replay.")] = 20,
    seed: Seed = 0,
    judged_from: Annotated[int, typer.Option(help="Errors count from this rank on.")] = 1000,
    lower_is_better: LowerIsBetter = False,
    epsilon: Epsilon = None,
    window: Window = None,
    stable_after: StableAfter = None,
    alpha: Alpha = None,
    precision: Precision = None,
    confidence: Confidence = None,
    labels: LabelCount = None,
    rank: Rank = None,
    as_json: AsJson = False,
) -> None:
    """Replay a fully labelled file as if its labels had to be bought.

    Examples
    --------
        karat simulate labelled.parquet --score score --label label --method paula --replications 20 --seed 5 --json
    """
    chosen = options.make_method(
        method,
        epsilon=epsilon,
        window=window,
        stable_after=stable_after,
        alpha=alpha,
        precision=precision,
        confidence_level=confidence,
        labels=labels,
        rank=rank,
    )
    scores, truth = read_labelled(source, score=score, label=label, lower_is_better=lower_is_better)
    result = simulate(
        scores,
        truth,
        method=chosen,
        replications=replications,
        seed=seed,
        judged_from=judged_from,
        watch=watch("replaying"),
    )
    if as_json:
        print_json(result.to_dict())
    else:
        print_text(str(result))
