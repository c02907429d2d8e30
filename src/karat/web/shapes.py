"""What goes in and out, as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(max_length=5000)]
Request = Annotated[str, Field(min_length=1, max_length=64, description="Your own name for this request: sent twice, "
                               "it counts once.")]  # fmt: skip
ItemId = Annotated[int, Field(ge=1, le=2**53)]


class Shape(BaseModel):
    """Nothing unknown comes in, and no NaN."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str


# --- people


class SignIn(Shape):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    password: Annotated[str, Field(min_length=1, max_length=200)]


class UseLink(Shape):
    link: Annotated[str, Field(min_length=1, max_length=200)]


class Join(Shape):
    invitation: Annotated[str, Field(min_length=1, max_length=200)]
    name: Annotated[str, Field(max_length=64)] = ""
    password: Annotated[str, Field(max_length=200)] = ""


class NewPassword(Shape):
    password: Annotated[str, Field(min_length=10, max_length=200)]


class Me(BaseModel):
    name: str
    is_admin: bool
    has_password: bool


class Session(BaseModel):
    id: int
    created_at: float
    expires_at: float
    client: str
    current: bool


class NewToken(Shape):
    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
    scopes: list[Literal["read", "label", "submit", "manage"]] = ["read"]


class Token(BaseModel):
    id: int
    name: str
    scopes: list[str]
    created_at: float
    secret: str | None = None


class Invite(Shape):
    role: Literal["owner", "annotator", "viewer"] = "annotator"


class Invitation(BaseModel):
    link: str


class Member(BaseModel):
    id: int
    name: str
    role: str


class Role(Shape):
    role: Literal["owner", "annotator", "viewer"]


# --- projects


class Option(BaseModel):
    value: str
    label: str
    key: str
    meaning: str


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


class Settings(BaseModel):
    title: str
    state: str
    settings: dict[str, Any]


class ProjectChange(Shape):
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    state: Literal["open", "paused", "closed"] | None = None
    settings: dict[str, Any] = {}


# --- labelling


class Cell(BaseModel):
    name: str
    value: Any


class Task(BaseModel):
    item: int
    fields: list[Cell]
    score: float | None = None
    rank: int | None = None
    votes: list[str] | None = None


class Hand(BaseModel):
    tasks: list[Task]
    finished: bool
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


# --- watching


class Progress(BaseModel):
    n_items: int
    method: str
    laid_out: int
    labelled: int
    unsure: int
    open: int
    answers: int
    spent: float
    currency: str
    done: bool


class Forecast(BaseModel):
    still_needed: int | None


class Annotator(BaseModel):
    name: str
    answers: int
    seconds: float | None
    last_at: float | None
    cost: float
    agrees_with_label: float | None


class People(BaseModel):
    agreement: float | None
    shared_items: int
    annotators: list[Annotator]


class Cutoff(BaseModel):
    rank: int | None
    sentence: str


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


# --- evaluations


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
    n_documents: int
    n_tokens: int
    labelled: int
    open: int
    answers: int
    spent: float
    price: float
    currency: str
    reading: str | None


class Publication(Shape):
    published: bool


class Cost(BaseModel):
    labels: int
    answers: int
    money: float
    currency: str


class Submission(BaseModel):
    id: int
    system: str
    version: int | None
    state: str
    file: str
    user: str
    created_at: float
    n_predictions: int
    n_new: int
    first: Cost
    most: Cost


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


class ReadingSummary(BaseModel):
    documents: int
    read: int
    readings: int
    agreement: dict[str, float | None]
    found: dict[str, Any] | None
    relations: int
    tokens: int
    pairs: int
    spent: float


class Told(BaseModel):
    relations: int


class Happening(BaseModel):
    at: float
    user: str | None
    action: str
    detail: dict[str, Any]


class Health(BaseModel):
    ok: bool
    version: str
