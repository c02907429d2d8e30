"""Judge models, as the server's settings name them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Depends, Path, Response

from karat.web.deps import InProject, Visit
from karat.web.shapes import judges as shapes

router = APIRouter(prefix="/api/projects/{project}/judges", tags=["judges"])
Manage = Annotated[Visit, Depends(InProject("manage", "manage"))]
Name = Annotated[str, Path(min_length=1, max_length=40, description="A judge of the server's settings.")]


@router.get("")
def list_judges(visit: Annotated[Visit, Depends(InProject("watch"))]) -> list[shapes.Judge]:
    """Return the judges that can be asked, how far each is, what the rest would cost, and whether its votes count."""
    found = visit.house.judging.standings(visit.project, visit.campaign)
    return [shapes.Judge(**standing._asdict()) for standing in found]


@router.post("/{judge}/votes")
def ask_judge(judge: Name, body: shapes.AskJudge, visit: Manage, later: BackgroundTasks) -> shapes.Turn:
    """Ask a judge about a few items that it has said nothing about; this costs money."""
    turn = visit.house.judging.vote(visit.project, visit.campaign, judge, n=body.n, by=visit.caller.user.id)
    later.add_task(visit.house.studies.replenish, visit.project, visit.campaign)
    return shapes.Turn(**turn._asdict())


@router.put("/{judge}", status_code=204)
def let_judge_count(judge: Name, body: shapes.LetCount, visit: Manage) -> Response:
    """Say whether a judge's votes count like people's."""
    visit.house.judging.let_count(visit.project, visit.campaign, judge, counts=body.counts, by=visit.caller.user.id)
    return Response(status_code=204)
