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

    Relation = tuple[str, str, str]

COLUMNS = ("subject", "predicate", "object", "read_in", "stated_in")


def write_counts(read_in: Mapping[Relation, int]) -> str:
    """Return the table of the relations that readers found, with the number of documents read that state each."""
    stream = io.StringIO()
    write_rows(stream, COLUMNS, [(*relation, count, None) for relation, count in sorted(read_in.items())])
    return stream.getvalue()


def read_counts(path: Path, read_in: Mapping[Relation, int]) -> dict[Relation, int]:
    """Read how many documents state each of the relations that readers found; others may be in the table too."""
    header, rows = read_rows(path)
    needed = [name for name in COLUMNS if name != "read_in"]
    missing = [name for name in needed if name not in header]
    if missing:
        raise InvalidData(f"{path.name}, line 1: {missing[0]!r} is missing; needed are {', '.join(needed)}.")
    defects, counts = Defects(), {}
    for row in rows:
        with defects.caught(line=row.line):
            if row.defect is not None:
                raise row.defect
            relation = (row.value["subject"], row.value["predicate"], row.value["object"])
            given, least = row.value["stated_in"].strip(), read_in.get(relation, 1)
            if not (given.isascii() and given.isdigit() and least <= int(given[:10])):
                raise row.fail("stated_in", f"a whole number of at least {least:,}", given)
            counts[relation] = int(given[:10])
    for relation in sorted(read_in.keys() - counts.keys()) if not len(defects) else ():
        defects.add(f"{path.name}: no line for the relation {' | '.join(relation)}, which readers found.")
    if len(defects):
        raise defects.error("nothing was told")
    return counts
