"""Evaluations: the task, submissions, the leaderboard, the pool of labels."""

from __future__ import annotations

import secrets
import shutil
from pathlib import PurePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool

from karat.documents.relations import FORMATS
from karat.service import evaluation_export, guidelines
from karat.service.problems import NotFound
from karat.service.submissions import ITEM_FORMATS, cost_of
from karat.store.evaluations import Submission
from karat.web.body import receive_file
from karat.web.deps import InProject, Visit
from karat.web.shapes import evaluations as shapes
from karat.web.shapes.base import ItemId

router = APIRouter(prefix="/api/projects/{project}", tags=["evaluation"])
Belong = Annotated[Visit, Depends(InProject("belong"))]
Submit = Annotated[Visit, Depends(InProject("submit", "submit"))]
Manage = Annotated[Visit, Depends(InProject("manage", "manage"))]
Metric = Annotated[Literal["f1", "precision", "recall"], Query(description="What to rank by.")]
Most = Annotated[int | None, Query(ge=0, le=10**9, description="The most labels that you agreed to.")]
System = Annotated[str, Query(description="The system's name, of 1 to 100 characters.")]
File = Annotated[str, Query(min_length=1, max_length=200, description="The file's name; its ending says its format.")]
_BODY = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
_ENDINGS = {*FORMATS, *ITEM_FORMATS}


@router.get("/evaluation")
def read_evaluation(visit: Belong) -> shapes.Evaluation:
    """Return the task: what to submit, how well each system will be known, what was spent."""
    found = visit.house.evaluations.describe(visit.project, visit.campaign)
    nodes = list(guidelines.render(visit.campaign.guidelines))
    row = visit.house.evaluations.row(visit.project)
    reading = None if row.reading_id is None else visit.house.slug_of(row.reading_id)
    spent = visit.house.spending.so_far(row, visit.campaign)
    return shapes.Evaluation(
        **found, title=visit.project.title, role=visit.role, guidelines=nodes, reading=reading,
        spent=spent.in_all, spent_judging=spent.judging, spent_reading=spent.reading,
    )  # fmt: skip


@router.get("/leaderboard")
def read_leaderboard(visit: Belong, metric: Metric = "f1") -> dict[str, Any]:
    """Return all systems as `karat pool scores --json` prints them; your own alone, until they are published."""
    everything = None if visit.role == "owner" else visit.caller.user
    return visit.house.evaluations.leaderboard(visit.project, metric=metric, for_user=everything)


@router.put("/publication", status_code=204)
def publish(body: shapes.Publication, visit: Manage) -> Response:
    """Show everybody's scores to all members, or to anyone on a page of their own, or hide them again."""
    audience = body.audience if body.published else "nobody"
    visit.house.evaluations.publish(visit.project, audience=audience, by=visit.caller.user)
    return Response(status_code=204)


@router.put("/allowance")
def allow(body: shapes.NewAllowance, visit: Manage) -> shapes.Allowance:
    """Set how many labels submissions may ask for without you being asked; beyond it they wait for you."""
    allowances = visit.house.allowances
    found = allowances.set(visit.project, each=body.each, in_all=body.in_all, by=visit.caller.user)
    beyond = allowances.beyond(visit.project)
    return shapes.Allowance(each=found.each, in_all=found.in_all, used=found.used, beyond=beyond)


@router.get("/submissions")
def list_submissions(visit: Submit) -> list[shapes.Submission]:
    """Return your submissions; all of them, if you own the evaluation. The latest come first."""
    of = None if visit.role == "owner" else visit.caller.user
    found = visit.house.submissions.list(visit.project, of=of)
    warnings = visit.house.link_warnings.of(visit.house.evaluations.row(visit.project), found)
    return [_shape(visit, each, warnings.get(each.id, [])) for each in reversed(found)]


