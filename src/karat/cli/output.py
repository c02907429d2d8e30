"""How commands speak: tables on stdout, bars and complaints on stderr."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, track
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from karat.engines.base import Watch
    from karat.errors import InvalidData

T = TypeVar("T")


def print_json(document: Any) -> None:
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def print_defects(error: InvalidData) -> None:
    """Print every defect of a file, one after the other: there may be a million."""
    sys.stdout.write(f'{{"error": {json.dumps(str(error), ensure_ascii=False)}, "defects": [')
    for number, defect in enumerate(error.defects):
        sys.stdout.write(("," if number else "") + "\n  " + json.dumps(defect._asdict(), ensure_ascii=False))
    sys.stdout.write("\n]}\n")


def print_text(text: str) -> None:
    sys.stdout.write(text + "\n")


def report(facts: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print what was done, for a program or for a person."""
    if as_json:
        print_json(facts)
    else:
        print_text(text)


def count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> None:
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(head):
        table.add_column(name, justify="left" if place == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)


def say(text: str) -> None:
    """Tell a person something beside the result."""
    sys.stderr.write(text + "\n")


def complain(text: str) -> int:
    sys.stderr.write(f"karat: {text}\n")
    return 1


def watch(what: str) -> Any:
    """Return a wrapper that shows a progress bar on a terminal."""

    def wrap(things: Iterable[T]) -> Iterable[T]:
        console = Console(stderr=True)
        return track(things, description=what, console=console, transient=True, disable=not console.is_terminal)

    return wrap


@contextmanager
def watch_scans() -> Iterator[Watch | None]:
    """Give what shows the scans of a large resource as bars, one after the other; None where nobody looks."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("opening", total=None)

        def show(what: str, share: float | None) -> None:
            if progress.tasks[0].description != what:
                progress.reset(task, description=what)  # each scan has a clock of its own
            progress.update(task, total=None if share is None else 1.0, completed=share or 0.0)

        yield show
