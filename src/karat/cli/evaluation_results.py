"""`karat evaluation status`, `scores`, `publish` and `truth`: how far it is, what comes of it, and who sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._check import one_of
from karat.cli.client import open_to_send
from karat.cli.evaluation_server import Server, Token, call, parts_of
from karat.cli.options import AsJson
from karat.cli.output import print_json, print_table, print_text, report
from karat.pool.leaderboard import say_systems

if TYPE_CHECKING:
    from collections.abc import Sequence


def status(server: Server, token: Token, as_json: AsJson = False) -> None:
    """Show how far an evaluation is: labels, answers, and what was spent.

    Examples:

        karat evaluation status http://127.0.0.1:8000/shared-task
    """
    found = call(server, token, "GET", "evaluation")
    allowance = found["allowance"]
    rows = [
        ["labels", f"{found['labelled']:,}"],
        ["to go", f"{found['open']:,}"],
        ["answers", f"{found['answers']:,}"],
        ["spent", f"{found['spent']:,.2f} {found['currency']}".strip()],
        ["accepted unasked", f"{allowance['used'] + allowance['beyond']:,} of {allowance['in_all']:,} labels"],
    ]
    if as_json:
        print_json(found)
    else:
        print_table([found["title"], ""], rows)


def scores(
    server: Server,
    token: Token,
    metric: Annotated[str, typer.Option(help="precision, recall or f1.")] = "f1",
    as_json: AsJson = False,
) -> None:
    """Show the leaderboard of an evaluation, as far as you may see it.

    Examples:

        karat evaluation scores http://127.0.0.1:8000/shared-task --metric precision --json
    """
    board = call(server, token, "GET", "leaderboard", params={"metric": metric})
    if as_json:
        print_json(board)
        return
    ranks = [row["rank"] for row in board["rows"]]
    rows = [[_rank(row["rank"], ranks), row["system"], str(row["version"]),
             *(_cell(row[name]) for name in ("precision", "recall", "f1")), f"{row['n_predictions']:,}",
             f"{row['n_labels']:,}"] for row in board["rows"]]  # fmt: skip
    print_table(["rank", "system", "version", "precision", "recall", "F1", "predictions", "labels"], rows)
    if rows:
        level = f"{100 * board['confidence_level']:g}% intervals ({board['guarantee']})"
        print_text(f"{level}; {board['n_labels']:,} labels in all; ranked by {metric}, = is a tie.")
    said = [board["doubt"], *board["notes"], *say_systems(board["rows"], board["waiting"])]
    print_text("\n".join(line for line in said if line))


def _rank(rank: int | None, ranks: Sequence[int | None]) -> str:
    """Return a rank, marked if several share it; before publication there is none."""
    if rank is None:
        return "–"
    return f"={rank}" if ranks.count(rank) > 1 else str(rank)


def _cell(score: dict[str, float]) -> str:
    return f"{score['estimate']:.3f} [{score['low']:.3f}, {score['high']:.3f}]"


def publish(
    server: Server,
    token: Token,
    to: Annotated[str, typer.Option(help="members, anyone (a public page), or nobody (hide them again).")] = "members",
    as_json: AsJson = False,
) -> None:
    """Show all scores to all members, or to anyone; or hide them again.

    Examples:

        karat evaluation publish http://127.0.0.1:8000/shared-task --to anyone
    """
    one_of("--to", to, ("members", "anyone", "nobody"))
    body = {"published": to != "nobody", **({} if to == "nobody" else {"audience": to})}
    call(server, token, "PUT", "publication", json=body)
    host, name = parts_of(server)
    page = f"{host}/#/board/{name}" if to == "anyone" else None
    said = {"members": "All members see all scores now.", "anyone": f"Anyone sees all scores at {page}",
            "nobody": "Participants see the scores of their own systems alone."}  # fmt: skip
    report({"audience": to, "page": page}, said[to], as_json=as_json)


def truth(
    server: Server,
    token: Token,
    stated_in: Annotated[
        Path | None,
        typer.Option(help="The page's table of relations with the column stated_in: how many documents state each."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell the pool what the readers of documents agree on: recall is against everything true from then on.

    Examples:

        karat evaluation truth http://127.0.0.1:8000/shared-task

        karat evaluation truth http://127.0.0.1:8000/shared-task --stated-in relations.csv
    """
    if stated_in is None:
        found = call(server, token, "POST", "reading/truth")
    else:
        with open_to_send(stated_in) as stream:
            headers = {"content-type": "application/octet-stream"}
            found = call(server, token, "POST", "reading/counted-truth", params={"file": stated_in.name},
                         content=stream, headers=headers)  # fmt: skip
    more = ", each counted once" if found["counted"] else ""
    if found["counted"] and found["uncounted"]:
        more = f"; {found['uncounted']:,} with no count of their documents count as if one stated them"
    naming = found["naming"]
    noun = "relation" if found["relations"] == 1 else "relations"
    told = [f"{found['relations']:,} true {noun} told{more}.", naming["sentence"], naming["doubt"]]
    report(found, "\n".join(line for line in told if line), as_json=as_json)