@router.post("/submissions", status_code=201, openapi_extra={"requestBody": _BODY})
async def submit(request: Request, visit: Submit, system: System, file: File) -> shapes.Submission:
    """Check predictions (the body is the file) and say what their labels would cost.

    Nothing is spent before the owner accepts it, unless it needs no more than the owner allowed.
    """
    row = await run_in_threadpool(visit.house.evaluations.row, visit.project)
    folder = visit.house.pools.incoming(row) / f"upload-{secrets.token_hex(8)}"
    folder.mkdir(parents=True)
    try:
        path = folder / _stored_name(file)
        await receive_file(request, path)
        found = await run_in_threadpool(
            visit.house.submissions.submit, visit.project, system, path, by=visit.caller.user, name=file
        )
        found = await run_in_threadpool(
            visit.house.submissions.accept_if_allowed, visit.project, visit.campaign, found.id, by=visit.caller.user
        )
        warnings = await run_in_threadpool(visit.house.link_warnings.of, row, [found])
        return _shape(visit, found, warnings.get(found.id, []))
    finally:
        await run_in_threadpool(shutil.rmtree, folder, ignore_errors=True)


@router.post("/submissions/{submission}/accept")
def accept(submission: ItemId, visit: Manage, most: Most = None) -> shapes.Submission:
    """Let a submission into the pool: the labels it needs are asked for from here on, and cost.

    The answer says what it needs as things are; with ``most``, a price that rose above it is refused.
    """
    by = visit.caller.user
    found = visit.house.submissions.accept(visit.project, visit.campaign, submission, by=by, most=most)
    warnings = visit.house.link_warnings.of(visit.house.evaluations.row(visit.project), [found])
    return _shape(visit, found, warnings.get(found.id, []))


@router.delete("/submissions/{submission}", status_code=204)
def retract(submission: ItemId, visit: Submit) -> Response:
    """Take a submission back; its labels stay."""
    found = visit.house.submissions.find(visit.project, submission)
    if visit.role != "owner" and found.user_id != visit.caller.user.id:
        raise NotFound(f"There is no submission {submission}.")
    visit.house.submissions.retract(visit.project, submission, by=visit.caller.user)
    return Response(status_code=204)


@router.get("/label-pool.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
def export_labels(visit: Belong) -> Response:
    """Return the labels with the probability that each was drawn; for all members once it is published."""
    row = visit.house.evaluations.row(visit.project)
    if visit.role != "owner" and row.published_at is None:
        raise NotFound("The labels are not published yet.")
    text = evaluation_export.labels_csv(visit.house.pools, row)
    headers = {"content-disposition": f'attachment; filename="{visit.project.slug}-label-pool.csv"'}
    return Response(text, media_type="text/csv", headers=headers)


@router.get("/export/pool.zip", response_class=Response, responses={200: {"content": {"application/zip": {}}}})
def export_pool(visit: Annotated[Visit, Depends(InProject("manage", "read"))]) -> Response:
    """Return the whole pool with submissions, draws and labels: `karat pool scores` gives the same numbers."""
    path = evaluation_export.zip_pool(visit.house.pools, visit.house.evaluations.row(visit.project))
    gone = BackgroundTask(path.unlink, missing_ok=True)
    return FileResponse(path, media_type="application/zip", filename=f"{visit.project.slug}-pool.zip", background=gone)


def _shape(visit: Visit, found: Submission, warnings: list[str]) -> shapes.Submission:
    costs = [cost_of(visit.campaign, n) for n in (found.first_labels, found.most_labels)]
    return shapes.Submission(
        id=found.id, system=found.system, version=found.version, state=found.state, file=found.file,
        user=found.user, created_at=found.created_at, n_predictions=found.n_predictions, n_new=found.n_new,
        first=shapes.Cost(**costs[0]._asdict()), most=shapes.Cost(**costs[1]._asdict()),
        warnings=warnings,
    )  # fmt: skip


def _stored_name(name: str) -> str:
    """Return what a file is called here: its ending says its format, the rest is not its sender's."""
    ending = PurePath(name).suffix.lower()
    return secrets.token_hex(8) + (ending if ending in _ENDINGS else ".unknown")
