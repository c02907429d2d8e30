"""The server of an evaluation, as `karat evaluation` names it and asks it."""

from __future__ import annotations

import urllib.parse
from typing import Annotated, Any

import typer

from karat.cli.client import Client
from karat.errors import InvalidInput

Server = Annotated[str, typer.Argument(help="The evaluation's address, as in https://karat.example/shared-task.")]
Token = Annotated[
    str,
    typer.Option(envvar="KARAT_TOKEN", help="An API token; make one on the page, under your name.", show_default=False),
]


def parts_of(address: str) -> tuple[str, str]:
    """Return the server's address and the evaluation's name, from https://host/project or the page's address."""
    parts = urllib.parse.urlsplit(address)
    names = [part for part in f"{parts.path}/{parts.fragment}".split("/") if part not in {"", "p", "e"}]
    if parts.scheme not in {"http", "https"} or not parts.netloc or len(names) != 1:
        raise InvalidInput(f"'SERVER' must be like https://karat.example/shared-task; got {address!r}.")
    return f"{parts.scheme}://{parts.netloc}", urllib.parse.quote(urllib.parse.unquote(names[0]), safe="")


def call(address: str, token: str, method: str, path: str, **options: Any) -> Any:
    """Return what a server answers about the evaluation at https://host/project (the page's address will do)."""
    host, project = parts_of(address)
    with Client(host, token) as client:
        response = client.send(method, f"/api/projects/{project}/{path}", **options)
        return response.json() if response.content else None
