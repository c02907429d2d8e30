"""`karat gate`: is it certainly good enough?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat import study
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_text
from karat.errors import InvalidInput
from karat.formats.answers import read_answers
from karat.gates import check_gate


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
    found = check_gate(curve, precision=precision, recall=recall, rank=rank)
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(str(found))
    return 0 if found.passed else 2
