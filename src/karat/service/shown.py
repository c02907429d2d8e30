"""What people see of an item."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from karat.service.campaign import Campaign

HIDDEN = ("label", "rank", "score")
"""Columns that are not shown unless a campaign names them: they would tell people the answer."""


def shown_columns(payload: Iterable[str], campaign: Campaign, *, proxy: str | None) -> list[str]:
    """Return the columns the campaign names, or all that do not give the answer away."""
    there = list(payload)
    if campaign.fields:
        return [name for name in campaign.fields if name in there]
    return [name for name in there if name not in {*HIDDEN, proxy}]


def plain(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload as JSON can hold it: numbers that are none become None, foreign things their text."""
    return {name: _plain(value) for name, value in payload.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value)


def is_empty(value: Any) -> bool:
    """Whether people would see nothing."""
    return (
        value is None
        or (isinstance(value, str) and not value.strip())
        or (isinstance(value, float) and math.isnan(value))
    )


def are_spans(value: Any, text: str) -> bool:
    """Whether a value says spans inside a text as the page reads them: pairs of whole numbers, or their JSON.

    Examples
    --------
    >>> are_spans('[[0, 2, "x"], {"start": 1, "end": 3}]', "abc"), are_spans([[2, 9]], "abc"), are_spans("0-2", "abc")
    (True, False, False)
    """
    try:
        spans = _parsed(value) or []
        entries = [_parsed(entry) for entry in spans] if isinstance(spans, list) else [None]
    except ValueError:
        return False
    for entry in entries:
        pair = [entry.get("start"), entry.get("end")] if isinstance(entry, dict) else entry
        if not isinstance(pair, list) or len(pair) < 2 or any(type(end) is not int for end in pair[:2]):
            return False
        if not 0 <= pair[0] < pair[1] <= len(text):
            return False
    return True


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value.strip() else value
