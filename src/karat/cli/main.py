"""`main(argv) -> int`: 0 fine, 2 a finding (a gate not met), 1 could not run."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

import typer

import karat
from karat.cli import bands, curve, demo, draw, gate, metrics, next, plan, pool, simulate  # noqa: A004
from karat.cli.output import complain
from karat.errors import KaratError

_INTERRUPTED = 130
"""What typer makes of Ctrl-C in a command."""

app = typer.Typer(
    name="karat",
    help="How good are my predictions? Curves with bounds that hold, from few labels.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for command in (plan, draw, next, curve, gate, metrics, bands, simulate, demo):
    app.command(command.__name__.rsplit(".", 1)[-1])(command.run)
app.add_typer(pool.group)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"karat {karat.__version__}")
        raise typer.Exit


@app.callback()
def _options(version: bool = typer.Option(False, "--version", callback=_version, help="Print the version.")) -> None:
    del version


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        result = app(args=None if argv is None else list(argv), prog_name="karat", standalone_mode=False)
    except KaratError as error:
        return complain(str(error))
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
        return complain(f"{word()} Try '{where} --help'.")
    if result == _INTERRUPTED:
        return complain("interrupted; nothing was left half written.")
    return result if isinstance(result, int) else 0


def entry() -> None:
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main())


def _stop(*_: object) -> None:
    """Let a command that is told to stop clean up as if it were interrupted."""
    raise KeyboardInterrupt
