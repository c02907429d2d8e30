"""What people see of an item."""

from __future__ import annotations

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
