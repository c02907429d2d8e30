"""What all foreign formats share: a task to judge, an answer of somebody, and how defects are gathered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from karat import _check
from karat.errors import InvalidData, InvalidInput
from karat.formats.answers import read_word
from karat.formats.defects import MOST_DEFECTS, Defects
from karat.math.agreement.votes import Votes

WORDS: Mapping[int, str] = {1: "yes", 0: "no", -1: "unsure"}
"""How answers are written where a format leaves the words to us."""

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An item to judge: its id as text, the fields to show, and its score where a format has room for one."""

    id: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    score: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", _text("id", str(self.id)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one annotator said about one item.

    Examples
    --------
    >>> Answer(item="fact 7", annotator="ann", value=1, seconds=2.5).value
    1
    """

    item: str
    annotator: str
    value: int
    """1 positive, 0 negative, -1 unsure."""
    note: str = ""
    seconds: float | None = None
    """How long it took."""
    time: datetime | None = None
    """When it was given, in UTC."""

    def __post_init__(self) -> None:
        _text("item", self.item)
        _text("annotator", self.annotator)
        _text("note", self.note, may_be_empty=True)
        if isinstance(self.value, bool) or self.value not in (1, 0, -1):
            raise _check.refuse("value", "1 (positive), 0 (negative) or -1 (unsure)", self.value)
        if self.seconds is not None:
            _check.number("seconds", self.seconds, least=0.0)
        if self.time is not None:
            if self.time.tzinfo is None or not _EARLIEST <= self.time < _LATEST:
                raise _check.refuse("time", "a moment with a time zone, between 1970 and 2200", self.time)
            object.__setattr__(self, "time", self.time.astimezone(UTC))


def to_votes(answers: Iterable[Answer], *, items: Iterable[str] | None = None) -> Votes:
    """Return answers as votes; of two by one annotator on an item the later in the list counts.

    Examples
    --------
    >>> to_votes([Answer(item="a", annotator="ann", value=1), Answer(item="a", annotator="bob", value=0)]).n_annotators
    2
    """
    listed = list(answers)
    return Votes.from_arrays(
        item=[answer.item for answer in listed],
        annotator=[answer.annotator for answer in listed],
        answer=[answer.value for answer in listed],
        items=None if items is None else list(items),
    )


def group_answers(tasks: Iterable[Task], answers: Iterable[Answer]) -> Iterator[tuple[Task, list[Answer]]]:
    """Yield each task with its answers; answers about other items come last, each with a task that has no fields."""
    by_item: dict[str, list[Answer]] = {}
    for answer in answers:
        by_item.setdefault(answer.item, []).append(answer)
    for task in tasks:
        yield task, by_item.pop(task.id, [])
    for item, mine in by_item.items():
        yield Task(id=item), mine


def latest_answers(answers: Iterable[Answer]) -> list[Answer]:
    """Return one answer for each annotator and item, the last one."""
    return list({(answer.item, answer.annotator): answer for answer in answers}.values())


# --- reading


def read_value(word: Any, meanings: Mapping[str, int] | None) -> int | None:
    """Return 1, 0, -1 or None (no answer) for a foreign word: by ``meanings`` if given, else by the common words."""
    if meanings is None:
        return read_word(word)
    if word is None or str(word).strip() == "":
        return None
    if str(word) not in meanings:
        known = ", ".join(map(repr, meanings))
        raise InvalidData(f"expected one of {known}; got {shorten(word)}")
    return meanings[str(word)]


def read_time(text: Any) -> datetime | None:
    """Return a moment from ISO 8601 text; without a time zone it is UTC."""
    if text is None or text == "":
        return None
    moment = datetime.fromisoformat(str(text))
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def write_time(time: datetime | None) -> str:
    return "" if time is None else time.isoformat().replace("+00:00", "Z")


def read_seconds(value: Any) -> float | None:
    """Return a finite number of seconds from a number or its text."""
    if value is None or value == "":
        return None
    seconds = float(value)
    if isinstance(value, bool) or not math.isfinite(seconds) or seconds < 0:
        raise ValueError(value)
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record of a foreign file: where it stands and what it holds, or what is wrong with it."""

    where: str
    value: dict[str, Any]
    line: int | None = None
    defect: InvalidData | None = None

    def fail(self, name: str, expected: str, got: Any) -> InvalidData:
        """Word a defect of one field; the caller raises it."""
        return InvalidData(f"{self.where}, field '{name}': expected {expected}; got {shorten(got)}.")

    def read(self, name: str, read: Callable[[Any], Any], value: Any, expected: str) -> Any:
        """Return ``read(value)``; whatever it cannot read is a defect of the field."""
        try:
            return read(value)
        except InvalidData as error:
            raise InvalidData(f"{self.where}, field '{name}': {error}.") from None
        except (TypeError, ValueError, OverflowError):
            raise self.fail(name, expected, value) from None

    def name(self, name: str, value: Any, expected: str = "text or a whole number") -> str:
        """Return an id or a person as text."""
        if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
            raise self.fail(name, expected, value)
        return str(value)

    def answer(
        self,
        *,
        item: str,
        annotator: str,
        value: int,
        note: str = "",
        seconds: float | None = None,
        time: datetime | None = None,
    ) -> Answer:
        """Return the answer, or raise a defect that says where it stands."""
        try:
            return Answer(item=item, annotator=annotator, value=value, note=note, seconds=seconds, time=time)
        except InvalidInput as error:
            raise InvalidData(f"{self.where}: {error}") from None


Keep = Callable[[Answer], None]


def collect_answers(
    rows: Iterable[Row], parse: Callable[[Row], Iterable[Answer]], keep: Keep | None = None
) -> list[Answer]:
    """Parse all rows; if any has a defect nothing is returned and the error holds every one of them.

    ``keep`` is given each answer in place of the list; what it refuses is a defect of the answer's row.
    """
    answers: list[Answer] = []
    defects = Defects()
    for row in _until_broken(rows, defects):
        try:
            if row.defect is not None:
                raise row.defect
            for answer in parse(row):
                if keep is None:
                    answers.append(answer)
                else:
                    _keep(answer, keep, row)
        except InvalidData as error:
            defects.add(str(error), line=row.line)
            answers.clear()
    if defects:
        raise defects.error("nothing was imported")
    return answers


def _keep(answer: Answer, keep: Keep, row: Row) -> None:
    try:
        keep(answer)
    except InvalidData as error:
        raise InvalidData(f"{row.where}: {error}.") from None


def _until_broken(rows: Iterable[Row], defects: Defects) -> Iterator[Row]:
    """Yield rows; where the file cannot be read on, that is its last defect."""
    try:
        for row in rows:
            if len(defects) >= MOST_DEFECTS:
                defects.add(f"{row.where}: the rest was not read, after {MOST_DEFECTS:,} defects.", line=row.line)
                return
            yield row
    except InvalidData as error:
        defects.add(str(error))


def shorten(value: Any) -> str:
    """Return a value for an error message, never a long one."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "...")
    if isinstance(value, (dict, list)):
        return f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value):,}"
    return repr(value)


def _text(name: str, value: Any, *, may_be_empty: bool = False) -> str:
    """Return text that every file and database can hold."""
    if not isinstance(value, str) or not (value or may_be_empty):
        raise _check.refuse(name, "text" if may_be_empty else "text that is not empty", value)
    if "\0" in value or not _encodable(value):
        raise _check.refuse(name, "text without NUL and lone surrogates", value[:60])
    return value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
