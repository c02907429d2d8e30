"""The formats that answers can be read from, by name."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from karat import _check
from karat.errors import InvalidInput
from karat.formats import argilla, label_studio, mturk, plain, prodigy
from karat.formats.streams import PathOrStream, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.formats.exchange import Answer


class Format(NamedTuple):
    """How a format is read, and which options that takes beside ``meanings`` and ``keep``."""

    read: Callable[..., list[Answer]]
    options: tuple[str, ...]


FORMATS: dict[str, Format] = {
    "label-studio": Format(label_studio.import_answers, ("annotator", "id_field", "question")),
    "argilla": Format(argilla.import_answers, ("question",)),
    "prodigy": Format(prodigy.import_answers, ("annotator", "id_field")),
    "mturk": Format(mturk.import_answers, ("id_field", "question")),
    **{kind: Format(partial(plain.import_answers, kind=kind), ("annotator",)) for kind in plain.KINDS},
}
_BY_SUFFIX = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def guess_format(name: str | Path) -> str:
    """Return the plain format that a file's name ends in.

    Examples
    --------
    >>> guess_format("answers.csv")
    'csv'
    """
    found = _BY_SUFFIX.get(Path(name).suffix.lower())
    if found is None:
        raise InvalidInput(f"{name} may be in several formats: name one of {', '.join(FORMATS)}.")
    return found


def import_answers(source: PathOrStream, format: str, **options: Any) -> list[Answer]:
    """Read answers in a format by name; options that are None are not given."""
    chosen = FORMATS[_check.one_of("format", format, FORMATS)]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in (*chosen.options, "meanings", "keep"):
            known = ", ".join(map(repr, chosen.options))
            raise InvalidInput(f"{name_of(source)}: the format {format!r} has no option {name!r}; it has {known}.")
    return chosen.read(source, **given)
