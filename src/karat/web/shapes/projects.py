"""Projects: what they are made of, and how they are changed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from karat.web.shapes.base import Shape


class Option(BaseModel):
    value: str
    label: str
    key: str
    meaning: str


class File(BaseModel):
    name: str
    size: int


class Files(BaseModel):
    files: list[File] | None = Field(description="None: the server allows no folder.")


class Preview(BaseModel):
    source: str
    name: str
    n_rows: int
    columns: list[str]
    rows: list[dict[str, Any]]
    numeric: list[str]
    score: str | None
    id: str | None
    hidden: list[str]


Column = Annotated[str, Field(min_length=1, max_length=1000)]


class Method(Shape):
    name: Literal["certify", "paula", "stratified", "uniform", "point"] = "certify"
    parameters: dict[str, bool | int | float | str | None] = Field(default={})


class NewProject(Shape):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    source: Annotated[str, Field(min_length=1, max_length=1000, description="As an upload or a preview names it.")]
    score: Column
    id: Column | None = None
    lower_is_better: bool = False
    proxy: Column | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    method: Method = Method()
    settings: dict[str, Any] = Field({}, description="Question, options, guidelines, votes, ... as /settings shows.")


class GoldAdded(BaseModel):
    added: int


class Project(BaseModel):
    slug: str
    kind: str
    title: str
    state: str
    role: str
    question: str
    options: list[Option]
    template: str
    votes: int
    guidelines: list[Any]
    my_answers: int
    keys: dict[str, str]


class Settings(BaseModel):
    title: str
    state: str
    settings: dict[str, Any]


class ProjectChange(Shape):
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    state: Literal["open", "paused", "closed"] | None = None
    settings: dict[str, Any] = Field(default={})


class Happening(BaseModel):
    at: float
    user: str | None
    action: str
    detail: dict[str, Any]
