"""Which judge models there are: a TOML file with one section each. No user can name an address to call."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from karat import _check
from karat.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model that can be asked.

    Parameters
    ----------
    name
        What it is called here; its section in the file.
    url, model
        The endpoint (``.../chat/completions``) and the model's name there.
    key_variable
        The environment variable that holds the key; empty if none is needed. The key itself is never in a file.
    price, currency
        What one call costs.
    timeout, tries
        Seconds to wait for an answer, and how often to ask before giving up.
    at_once
        Calls under way at the same time.

    Examples
    --------
    >>> Judge(name="small", url="http://localhost:8080/v1/chat/completions", model="m").cost(1000)
    0.0
    """

    name: str
    url: str
    model: str
    key_variable: str = ""
    price: float = 0.0
    currency: str = ""
    timeout: float = 60.0
    tries: int = 4
    at_once: int = 4

    def __post_init__(self) -> None:
        if not 1 <= len(self.name) <= 40 or not all(part.isalnum() for part in self.name.replace("_", "-").split("-")):
            raise _check.refuse("judge", "named with letters, digits and hyphens, 40 at most", self.name)
        if not self.url.startswith(("http://", "https://")):
            raise _check.refuse("url", "an address with http:// or https://", self.url)
        if not self.model:
            raise _check.refuse("model", "text that is not empty", self.model)
        _check.number("price", self.price, least=0, most=1e6)
        _check.number("timeout", self.timeout, least=0.1, most=3600)
        _check.whole("tries", self.tries, least=1, most=20)
        _check.whole("at_once", self.at_once, least=1, most=64)

    def cost(self, calls: int) -> float:
        return calls * self.price

    @property
    def key(self) -> str:
        """Return the key from the environment."""
        if not self.key_variable:
            return ""
        key = os.environ.get(self.key_variable, "")
        if not key:
            raise InvalidInput(
                f"The judge {self.name!r} needs its key in the environment variable {self.key_variable}."
            )
        return key


def read_judges(path: str | Path) -> dict[str, Judge]:
    """Read the file of judges; an empty path means none."""
    if not str(path):
        return {}
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is no TOML: {error}.") from error
    return {name: _read(path, name, section) for name, section in document.items()}


def find_judge(judges: dict[str, Judge], name: str) -> Judge:
    return judges[_check.one_of("judge", name, judges)]


def _read(path: str | Path, name: str, section: Any) -> Judge:
    known = {field.name: field.type for field in fields(Judge) if field.name != "name"}
    if not isinstance(section, dict):
        raise InvalidInput(f"{path}: '{name}' must be a section such as [{name}]; got {section!r}.")
    for key, value in section.items():
        if key not in known:
            raise InvalidInput(f"{path}, [{name}]: '{key}' must be one of {', '.join(known)}.")
        kinds: tuple[type, ...] = {"str": (str,), "int": (int,), "float": (int, float)}[str(known[key])]
        if isinstance(value, bool) or not isinstance(value, kinds):
            words = {"str": "text", "int": "a whole number", "float": "a number"}[str(known[key])]
            raise InvalidInput(f"{path}, [{name}]: '{key}' must be {words}; got {value!r}.")
    missing = [key for key in ("url", "model") if key not in section]
    if missing:
        raise InvalidInput(f"{path}, [{name}]: '{missing[0]}' is missing.")
    try:
        return Judge(name=name, **section)
    except InvalidInput as error:
        raise InvalidInput(f"{path}, [{name}]: {error}") from error
