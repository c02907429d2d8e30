"""How far a long scan is, shown in a notebook."""

from __future__ import annotations

import time
from html import escape
from importlib import import_module
from typing import Any

from karat.errors import MissingExtra

_PAUSE = 0.1  # seconds between two pictures: each is a message to the browser


class NotebookBar:
    """A progress bar below the cell: ``karat.open(files, score="score", watch=karat.NotebookBar())``.

    It is told what is being read and the share that is done (None if unknown), and may be used for several scans.

    Examples
    --------
    >>> NotebookBar().html("counting", 0.25)
    '<progress max="1" value="0.25"></progress> counting'
    """

    def __init__(self) -> None:
        self._shown: Any = None
        self._last = ("", 0.0)

    def __call__(self, what: str, share: float | None) -> None:
        name, moment = self._last
        now = time.monotonic()
        if what == name and now - moment < _PAUSE and share != 1:
            return
        self._last = (what, now)
        try:
            display = import_module("IPython.display")
        except ImportError:
            raise MissingExtra("NotebookBar needs IPython, which every notebook has; elsewhere leave it out.") from None
        picture = display.HTML(self.html(what, share))
        if self._shown is None:
            self._shown = display.display(picture, display_id=True)
        else:
            self._shown.update(picture)

    @staticmethod
    def html(what: str, share: float | None) -> str:
        """Return the bar as HTML; one without an end where the share is unknown."""
        value = "" if share is None else f' value="{share:g}"'
        return f'<progress max="1"{value}></progress> {escape(what)}'
