"""What the owner watches."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response

from karat.report.page import render_report
from karat.service.problems import NotAllowed
from karat.service.truth import OF_LABELS, Told, tell_truth
from karat.showing import shown_ranks
from karat.store import evaluations
from karat.web.deps import ABILITIES, InProject, Visit
from karat.web.shapes import progress as shapes

router = APIRouter(prefix="/api/projects/{project}", tags=["progress"])
Watch = Annotated[Visit, Depends(InProject("watch"))]
Of = Annotated[Literal["given", "truth"], Query(description="Labels as given, or corrected for errors if possible.")]
Share = Annotated[float | None, Query(gt=0, le=1, allow_inf_nan=False)]


@router.get("/progress")
def read_progress(visit: Watch) -> shapes.Progress:
    """Return labels, answers and money."""
    return shapes.Progress(**visit.house.progress.summary(visit.project, visit.campaign))


@router.get("/forecast")
def read_forecast(visit: Watch) -> shapes.Forecast:
    """Return about how many labels and answers are still to be bought; null where that cannot be said."""
    labels, n_answers, cost = visit.house.progress.still_needed(visit.project, visit.campaign) or (None, None, None)
    return shapes.Forecast(still_needed=labels, answers=n_answers, cost=cost)


@router.get("/curve")
def read_curve(visit: Watch, of: Of = "given") -> dict[str, Any]:
    """Return the curve with its bounds, as `karat curve --json` prints it, and the answer in one sentence.

    "truth" corrects it by how people did on gold questions, where that is possible; ``speaks_of`` says what it came to.
    """
    told = _told(visit, of)
    curve = told.curve
    at = [{"rank": rank, "precision": curve.at(rank).to_dict(), "yield": curve.gain_at(rank).to_dict()}
          for rank in shown_ranks(curve)]  # fmt: skip
    says = {"speaks_of": told.of, "sentence": told.sentence, "corrected": told.corrected}
    return {**curve.to_dict(), "headline": curve.headline(), "at": at, **says}


def _told(visit: Visit, of: str) -> Told:
    curve = visit.house.studies.curve(visit.project)
    if of == "truth":
        return tell_truth(visit.house.database, visit.project, visit.campaign, curve)
    return Told(curve, OF_LABELS, "The curve speaks of the labels as people give them, right or wrong.")


@router.get("/people")
def read_people(visit: Watch) -> shapes.People:
    """Return how far votes agree, overall and for each annotator; owners also see how each does on gold questions.

    In an evaluation viewers are participants: who judges their systems is the owner's to know.
    """
    with visit.house.database.read() as connection:
        is_evaluation = evaluations.find_evaluation(connection, visit.project.id) is not None
    if is_evaluation and visit.role not in ABILITIES["manage"]:
        raise NotAllowed(f"As {visit.house.feeds.role_in_words(visit.project, visit.role)} you cannot do this.")
    found = visit.house.progress.people(visit.project, visit.campaign)
    if visit.role != "owner":
        found["annotators"] = [{**person, "on_gold": None} for person in found["annotators"]]
    return shapes.People(**found)


@router.get("/cutoff")
def find_cutoff(visit: Watch, precision: Share = None, recall: Share = None, of: Of = "given") -> shapes.Cutoff:
    """Return how many items to keep so that precision, or recall, is certainly at least so high."""
    curve = _told(visit, of).curve
    rank = curve.cutoff(precision=precision, recall=recall)
    name, target = ("precision", precision) if precision is not None else ("recall", recall)
    level = "certain" if curve.guarantee == "exact" else f"{curve.confidence_level:.0%} certain"
    if rank is None:
        sentence = f"No number of items has {name} {level} to be at least {target:g}, so far."
    else:
        sentence = f"{name.capitalize()} at least {target:g}, {level}: keep the top {rank:,} of {curve.n_items:,}."
    return shapes.Cutoff(rank=rank, sentence=sentence)


@router.get("/report", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def read_report(visit: Watch) -> Response:
    """Return the report of `karat curve --html` as a file to keep."""
    curve = visit.house.studies.curve(visit.project)
    page = render_report(curve, title=visit.project.title, draw=visit.house.studies.design(visit.project).draw)
    # never shown in place: a page of the service carries its own policy, a report its own styles
    headers = {"content-disposition": f'attachment; filename="{visit.project.slug}.html"'}
    return Response(page, media_type="application/octet-stream", headers=headers)
