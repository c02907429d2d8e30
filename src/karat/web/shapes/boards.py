"""Public leaderboards: all that anybody may see, field by field."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Score(BaseModel):
    estimate: float
    low: float
    high: float


class Standing(BaseModel):
    rank: int
    system: str
    version: int
    precision: Score
    recall: Score
    f1: Score
    n_predictions: int
    n_labels: int
    missed: bool


class Board(BaseModel):
    title: str
    guidelines: list[Any]
    rows: list[Standing]
    metric: str
    notes: list[str]
    assumptions: list[str] = []
    doubt: str | None
    n_labels: int = 0
    confidence_level: float | None = None
    guarantee: str | None = None
    spent: float
    spent_judging: float
    spent_reading: float
    currency: str
