"""Judge models."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from karat.web.shapes.base import Shape


class Judge(BaseModel):
    name: str
    model: str
    price: float
    currency: str
    counts: bool
    said: int
    left: int
    cost_of_rest: float
    compared: int
    agrees: float | None


class AskJudge(Shape):
    n: Annotated[int, Field(ge=1, le=100)] = 20


class Turn(BaseModel):
    said: int
    unclear: int
    failed: int
    calls: int
    cost: float
    left: int
    problem: str


class LetCount(Shape):
    counts: bool
