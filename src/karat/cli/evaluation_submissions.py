"""`karat evaluation submit`, `submissions`, `allow` and `accept`: what comes in, and what it may cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat.cli.client import open_to_send
from karat.cli.evaluation_server import Server, Token, call
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table, print_text, report
from karat.errors import InvalidInput

STATES = {"checked": "waits", "accepted": "accepted", "replaced": "replaced", "retracted": "retracted"}
"""What the state of a submission is called for people."""


def submit(
    server: Server,
    system: Annotated[str, typer.Argument(help="The system's name; yours alone.")],
    predictions: Annotated[Path, typer.Argument(help="CSV, TSV, JSONL (or Parquet where there are no documents).")],
    token: Token,
    as_json: AsJson = False,
) -> None:
    """Submit a system's predictions; says what its labels will cost. Nothing is spent before the owner accepts it.

    Examples:

        karat evaluation submit http://127.0.0.1:8000/shared-task tagger tagger.jsonl
    """
    with open_to_send(predictions) as stream:
        query = {"system": system, "file": predictions.name}
        found = call(server, token, "POST", "submissions", params=query, content=stream)
    report(
        found,
        f"{system}: {found['n_predictions']:,} predictions, {found['n_new']:,} of them new. {_price(found)} "
        + (f"Submission {found['id']} waits for the owner." if found["state"] == "checked" else "It is accepted.")
        + _warnings(found),
        as_json=as_json,
    )


def _price(found: dict[str, Any]) -> str:
    money = f" ({_money(found)})" if found["most"]["money"] else ""
    return f"It needs {found['first']['labels']:,} labels at first and {found['most']['labels']:,} at most{money}."


def _money(found: dict[str, Any]) -> str:
    first, most = found["first"], found["most"]
    return f"{first['money']:,.2f} to {most['money']:,.2f} {most['currency']}".strip()


def _warnings(found: dict[str, Any]) -> str:
    return "".join(f"\nWarning: {warning}" for warning in found["warnings"])


def submissions(server: Server, token: Token, as_json: AsJson = False) -> None:
    """List submissions, the latest first; those that wait with what they would cost by now.

    Examples:

        karat evaluation submissions http://127.0.0.1:8000/shared-task
    """
    found = call(server, token, "GET", "submissions")
    if as_json:
        print_json(found)
        return
    rows = [[str(each["id"]), each["system"], each["user"], STATES[each["state"]], f"{each['n_predictions']:,}",
             f"{each['n_new']:,}", f"{each['first']['labels']:,} to {each['most']['labels']:,}", _money(each)]
            for each in found]  # fmt: skip
    print_table(["submission", "system", "of", "state", "predictions", "new", "labels", "cost"], rows)
    for each in found:
        for warning in each["warnings"]:
            print_text(f"Warning: submission {each['id']}: {warning}")


def allow(
    server: Server,
    each: Annotated[int, typer.Argument(help="Labels that one submission may need at most; 0: always ask.")],
    in_all: Annotated[int, typer.Argument(help="Labels that all of them together may need at most.")],
    token: Token,
    as_json: AsJson = False,
) -> None:
    """Let submissions in unasked while they need few labels; those beyond it go on waiting for you.

    Examples:

        karat evaluation allow http://127.0.0.1:8000/shared-task 100 1000
    """
    found = call(server, token, "PUT", "allowance", json={"each": each, "in_all": in_all})
    left = max(found["in_all"] - found["used"] - found["beyond"], 0)
    text = f"Up to {found['each']:,} labels a submission, {left:,} more in all, are accepted unasked."
    report(found, text, as_json=as_json)


def accept(
    server: Server,
    submission: Annotated[int, typer.Argument(help="The submission's number.")],
    token: Token,
    most: Annotated[int | None, typer.Option(help="Only if it needs no more labels than this, as things are.")] = None,
    as_json: AsJson = False,
) -> None:
    """Let a submission into the pool: what it needs is put before people, and costs.

    Examples:

        karat evaluation accept http://127.0.0.1:8000/shared-task 1 --most 200
    """
    agreed = {} if most is None else {"most": most}
    found = call(server, token, "POST", f"submissions/{submission}/accept", params=agreed)
    text = f"{found['system']} (version {found['version']}) is accepted. {_price(found)}{_warnings(found)}"
    report(found, text, as_json=as_json)


def retract(
    server: Server,
    submission: Annotated[str, typer.Argument(metavar="SYSTEM-OR-NUMBER", help="A system, or a submission's number.")],
    token: Token,
    as_json: AsJson = False,
) -> None:
    """Take back a submission that waits or was accepted; labels bought for it go on serving the others.

    Examples:

        karat evaluation retract http://127.0.0.1:8000/shared-task tagger
    """
    standing = [each for each in call(server, token, "GET", "submissions") if each["state"] in {"checked", "accepted"}]
    meant = [each for each in standing if str(each["id"]) == submission] or [
        each for each in standing if each["system"] == submission
    ]
    if not meant:
        raise InvalidInput(f"'SYSTEM-OR-NUMBER' must be a system or submission of yours that waits or was accepted; "
                           f"got {submission!r}.")  # fmt: skip
    if len(meant) > 1:
        numbers = " and ".join(f"{each['id']} ({STATES[each['state']]})" for each in meant)
        raise InvalidInput(f"{submission!r} has the submissions {numbers}; say which by its number.")
    (found,) = meant
    call(server, token, "DELETE", f"submissions/{found['id']}")
    report(
        {**found, "state": "retracted"}, f"{found['system']}: submission {found['id']} is retracted.", as_json=as_json
    )
