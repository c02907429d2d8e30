"""Projects: which there are, what they ask."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from karat.service import guidelines
from karat.service.access import Caller
from karat.service.beginning import Plan, begin_project
from karat.service.installation import Installation
from karat.service.keys import keys_of, read_keys
from karat.store import answers, projects
from karat.web.deps import Administrator, InProject, SignedIn, Visit, house_of
from karat.web.shapes import projects as shapes

router = APIRouter(prefix="/api/projects", tags=["projects"])


@router.get("")
def list_projects(request: Request, caller: Annotated[Caller, Depends(SignedIn())]) -> list[shapes.Project]:
    """Return the projects you belong to; all of them, if you are an administrator."""
    house = house_of(request)
    with house.database.read() as connection:
        everything = None if caller.user.is_admin else caller.user.id
        found = projects.list_projects(connection, user_id=everything)
        counts = {
            project.id: answers.count_votes(connection, project.id, user_id=caller.user.id) for project, _ in found
        }
    return [_shape(project, house, role or "owner", counts[project.id], caller) for project, role in found]


@router.post("", status_code=201)
def create_project(
    body: shapes.NewProject, request: Request, caller: Annotated[Caller, Depends(Administrator("manage"))]
) -> shapes.Project:
    """Start a project on an uploaded table, or on one of the folder that the server allows."""
    house, found = house_of(request), request.app.state.sources
    project = begin_project(
        house,
        found,
        Plan(
            title=body.title, source=body.source, score=body.score, id=body.id, lower_is_better=body.lower_is_better,
            proxy=body.proxy, seed=body.seed, method=body.method.name, parameters=body.method.parameters,
            settings=body.settings,
        ),
        by=caller.user,
    )  # fmt: skip
    return _shape(project, house, "owner", 0, caller)


@router.get("/{project}")
def read_project(visit: Annotated[Visit, Depends(InProject("belong"))]) -> shapes.Project:
    with visit.house.database.read() as connection:
        count = answers.count_votes(connection, visit.project.id, user_id=visit.caller.user.id)
    return _shape(visit.project, visit.house, visit.role, count, visit.caller)


@router.get("/{project}/settings")
def read_settings(visit: Annotated[Visit, Depends(InProject("manage", "manage"))]) -> shapes.Settings:
    return _settings(visit.project)


@router.patch("/{project}/settings")
def change_settings(
    body: shapes.ProjectChange, visit: Annotated[Visit, Depends(InProject("manage", "manage"))]
) -> shapes.Settings:
    """Change title, state, or what people see; what answers mean and votes an item stay as they are."""
    changed = visit.house.change_project(
        visit.project, body.settings, by=visit.caller.user, title=body.title, state=body.state
    )
    return _settings(changed)


@router.get("/{project}/audit")
def read_audit(visit: Annotated[Visit, Depends(InProject("manage", "manage"))]) -> list[shapes.Happening]:
    """Return the last 200 things that were done to the project."""
    with visit.house.database.read() as connection:
        return [shapes.Happening(**entry) for entry in projects.list_audit(connection, visit.project.id, most=200)]


def _shape(
    project: projects.Project, house: Installation, role: str, my_answers: int, caller: Caller
) -> shapes.Project:
    campaign = house.campaign(project)
    actions, keys = keys_of(campaign.options, read_keys(caller.user.own_keys))
    return shapes.Project(
        slug=project.slug,
        kind=house.feeds.kind(project),
        title=project.title,
        state=project.state,
        role=role,
        question=campaign.question,
        options=[shapes.Option(value=o.value, label=o.label, key=key, meaning=o.meaning)
                 for o, key in zip(campaign.options, keys, strict=True)],
        template=campaign.template,
        votes=campaign.votes,
        guidelines=list(guidelines.render(campaign.guidelines)),
        my_answers=my_answers,
        keys=actions,
    )  # fmt: skip


def _settings(project: projects.Project) -> shapes.Settings:
    return shapes.Settings(title=project.title, state=project.state, settings=project.settings)
