"""Take in labels, true relations and error rates: what may be told, and what contradicts what was told before."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat import _check
from karat.errors import InvalidData, InvalidInput
from karat.math.agreement.votes import NEGATIVE, POSITIVE, UNSURE
from karat.pool.read import LabelFile, load_labels
from karat.pool.tables import find_strangers, workspace

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from karat.math.agreement.vote_errors import ErrorRates
    from karat.pool.state import State


def read_told(
    folder: Path, labels: Mapping[str, int] | str | Path, *, least_grade: int
) -> tuple[dict[str, int], LabelFile | None]:
    """Return labels by id, and the file they come from if they do."""
    if isinstance(labels, (str, Path)):
        with workspace(folder) as (connection, work):
            read = load_labels(connection, Path(labels), work=work, least_grade=least_grade)
        return read.labels, read
    given = {}
    for item, label in labels.items():
        if label not in (POSITIVE, NEGATIVE, UNSURE):
            raise _check.refuse("labels", "made of 0, 1 and -1 (unsure)", label, f"It is the label of '{item}'.")
        given[str(item)] = int(label)
    return given, None


def refuse_strangers(
    folder: Path, state: State, given: Mapping[str, int], read: LabelFile | None, *, asked: set[str]
) -> None:
    """Refuse labels of ids that no submission holds: most likely they are misspelt."""
    doubtful = [item for item in given if item not in asked and item not in state.labels]
    if not doubtful or (read is not None and read.is_graded):
        return
    with workspace(folder) as (connection, _):
        instances = [folder / system.folder / "instances.parquet" for system in state.systems]
        strangers = find_strangers(connection, instances, doubtful)
    if not strangers:
        return
    item = strangers[0]
    more = f" (and {len(strangers) - 1:,} more)" if len(strangers) > 1 else ""
    reason = f"id '{item}'{more} is in no submission; to keep such labels for later ones, pass keep_unknown=True."
    raise InvalidData(reason) if read is None else read.source.refuse(read.lines[item], reason)


def changes(state: State, given: Mapping[str, int], read: LabelFile | None, *, replace: bool) -> dict[str, int]:
    """Return the labels that say something new; a contradiction is refused unless ``replace`` is given.

    An answer in place of an unsure one contradicts nothing.
    """
    before = state.labels
    changed = {item: label for item, label in given.items() if before.get(item) != label}
    conflicts = [item for item in changed if before.get(item, UNSURE) != UNSURE]
    if conflicts and not replace:
        item = conflicts[0]
        reason = (
            f"'{item}' was labelled {_word(before[item])} before; got {_word(changed[item])}. "
            "To correct it, pass replace=True."
        )
        raise InvalidInput(reason) if read is None else read.source.refuse(read.lines[item], reason)
    return changed


def truth_event(
    state: State,
    relations: Sequence[str],
    *,
    documents: Sequence[str],
    weights: Sequence[float],
    stated_in: Sequence[int | None],
    replace: bool,
) -> dict[str, Any]:
    """Check true relations from exhaustive annotation and word the event that tells them."""
    if documents:
        _check.same_length("relations", len(relations), "documents", len(documents))
    if weights:
        _check.same_length("relations", len(relations), "weights", len(weights))
        weights = [_check.number("weights", weight, above=0.0) for weight in weights]
    if stated_in:
        _check.same_length("relations", len(relations), "stated_in", len(stated_in))
        counts = [1 if count is None else _check.whole("stated_in", count, least=1) for count in stated_in]
        weights = [weight / count for weight, count in zip(weights or [1.0] * len(counts), counts, strict=True)]
    mixed = bool(documents) != bool(state.documents) and state.truth
    if mixed and not replace:
        raise InvalidInput("'documents' must be given for all true relations or for none.")
    event: dict[str, Any] = {"kind": "truth", "relations": list(relations), "documents": list(documents)}
    if weights:
        event["weights"] = list(weights)
    if stated_in:
        event["stated_in"] = list(stated_in)
    if replace:
        event["replace"] = True
    return event


def errors_event(state: State, errors: ErrorRates | None, *, sure: Collection[str]) -> dict[str, Any] | None:
    """Check how often labels are wrong and word the event that tells it; None if nothing changes."""
    known = frozenset(sure) if errors is not None else frozenset()
    if errors is not None:
        for name in ("sensitivity", "specificity"):
            _check.number(name, getattr(errors, name), above=0.0, most=1.0)
        if errors.power <= 0.0:
            raise _check.refuse("sensitivity", "more than 1 less specificity", errors.sensitivity)
    if (errors, known) == (state.errors, state.sure):
        return None
    event: dict[str, Any] = {"kind": "errors", "errors": None if errors is None else asdict(errors)}
    return {**event, "sure": sorted(known)} if known else event


def _word(label: int) -> str:
    return "unsure" if label == UNSURE else str(label)
