"""`karat serve`: the labelling service."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Annotated, Any

import typer
import uvicorn

from karat.cli.options import Db
from karat.cli.output import say
from karat.errors import InvalidInput, KaratError
from karat.judges.settings import read_judges
from karat.service.installation import Installation
from karat.web.app import create_app
from karat.web.logs import configure_logging
from karat.web.settings import Settings

_GRACE = 30
"""Seconds that requests under way have to end when the server is told to stop."""


def run(
    db: Db = None,
    host: Annotated[str | None, typer.Option(help="Where to listen. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Where to listen. [default: 8000]")] = None,
    log: Annotated[
        str | None, typer.Option(help="To stderr: 'quiet', 'text' or 'json' (a line a request). [default: quiet]")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file with settings.")] = None,
    workers: Annotated[int, typer.Option(help="Processes; more than one only on PostgreSQL.")] = 1,
    link: Annotated[
        bool, typer.Option("--link", help="Print a sign-in link even if the owner has a password.")
    ] = False,
) -> None:
    """Serve the labelling page and its API; an empty database is set up.

    As long as the owner has no password, a one-time sign-in link for the owner is printed.

    Examples:

        karat serve

        karat serve --db postgresql://karat@localhost/karat --host 0.0.0.0 --port 80 --workers 4
    """
    settings = Settings.read(file=config, db=db, host=host, port=port, log=log)
    start(
        settings,
        Installation(settings.db, judges=read_judges(settings.judges), pools=settings.pools),
        workers=workers,
        link=link,
    )


def start(settings: Settings, house: Installation, *, workers: int = 1, link: bool = False) -> None:
    """Serve until interrupted; the installation is closed then."""
    if workers > 1 and house.database.is_sqlite:
        raise InvalidInput("'workers' must be 1 on SQLite; several processes share a PostgreSQL.")
    configure_logging(settings.log)
    say(f"karat is at {settings.address}")
    owner = house.owner()
    if link or owner.password_hash is None:
        secret = house.access.make_sign_in_link(owner.id)
        say(f"Sign in as {owner.name}, once, within two hours: {settings.address}/#/link/{secret}")
    shared: dict[str, Any] = {
        "host": settings.host, "port": settings.port, "log_config": None, "access_log": False, "server_header": False,
        "timeout_graceful_shutdown": _GRACE,
    }  # fmt: skip
    signal.signal(signal.SIGTERM, _leave)  # the server lets requests end first, and then raises the signal again
    if workers == 1:
        threading.Thread(target=_warm_up, args=(house,), daemon=True).start()
        try:
            uvicorn.run(create_app(settings, house=house), **shared)
        finally:
            house.close()
        return
    house.close()
    for name in (
        "db",
        "public_url",
        "secure_cookies",
        "most_body",
        "uploads",
        "most_upload",
        "folder",
        "judges",
        "log",
        "pools",
    ):
        os.environ[f"KARAT_{name.upper()}"] = str(getattr(settings, name))
    uvicorn.run("karat.web.app:from_environment", factory=True, workers=workers, **shared)


def _leave(*_: object) -> None:
    raise SystemExit(0)


def _warm_up(house: Installation) -> None:
    try:
        house.studies.warm_up()
    except KaratError as error:  # a resource that has moved, say: its curve can still be seen
        say(f"karat: {error}")
