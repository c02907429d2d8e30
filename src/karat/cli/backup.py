"""`karat backup`: a copy of the service's database, taken while it is in use."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import AsJson, Db
from karat.cli.output import report
from karat.errors import InvalidData, InvalidInput
from karat.pool.log import Log
from karat.service.pools import default_home
from karat.store.database import Database
from karat.store.transfer import copy_all
from karat.web.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator


def run(
    target: Annotated[Path, typer.Argument(help="The copy to write; with --restore, the copy to read.")],
    db: Db = None,
    restore: Annotated[bool, typer.Option("--restore", help="Make a database from the copy instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy the database while the service runs, and check the copy; or make a database from such a copy.

    A copy is one SQLite file, whatever the database is, and can be restored into either kind. The pools of evaluations
    that lie beside the database are copied with it. An existing file is never overwritten, and a PostgreSQL database
    must be empty to be restored into.

    Examples:

        karat backup monday.db

        karat backup --restore monday.db --db again.db

        karat backup --restore monday.db --db postgresql://karat@localhost/karat
    """
    settings = Settings.read(db=db)
    is_file = "://" not in settings.db
    if restore:
        if is_file and Path(settings.db).exists():
            raise InvalidInput(f"'--db' must be a path that does not exist yet; got {settings.db!r}.")
        _check(target)
    elif is_file and not Path(settings.db).exists():
        raise InvalidInput(f"There is no database {settings.db!r}.")
    elif target.exists():
        raise InvalidInput(f"'target' must not exist yet; got {str(target)!r}.")
    database = Database(settings.db)
    where = database.url.render_as_string() if not is_file else settings.db
    pools = Path(settings.pools) if settings.pools else default_home(database)
    copied = _pools_of(target)
    try:
        if restore:
            if copied.is_dir():
                _refuse_existing(pools)
            if is_file:
                shutil.copyfile(target, settings.db)
            else:
                with _opened(target) as copy:
                    copy_all(copy, database)
            _copy_pools(copied, pools)
            report({"restored": where, "copy": str(target)}, f"Restored {where} from {target}.", as_json=as_json)
            return
        if pools.is_dir():
            _refuse_existing(copied)
        if is_file:
            database.back_up(target)
        else:
            _copy_to_file(database, target)
    finally:
        database.close()
    _check(target)
    _copy_pools(pools, copied)  # after the database: a pool may know more than it, never less
    report({"database": where, "copy": str(target)}, f"Wrote {target}, checked.", as_json=as_json)


def _copy_to_file(database: Database, target: Path) -> None:
    """Write a SQLite copy of a PostgreSQL database; where that fails nothing is left behind."""
    part = target.with_name(f"{target.name}.part")
    try:
        with _opened(part) as copy:
            copy_all(database, copy)
            copy.make_one_file()
        part.rename(target)
    finally:
        for name in (part.name, f"{part.name}-wal", f"{part.name}-shm"):
            part.with_name(name).unlink(missing_ok=True)


@contextmanager
def _opened(path: Path) -> Iterator[Database]:
    database = Database(path)
    try:
        yield database
    finally:
        database.close()


def _pools_of(database: Path) -> Path:
    return database.with_name(f"{database.stem}-pools")


def _refuse_existing(copy: Path) -> None:
    if copy.exists():
        raise InvalidInput(f"There is a folder {str(copy)!r} already; it is not overwritten.")


def _copy_pools(pools: Path, copy: Path) -> None:
    """Copy the pools of evaluations, if there are any: each while nobody writes to it."""
    if not pools.is_dir():
        return
    for pool in sorted(path for path in pools.iterdir() if path.is_dir()):
        with Log(pool).writing():
            shutil.copytree(pool, copy / pool.name, ignore=shutil.ignore_patterns("tmp-*", "upload-*"))


def _check(copy: Path) -> None:
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
