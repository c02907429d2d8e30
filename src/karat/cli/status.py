"""`karat status`: how far a project of a running service is."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from karat import _check
from karat.cli.client import Client, Server, Token
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table


def run(
    project: Annotated[str, typer.Argument(help="The project's short name.")],
    watch: Annotated[bool, typer.Option("--watch", help="Go on until the target is met, or Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(help="With --watch: seconds between two looks.")] = 2.0,
    server: Server = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Show labels, answers, money, what is still needed, and what is certain by now.

    Examples:

        karat status facts

        karat status facts --watch
    """
    every = _check.number("every", every, least=0.2, most=3600)
    with Client(server, token) as client:
        found = look(client, project)
        if as_json and not watch:
            print_json(found)
        elif as_json:
            print_json(found)
            while not found["done"]:
                time.sleep(every)
                found = look(client, project)
                print_json(found)
        elif not watch:
            print_table(["", project], rows_of(found))
        else:
            with Live(picture(project, found), console=Console(), auto_refresh=False) as live:
                while not found["done"]:
                    time.sleep(every)
                    found = look(client, project)
                    live.update(picture(project, found), refresh=True)


def look(client: Client, project: str) -> dict[str, Any]:
    """Return the project's state by now."""
    base = f"/api/projects/{project}"
    progress: dict[str, Any] = client.get(f"{base}/progress").json()
    curve = client.get(f"{base}/curve").json()
    needed = client.get(f"{base}/forecast").json()["still_needed"]
    return {**progress, "still_needed": needed, "headline": curve["headline"]}


def rows_of(found: dict[str, Any]) -> list[tuple[str, str]]:
    still = "not known yet" if found["still_needed"] is None else f"about {found['still_needed']:,}"
    money = [("spent", f"{found['spent']:,.2f} {found['currency']}".strip())] if found["spent"] else []
    return [
        ("method", found["method"]),
        ("items", f"{found['n_items']:,}"),
        ("labelled", f"{found['labelled']:,}"),
        ("unsure", f"{found['unsure']:,}"),
        ("open", f"{found['open']:,}"),
        ("answers", f"{found['answers']:,}"),
        *money,
        ("labels still needed", "none: the target is met" if found["done"] else still),
        ("certain by now", found["headline"]),
    ]


def picture(project: str, found: dict[str, Any]) -> Table:
    """Return the state as a table for a terminal."""
    table = Table(title=project, title_justify="left", box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for row in rows_of(found):
        table.add_row(*row)
    return table
