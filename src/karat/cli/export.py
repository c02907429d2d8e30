"""`karat export`: a project's draw, labels and ledger as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from karat import study
from karat.cli.options import AsJson, Db
from karat.cli.output import print_json, print_text


def run(
    project: Annotated[str, typer.Argument(help="The project's short name.")],
    folder: Annotated[Path, typer.Option("--folder", "-o", help="Where to write the files.")] = Path(),
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Write draw.json, labels.csv, ledger.csv and items.jsonl of a project of the labelling service.

    Examples:

        karat export facts -o out

        karat curve out/draw.json out/labels.csv
    """
    from karat.service.installation import Installation  # noqa: PLC0415  # the other commands need not wait for it
    from karat.web.settings import Settings  # noqa: PLC0415

    house = Installation(Settings.read(db=db).db)
    try:
        found = house.project(project)
        files = {
            "draw.json": json.dumps(house.progress.draw_document(found), allow_nan=False) + "\n",
            "labels.csv": house.progress.labels_csv(found),
            "ledger.csv": house.progress.ledger_csv(found),
            "items.jsonl": house.progress.items_jsonl(found),
        }
    finally:
        house.close()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with study.write_whole(folder / name, newline="") as stream:
            stream.write(text)
    if as_json:
        print_json({name: str(folder / name) for name in files})
        return
    print_text(f"Wrote {', '.join(files)} to {folder}. See: karat curve {folder / 'draw.json'} {folder / 'labels.csv'}")
