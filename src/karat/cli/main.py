"""`main(argv) -> int`: 0 fine, 2 a finding (a gate not met), 1 could not run."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib import import_module

import typer

import karat
from karat.cli.output import complain, print_defects
from karat.cli.pages import Command, Group
from karat.cli.summaries import summary_of
from karat.cli.wording import explain_number, name_options
from karat.errors import InvalidData, KaratError

COMMANDS = (
    "plan",
    "draw",
    "next",
    "curve",
    "gate",
    "slices",
    "rerank",
    "metrics",
    "trec",
    "bands",
    "simulate",
    "demo",
    "init",
    "serve",
    "import",
    "labels",
    "status",
    "export",
    "backup",
)
_MODULES = {"import": "import_"}  # a word of Python's own
GROUPS = ("pool", "judge", "evaluation")
_INTERRUPTED = 130  # what typer makes of Ctrl-C


def make_app(only: str | None = None) -> typer.Typer:
    """Return the application with all commands, or with the one that is wanted: the others take time to import.

    Where a word is wanted that is no command, all of them are there by name and summary alone.
    """
    app = typer.Typer(
        name="karat",
        cls=Group,
        help="How good are my predictions? Curves with bounds that hold, from few labels.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    if only is not None and only not in {*COMMANDS, *GROUPS}:
        for name in (*COMMANDS, *GROUPS):
            app.command(name, help=summary_of(_MODULES.get(name, name)))(_listed)
        return app
    for name in COMMANDS:
        if only in {name, None}:
            app.command(name, cls=Command)(import_module(f"karat.cli.{_MODULES.get(name, name)}").run)
    for name in GROUPS:
        if only in {name, None}:
            group = import_module(f"karat.cli.{name}").group
            for command in group.registered_commands:
                command.cls = Command
            app.add_typer(group, cls=Group)
    return app


def _listed() -> None:
    """Stand for a command in a list; never run, as its name would have been known."""


def _version(value: bool) -> None:
    if value:
        typer.echo(f"karat {karat.__version__}")
        raise typer.Exit


def _options(version: bool = typer.Option(False, "--version", callback=_version, help="Print the version.")) -> None:
    del version


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        app = make_app(_first_word(arguments))
        result = app(args=arguments, prog_name="karat", standalone_mode=False)
    except KaratError as error:
        if isinstance(error, InvalidData) and error.defects and "--json" in arguments:
            print_defects(error)
        return complain(_in_options(str(error), arguments))
    except (KeyboardInterrupt, typer.Abort):
        return complain("interrupted; nothing was left half written.")
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 0
    except Exception as error:
        word = getattr(error, "format_message", None)  # a wrong option or argument; typer keeps its own click inside
        if word is None:
            raise
        where = getattr(getattr(error, "ctx", None), "command_path", "karat")
        return complain(f"{explain_number(word(), arguments)} Try '{where} --help'.")
    if result == _INTERRUPTED:
        return complain("interrupted; nothing was left half written.")
    return result if isinstance(result, int) else 0


def _first_word(arguments: Sequence[str]) -> str:
    return next((word for word in arguments if not word.startswith("-")), "")


def _in_options(text: str, arguments: Sequence[str]) -> str:
    """Return an error with the library's arguments named as the command that was run names them."""
    name = _first_word(arguments)
    command = typer.main.get_command(make_app(name))
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    module = import_module(f"karat.cli.{_MODULES.get(name, name)}")
    return name_options(text, command, getattr(module, "OPTIONS", {}))


def entry() -> None:
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main())


def _stop(*_: object) -> None:
    """Let a command that is told to stop clean up as if it were interrupted."""
    raise KeyboardInterrupt
