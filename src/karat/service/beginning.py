"""Beginning a project from a table that somebody named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check
from karat.designs import catalogue
from karat.errors import InvalidInput
from karat.resources import open_resource
from karat.service.campaign import Campaign
from karat.service.sources import called

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.designs.base import Method
    from karat.service.installation import Installation
    from karat.service.sources import Sources
    from karat.store.people import User
    from karat.store.projects import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a project is to be; ``parameters`` are those of the method, ``settings`` those of the campaign."""

    title: str
    source: str
    score: str
    id: str | None
    lower_is_better: bool
    proxy: str | None
    seed: int
    method: str
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]


def begin_project(house: Installation, sources: Sources, plan: Plan, *, by: User) -> Project:
    """Make the project; where it is refused, an upload goes on waiting for a better try."""
    campaign = Campaign.from_dict(plan.settings)
    method = _make_method(plan, campaign)
    waiting, name = sources.find(plan.source, user_id=by.id)
    path = sources.keep(plan.source, user_id=by.id)
    try:
        with called(path, name):
            engine = open_resource(str(path), score=plan.score, id=plan.id, seed=plan.seed,
                                   higher_is_better=not plan.lower_is_better)  # fmt: skip
            there = list(engine.items_at(np.array([1])).payload[0])
            for column in campaign.fields:
                _check.one_of("fields", column, there)
            return house.create_project(plan.title, engine, campaign, by=by, method=method, proxy=plan.proxy)
    except BaseException:
        path.rename(waiting)
        raise


def _make_method(plan: Plan, campaign: Campaign) -> Method:
    try:
        return catalogue.make_method(plan.method, **campaign.suit(plan.method, plan.parameters))
    except TypeError as error:
        raise InvalidInput(f"'parameters' must be such as {plan.method} has; {error}.") from error
