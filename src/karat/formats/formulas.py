"""Text that a spreadsheet would run as a formula, made harmless and restored."""

from __future__ import annotations

import re
from typing import Any

_RUNS = re.compile(r"'*[=+\-@\t\r\n]")
_MADE_HARMLESS = re.compile(r"'+[=+\-@\t\r\n]")


def neutralise(cell: Any) -> Any:
    """Return text with an apostrophe before it if a spreadsheet would run it; `restore` takes exactly that away.

    Examples
    --------
    >>> [neutralise(text) for text in ("=1+1", "'=1+1", "it's", "")]
    ["'=1+1", "''=1+1", "it's", '']
    >>> [restore(neutralise(text)) for text in ("=1+1", "'=1+1", "it's", "")]
    ['=1+1', "'=1+1", "it's", '']
    """
    return f"'{cell}" if isinstance(cell, str) and _RUNS.match(cell) else cell


def restore(cell: str) -> str:
    """Return the text that `neutralise` was given."""
    return cell[1:] if _MADE_HARMLESS.match(cell) else cell
