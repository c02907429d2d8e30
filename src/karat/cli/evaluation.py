"""`karat evaluation`: run an evaluation service, submit to one, read its leaderboard."""

from __future__ import annotations

import tomllib
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._check import one_of
from karat.cli.client import Client, open_to_send
from karat.cli.options import AsJson, Db
from karat.cli.output import print_json, print_table, print_text, report
from karat.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

group = typer.Typer(
    name="evaluation",
    help="Let others submit systems to a task, and score them from few labels.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

OPTIONS = {
    "half_width": "--half-width",
    "confidence_level": "--confidence",
    "seed": "--seed",
    "law": "--law",
    "title": "TITLE",
    "votes": "--votes",
    "price": "--price",
    "documents": "--documents",
    "token_price": "--token-price",
    "pair_price": "--pair-price",
    "predicates": "--predicates",
    "types": "--type",
    "read": "--read",
    "read_law": "--read-law",
    "system": "SYSTEM",
}
"""What the library's arguments are called here, for errors."""

STATES = {"checked": "waits", "accepted": "accepted", "replaced": "replaced", "retracted": "retracted"}
"""What the state of a submission is called for people."""

Server = Annotated[str, typer.Argument(help="The evaluation's address, as in https://karat.example/shared-task.")]
Token = Annotated[
    str,
    typer.Option(envvar="KARAT_TOKEN", help="An API token; make one on the page, under your name.", show_default=False),
]


def _parts(address: str) -> tuple[str, str]:
    """Return the server's address and the evaluation's name, from https://host/project or the page's address."""
    parts = urllib.parse.urlsplit(address)
    names = [part for part in f"{parts.path}/{parts.fragment}".split("/") if part not in {"", "p", "e"}]
    if parts.scheme not in {"http", "https"} or not parts.netloc or len(names) != 1:
        raise InvalidInput(f"'SERVER' must be like https://karat.example/shared-task; got {address!r}.")
    return f"{parts.scheme}://{parts.netloc}", urllib.parse.quote(urllib.parse.unquote(names[0]), safe="")


def _call(address: str, token: str, method: str, path: str, **options: Any) -> Any:
    """Return what a server answers about the evaluation at https://host/project (the page's address will do)."""
    host, project = _parts(address)
    with Client(host, token) as client:
        response = client.send(method, f"/api/projects/{project}/{path}", **options)
        return response.json() if response.content else None


@group.command()
def create(
    title: Annotated[str, typer.Argument(help="What it is called.")],
    documents: Annotated[
        Path | None,
        typer.Option(help="Relations in these documents are evaluated: .txt, a folder or .zip (with brat's .ann), "
                     ".jsonl, .json of Label Studio. Without it, any items with an id."),
    ] = None,
    predicates: Annotated[
        Path | None, typer.Option(help="A TOML file: each predicate's name and how people read it.")
    ] = None,
    type: Annotated[list[str] | None, typer.Option("--type", help="A kind of mention; may be repeated.")] = None,
    question: Annotated[str | None, typer.Option(help="What people are asked about each item.")] = None,
    guidelines: Annotated[Path | None, typer.Option(help="A Markdown file, shown to all.")] = None,
    votes: Annotated[int, typer.Option(help="How many people judge an item.")] = 3,
    price: Annotated[float, typer.Option(help="What one answer costs.")] = 0.0,
    currency: Annotated[str, typer.Option(help="For showing the price.")] = "",
    half_width: Annotated[float, typer.Option(help="How well each system's precision shall be known.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="Confidence level of all intervals.")] = 0.9,
    law: Annotated[str, typer.Option(help="uniform, predicate, subject, entity or own.")] = "uniform",
    seed: Annotated[int, typer.Option(help="Decides which items are drawn.")] = 0,
    read: Annotated[
        int | None, typer.Option(help="Also draw so many documents to be read exhaustively, for recall.")
    ] = None,
    read_law: Annotated[str, typer.Option(help="How they are drawn: uniform or entity.")] = "uniform",
    token_price: Annotated[float, typer.Option(help="What reading a token costs.")] = 0.0,
    pair_price: Annotated[float, typer.Option(help="What judging a pair of mentions costs.")] = 0.0,
    db: Db = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Start an evaluation in the labelling service; `karat serve` shows it.

    Examples:

        karat evaluation create "Relations in the news" --documents news.jsonl --predicates predicates.toml --read 20

        karat evaluation create "Entity matching" --question "Is it the same product?"
    """
    from karat.documents.read import read_documents  # noqa: PLC0415  # those that ask a server need none of it
    from karat.service.evaluation_beginning import EvaluationPlan, begin_evaluation  # noqa: PLC0415
    from karat.service.evaluation_task import EvaluationTask  # noqa: PLC0415
    from karat.service.installation import Installation  # noqa: PLC0415
    from karat.web.settings import Settings  # noqa: PLC0415

    given = read_documents(documents) if documents is not None else []
    words = _read_predicates(predicates) if predicates is not None else {}
    more: dict[str, Any] = {"types": tuple(type)} if type else {}
    said: dict[str, Any] = {"question": question} if question else {}
    if guidelines is not None:
        said["guidelines"] = _read_text(guidelines)
    plan = EvaluationPlan(
        title=title,
        task=EvaluationTask(kind="relations" if given else "items", predicates=words, token_price=token_price,
                            pair_price=pair_price, **more),
        settings={"votes": votes, "price": price, "currency": currency, **said},
        pool={"seed": seed, "half_width": half_width, "confidence_level": confidence, "law": law},
        documents=given,
        read=read,
        read_law=read_law,
    )  # fmt: skip
    settings = Settings.read(db=db)
    house = Installation(settings.db, pools=settings.pools)
    try:
        slug, reading = begin_evaluation(house, plan, by=house.owner())
        folder = str(house.pools.home / house.evaluations.row(house.project(slug)).folder)
    finally:
        house.close()
    about = f" with {len(given):,} {'document' if len(given) == 1 else 'documents'}" if given else ""
    found = {"project": slug, "reading": reading, "pool": folder, "n_documents": len(given)}
    report(found, f"Evaluation {slug}{about}. Now: karat serve", as_json=as_json)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error


def _read_predicates(path: Path) -> dict[str, str]:
    try:
        found = tomllib.loads(_read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is no TOML: {error}.") from error
    for name, words in found.items():
        if not isinstance(words, str):
            raise InvalidInput(f"{path}: '{name}' must be text, as in {name} = \"works for\"; got {words!r}.")
    return found


@group.command()
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
        found = _call(server, token, "POST", "submissions", params=query, content=stream)
    report(
        found,
        f"{system}: {found['n_predictions']:,} predictions, {found['n_new']:,} of them new. {_price(found)} "
        + (f"Submission {found['id']} waits for the owner." if found["state"] == "checked" else "It is accepted.")
        + "".join(f"\nWarning: {warning}" for warning in found["warnings"]),
        as_json=as_json,
    )


def _price(found: dict[str, Any]) -> str:
    money = f" ({_money(found)})" if found["most"]["money"] else ""
    return f"It needs {found['first']['labels']:,} labels at first and {found['most']['labels']:,} at most{money}."


def _money(found: dict[str, Any]) -> str:
    first, most = found["first"], found["most"]
    return f"{first['money']:,.2f} to {most['money']:,.2f} {most['currency']}".strip()


@group.command()
def submissions(server: Server, token: Token, as_json: AsJson = False) -> None:
    """List submissions, the latest first; those that wait with what they would cost by now.

    Examples:

        karat evaluation submissions http://127.0.0.1:8000/shared-task
    """
    found = _call(server, token, "GET", "submissions")
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


@group.command()
def status(server: Server, token: Token, as_json: AsJson = False) -> None:
    """Show how far an evaluation is: labels, answers, and what was spent.

    Examples:

        karat evaluation status http://127.0.0.1:8000/shared-task
    """
    found = _call(server, token, "GET", "evaluation")
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


@group.command()
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
    found = _call(server, token, "PUT", "allowance", json={"each": each, "in_all": in_all})
    left = max(found["in_all"] - found["used"] - found["beyond"], 0)
    text = f"Up to {found['each']:,} labels a submission, {left:,} more in all, are accepted unasked."
    report(found, text, as_json=as_json)


@group.command()
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
    found = _call(server, token, "POST", f"submissions/{submission}/accept", params=agreed)
    text = f"{found['system']} (version {found['version']}) is accepted. {_price(found)}"
    report(found, text, as_json=as_json)


@group.command()
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
    standing = [each for each in _call(server, token, "GET", "submissions") if each["state"] in {"checked", "accepted"}]
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
    _call(server, token, "DELETE", f"submissions/{found['id']}")
    report(
        {**found, "state": "retracted"}, f"{found['system']}: submission {found['id']} is retracted.", as_json=as_json
    )


@group.command()
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
    board = _call(server, token, "GET", "leaderboard", params={"metric": metric})
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
    print_text("\n".join([*([board["doubt"]] if board["doubt"] else []), *board["notes"]]))


def _rank(rank: int | None, ranks: Sequence[int | None]) -> str:
    """Return a rank, marked if several share it; before publication there is none."""
    if rank is None:
        return "–"
    return f"={rank}" if ranks.count(rank) > 1 else str(rank)


def _cell(score: dict[str, float]) -> str:
    return f"{score['estimate']:.3f} [{score['low']:.3f}, {score['high']:.3f}]"


@group.command()
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
    _call(server, token, "PUT", "publication", json=body)
    host, name = _parts(server)
    page = f"{host}/#/board/{name}" if to == "anyone" else None
    said = {"members": "All members see all scores now.", "anyone": f"Anyone sees all scores at {page}",
            "nobody": "Participants see the scores of their own systems alone."}  # fmt: skip
    report({"audience": to, "page": page}, said[to], as_json=as_json)


@group.command()
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
        found = _call(server, token, "POST", "reading/truth")
    else:
        with open_to_send(stated_in) as stream:
            headers = {"content-type": "application/octet-stream"}
            found = _call(server, token, "POST", "reading/counted-truth", params={"file": stated_in.name},
                          content=stream, headers=headers)  # fmt: skip
    more = ", each counted once" if found["counted"] else ""
    if found["counted"] and found["uncounted"]:
        more = f"; {found['uncounted']:,} with no count of their documents count as if one stated them"
    naming = found["naming"]
    noun = "relation" if found["relations"] == 1 else "relations"
    told = [f"{found['relations']:,} true {noun} told{more}.", naming["sentence"], naming["doubt"]]
    report(found, "\n".join(line for line in told if line), as_json=as_json)
