"""The errors that karat raises; each also inherits the built-in a caller would expect."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Defect(NamedTuple):
    """One thing that is wrong with a file; ``message`` says it in full."""

    line: int | None
    message: str


class KaratError(Exception):
    """Anything karat refuses, said in one sentence."""


class InvalidInput(KaratError, ValueError):  # noqa: N818
    """An argument that cannot be used; ``argument`` is its name where one is to blame."""

    argument: str | None = None


class InvalidData(InvalidInput):
    """A file or table that cannot be used; the message names file, row and column.

    Where a file has many defects the message says the first ones; ``defects`` has all.
    """

    def __init__(self, message: str, *, defects: Collection[Defect] = ()) -> None:
        super().__init__(message)
        self.defects = defects


class MissingExtra(KaratError, ImportError):  # noqa: N818
    """An optional dependency that is not installed."""
