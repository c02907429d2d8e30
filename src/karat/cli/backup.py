"""`karat backup`: a copy of the service's database, taken while it is in use."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import AsJson, Db
from karat.cli.output import print_json, print_text
from karat.errors import InvalidData, InvalidInput


def run(
    target: Annotated[Path, typer.Argument(help="The copy to write; with --restore, the copy to read.")],
    db: Db = None,
    restore: Annotated[bool, typer.Option("--restore", help="Make a database from the copy instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy a SQLite database while the service runs, and check the copy; or make a database from such a copy.

    The pools of evaluations that lie beside the database are copied with it. An existing file is never overwritten. For
    PostgreSQL use pg_dump.

    Examples:

        karat backup monday.db

        karat backup --restore monday.db --db again.db
    """
    from karat.store.database import Database  # noqa: PLC0415  # the other commands need not wait for it
    from karat.web.settings import Settings  # noqa: PLC0415

    settings = Settings.read(db=db)
    where = settings.db
    if restore:
        if "://" in where or Path(where).exists():
            raise InvalidInput(f"'--db' must be a path that does not exist yet; got {where!r}.")
        _check(target)
        _refuse_existing(_pools_of(Path(where)))
        shutil.copyfile(target, where)
        _copy_pools(_pools_of(target), _pools_of(Path(where)))
        _say(f"Restored {where} from {target}.", as_json=as_json, restored=where, copy=str(target))
        return
    if "://" not in where and not Path(where).exists():
        raise InvalidInput(f"There is no database {where!r}.")
    pools = Path(settings.pools) if settings.pools else _pools_of(Path(where))
    if pools.is_dir():
        _refuse_existing(_pools_of(target))
    database = Database(where)
    try:
        database.back_up(target)
    finally:
        database.close()
    _check(target)
    _copy_pools(pools, _pools_of(target))  # after the database: a pool may know more than it, never less
    _say(f"Wrote {target}, checked.", as_json=as_json, database=where, copy=str(target))


def _pools_of(database: Path) -> Path:
    return database.with_name(f"{database.stem}-pools")


def _refuse_existing(copy: Path) -> None:
    if copy.exists():
        raise InvalidInput(f"There is a folder {str(copy)!r} already; it is not overwritten.")


def _copy_pools(pools: Path, copy: Path) -> None:
    """Copy the pools of evaluations, if there are any: each while nobody writes to it."""
    from karat.pool.log import Log  # noqa: PLC0415

    if not pools.is_dir():
        return
    for pool in sorted(path for path in pools.iterdir() if path.is_dir()):
        with Log(pool).writing():
            shutil.copytree(pool, copy / pool.name, ignore=shutil.ignore_patterns("tmp-*", "upload-*"))


def _say(text: str, *, as_json: bool, **facts: str) -> None:
    if as_json:
        print_json(facts)
    else:
        print_text(text)


def _check(copy: Path) -> None:
    from karat.store.database import Database  # noqa: PLC0415

    if not copy.is_file():
        raise InvalidInput(f"There is no file {str(copy)!r}.")
    database = Database(copy)
    try:
        found = database.check()
    except Exception as error:  # what SQLite raises for a file that is no database
        raise InvalidData(f"{copy} is damaged: {error}.") from error
    finally:
        database.close()
    if found:
        raise InvalidData(f"{copy} is damaged: {found[0]}.")
