"""`karat pool next`, `tell`, `errors` and `truth`: what people are asked, and what they say."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from karat import _check, study
from karat.cli.options import AsJson
from karat.cli.output import count, print_json, print_text, report
from karat.cli.pool_options import Folder
from karat.errors import InvalidData
from karat.formats.formulas import neutralise
from karat.formats.tables import FileTable
from karat.math.agreement.vote_errors import ErrorRates
from karat.pool.pool import Pool


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
        print_text(
            f"Nothing to label: all labels planned for the width asked for are there. See: karat pool scores {pool}"
        )
    elif items_out is None:
        print_text("\n".join(asked))
    else:
        print_text(f"{count(len(asked), 'item')} to label in {items_out}; then: karat pool tell {pool} {items_out}")


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
    report(
        {"new": new, "labels": opened.n_labels, "unsure": opened.state.n_unsure},
        f"{count(new, 'new label')}{unsure}. Next: karat pool next {pool}",
        as_json=as_json,
    )


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
    told = ErrorRates(sensitivity=sensitivity, specificity=specificity, n_items=items or 0,
                       covariance=((spread[0], 0.0), (0.0, spread[1])))  # fmt: skip
    Pool(pool).tell_errors(None if rates == (1.0, 1.0) else told)
    report(
        {"sensitivity": sensitivity, "specificity": specificity, "items": items},
        f"Scores are corrected for it. Next: karat pool scores {pool}",
        as_json=as_json,
    )


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
    report(
        {"relations": len(names), "relations_in_all": len(opened.state.truth)},
        f"{count(len(names), 'true relation')} taken in. Next: karat pool scores {pool}",
        as_json=as_json,
    )


def _filled(table: FileTable, column: str) -> list[str]:
    """Return a column of texts without gaps."""
    texts = table.texts(column)
    if None in texts:
        raise InvalidData(f"{table.name}, row {texts.index(None) + 1}: the column '{column}' is empty.")
    return [str(text) for text in texts]
