"""In how many documents each true relation is stated: a table to fill in, and to read back.

A relation that many documents state is found more often by reading some of them; with these counts it counts once.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from karat.errors import InvalidData
from karat.formats.defects import Defects
from karat.formats.harmless_csv import read_rows, write_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from karat.formats.exchange import Row

    Relation = tuple[str, str, str]

COLUMNS = ("subject", "predicate", "object", "read_in", "stated_in")
_MOST_DIGITS = 19


def write_counts(read_in: Mapping[Relation, int], known: Mapping[Relation, int]) -> str:
    """Return the table of the relations that readers found: how many documents read state each, and how many do at all.

    The latter is filled in where it is known.
    """
    stream = io.StringIO()
    rows = [(*relation, count, known.get(relation)) for relation, count in sorted(read_in.items())]
    write_rows(stream, COLUMNS, rows)
    return stream.getvalue()


def read_counts(path: Path, read_in: Mapping[Relation, int], *, n_documents: int) -> dict[Relation, int | None]:
    """Read how many of the documents state each of the relations that readers found; None where it was left open."""
    header, rows = read_rows(path)
    needed = [name for name in COLUMNS if name != "read_in"]
    missing = [name for name in needed if name not in header]
    if missing:
        raise InvalidData(f"{path.name}, line 1: {missing[0]!r} is missing; needed are {', '.join(needed)}.")
    defects = Defects()
    counts: dict[Relation, int | None] = {}
    lines: dict[Relation, int | None] = {}
    is_whole = True
    for row in rows:
        with defects.caught(line=row.line):
            if row.defect is not None:
                is_whole = False
                raise row.defect
            relation = (row.value["subject"], row.value["predicate"], row.value["object"])
            if relation in lines:
                raise InvalidData(f"{row.where}: the relation {' | '.join(relation)} stands already in "
                                  f"line {lines[relation]}.")  # fmt: skip
            lines[relation] = row.line
            if relation not in read_in:
                raise InvalidData(f"{row.where}: readers found no relation {' | '.join(relation)}.")
            counts[relation] = _read_count(row, least=read_in[relation], most=n_documents)
    for relation in sorted(read_in.keys() - lines.keys()) if is_whole else ():
        defects.add(f"{path.name}: no line for the relation {' | '.join(relation)}, which readers found.")
    if len(defects):
        raise defects.error("nothing was told")
    return counts


def _read_count(row: Row, *, least: int, most: int) -> int | None:
    given = row.value["stated_in"].strip()
    if not given:
        return None
    is_number = given.isascii() and given.isdigit() and len(given) < _MOST_DIGITS
    if not is_number or not least <= int(given) <= most:
        expected = f"nothing, or a whole number of at least {least:,} and at most {most:,}, which is all documents"
        raise row.fail("stated_in", expected, given)
    return int(given)
