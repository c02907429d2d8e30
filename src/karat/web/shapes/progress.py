"""Progress: how far a campaign is, and who did what."""

from __future__ import annotations

from pydantic import BaseModel


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
