"""Evaluations: the task, its documents, submissions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from karat.web.shapes.base import Shape


class Allowance(BaseModel):
    """Labels that submissions may ask for without the owner being asked.

    ``used`` counts each accepted so with its most; ``beyond`` is what all draws took beyond what was said of them.
    """

    each: int
    in_all: int
    used: int
    beyond: int


class NewAllowance(Shape):
    each: Annotated[int, Field(ge=0, le=10**9, description="The most that one submission may need; 0: always ask.")]
    in_all: Annotated[int, Field(ge=0, le=10**9, description="The most that all of them together may need.")]


class Evaluation(BaseModel):
    title: str
    role: str
    kind: str
    guidelines: list[Any]
    predicates: dict[str, str]
    types: list[str]
    columns: list[str]
    half_width: float
    confidence_level: float
    law: str
    published: bool
    public: bool
    n_documents: int
    n_tokens: int
    labelled: int
    open: int
    answers: int
    spent: float
    spent_judging: float
    spent_reading: float
    price: float
    currency: str
    allowance: Allowance
    label_price: float
    reading: str | None


class FirstDocument(BaseModel):
    name: str
    text: str


class Documents(BaseModel):
    """An upload of documents: how many there are, and how the first of them begin."""

    source: str
    name: str
    n_documents: int
    n_tokens: int
    n_with_mentions: int
    first: list[FirstDocument]


Word = Annotated[str, Field(min_length=1, max_length=100)]


class NewEvaluation(Shape):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    kind: Literal["items", "relations"] = "items"
    documents: Annotated[str, Field(min_length=1, max_length=200, description="As their upload names it.")] | None = (
        None
    )
    predicates: Annotated[dict[Word, Word], Field(max_length=200)] = Field(default={})
    types: Annotated[list[Word], Field(min_length=1, max_length=200)] | None = None
    question: Annotated[str, Field(max_length=2000)] = ""
    guidelines: Annotated[str, Field(max_length=100_000, description="Markdown.")] = ""
    votes: Annotated[int, Field(ge=1, le=25)] = 3
    price: Annotated[float, Field(ge=0, le=1_000_000, description="Of one answer.")] = 0.0
    currency: Annotated[str, Field(max_length=8)] = ""
    half_width: float = 0.05
    confidence_level: float = 0.9
    law: Literal["uniform", "predicate", "subject", "entity", "own"] = "uniform"
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    read: Annotated[int, Field(ge=1, le=100_000, description="Documents to be read exhaustively.")] | None = None
    read_law: Literal["uniform", "entity"] = "uniform"
    token_price: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0
    pair_price: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0


class BegunEvaluation(BaseModel):
    project: str
    reading: str | None


class Publication(Shape):
    published: bool
    audience: Annotated[
        Literal["members", "anyone"], Field(description="Who sees the scores once they are published.")
    ] = "members"


class Cost(BaseModel):
    labels: int
    answers: int
    money: float
    currency: str


class Submission(BaseModel):
    """A submission; ``warnings`` say how its links differ from those of earlier systems, which never refuses it."""

    id: int
    system: str
    version: int | None
    state: Annotated[str, Field(description="checked (it waits), accepted, replaced or retracted.")]
    file: str
    user: str
    created_at: float
    n_predictions: int
    n_new: int
    first: Cost
    most: Cost
    warnings: list[str]
