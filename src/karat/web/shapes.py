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


class Defect(BaseModel):
    """One thing that is wrong with a file."""

    line: int | None
    message: str


class Problem(BaseModel):
    """Why a request was refused, and the field that is to blame, where one is."""

    detail: str
    field: str | None = None
    defects: list[Defect] = []


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
    keys: dict[str, str]


class Keys(Shape):
    keys: Annotated[dict[str, Annotated[str, Field(max_length=8)]], Field(max_length=26)]


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
    parameters: dict[str, bool | int | float | str | None] = {}


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


class Imported(BaseModel):
    new: int
    changed: int
    unchanged: int
    annotators: list[str]


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


# --- watching


class Progress(BaseModel):
    n_items: int
    method: str
    laid_out: int
    labelled: int
    unsure: int
    open: int
    answers: int
    price: float
    spent: float
    currency: str
    done: bool
    worst_over_target: float | None
    target_met: bool | None


class Forecast(BaseModel):
    """What is still to be bought, about: labels, the answers they take, and what those cost."""

    still_needed: int | None
    answers: int | None
    cost: float | None


class Accuracy(BaseModel):
    """Right ones among the sure answers, and the range of the chance to be right (95%)."""

    right: int
    answers: int
    low: float
    high: float


class Annotator(BaseModel):
    name: str
    answers: int
    seconds: float | None
    last_at: float | None
    cost: float
    on_gold: Accuracy | None
    beside_others: Accuracy | None


class Pair(BaseModel):
    first: str
    second: str
    shared_items: int
    agreed: int
    kappa: float | None


class People(BaseModel):
    agreement: float | None
    shared_items: int
    krippendorff_alpha: float | None
    fleiss_kappa: float | None
    pairs: list[Pair]
    gold_questions: int
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


class Allowance(BaseModel):
    """Labels that submissions may ask for without the owner being asked; ``used`` counts each with its most."""

    each: int
    in_all: int
    used: int


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
    n_documents: int
    n_tokens: int
    labelled: int
    open: int
    answers: int
    spent: float
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
    predicates: Annotated[dict[Word, Word], Field(max_length=200)] = {}
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
