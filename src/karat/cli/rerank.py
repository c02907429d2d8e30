"""`karat rerank`: how good is a new model's ranking of the same items?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat import plotting, study
from karat.carried import Bought, carry_over, labels_to_be_as_tight
from karat.cli.options import AsJson, LowerIsBetter
from karat.cli.output import print_json, print_table, print_text, say
from karat.errors import InvalidInput
from karat.formats.answers import read_answers
from karat.results import show
from karat.showing import shown_ranks


def run(
    draw: Annotated[Path, typer.Argument(help="The draw of the old ranking.")],
    labels: Annotated[list[str], typer.Argument(help="Its labels: tables with 'id' (or 'rank') and 'label'.")],
    score: Annotated[str, typer.Option("--score", help="The new model's column to rank by.")],
    source: Annotated[
        str | None, typer.Option(help="The table with the new scores, by the same ids; the old one if not given.")
    ] = None,
    lower_is_better: LowerIsBetter = False,
    more: Annotated[Path | None, typer.Option(help="A further draw, of the new ranking, with another seed.")] = None,
    more_labels: Annotated[list[str] | None, typer.Option(help="Its labels; may be repeated.")] = None,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Add how many further labels would make it as tight as the old curve.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Write the precision curve (PNG, SVG, PDF).")] = None,
    as_json: AsJson = False,
) -> None:
    """Bound the curve of a new ranking from the labels bought for an old one.

    The new model must not have been trained, tuned or selected on these labels, nor on which items were drawn: the
    bounds would not hold.

    Examples:

        karat rerank draw.json to_label.csv --score new_score --forecast

        karat rerank draw.json to_label.csv --score new_score --more second.json --more-labels second.csv
    """
    if (more is None) != (not more_labels):
        raise InvalidInput("'--more' and '--more-labels' must be given together: a further draw and its labels.")
    document = study.load_draw(draw)
    bought = Bought(study.reopen_resource(document, engine="memory"), document, read_answers(labels, document))
    second = None
    if more is not None and more_labels:
        further = study.load_draw(more)
        ranking = study.reopen_resource(further, source=source, engine="memory")
        if ranking.describe()["score"] != score:
            raise InvalidInput(f"'--more' must be a draw by {score!r}; got one by {ranking.describe()['score']!r}.")
        second = Bought(ranking, further, read_answers(more_labels, further))
    else:
        where = document.resource or {}
        ranking = study.open_resource(
            where["source"] if source is None else source,
            score=score,
            id=where["id"],
            seed=document.seed,
            higher_is_better=not lower_is_better,
            engine="memory",
        )
    curve = carry_over(bought, ranking, more=second)
    extra = labels_to_be_as_tight(bought, ranking) if forecast and second is None else None
    if plot is not None:
        plotting.save(curve.plot(), plot)
        say(f"wrote {plot}")
    if as_json:
        print_json({**curve.to_dict(), "labels_to_be_as_tight": extra})
        return
    print_text(str(curve))
    for assumption in curve.assumptions:
        print_text(f"Assumed: {assumption}")
    rows = [[f"top {rank:,}", *(f"{value:.1%}" for value in (i.estimate, i.low, i.high))]
            for rank, i in ((rank, curve.at(rank)) for rank in shown_ranks(curve))]  # fmt: skip
    print_table(["items kept", "precision", "at least", "at most"], rows)
    if curve.worst_over_target is not None:
        print_text(f"Widest, it is {show(curve.worst_over_target)} times the wanted half-width.")
    if forecast and second is None:
        words = {None: "No number of further labels would make it", 0: "It is already"}
        print_text(
            f"{words.get(extra, f'About {extra:,} labels of the new ranking would make it')} as tight as the old curve."
        )
