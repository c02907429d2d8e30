"""Beginning an evaluation: the task, its documents, and those of them that people are to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from karat import _check
from karat.service.campaign import make_slug
from karat.service.evaluation_task import EvaluationTask, campaign_for
from karat.service.problems import Conflict, NotFound
from karat.service.reading import check_law, reading_slug

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from karat.documents.text import Document
    from karat.service.installation import Installation
    from karat.store.people import User


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPlan:
    """What an evaluation is to be.

    Parameters
    ----------
    task
        What is submitted.
    settings
        Those of the campaign, where they are not the default: question, guidelines, votes, price, currency.
    pool
        Those of the pool: seed, half_width, confidence_level, law.
    documents
        Of relations: the documents that state them.
    read, read_law
        How many documents people read exhaustively, and by which law they are drawn; None: none.
    """

    title: str
    task: EvaluationTask
    settings: Mapping[str, Any] = field(default_factory=dict)
    pool: Mapping[str, Any] = field(default_factory=dict)
    documents: Sequence[Document] = ()
    read: int | None = None
    read_law: str = "uniform"


class Begun(NamedTuple):
    """Short names of the evaluation and of the project in which its documents are read."""

    project: str
    reading: str | None


def begin_evaluation(house: Installation, plan: EvaluationPlan, *, by: User) -> Begun:
    """Make the evaluation; everything that can be wrong is found before anything is made."""
    campaign = campaign_for(plan.task, **plan.settings)
    if plan.read is not None:
        _check.whole("read", plan.read, least=1, most=len(plan.documents))
        known = [(document.name, bool(document.mentions)) for document in plan.documents]
        check_law(plan.read_law, known, name="read_law")
        _refuse_taken(house, reading_slug(make_slug(plan.title)))
    slug = house.evaluations.create(plan.title, campaign, plan.task, by=by, documents=plan.documents, **plan.pool)
    if plan.read is None:
        return Begun(slug, None)
    project = house.project(slug)
    reading = house.readings.create(project, house.evaluations.row(project), by=by, n=plan.read, law=plan.read_law,
                                    votes=campaign.votes, seed=plan.pool.get("seed", 0))  # fmt: skip
    return Begun(slug, reading)


def _refuse_taken(house: Installation, slug: str) -> None:
    try:
        house.project(slug)
    except NotFound:
        return
    raise Conflict(f"There is a project {slug!r} already.")
