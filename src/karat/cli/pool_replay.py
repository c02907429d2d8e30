"""`karat pool bias` and `simulate`: replays of an evaluation whose labels are all known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat import plotting
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table, print_text, say
from karat.cli.pool_options import Relation
from karat.errors import InvalidInput
from karat.pool.pictures import plot_arrivals, plot_bias
from karat.pool.replay import bias_study, load_study, simulate_study

Predictions = Annotated[Path, typer.Argument(help="A table 'system, id' (and 'score', 'team' if there are any).")]
Truth = Annotated[Path, typer.Option("--labels", help="A table 'id, label' with the label of every id.")]


def bias(
    predictions: Predictions,
    labels: Truth,
    relation: Relation = None,
    trials: Annotated[int, typer.Option(help="How many halves of the teams to try.")] = 500,
    seed: Annotated[int, typer.Option(help="Makes every random choice repeatable.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Write a picture like the paper's Figure 3.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the bias of pooled evaluation: leave a system or a team out of the pool and score it.

    Examples:

        karat pool bias predictions.parquet --labels labels.parquet --plot bias.png
    """
    found = bias_study(load_study(predictions, labels, relation=relation or ()), n_trials=trials, seed=seed)
    if plot is not None:
        plotting.save(plot_bias(found), plot)
        say(f"wrote {plot}")
    if as_json:
        print_json(found)
        return
    parts = [(name, part) for name, part in found.items() if name != "systems"]
    rows = [[name.replace("_", " "), *(_bias_cell(part, metric) for metric in ("precision", "recall", "f1"))]
            for name, part in parts]  # fmt: skip
    print_table(["median (largest) bias", "precision", "recall", "F1"], rows)


def _bias_cell(part: dict[str, Any], metric: str) -> str:
    return f"{part[metric]['median']:.3f} ({part[metric]['max']:.3f})"


def simulate(
    predictions: Predictions,
    labels: Truth,
    relation: Relation = None,
    draws: Annotated[int, typer.Option(help="Labels drawn for each system.")] = 150,
    trials: Annotated[int, typer.Option(help="How often to replay.")] = 100,
    worth: Annotated[
        int | None, typer.Option(help="Also let systems arrive one by one, each known as well as by so many labels.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Makes every random choice repeatable.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="With --worth: labels against systems (the paper's Figure 4e).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Replay the evaluation of systems whose labels are all known: labels, bias, width and coverage.

    Examples:

        karat pool simulate predictions.parquet --labels labels.parquet --trials 100 --json
    """
    if plot is not None and worth is None:
        raise InvalidInput("'--plot' goes with '--worth'.")
    loaded = load_study(predictions, labels, relation=relation or ())
    found = simulate_study(loaded, n_draws=draws, n_truth=draws, n_trials=trials, worth=worth, seed=seed)
    if plot is not None:
        plotting.save(plot_arrivals(found), plot)
        say(f"wrote {plot}")
    if as_json:
        print_json(found)
        return
    keys = ("labels", "precision_bias_max", "precision_coverage", "recall_bias_max", "recall_coverage", "f1_coverage",
            "precision_variance_ratio")  # fmt: skip
    rows = [[name, *(f"{figures[key]:,.3f}" for key in keys)] for name, figures in found["estimators"].items()]
    print_table(["estimator", *(key.replace("_", " ") for key in keys)], rows)
    if worth is not None:
        _print_arrivals(found["arrivals"])


ARRIVAL_RULES = {
    "default": "default",
    "paper": "paper, its own estimate as target",
    "paper_same_target": "paper, the default's target",
    "paper_known": "paper, all labels known to the rule",
}


def _print_arrivals(arrivals: dict[str, Any]) -> None:
    keys = ("labels", "labels_over_default", "error_ratio", "coverage")
    rows = [[words, *(f"{arrivals[name][key]:,.2f}" for key in keys)] for name, words in ARRIVAL_RULES.items()]
    print_text(f"\nOne by one, each known as well as by {arrivals['worth']} labels ({arrivals['n_trials']} orders):")
    print_table(["rule", "labels", "over default's", "squared error over target", "90% intervals cover"], rows)
    print_text(f"With every label known the default would need {arrivals['fewest_labels']:,.0f}.")
