"""`karat pool`: many systems, one pool of labels."""

from __future__ import annotations

import csv
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from karat import _check, plotting, study
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table, print_text, say
from karat.errors import InvalidData, InvalidInput, KaratError
from karat.formats.formulas import neutralise
from karat.formats.tables import FileTable
from karat.math.agreement.vote_errors import LabelErrors
from karat.pool.pictures import plot_arrivals, plot_bias
from karat.pool.pool import Pool
from karat.pool.replay import bias_study, load_study, simulate_study
from karat.report.leaderboard import render_leaderboard

group = typer.Typer(
    name="pool",
    help="Score many systems from one pool of labels, kept in a folder.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

OPTIONS = {
    "half_width": "--half-width",
    "confidence_level": "--confidence",
    "seed": "--seed",
    "law": "--law",
    "learn": "--independent",
    "replace": "--replace",
    "keep_unknown": "--keep-unknown",
    "metric": "--metric",
    "interval": "--interval",
    "documents": "--document",
    "stated_in": "--stated-in",
    "sensitivity": "--sensitivity",
    "specificity": "--specificity",
    "items": "--items",
    "folder": "POOL",
    "name": "SYSTEM",
    "n": "-n",
}
"""What the arguments of `Pool` are called here, for errors."""

Folder = Annotated[Path, typer.Argument(help="The pool's folder.")]
Metric = Annotated[str, typer.Option(help="precision, recall or f1.")]
Confidence = Annotated[float | None, typer.Option("--confidence", help="Confidence level; the pool's if not given.")]
AnyDoc = Annotated[bool, typer.Option("--anydoc", help="Ignore provenance.")]
Relation = Annotated[
    list[str] | None, typer.Option("--relation", help="A column that makes up the relation; repeat it.")
]


@group.command()
def create(
    pool: Folder,
    seed: Annotated[int, typer.Option(help="Decides which items are drawn.")] = 0,
    half_width: Annotated[float, typer.Option(help="How well each system's precision shall be known.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="Confidence level of all intervals.")] = 0.9,
    law: Annotated[str, typer.Option(help="uniform, predicate, subject, entity or own.")] = "uniform",
    relation: Relation = None,
    universe: Annotated[Path | None, typer.Option(help="A file with all ids that submissions may name.")] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="Let no label decide how many more are drawn (for betting intervals).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make an empty pool.

    Examples:

        karat pool create matchers --half-width 0.04

        karat pool create kb --law entity --relation subject --relation predicate --relation object
    """
    made = Pool.create(
        pool,
        seed=seed,
        half_width=half_width,
        confidence_level=confidence,
        law=law,  # type: ignore[arg-type]
        relation=relation or (),
        universe=universe,
        learn=not independent,
    )
    _report(
        {"pool": str(pool), **asdict(made.state.settings)},
        f"An empty pool in {pool}. Next: karat pool add {pool} SYSTEM PREDICTIONS",
        as_json=as_json,
    )


@group.command()
def add(
    pool: Folder,
    system: Annotated[str, typer.Argument(help="The system's name.")],
    predictions: Annotated[Path, typer.Argument(help="CSV, TSV, JSONL, Parquet with 'id', or a TREC run.")],
    team: Annotated[str, typer.Option(help="Who submits it.")] = "",
    judge: Annotated[bool, typer.Option("--judge", help="These are a judge model's votes, not a system.")] = False,
    depth: Annotated[int | None, typer.Option(help="Of a TREC run, keep this many ranks.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let it take the place of the system of this name.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Submit a system; a pool that does not exist is made.

    Examples:

        karat pool add matchers levenshtein levenshtein.csv

        karat pool add trec bm25 bm25.run --depth 100
    """
    is_new = not pool.exists()
    opened = Pool.create(pool) if is_new else Pool(pool)
    try:
        gone = opened.add(system, predictions, team=team, is_judge=judge, depth=depth, replace=replace)
    except KaratError:
        if is_new:
            shutil.rmtree(pool)
        raise
    added = opened.state.systems[-1]
    what = f"{system} is in with {_count(added.n_predictions, 'prediction')}"
    if gone is not None:
        what = f"{system} replaces {_count(gone.n_predictions, 'prediction')} with {added.n_predictions:,}"
    _report(
        {**asdict(added), "replaced": None if gone is None else gone.number, "n_systems": len(opened.systems)},
        f"{what}; {_count(len(opened.systems), 'system')} in {pool}. Next: karat pool next {pool}",
        as_json=as_json,
    )


def _report(facts: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(facts)
    else:
        print_text(text)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


@group.command()
def retract(
    pool: Folder, system: Annotated[str, typer.Argument(help="The system to take off.")], as_json: AsJson = False
) -> None:
    """Take a system off the leaderboard; its labels go on serving the others.

    Examples:

        karat pool retract matchers levenshtein
    """
    opened = Pool(pool)
    opened.retract(system)
    _report(
        {"retracted": system, "n_systems": len(opened.systems)},
        f"{system} is off the leaderboard; {_count(len(opened.systems), 'system')} in {pool}.",
        as_json=as_json,
    )


@group.command(name="next")
def next_items(
    pool: Folder,
    n: Annotated[int | None, typer.Option("-n", help="How many items; all that are needed now if not given.")] = None,
    items_out: Annotated[
        Path | None,
        typer.Option(
            "--items-out",
            help="Write them as CSV with an empty 'label', beside the predictions' columns; no file if none are.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which items to label next, the most useful first.

    Examples:

        karat pool next matchers --items-out to_label.csv
    """
    opened = Pool(pool)
    asked = opened.next(n)
    payload = opened.items(asked)
    if items_out is not None and asked:
        columns = list(dict.fromkeys(name for item in asked for name in payload.get(item, {})))
        with study.write_whole(items_out, newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["id", *map(neutralise, columns), "label"])
            for item in asked:
                shown = payload.get(item, {})
                writer.writerow([neutralise(item), *(neutralise(shown.get(name)) for name in columns), ""])
    if as_json:
        print_json({"labels": len(asked), "ids": asked, "items": payload})
    elif not asked:
        print_text(f"Nothing to label: every system is known as well as was asked for. See: karat pool scores {pool}")
    elif items_out is None:
        print_text("\n".join(asked))
    else:
        print_text(f"{_count(len(asked), 'item')} to label in {items_out}; then: karat pool tell {pool} {items_out}")


@group.command()
def tell(
    pool: Folder,
    labels: Annotated[Path, typer.Argument(help="A table 'id, label' (0, 1 or unsure), or TREC qrels.")],
    replace: Annotated[bool, typer.Option("--replace", help="Let new labels correct old ones.")] = False,
    keep_unknown: Annotated[
        bool, typer.Option("--keep-unknown", help="Keep labels of ids that no system predicts yet.")
    ] = False,
    least_grade: Annotated[int, typer.Option(help="Of qrels: the least grade that counts as right.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Take in labels.

    Examples:

        karat pool tell matchers to_label.csv
    """
    opened = Pool(pool)
    new = opened.tell(labels, replace=replace, keep_unknown=keep_unknown, least_grade=least_grade)
    unsure = f", {opened.state.n_unsure:,} of all unsure" if opened.state.n_unsure else ""
    _report(
        {"new": new, "labels": opened.n_labels, "unsure": opened.state.n_unsure},
        f"{_count(new, 'new label')}{unsure}. Next: karat pool next {pool}",
        as_json=as_json,
    )


@group.command()
def errors(
    pool: Folder,
    sensitivity: Annotated[float, typer.Option(help="How often a right instance is labelled right.")],
    specificity: Annotated[float, typer.Option(help="How often a wrong instance is labelled wrong.")],
    items: Annotated[
        int | None,
        typer.Option(help="How many gold items each was learnt from, if not exact."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell how often labels are wrong; scores are corrected for it. With 1 and 1, labels are right.

    Examples:

        karat pool errors matchers --sensitivity 0.95 --specificity 0.97 --items 200
    """
    rates = (sensitivity, specificity)
    spread = [0.0 if items is None else rate * (1.0 - rate) / _check.whole("items", items, least=2) for rate in rates]
    told = LabelErrors(sensitivity=sensitivity, specificity=specificity, n_items=items or 0,
                       covariance=((spread[0], 0.0), (0.0, spread[1])))  # fmt: skip
    Pool(pool).tell_errors(None if rates == (1.0, 1.0) else told)
    _report(
        {"sensitivity": sensitivity, "specificity": specificity, "items": items},
        f"Scores are corrected for it. Next: karat pool scores {pool}",
        as_json=as_json,
    )


@group.command()
def truth(
    pool: Folder,
    instances: Annotated[Path, typer.Argument(help="True relations of randomly chosen, exhaustively read documents.")],
    relation: Annotated[
        list[str] | None, typer.Option("--relation", help="Its columns; the pool's, or 'id', if not given.")
    ] = None,
    document: Annotated[str | None, typer.Option("--document", help="The column that names the document.")] = None,
    stated_in: Annotated[
        str | None, typer.Option("--stated-in", help="The column that says how many documents state the relation.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Take in a sample of true relations, from which the recall of the whole pool is estimated.

    Examples:

        karat pool truth kb true.csv --document doc --stated-in n_documents
    """
    opened = Pool(pool)
    table = FileTable(instances)
    columns = [_filled(table, name) for name in relation or opened.state.settings.relation or ["id"]]
    names = [chr(31).join(parts) for parts in zip(*columns, strict=True)]
    opened.tell_truth(
        names,
        _filled(table, document) if document else (),
        stated_in=table.numbers(stated_in).tolist() if stated_in else (),
    )
    _report(
        {"relations": len(names), "relations_in_all": len(opened.state.truth)},
        f"{_count(len(names), 'true relation')} taken in. Next: karat pool scores {pool}",
        as_json=as_json,
    )


def _filled(table: FileTable, column: str) -> list[str]:
    """Return a column of texts without gaps."""
    texts = table.texts(column)
    if None in texts:
        raise InvalidData(f"{table.name}, row {texts.index(None) + 1}: the column '{column}' is empty.")
    return [str(text) for text in texts]


@group.command()
def scores(
    pool: Folder,
    metric: Metric = "f1",
    interval: Annotated[str, typer.Option(help="logit, bootstrap, or betting (guaranteed).")] = "logit",
    confidence: Confidence = None,
    anydoc: AnyDoc = False,
    plot: Annotated[Path | None, typer.Option(help="Write a picture of the intervals (PNG, SVG, PDF).")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained report.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the leaderboard: precision, recall and F1 with intervals and honest ties.

    Examples:

        karat pool scores matchers --metric precision --html leaderboard.html
    """
    board = Pool(pool).scores(
        metric,  # type: ignore[arg-type]
        interval=interval,  # type: ignore[arg-type]
        confidence_level=confidence,
        anydoc=anydoc,
    )
    if plot is not None:
        plotting.save(board.plot(), plot)
        say(f"wrote {plot}")
    if html is not None:
        with study.write_whole(html) as stream:
            stream.write(render_leaderboard(board, title=pool.name, commands=[f"karat {' '.join(sys.argv[1:])}"]))
        say(f"wrote {html}")
    if as_json:
        print_json(board.to_dict())
    else:
        print_text(str(board))


@group.command()
def compare(
    pool: Folder,
    first: Annotated[str, typer.Argument(help="A system.")],
    second: Annotated[str, typer.Argument(help="Another one.")],
    metric: Metric = "f1",
    confidence: Confidence = None,
    anydoc: AnyDoc = False,
    as_json: AsJson = False,
) -> None:
    """Compare two systems on the labels that both share.

    Examples:

        karat pool compare matchers levenshtein jaccard --metric precision
    """
    found = Pool(pool).compare(first, second, metric=metric, confidence_level=confidence, anydoc=anydoc)  # type: ignore[arg-type]
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(str(found))


Predictions = Annotated[Path, typer.Argument(help="A table 'system, id' (and 'score', 'team' if there are any).")]
Truth = Annotated[Path, typer.Option("--labels", help="A table 'id, label' with the label of every id.")]


@group.command()
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
        plotting.save(plot_bias(found, ax=plotting.new_axes()), plot)
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


@group.command()
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
        plotting.save(plot_arrivals(found, ax=plotting.new_axes()), plot)
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
