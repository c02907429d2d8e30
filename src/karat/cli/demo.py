"""`karat demo`: the whole way in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from karat import _check, plotting, study
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table, print_text, watch
from karat.demo.facts import N_FACTS, write_facts
from karat.designs.certify import Certify
from karat.designs.paula import Paula
from karat.designs.uniform import Uniform
from karat.draws import Labels
from karat.errors import InvalidInput
from karat.report.page import curve_title, render_report
from karat.showing import marks

_AT_A_TIME = 20
_GUIDELINES = """A fact is **right** if it holds exactly.

- Sums, products and divisors: do the arithmetic.
- *stands in the dictionary before* means alphabetical order.
- Months have the days of a year that is no leap year.

If you cannot tell, say *unsure*: it is an answer too.
"""


def run(
    folder: Annotated[Path, typer.Option(help="Where to write the resource, the draw and the report.")] = Path(
        "karat-demo"
    ),
    items: Annotated[int, typer.Option(help="How many facts to generate.")] = N_FACTS,
    seed: Annotated[int, typer.Option(help="Makes every random choice repeatable.")] = 7,
    serve: Annotated[bool, typer.Option("--serve", help="Open it in the labelling service instead.")] = False,
    crowd: Annotated[
        float | None, typer.Option("--crowd", help="With --serve: simulated people label too, right with this chance.")
    ] = None,
    port: Annotated[int, typer.Option(help="With --serve: where to listen.")] = 8000,
    as_json: AsJson = False,
) -> None:
    """Generate a knowledge base, buy a few labels, bound its precision curve, and compare with the truth.

    Examples:

        karat demo

        karat demo --serve --crowd 0.97

        karat demo --items 50000 --folder /tmp/demo --json
    """
    items, seed = _check.whole("items", items, least=1), _check.whole("seed", seed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be made: {error.strerror}.") from error
    resource = folder / "facts.csv"
    truth_of = write_facts(resource, items, seed=seed)
    if serve:
        _serve(resource, truth_of, seed=seed, accuracy=crowd, port=port)
        return
    engine = study.open_resource(resource, score="score", id="id", seed=seed)
    truth = np.array([truth_of[str(id_)] for id_ in engine.ids_at(np.arange(1, items + 1))], dtype=np.int8)
    curves = {}
    for method in watch("buying labels")((Certify(), Paula(), Uniform())):
        work = study.Study(engine, method)
        while len(ranks := work.design.ask(_AT_A_TIME)):
            work.tell(Labels.from_pairs(ranks, truth[ranks - 1]))
        curves[method.name] = work.curve()
        work.save(folder / f"{method.name}.json")
    draw = study.load_draw(folder / "certify.json")
    report, picture = folder / "report.html", folder / "curve.png"
    main = curves["certify"]
    with study.write_whole(report) as stream:
        stream.write(
            render_report(main, title="How good is the demo knowledge base?", draw=draw, truth=truth,
                          others=[curves["paula"], curves["uniform"]],
                          commands=[f"karat demo --items {items} --seed {seed}"])
        )  # fmt: skip
    plotting.save(
        plotting.draw_bounds(
            {curve_title(curve): curve.points(2000) for curve in curves.values()},
            truth=truth,
            title=f"{items:,} facts: what the labels certify",
        ),
        picture,
    )
    hits = np.cumsum(truth)
    if as_json:
        print_json({
            "folder": str(folder),
            "n_items": items,
            "truth": {str(rank): float(hits[rank - 1] / rank) for rank in marks(items)},
            "curves": {name: curve.to_dict() for name, curve in curves.items()},
        })  # fmt: skip
        return
    some = engine.items_at(np.array([np.argmax(truth) + 1])).payload[0]
    print_text(f"Generated {items:,} facts such as “{some['subject']} {some['relation']} {some['object']}”.\n")
    rows = []
    for rank in marks(items):
        cells = [f"{interval.low:.3f} – {interval.high:.3f}" for interval in (c.at(rank) for c in curves.values())]
        rows.append([f"top {rank:,}", f"{hits[rank - 1] / rank:.3f}", *cells])
    print_table(["", "truth", *(curve_title(curve) for curve in curves.values())], rows,
                title="Precision")  # fmt: skip
    for curve in curves.values():
        for assumption in curve.contradicted:
            print_text(f"{curve.method}: {assumption.statement}: contradicted. {assumption.finding}")
    print_text(f"\nRead {report}, look at {picture}; the resource is {resource}.")


def _serve(resource: Path, truth: dict[str, int], *, seed: int, accuracy: float | None, port: int) -> None:
    """Open the facts in the labelling service, where the last demo stopped if there was one."""
    from karat.cli.serve import start  # noqa: PLC0415  # only --serve waits for the service
    from karat.service.campaign import Campaign  # noqa: PLC0415
    from karat.service.crowd import Crowd  # noqa: PLC0415
    from karat.service.installation import Installation  # noqa: PLC0415
    from karat.service.problems import NotFound  # noqa: PLC0415
    from karat.web.settings import Settings  # noqa: PLC0415

    settings = Settings.read(db=str(resource.parent / f"demo-{len(truth)}-{seed}.db"), port=port)
    house = Installation(settings.db)
    try:
        project = house.project("demo-facts")
    except NotFound:
        engine = study.open_resource(resource, score="score", id="id", seed=seed)
        campaign = Campaign(question="Is this fact true?", template="triple", guidelines=_GUIDELINES, price=0.05,
                            currency="EUR")  # fmt: skip
        project = house.create_project("Demo facts", engine, campaign, by=house.owner())
    if accuracy is not None:
        Crowd(house, project, truth=truth, accuracy=accuracy, seed=seed).start()
    start(settings, house)
