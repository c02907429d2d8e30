"""Gold questions of a project."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query

from karat import _check
from karat.service.gold import read_questions
from karat.service.sources import KINDS, called
from karat.web.deps import InProject, Visit
from karat.web.shapes import projects as shapes

router = APIRouter(prefix="/api/projects/{project}", tags=["gold questions"])


@router.post("/gold", status_code=201)
def add_gold(
    visit: Annotated[Visit, Depends(InProject("manage", "manage"))],
    table: Annotated[bytes, Body(media_type="application/octet-stream")],
    name: Annotated[str, Query(min_length=1, max_length=150, description="The file's name; it says the kind.")],
    truth: Annotated[str, Query(min_length=1, max_length=1000, description="The column with the known answers.")],
    id: Annotated[str | None, Query(min_length=1, max_length=1000, description="The column that names items.")] = None,
) -> shapes.GoldAdded:
    """Add a table of items whose answer is known; they are mixed in at the project's share of gold questions."""
    ending = Path(name).suffix.lower()
    if ending not in KINDS:
        raise _check.refuse("name", f"a file's name that ends in {', '.join(KINDS)}", name)
    with tempfile.NamedTemporaryFile(suffix=ending) as stream:
        stream.write(table)
        stream.flush()
        path, columns = Path(stream.name), visit.house.gold.columns(visit.project, visit.campaign)
        with called(path, name):
            questions = read_questions(path, truth=truth, id=id, columns=columns, template=visit.campaign.template,
                                       may_be_empty=visit.house.gold.sometimes_empty(visit.project))  # fmt: skip
    added = visit.house.gold.add(visit.project, visit.campaign, questions, by=visit.caller.user)
    return shapes.GoldAdded(added=added)
