"""`karat export`: a project's draw, labels and ledger as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from karat import study
from karat.cli.client import Client, Server, Token, server_named
from karat.cli.options import AsJson, Db
from karat.cli.output import print_json, print_text
from karat.errors import InvalidInput

FILES = ("draw.json", "labels.csv", "ledger.csv", "items.jsonl")


def run(
    project: Annotated[str, typer.Argument(help="The project's short name.")],
    folder: Annotated[Path, typer.Option("--folder", "-o", help="Where to write the files.")] = Path(),
    db: Db = None,
    server: Server = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Write draw.json, labels.csv, ledger.csv and items.jsonl of a project of the labelling service.

    They come from the service where one is named (--server or KARAT_SERVER), else from its database on this machine.

    Examples:

        karat export facts -o out

        karat curve out/draw.json out/labels.csv
    """
    if db is not None and server is not None:
        raise InvalidInput("Give '--db' or '--server', not both.")
    if db is None and server_named(server):
        with Client(server, token) as client:
            files = {name: client.get(f"/api/projects/{project}/export/{name}").text for name in FILES}
    else:
        files = _read_database(project, db)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with study.write_whole(folder / name, newline="") as stream:
            stream.write(text)
    if as_json:
        print_json({name: str(folder / name) for name in files})
        return
    print_text(f"Wrote {', '.join(files)} to {folder}. See: karat curve {folder / 'draw.json'} {folder / 'labels.csv'}")


def _read_database(project: str, db: str | None) -> dict[str, str]:
    from karat.service.installation import Installation  # noqa: PLC0415  # asking a running service needs none of it
    from karat.web.settings import Settings  # noqa: PLC0415

    house = Installation(Settings.read(db=db).db)
    try:
        found = house.project(project)
        return {
            "draw.json": json.dumps(house.progress.draw_document(found), allow_nan=False),
            "labels.csv": house.progress.labels_csv(found),
            "ledger.csv": house.progress.ledger_csv(found),
            "items.jsonl": house.progress.items_jsonl(found),
        }
    finally:
        house.close()
