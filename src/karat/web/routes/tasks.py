"""Labelling: items out, answers in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Depends, Query

from karat.errors import KaratError
from karat.service.assignment import Answer
from karat.service.shown import shown_columns
from karat.store import answers
from karat.web.deps import InProject, Visit
from karat.web.shapes import labelling as shapes
from karat.web.shapes.base import Cell

if TYPE_CHECKING:
    from karat.store.desk import Task

router = APIRouter(prefix="/api/projects/{project}", tags=["labelling"])
Label = Annotated[Visit, Depends(InProject("label", "label"))]


@router.post("/next")
def next_tasks(body: shapes.NextTasks, visit: Label) -> shapes.Hand:
    """Return items to judge: those you hold already, then new ones. They stay yours for a few minutes."""
    return _hand(visit, body.n)


@router.post("/answers")
def take_answers(body: shapes.Answers, visit: Label, later: BackgroundTasks) -> shapes.Taken:
    """Record answers; what is acknowledged is on disk. A request sent twice counts once."""
    taken = [_take(visit, answer) for answer in body.answers]
    later.add_task(visit.house.feeds.replenish, visit.project, visit.campaign)  # nobody waits for the design
    return shapes.Taken(answers=taken, hand=_hand(visit, body.want) if body.want else None)


@router.post("/skip")
def skip(body: shapes.Skip, visit: Label) -> shapes.Hand:
    """Leave an item to others."""
    visit.house.assignment.skip(
        visit.project, visit.campaign, item_id=body.item, request=body.request, user_id=visit.caller.user.id
    )
    return _hand(visit, 3)


@router.post("/undo")
def undo(body: shapes.Undo, visit: Label) -> shapes.Undone:
    """Take back your latest answer or skip; the item is yours again."""
    event = visit.house.assignment.undo(
        visit.project, visit.campaign, request=body.request, user_id=visit.caller.user.id
    )
    return shapes.Undone(item=None if event is None else event.item_id, hand=_hand(visit, 3))


@router.post("/release")
def release(visit: Label) -> shapes.Released:
    """Give back what you hold, on leaving."""
    return shapes.Released(released=visit.house.assignment.release(visit.project, user_id=visit.caller.user.id))


@router.get("/history")
def history(visit: Label, most: Annotated[int, Query(ge=1, le=1000)] = 50) -> list[shapes.PastAnswer]:
    """Return your own answers and skips as they stand, latest first."""
    rows = visit.house.assignment.history(visit.project, user_id=visit.caller.user.id, most=most)
    return [
        shapes.PastAnswer(item=row["item_id"], kind=row["kind"], value=row["value"], note=row["note"], at=row["at"],
                          fields=fields_of(visit, json.loads(row["payload"])))
        for row in rows
    ]  # fmt: skip


def fields_of(visit: Visit, payload: dict[str, Any]) -> list[Cell]:
    """Return what people see of an item: the columns the campaign names, or all that do not give the answer away."""
    proxy = visit.house.feeds.proxy_of(visit.project)
    names = shown_columns(payload, visit.campaign, proxy=proxy)
    return [Cell(name=name, value=payload[name]) for name in names]


def _take(visit: Visit, answer: shapes.Answer) -> shapes.Acknowledged:
    given = Answer(answer.item, answer.value, answer.request, answer.note, answer.seconds)
    try:
        visit.house.assignment.answer(visit.project, visit.campaign, given, user_id=visit.caller.user.id)
    except KaratError as error:  # one bad answer must not hold back the others
        return shapes.Acknowledged(request=answer.request, accepted=False, detail=str(error))
    return shapes.Acknowledged(request=answer.request, accepted=True)


def _hand(visit: Visit, n: int) -> shapes.Hand:
    user_id = visit.caller.user.id
    hand = visit.house.assignment.next_tasks(visit.project, visit.campaign, user_id=user_id, n=n)
    with visit.house.database.read() as connection:
        count = answers.count_votes(connection, visit.project.id, user_id=user_id)
        seen = (
            [answers.votes_on(connection, task.item_id) for task in hand.tasks] if visit.campaign.show_votes else None
        )
    tasks = [_task(visit, task, seen[place] if seen else None) for place, task in enumerate(hand.tasks)]
    return shapes.Hand(
        tasks=tasks, finished=hand.finished, for_good=hand.for_good, retry_after=hand.retry_after, my_answers=count
    )


def _task(visit: Visit, task: Task, votes: list[str] | None) -> shapes.Task:
    shown = visit.campaign.show_scores
    return shapes.Task(
        item=task.item_id,
        fields=fields_of(visit, task.payload),
        score=task.score if shown else None,
        rank=task.rank if shown else None,
        votes=votes,
    )
