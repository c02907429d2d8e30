"""The errors that karat raises; each also inherits the built-in a caller would expect."""

from __future__ import annotations


class KaratError(Exception):
    """Anything karat refuses, said in one sentence."""


class InvalidInput(KaratError, ValueError):  # noqa: N818
    """An argument that cannot be used; ``argument`` is its name where one is to blame."""

    argument: str | None = None


class InvalidData(InvalidInput):
    """A file or table that cannot be used; the message names file, row and column."""


class MissingExtra(KaratError, ImportError):  # noqa: N818
    """An optional dependency that is not installed."""
