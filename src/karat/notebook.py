"""How far a long scan is, shown in a notebook."""

from __future__ import annotations

import sys
import time
from html import escape
from importlib import import_module
from typing import Any

_PAUSE = 0.1  # seconds between two pictures: each is a message to the browser


class NotebookBar:
    """A progress bar below the cell: ``karat.open(files, score="score", watch=karat.NotebookBar())``.

    It is told what is being read and the share that is done (None if unknown), and may be used for several scans;
    each cell has its own. Outside a notebook nothing is shown.

    Examples
    --------
    >>> NotebookBar().html("counting", 0.25)
    '<progress max="1" value="0.25"></progress> counting'
    """

    def __init__(self) -> None:
        self._shown: Any = None
        self._cell: int | None = None
        self._last = ("", 0.0)

    def __call__(self, what: str, share: float | None) -> None:
        name, moment = self._last
        now = time.monotonic()
        if what == name and now - moment < _PAUSE and share != 1:
            return
        self._last = (what, now)
        cell = _running_cell()
        if cell is None:
            return
        display = import_module("IPython.display")
        picture = display.HTML(self.html(what, share))
        if cell == self._cell:
            self._shown.update(picture)
        else:
            self._shown, self._cell = display.display(picture, display_id=True), cell

    @staticmethod
    def html(what: str, share: float | None) -> str:
        """Return the bar as HTML; one without an end where the share is unknown."""
        value = "" if share is None else f' value="{share:g}"'
        return f'<progress max="1"{value}></progress> {escape(what)}'


def _running_cell() -> int | None:
    """Return the number of the cell that is run, None outside a notebook."""
    ipython = sys.modules.get("IPython")  # a kernel has loaded it
    shell: Any = None if ipython is None else ipython.get_ipython()
    return int(shell.execution_count) if getattr(shell, "kernel", None) is not None else None
