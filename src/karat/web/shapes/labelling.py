"""Labelling: items, answers to them, rulings on them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from karat.web.shapes.base import Cell, ItemId, Request, Shape, Text


class Task(BaseModel):
    item: int
    fields: list[Cell]
    score: float | None = None
    rank: int | None = None
    votes: list[str] | None = None


class Hand(BaseModel):
    tasks: list[Task]
    finished: bool
    for_good: bool
    retry_after: float | None
    my_answers: int


class NextTasks(Shape):
    n: Annotated[int, Field(ge=1, le=20)] = 3


class Answer(Shape):
    item: ItemId
    value: Annotated[str, Field(min_length=1, max_length=64)]
    request: Request
    note: Text | None = None
    seconds: Annotated[float, Field(ge=0, le=1_000_000)] | None = None


class Answers(Shape):
    answers: Annotated[list[Answer], Field(min_length=1, max_length=100)]
    want: Annotated[int, Field(ge=0, le=20, description="How many items to return, as /next does.")] = 0


class Acknowledged(BaseModel):
    request: str
    accepted: bool
    detail: str | None = None


class Taken(BaseModel):
    answers: list[Acknowledged]
    hand: Hand | None


class Skip(Shape):
    item: ItemId
    request: Request


class Undo(Shape):
    request: Request


class Undone(BaseModel):
    item: int | None
    hand: Hand


class PastAnswer(BaseModel):
    item: int
    kind: str
    value: str | None
    note: str | None
    at: float
    fields: list[Cell]


class Released(BaseModel):
    released: int


class Imported(BaseModel):
    new: int
    changed: int
    unchanged: int
    annotators: list[str]


class Vote(BaseModel):
    user: str
    value: str
    note: str | None


class Dispute(BaseModel):
    item: int
    fields: list[Cell]
    label: int | None
    adjudicated: str | None
    votes: list[Vote]


class Ruling(Shape):
    item: ItemId
    value: Annotated[str, Field(min_length=1, max_length=64)]
    request: Request
    note: Text | None = None
