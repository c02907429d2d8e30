"""Names and texts as SQL writes them, so that none can end early and become a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def name(column: str) -> str:
    """Return the name of a column or table, quoted.

    Examples
    --------
    >>> print(name('my "id" column'))
    "my ""id"" column"
    """
    return '"' + column.replace('"', '""') + '"'


def text(value: str | Path) -> str:
    """Return a text or path, quoted.

    Examples
    --------
    >>> text("it's")
    "'it''s'"
    """
    return "'" + str(value).replace("'", "''") + "'"
