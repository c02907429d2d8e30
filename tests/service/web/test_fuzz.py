"""schemathesis over the whole OpenAPI: no 5xx, no status or shape that is not documented."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from karat.web.deps import COOKIE

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


@pytest.mark.parametrize("kind", ["admin", "annotator"])
def test_the_api_keeps_its_word(app, house, cast, kind):
    project, _, users = cast
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.method.upper() == "DELETE" and operation.path == "/api/session":
            continue  # it would end the session
        _probe(operation, project, house, users[kind])


@pytest.mark.parametrize("which", ["evaluation", "reading"])
def test_evaluations_keep_their_word(app, house, shared_task, which):
    project = house.project(shared_task.slugs[which])
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    for result in schema.get_all_operations():
        operation = result.ok()
        if "{project}" in operation.path:
            _probe(operation, project, house, house.owner())


def _probe(operation, project, house, user):
    @given(case=operation.as_strategy())
    @settings(max_examples=8, database=None, deadline=None, derandomize=True, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    def probe(case):
        if "project" in case.path_parameters:
            case.path_parameters["project"] = project.slug
        secret = house.access.use_sign_in_link(house.access.make_sign_in_link(user.id))
        case.call_and_validate(cookies={COOKIE: secret}, checks=CHECKS)

    probe()
