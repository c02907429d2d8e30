"""`karat labels`: a project's labels from a running service."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from karat import _check, study
from karat.cli.client import Client, Server, Token
from karat.cli.output import print_text


def run(
    project: Annotated[str, typer.Argument(help="The project's short name.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write; else stdout.")] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="csv or jsonl; else what the file's name says.")
    ] = None,
    server: Server = None,
    token: Token = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    """Download the labels so far, as `karat curve` reads them.

    Examples:

        karat labels facts -o labels.csv

        karat labels facts --format jsonl
    """
    ending = "" if output is None else output.suffix.lower()
    kind = format or ("jsonl" if as_json or ending in {".jsonl", ".ndjson"} else "csv")
    _check.one_of("format", kind, ("csv", "jsonl"))
    with Client(server, token) as client:
        text = client.get(f"/api/projects/{project}/export/labels.csv").text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    if kind == "jsonl":
        text = "".join(
            json.dumps({"rank": int(row["rank"]), "item": row["item"], "label": row["label"]}, ensure_ascii=False)
            + "\n"
            for row in rows
        )
    if output is None:
        sys.stdout.write(text.replace("\r\n", "\n"))
        return
    with study.write_whole(output, newline="") as stream:
        stream.write(text)
    print_text(f"{len(rows):,} labels in {output}.")
