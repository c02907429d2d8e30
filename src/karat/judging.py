"""A judge model over a whole resource: a journal that can be taken up again, then the resource with one column more.

The column holds the model's chance, from 0 to 1, that an item is right: what `certify` takes as its proxy.
"""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from karat import _check
from karat.errors import InvalidData, InvalidInput
from karat.formats.tables import FileTable
from karat.judges.chat import Chat, NoAnswer
from karat.judges.verdicts import ask_for_chance, read_chance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

    from karat.formats.files import Source
    from karat.judges.settings import Judge

NO_OPINION = 0.5
"""What a reply that states no chance counts as."""
_MOST_FAILURES = 20
_FORMAT = 1


class Outcome(NamedTuple):
    """What a run came to."""

    judged: int
    unclear: int
    failed: int
    calls: int
    first_failure: str


class ProxyJob:
    """Asks a judge about every row of a resource.

    Parameters
    ----------
    source
        The resource's files.
    output
        The Parquet file to write; the journal stands beside it until it is complete.
    column
        What the new column is called.
    fields
        The columns that the judge sees, all but ``hidden`` if empty.
    """

    def __init__(
        self,
        source: Source,
        judge: Judge,
        *,
        question: str,
        output: Path,
        column: str,
        fields: Sequence[str] = (),
        hidden: Sequence[str] = (),
    ) -> None:
        self.table = FileTable(source)
        self.judge = judge
        self.output = output
        self.column = column
        self._question = question
        for name in fields:
            self.table.require(name)
        if column in self.table.columns:
            raise _check.refuse("column", "a name that the resource has not yet", column)
        if output.exists():
            raise InvalidInput(f"{output} exists already.")
        self._fields = list(fields) or [name for name in self.table.columns if name not in hidden]
        self.journal = output.with_name(f"{output.name}.journal")
        self._known = self._read_journal()

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def n_left(self) -> int:
        return self.n_rows - len(self._known)

    @property
    def cost(self) -> float:
        """Return what the rest costs, if no call must be repeated."""
        return self.judge.cost(self.n_left)

    def run(self, watch: Callable[[int], object] = lambda _: None) -> Outcome:
        """Ask about every row that has no answer yet; ``watch`` is told how many rows have one."""
        judged = unclear = failed = in_a_row = 0
        first_failure = ""
        with (
            Chat(self.judge) as chat,
            self._open_journal() as journal,
            ThreadPoolExecutor(self.judge.at_once) as pool,
        ):
            for row, future in _keep_busy(pool, self._ask, chat, self._rows_left(), most=4 * self.judge.at_once):
                try:
                    chance = read_chance(future.result())
                except NoAnswer as error:
                    failed, in_a_row = failed + 1, in_a_row + 1
                    first_failure = first_failure or str(error)
                    if in_a_row >= _MOST_FAILURES:
                        raise InvalidInput(f"{in_a_row} rows in a row without an answer; stopped. {error}") from error
                    continue
                in_a_row = 0
                judged += 1
                unclear += chance is None
                value = NO_OPINION if chance is None else chance
                self._known[row] = value
                journal.write(json.dumps([row, value]) + "\n")
                journal.flush()
                watch(len(self._known))
            return Outcome(judged, unclear, failed, chat.calls, first_failure)

    def finish(self) -> None:
        """Write the resource with its new column; the journal is no longer needed then."""
        values = [self._known[row] for row in range(self.n_rows)]
        self.table.write_with_column(self.output, self.column, values)
        self.journal.unlink()

    # --- inside

    def _ask(self, chat: Chat, row: dict[str, Any]) -> str:
        return chat.reply(ask_for_chance(self._question, {name: row[name] for name in self._fields}))

    def _rows_left(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, row in enumerate(self.table.each_row()):
            if number not in self._known:
                yield number, row

    @property
    def _header(self) -> dict[str, Any]:
        return {
            "karat_journal": _FORMAT,
            "files": [[Path(path).name, Path(path).stat().st_size] for path in self.table.paths],
            "n_rows": self.n_rows,
            "model": self.judge.model,
            "question": self._question,
            "fields": self._fields,
        }

    def _read_journal(self) -> dict[int, float]:
        """Return what an earlier run wrote; a last line that is torn was never finished."""
        if not self.journal.exists():
            return {}
        lines = self.journal.read_text(encoding="utf-8").split("\n")[:-1]
        try:
            header = json.loads(lines[0]) if lines else self._header
            known = {int(row): float(value) for row, value in map(json.loads, lines[1:])}
        except (ValueError, TypeError) as error:
            raise InvalidData(f"{self.journal} is damaged: {error}. Remove it to begin anew.") from error
        for name, value in self._header.items():
            if not isinstance(header, dict) or header.get(name) != value:
                was = header.get(name) if isinstance(header, dict) else header
                raise InvalidInput(
                    f"{self.journal} is of another job: its {name!r} is {was!r}, now it is {value!r}. "
                    "Go on as before, or remove it to begin anew."
                )
        return known

    def _open_journal(self) -> TextIO:
        try:
            text = self.journal.read_text(encoding="utf-8") if self.journal.exists() else ""
            if not text:
                text = json.dumps(self._header) + "\n"
            self.journal.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
            return self.journal.open("a", encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"{self.journal} cannot be written: {error.strerror}.") from error


def _keep_busy(
    pool: ThreadPoolExecutor,
    ask: Callable[[Chat, dict[str, Any]], str],
    chat: Chat,
    rows: Iterator[tuple[int, dict[str, Any]]],
    *,
    most: int,
) -> Iterator[tuple[int, Future[str]]]:
    """Yield rows with their replies in order, a few calls ahead; what nobody waits for any more is given up."""
    under_way: deque[tuple[int, Future[str]]] = deque()
    try:
        for number, row in rows:
            under_way.append((number, pool.submit(ask, chat, row)))
            if len(under_way) >= most:
                yield under_way.popleft()
        while under_way:
            yield under_way.popleft()
    finally:
        for _, future in under_way:
            future.cancel()
