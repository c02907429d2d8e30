"""Answers in files: a table with an id (or rank) and a label, the label in any common word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.draws import UNSURE, Draw, Labels
from karat.errors import InvalidData
from karat.formats.formulas import restore
from karat.formats.tables import FileTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.formats.files import Source

RIGHT = ("1", "1.0", "true", "t", "yes", "y", "right", "correct", "positive", "good")
WRONG = ("0", "0.0", "false", "f", "no", "n", "wrong", "incorrect", "negative", "bad")
UNDECIDED = ("-1", "?", "unsure", "unknown", "skip", "na", "n/a")
_WORDS = {1: "yes", 0: "no", UNSURE: "unsure"}
_MEANING = {**dict.fromkeys(RIGHT, 1), **dict.fromkeys(WRONG, 0), **dict.fromkeys(UNDECIDED, UNSURE)}


def read_word(word: Any) -> int | None:
    """Return 1, 0 or -1 (unsure) for an answer; None if there is none.

    Examples
    --------
    >>> [read_word(word) for word in ("Yes", 0, "unsure", "", True)]
    [1, 0, -1, None, 1]
    """
    if word is None or str(word).strip() == "":
        return None
    text = str(word).strip().lower()
    if text not in _MEANING:
        raise InvalidData(f"expected an answer such as 1, 0, yes, no or unsure; got {str(word)!r}")
    return _MEANING[text]


def read_answers(source: Source, draw: Draw, *, label: str = "label") -> Labels:
    """Read a table of answers and join it with the draw by id, or by rank if it has no ids.

    Rows without an answer are passed over. Two rows may speak of one item if they agree, or if the later one decides
    what was unsure; a contradiction is refused.
    """
    table = FileTable(source)
    table.require(label)
    ids = draw.ids
    by_id = ids is not None and "id" in table.columns
    if not by_id:
        if "rank" not in table.columns:
            key = "'id' or 'rank'" if ids is not None else "'rank' (the draw has no ids)"
            raise InvalidData(f"{table.name} has no column {key}; it has {', '.join(map(repr, table.columns))}.")
        rank_of = {str(rank): int(rank) for rank in draw.ranks}
    else:
        rank_of = {str(id_): int(rank) for id_, rank in zip(ids or (), draw.ranks, strict=True)}
    key = "id" if by_id else "rank"
    answered: dict[int, tuple[int, int]] = {}
    for row, (name, word) in enumerate(zip(table.texts(key), table.texts(label), strict=True)):
        try:
            value = read_word(word)
        except InvalidData as error:
            path, line = table.locate(row)
            raise InvalidData(f"{path}, row {line}, column '{label}': {error}.") from None
        if value is None:
            continue
        item = str(name) if str(name) in rank_of else restore(str(name))  # items are written with harmless ids
        path, line = table.locate(row)
        if item not in rank_of:
            raise InvalidData(
                f"{path}, row {line}, column '{key}': expected an item of the draw; got {name!r}."
                f"{_hint(table.texts(key), rank_of)}"
            )
        rank = rank_of[item]
        earlier, earlier_row = answered.get(rank, (UNSURE, row))
        if earlier not in (UNSURE, value):
            other, other_line = table.locate(earlier_row)
            raise InvalidData(
                f"{path}, row {line}: item {name!r} is answered {_WORDS[value]} here and {_WORDS[earlier]} in "
                f"{other}, row {other_line}; keep one of the two."
            )
        answered[rank] = value, row
    return Labels.from_pairs(list(answered), [value for value, _ in answered.values()])


def _hint(names: list[Any], rank_of: Mapping[str, int]) -> str:
    """Say so where the labels seem to be those of another draw."""
    n_strange = sum(str(name) not in rank_of and restore(str(name)) not in rank_of for name in names)
    return f" {n_strange:,} of {len(names):,} are not: are they labels of another draw?" if n_strange > 1 else ""
