"""`karat import`: answers from elsewhere into a project of a running service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.client import Client, Server, Token, open_to_send
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_text
from karat.errors import InvalidInput
from karat.formats.catalogue import FORMATS, guess_format


def run(
    project: Annotated[str, typer.Argument(help="The project's short name.")],
    file: Annotated[Path, typer.Argument(help="The file with the answers.")],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="label-studio, argilla, prodigy, mturk, csv, tsv, jsonl or parquet; of the last four what the name "
            "ends in says.",
        ),
    ] = None,
    annotator: Annotated[str | None, typer.Option(help="Who answered, where the file does not say.")] = None,
    id_field: Annotated[str | None, typer.Option("--id-field", help="What names the item. [default: id]")] = None,
    question: Annotated[str | None, typer.Option(help="What holds the answer. [default: label]")] = None,
    meaning: Annotated[
        list[str] | None,
        typer.Option("--meaning", help="WORD=positive, negative or unsure, for words of its own; may be repeated."),
    ] = None,
    server: Server = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Import answers that were collected elsewhere; their annotators are kept by name.

    All or nothing: if anything is wrong with the file every defect is named (with --json, all of them as JSON) and
    nothing is imported. The same file twice changes nothing.

    Examples:

        karat import facts export.json --format label-studio

        karat import facts answers.csv --meaning Good=positive --meaning Bad=negative
    """
    chosen = format or guess_format(file)
    if chosen not in FORMATS:
        raise InvalidInput(f"'--format' must be one of {', '.join(FORMATS)}; got {chosen!r}.")
    given = {"annotator": annotator, "id_field": id_field, "question": question}
    query: dict[str, str | list[str]] = {name: value for name, value in given.items() if value is not None}
    query |= {"format": chosen, "name": file.name, "meaning": meaning or []}
    with Client(server, token) as client, open_to_send(file) as stream:
        response = client.send("POST", f"/api/projects/{project}/import", params=query, content=stream)
    found = response.json()
    if as_json:
        print_json(found)
        return
    people = len(found["annotators"])
    print_text(
        f"{found['new']:,} new answers, {found['changed']:,} changed, {found['unchanged']:,} known already, "
        f"by {people:,} annotator{'' if people == 1 else 's'}."
    )
