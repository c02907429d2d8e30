"""How the service is set up: by arguments, by environment (KARAT_DB, KARAT_HOST, ...), or by a TOML file."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat import _check
from karat.errors import InvalidInput
from karat.web.logs import STYLES

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of one server.

    Parameters
    ----------
    db
        A path (SQLite) or the URL of a PostgreSQL database.
    host, port
        Where to listen.
    public_url
        How people reach the server, for links; made of host and port if empty.
    secure_cookies
        Send cookies over HTTPS only; set it behind a proxy that speaks HTTPS.
    most_body, most_upload
        Bytes that a request may have, and one that brings a file.
    uploads
        Where uploaded tables are kept; beside the database if empty.
    judges
        A TOML file that names judge models; none if empty.
    log
        "quiet" (warnings), "text" or "json" (a line a request), to stderr.
    folder
        A folder whose tables may become projects without an upload; none if empty.
    pools
        Folder for the pools of evaluations; beside a SQLite file, else in the working folder, if empty.

    Examples
    --------
    >>> Settings.read(environment={"KARAT_PORT": "9000"}).port
    9000
    """

    db: str = "karat.db"
    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str = ""
    secure_cookies: bool = False
    most_body: int = 1_000_000
    uploads: str = ""
    most_upload: int = 500_000_000
    folder: str = ""
    judges: str = ""
    log: str = "quiet"
    pools: str = ""

    def __post_init__(self) -> None:
        _check.whole("port", self.port, least=0, most=65_535)
        _check.one_of("log", self.log, STYLES)
        _check.whole("most_body", self.most_body, least=1000)
        _check.whole("most_upload", self.most_upload, least=1000)
        if self.folder and not Path(self.folder).is_dir():
            raise _check.refuse("folder", "empty or a folder that exists", self.folder)
        if self.public_url and not self.public_url.startswith(("http://", "https://")):
            raise _check.refuse("public_url", "empty or an address with http:// or https://", self.public_url)

    @property
    def address(self) -> str:
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def uploads_folder(self) -> Path:
        """Return where uploaded tables are kept."""
        beside = Path() if "://" in self.db else Path(self.db).parent
        return Path(self.uploads).resolve() if self.uploads else (beside / "karat-uploads").resolve()

    @classmethod
    def read(cls, *, environment: Mapping[str, str] | None = None, file: Path | None = None, **given: Any) -> Settings:
        """Return settings: what is given, else the environment, else the file, else the default; None is not given."""
        variables = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        if file is not None:
            try:
                values = tomllib.loads(file.read_text(encoding="utf-8"))
            except OSError as error:
                raise InvalidInput(f"{file} cannot be read: {error.strerror}.") from error
            except tomllib.TOMLDecodeError as error:
                raise InvalidInput(f"{file} is no TOML: {error}.") from error
        known = {field.name: field.type for field in fields(cls)}
        for name in values:
            _check.one_of("setting", name, known)
        for name in known:
            if f"KARAT_{name.upper()}" in variables:
                values[name] = variables[f"KARAT_{name.upper()}"]
        values |= {name: value for name, value in given.items() if value is not None}
        return cls(**{name: _convert(name, str(known[name]), value) for name, value in values.items()})


def _convert(name: str, kind: str, value: Any) -> Any:
    if kind == "int" and isinstance(value, str):
        if not value.strip().isdigit():
            raise _check.refuse(name, "a whole number", value)
        return int(value)
    if kind == "bool" and isinstance(value, str):
        return _check.one_of(name, value.lower(), ("true", "false", "1", "0")) in {"true", "1"}
    if not isinstance(value, {"int": int, "bool": bool, "str": str}[kind]):
        raise _check.refuse(name, {"int": "a whole number", "bool": "true or false", "str": "text"}[kind], value)
    return value
