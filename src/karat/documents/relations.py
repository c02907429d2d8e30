"""Submissions of relation instances: each line a relation, and the two mentions in a document that state it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.documents.text import fault_of_span, shorten
from karat.errors import InvalidData
from karat.formats.defects import Defects
from karat.formats.harmless_csv import read_rows
from karat.formats.strict_json import read_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from karat.formats.exchange import Row

ENDS = ("subject", "object")
TEXTS = ("document", "subject", "predicate", "object", "subject_mention", "object_mention")
OFFSETS = ("subject_start", "subject_end", "object_start", "object_end")
NEEDED = (*TEXTS, *OFFSETS)
OPTIONAL = ("score", "subject_link", "object_link")
RELATION = ("subject_entity", "predicate", "object_entity")
"""What makes two instances state the same relation: the page an end is linked to, else its canonical mention."""
FORMATS = (".csv", ".tsv", ".jsonl")
MOST_TEXT = 1000
MOST_PREDICTIONS = 500_000
MOST_FAULTS = 1000


def check_relations(
    path: Path,
    *,
    texts_of: Callable[[set[str]], Mapping[str, str]],
    predicates: Iterable[str] = (),
    most: int = MOST_PREDICTIONS,
) -> list[dict[str, Any]]:
    """Read a submission and check every line; all faults are named, and any fault refuses it as a whole.

    Parameters
    ----------
    path
        CSV, TSV or JSON lines with the columns `NEEDED`, perhaps `OPTIONAL` ones, and no others.
    texts_of
        Gives the texts of those of the named documents that there are.
    predicates
        The known ones; any if empty.
    most
        How many lines there may be; what comes after them is not read.

    Returns
    -------
    list of dict
        The instances, each with an ``id`` that is the same for the same instance of any system.
    """
    defects = Defects()
    rows: list[tuple[Row, dict[str, Any]]] = []
    for row in _rows(path):
        if len(rows) == most:
            raise InvalidData(f"{row.where}: a submission has {most:,} predictions at most.")
        with defects.caught(line=row.line):
            rows.append((row, _shape(row, is_json=path.suffix.lower() == ".jsonl")))
        _stop_at_many(defects)
    if not rows and not len(defects):
        raise InvalidData(f"{path.name}: it has no predictions.")
    texts = texts_of({said["document"] for _, said in rows})
    known = set(predicates)
    first: dict[str, str] = {}
    is_scored = any(said["score"] is not None for _, said in rows)
    for row, said in rows:
        with defects.caught(line=row.line):
            _refuse_faults(said, row.where, texts, known)
            said["id"] = instance_id(said)
            if said["id"] in first:
                before = first[said["id"]].rpartition(", ")[2]
                raise InvalidData(f"{row.where}: the same instance stands already in {before}.")
            first[said["id"]] = row.where
            if is_scored and said["score"] is None:
                raise InvalidData(f"{row.where}: the score is empty, but other lines have one.")
            for end in ENDS:
                said[f"{end}_entity"] = said.get(f"{end}_link") or said[end]
        _stop_at_many(defects)
    if len(defects):
        raise defects.by_line().error("nothing was kept")
    return [said for _, said in rows]


def _stop_at_many(defects: Defects) -> None:
    if len(defects) >= MOST_FAULTS:
        raise defects.by_line().error("nothing was kept, and the rest was not read")


def instance_id(row: Mapping[str, Any]) -> str:
    """Name an instance by what it says and where, so that all systems that find it name it alike."""
    spans = [row[name] for name in OFFSETS]
    ends = [row.get(f"{end}_link") or row[end] for end in ENDS]
    return json.dumps([row["document"], ends[0], row["predicate"], ends[1], *spans], ensure_ascii=False)


def write_instances(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write checked instances as the pool reads them."""
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _rows(path: Path) -> Iterator[Row]:
    """Yield the lines; what is wrong with each speaks of the file without its folder."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InvalidData(f"{path.name}: unknown ending; known are {', '.join(FORMATS)}.")
    rows: Iterator[Row]
    if suffix == ".jsonl":
        rows = iter(read_records(path))
    else:
        header, rows = read_rows(path, delimiter="\t" if suffix == ".tsv" else ",")
        _check_columns(header, f"{path.name}, line 1")
    for row in rows:
        defect = None if row.defect is None else InvalidData(str(row.defect).replace(str(path), path.name))
        yield replace(row, where=row.where.replace(str(path), path.name), defect=defect)


def _check_columns(names: Iterable[str], where: str) -> None:
    given = list(names)
    missing = [name for name in NEEDED if name not in given]
    if missing:
        raise InvalidData(f"{where}: {missing[0]!r} is missing; needed are {', '.join(NEEDED)}.")
    stray = [name for name in given if name not in {*NEEDED, *OPTIONAL}]
    if stray:
        raise InvalidData(f"{where}: {shorten(str(stray[0]))!r} is unknown; besides those needed there may be "
                          f"{', '.join(OPTIONAL)}.")  # fmt: skip


def _shape(line: Row, *, is_json: bool) -> dict[str, Any]:
    """Return a row with texts and whole numbers where they belong."""
    if line.defect is not None:
        raise line.defect
    value, where = line.value, line.where
    if is_json:
        _check_columns(value, where)
    row: dict[str, Any] = {}
    for name in (*TEXTS, "subject_link", "object_link"):
        given = value.get(name)
        if name not in TEXTS and given in (None, ""):
            row[name] = None
            continue
        if not isinstance(given, str) or not given.strip() or len(given) > MOST_TEXT or "\x00" in given:
            raise InvalidData(f"{where}: '{name}' must be text of 1 to {MOST_TEXT:,} characters; "
                              f"got {shorten(str(given))!r}.")  # fmt: skip
        if any("\ud800" <= letter <= "\udfff" for letter in given):
            raise InvalidData(f"{where}: '{name}' holds half a character.")
        row[name] = given
    for name in OFFSETS:
        given = value[name]
        text = given.strip() if isinstance(given, str) else ""
        if isinstance(given, str) and text.isascii() and text.isdigit() and len(text) < 10:
            given = int(text)
        if not isinstance(given, int) or isinstance(given, bool) or given < 0:
            raise InvalidData(f"{where}: '{name}' must be a whole number of at least 0; got {shorten(str(given))!r}.")
        row[name] = given
    row["score"] = _score(value.get("score"), where)
    return row


def _score(given: Any, where: str) -> float | None:
    if given in (None, ""):
        return None
    try:
        score = float(given)
    except (TypeError, ValueError):
        score = float("nan")
    if isinstance(given, bool) or not abs(score) < float("inf"):
        raise InvalidData(f"{where}: 'score' must be a finite number; got {shorten(str(given))!r}.")
    return score


def _refuse_faults(row: Mapping[str, Any], where: str, texts: Mapping[str, str], predicates: set[str]) -> None:
    text = texts.get(row["document"])
    if text is None:
        raise InvalidData(f"{where}: there is no document {shorten(row['document'])!r}.")
    if predicates and row["predicate"] not in predicates:
        expected, got = ", ".join(sorted(predicates)), shorten(row["predicate"])
        raise InvalidData(f"{where}: 'predicate' must be one of {expected}; got {got!r}.")
    for end in ENDS:
        fault = fault_of_span(text, row[f"{end}_start"], row[f"{end}_end"], row[f"{end}_mention"])
        if fault is not None:
            raise InvalidData(f"{where}: {end} {fault}")
