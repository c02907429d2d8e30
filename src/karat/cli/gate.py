"""`karat gate`: is it certainly good enough?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat import _check, study
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_text
from karat.errors import InvalidInput
from karat.formats.answers import read_answers


def run(
    draw: Annotated[Path, typer.Argument(help="The draw that 'karat draw' wrote.")],
    labels: Annotated[list[str], typer.Argument(help="Tables with 'id' (or 'rank') and 'label'.")],
    precision: Annotated[float | None, typer.Option(help="Precision that must be certain.")] = None,
    recall: Annotated[float | None, typer.Option(help="Recall inside the list that must be certain.")] = None,
    rank: Annotated[int | None, typer.Option(help="After how many items; the whole list if not given.")] = None,
    as_json: AsJson = False,
) -> int:
    """Exit with 0 if the target is certainly met, 2 if not, 1 if that could not be found out.

    Examples:

        karat gate draw.json labels.csv --precision 0.9 --rank 10000

        karat gate draw.json labels.csv --recall 0.5 --rank 50000
    """
    if precision is None and recall is None:
        raise InvalidInput("'--precision' or '--recall' must be given: there is nothing to check.")
    document = study.load_draw(draw)
    curve = study.curve_from(document, read_answers(labels, document))
    at = curve.n_items if rank is None else rank
    checks = []
    if precision is not None:
        checks.append((_check.number("precision", precision, above=0, most=1), curve.at(at)))
    if recall is not None:
        checks.append((_check.number("recall", recall, above=0, most=1), curve.recall_at(at)))
    certain = not (curve.crossed or curve.contradicted) or (recall is None and at <= curve.exact_until)
    passed = certain and all(interval.low >= target for target, interval in checks)
    if as_json:
        found = [{"target": target, **interval.to_dict()} for target, interval in checks]
        doubts = [assumption.to_dict() for assumption in curve.contradicted]
        print_json({"passed": passed, "contradicted": doubts, "checks": found})
    else:
        for target, interval in checks:
            print_text(f"{'certain' if passed else 'NOT certain'}: {interval}, wanted at least {target:g}")
        if not certain:
            finding = curve.contradicted[0].finding if curve.contradicted else "its bounds cross."
            print_text(f"The labels contradict what {curve.method} says of them: {finding}")
    return 0 if passed else 2
