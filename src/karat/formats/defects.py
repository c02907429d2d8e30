"""All defects of a file: the first are said in one sentence each, every one can be read by a machine.

They are kept on disk once they are many, so that a million of them cost no memory.
"""

from __future__ import annotations

import json
import tempfile
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

from karat.errors import Defect, InvalidData

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SAID = 10
MOST_DEFECTS = 1_000_000
"""A file with more is not read on: it is no file of answers."""
_HELD = 1 << 20


class Defects:
    """Gathers what is wrong with a file.

    Examples
    --------
    >>> defects = Defects()
    >>> for line in (3, 7):
    ...     defects.add(f"facts.csv, line {line}: expected a number; got 'x'.", line=line)
    >>> print(defects.error("nothing was imported"))
    2 defects, nothing was imported:
      facts.csv, line 3: expected a number; got 'x'.
      facts.csv, line 7: expected a number; got 'x'.
    >>> [defect.line for defect in defects]
    [3, 7]
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_HELD)  # noqa: SIM115
        weakref.finalize(self, self._file.close)  # errors travel far: it is closed when nobody holds them
        self._first: list[str] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Defect]:
        self._file.seek(0)
        for raw in self._file:
            line, message = json.loads(raw)
            yield Defect(line, message)

    def __contains__(self, defect: object) -> bool:
        return any(defect == other for other in self)

    def add(self, message: str, *, line: int | None = None) -> None:
        self._count += 1
        if self._count <= MOST_SAID:
            self._first.append(message)
        self._file.write(json.dumps([line, message]).encode() + b"\n")

    @contextmanager
    def caught(self, *, line: int | None = None) -> Iterator[None]:
        """Add what is refused inside, and go on."""
        try:
            yield
        except InvalidData as error:
            self.add(str(error), line=line)

    def by_line(self) -> Defects:
        """Return the defects of one file in the order of its lines."""
        ordered = Defects()
        for defect in sorted(self, key=lambda defect: defect.line or 0):
            ordered.add(defect.message, line=defect.line)
        return ordered

    def error(self, consequence: str) -> InvalidData:
        """Return the error that says the first and holds all."""
        if self._count == 1:
            return InvalidData(self._first[0], defects=self)
        more = [f"and {self._count - MOST_SAID:,} more."] if self._count > MOST_SAID else []
        text = "\n  ".join([f"{self._count:,} defects, {consequence}:", *self._first, *more])
        return InvalidData(text, defects=self)
