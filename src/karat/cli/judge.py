"""`karat judge`: judge models over a whole resource, or as marked annotators of a project."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from karat import _check
from karat.cli.client import Client, Server, Token
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_text, say
from karat.errors import InvalidInput
from karat.judges.settings import find_judge, read_judges
from karat.judging import ProxyJob
from karat.web.settings import Settings

group = typer.Typer(
    name="judge", help="Ask judge models: over a whole resource, or in a project.", no_args_is_help=True
)
Yes = Annotated[bool, typer.Option("--yes", help="Go on without asking whether the cost is fine.")]


@group.command("resource")
def judge_resource(
    source: Annotated[list[str], typer.Argument(help="CSV, TSV, JSONL or Parquet files, or a glob.")],
    judge: Annotated[str, typer.Option("--judge", help="Which judge of the file to ask.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The Parquet file to write: the resource and a column.")
    ],
    judges: Annotated[
        Path | None, typer.Option("--judges", help="The TOML file of judges. [environment: KARAT_JUDGES]")
    ] = None,
    question: Annotated[str, typer.Option(help="What the judge is asked about each item.")] = "Is this right?",
    column: Annotated[
        str | None, typer.Option(help="What the new column is called; the judge's name if not given.")
    ] = None,
    field: Annotated[
        list[str] | None, typer.Option("--field", help="A column that the judge sees; may be repeated.")
    ] = None,
    hide: Annotated[
        list[str] | None, typer.Option("--hide", help="A column that it does not see; may be repeated.")
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Ask a judge model about every item and write the resource with its chances as a column for `--proxy`.

    The cost is said first. What was answered is kept: the same command goes on where it was stopped.

    Examples:

        karat judge resource facts.parquet --judge small --judges judges.toml --hide score -o judged.parquet

        karat draw judged.parquet --score score --id id --proxy small -o draw.json
    """
    known = read_judges(judges or Settings.read().judges)
    if not known:
        raise InvalidInput("'--judges' or KARAT_JUDGES must name a TOML file with at least one judge.")
    chosen = find_judge(known, judge)
    job = ProxyJob(source, chosen, question=question, output=output, column=column or judge, fields=field or (),
                   hidden=hide or ())  # fmt: skip
    _agree(f"{job.n_left:,} of {job.n_rows:,} items to judge", job.n_left, chosen.price, chosen.currency, yes=yes)
    with _bar(job.n_rows, job.n_rows - job.n_left) as show:
        outcome = job.run(show)
    if outcome.failed:
        raise InvalidInput(
            f"{outcome.failed:,} items are without an answer; the others are kept in {job.journal}. Run the same "
            f"command again. {outcome.first_failure}"
        )
    job.finish()
    if as_json:
        print_json({"output": str(output), "items": job.n_rows, "calls": outcome.calls, "unclear": outcome.unclear,
                    "cost": chosen.cost(outcome.calls)})  # fmt: skip
        return
    print_text(f"Wrote {output}: {job.n_rows:,} items with the column '{job.column}', {outcome.calls:,} calls, "
               f"{outcome.unclear:,} unclear replies count as one half.")  # fmt: skip


@group.command("project")
def judge_project(
    project: Annotated[str, typer.Argument(help="The project's short name.")],
    judge: Annotated[
        str | None, typer.Option("--judge", help="Which judge to ask; without it, they are listed.")
    ] = None,
    counts: Annotated[
        bool | None, typer.Option("--counts/--counts-not", help="Let its votes count like people's, or no longer.")
    ] = None,
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Let a judge of the server's settings vote on a project's items, marked as a model; or list the judges.

    Its votes never count as people's unless you say --counts.

    Examples:

        karat judge project facts

        karat judge project facts --judge small --yes
    """
    base = f"/api/projects/{project}/judges"
    with Client(server, token) as client:
        found = {entry["name"]: entry for entry in client.get(base).json()}
        if judge is not None:
            _check.one_of("judge", judge, found)
            if counts is not None:
                client.send("PUT", f"{base}/{judge}", json={"counts": counts})
            else:
                _vote(client, base, found[judge], yes=yes)
            found = {entry["name"]: entry for entry in client.get(base).json()}
    if as_json:
        print_json(list(found.values()))
        return
    for entry in found.values():
        agrees = (
            "" if entry["agrees"] is None else f", agrees with {entry['agrees']:.1%} of {entry['compared']:,} labels"
        )
        role = "counts" if entry["counts"] else "does not count"
        print_text(f"{entry['name']} ({entry['model']}): {entry['said']:,} items judged, {entry['left']:,} left, "
                   f"{role}{agrees}.")  # fmt: skip
    if not found:
        print_text("The server's settings name no judges.")


def _vote(client: Client, base: str, entry: dict[str, object], *, yes: bool) -> None:
    left, said = int(str(entry["left"])), int(str(entry["said"]))
    price, currency = float(str(entry["price"])), str(entry["currency"])
    _agree(f"{left:,} items to judge", left, price, currency, yes=yes)
    with _bar(left + said, said) as show:
        while left:
            turn = client.send("POST", f"{base}/{entry['name']}/votes", json={"n": 20}).json()
            said, left = said + turn["said"], turn["left"]
            show(said)
            if turn["failed"] or not turn["said"]:
                raise InvalidInput(turn["problem"] or "The judge's replies are unclear; nothing more was written.")


def _agree(what: str, calls: int, price: float, currency: str, *, yes: bool) -> None:
    """Say the cost and ask whether it is fine."""
    say(f"{what}, {calls:,} calls at {price:g} each: {calls * price:,.2f} {currency}".rstrip() + ".")
    if yes or not calls:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("Say '--yes' to go on: nobody can be asked here.")
    typer.confirm("Go on?", abort=True, err=True)


@contextmanager
def _bar(total: int, done: int) -> Iterator[Callable[[int], None]]:
    """Give what moves a progress bar; it is shown on a terminal only."""
    console = Console(stderr=True)
    columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda done: progress.update(task, completed=done)
