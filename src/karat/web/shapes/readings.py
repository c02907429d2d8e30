"""Readings: documents, and what people mark in them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from karat.web.shapes.base import ItemId, Request, Shape


class NewReading(Shape):
    documents: Annotated[int, Field(ge=1, le=100_000)]
    law: Literal["uniform", "entity"] = "uniform"
    votes: Annotated[int, Field(ge=1, le=25)] = 3
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0


class Reading(BaseModel):
    project: str


class Mention(Shape):
    start: Annotated[int, Field(ge=0, le=10_000_000)]
    end: Annotated[int, Field(ge=0, le=10_000_000)]
    type: Annotated[str, Field(min_length=1, max_length=100)]
    canonical: Annotated[int, Field(ge=0, le=100_000)]
    link: Annotated[str, Field(max_length=300)] | None = None


class Relation(Shape):
    subject: Annotated[int, Field(ge=0, le=100_000)]
    predicate: Annotated[str, Field(min_length=1, max_length=100)]
    object: Annotated[int, Field(ge=0, le=100_000)]


class Marks(Shape):
    mentions: Annotated[list[Mention], Field(max_length=5000)]
    relations: Annotated[list[Relation], Field(max_length=20_000)]


class MarkedDocument(Shape):
    """What somebody marked in a document."""

    item: ItemId
    annotation: Marks
    request: Request
    seconds: Annotated[float, Field(ge=0, le=1_000_000)] | None = None


class Document(BaseModel):
    item: int
    name: str
    text: str
    sentences: list[tuple[int, int]]
    tokens: list[tuple[int, int]]
    annotation: Marks
    types: list[str]
    predicates: dict[str, str]


class Naming(BaseModel):
    """How the ends of distinct true relations came to their names.

    Readers linked them; or they took a link of other readers or of systems, or a name of systems that leave them
    unlinked; or they keep their names. ``links`` counts what readers linked to words that systems link too, ``known``
    those links that systems give as well; ``doubt`` warns if these are few.
    """

    ends: int
    linked: int
    taken: int
    called: int
    named: int
    links: int
    known: int
    sentence: str
    doubt: str | None


class Linked(BaseModel):
    """How many of the mentions that a reader marked lead to a page."""

    reader: str
    linked: int
    mentions: int


class ReadingSummary(BaseModel):
    documents: int
    read: int
    readings: int
    agreement: dict[str, float | None]
    linked: list[Linked]
    found: dict[str, Any] | None
    relations: int
    naming: Naming
    tokens: int
    pairs: int
    spent: float
    currency: str


class Told(BaseModel):
    """How often true relations were read; how many distinct ones have a count of their documents, and how many none."""

    relations: int
    counted: int
    uncounted: int
    naming: Naming
