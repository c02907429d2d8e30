"""The permission matrix, made from the route table: a route without a rule, or with another one than here, fails."""

from __future__ import annotations

import re

import pytest

KINDS = ("nobody", "admin", "owner", "annotator", "viewer", "stranger")
ALLOWED = {
    "anyone": set(KINDS),
    "signed in": set(KINDS) - {"nobody"},
    "administrator": {"admin"},
    "belong": {"admin", "owner", "annotator", "viewer"},
    "label": {"admin", "owner", "annotator"},
    "watch": {"admin", "owner", "viewer"},
    "submit": {"admin", "owner", "viewer"},
    "manage": {"admin", "owner"},
}
# what each route is for, said a second time: a rule changed by mistake does not go unnoticed
RULES = {
    "GET /api/session": "anyone", "POST /api/session": "anyone", "POST /api/session/link": "anyone",
    "POST /api/session/invitation": "anyone", "POST /api/session/join": "anyone",
    "DELETE /api/session": "signed in", "PUT /api/session/password": "signed in",
    "GET /api/sessions": "signed in", "DELETE /api/sessions/{session}": "signed in",
    "GET /api/tokens": "signed in", "POST /api/tokens": "signed in", "DELETE /api/tokens/{token}": "signed in",
    "DELETE /api/users/{user}": "administrator",
    "PUT /api/session/keys": "signed in",
    "POST /api/uploads": "administrator", "GET /api/files": "administrator", "GET /api/preview": "administrator",
    "POST /api/documents": "administrator", "POST /api/evaluations": "administrator",
    "POST /api/projects": "administrator", "POST /api/projects/{project}/gold": "manage",
    "GET /api/projects": "signed in", "GET /api/projects/{project}": "belong",
    "GET /api/projects/{project}/settings": "manage", "PATCH /api/projects/{project}/settings": "manage",
    "GET /api/projects/{project}/audit": "manage",
    "GET /api/projects/{project}/members": "manage", "PUT /api/projects/{project}/members/{member}": "manage",
    "DELETE /api/projects/{project}/members/{member}": "manage",
    "POST /api/projects/{project}/invitations": "manage",
    "POST /api/projects/{project}/next": "label", "POST /api/projects/{project}/answers": "label",
    "POST /api/projects/{project}/skip": "label", "POST /api/projects/{project}/undo": "label",
    "POST /api/projects/{project}/release": "label", "GET /api/projects/{project}/history": "label",
    "GET /api/projects/{project}/progress": "watch", "GET /api/projects/{project}/forecast": "watch",
    "GET /api/projects/{project}/curve": "watch", "GET /api/projects/{project}/people": "watch",
    "GET /api/projects/{project}/cutoff": "watch", "GET /api/projects/{project}/report": "watch",
    "GET /api/projects/{project}/disagreements": "manage", "POST /api/projects/{project}/adjudications": "manage",
    "GET /api/projects/{project}/export/labels.csv": "manage",
    "GET /api/projects/{project}/export/ledger.csv": "manage",
    "GET /api/projects/{project}/export/items.jsonl": "manage",
    "GET /api/projects/{project}/export/draw.json": "manage",
    "GET /api/projects/{project}/evaluation": "belong", "GET /api/projects/{project}/leaderboard": "belong",
    "PUT /api/projects/{project}/allowance": "manage",
    "PUT /api/projects/{project}/publication": "manage", "GET /api/projects/{project}/submissions": "submit",
    "POST /api/projects/{project}/submissions": "submit",
    "POST /api/projects/{project}/submissions/{submission}/accept": "manage",
    "DELETE /api/projects/{project}/submissions/{submission}": "submit",
    "GET /api/projects/{project}/label-pool.csv": "belong", "GET /api/projects/{project}/export/pool.zip": "manage",
    "POST /api/projects/{project}/reading": "manage", "GET /api/projects/{project}/reading": "watch",
    "GET /api/projects/{project}/reading/relations.csv": "manage",
    "POST /api/projects/{project}/reading/counted-truth": "manage",
    "POST /api/projects/{project}/reading/truth": "manage", "GET /api/projects/{project}/documents/{item}": "label",
    "POST /api/projects/{project}/annotations": "label",
    "POST /api/projects/{project}/import": "manage",
    "GET /api/projects/{project}/judges": "watch", "PUT /api/projects/{project}/judges/{judge}": "manage",
    "POST /api/projects/{project}/judges/{judge}/votes": "manage",
    "GET /api/boards/{project}": "anyone",
    "GET /healthz": "anyone", "GET /metrics": "anyone",
}  # fmt: skip
BODIES = {
    "POST /api/session": {"name": "x", "password": "wrong password"},
    "POST /api/session/link": {"link": "x"},
    "POST /api/session/invitation": {"invitation": "x"},
    "POST /api/session/join": {"invitation": "x", "name": "new", "password": "long enough!"},
    "PUT /api/session/password": {"password": "long enough!"},
    "PUT /api/session/keys": {"keys": {}},
    "POST /api/projects": {"title": "New", "source": "upload:none", "score": "score"},
    "POST /api/evaluations": {"title": "New", "kind": "relations", "documents": "upload:none"},
    "POST /api/tokens": {"name": "t"},
    "PATCH /api/projects/{project}/settings": {},
    "PUT /api/projects/{project}/members/{member}": {"role": "viewer"},
    "POST /api/projects/{project}/invitations": {},
    "POST /api/projects/{project}/next": {},
    "POST /api/projects/{project}/answers": {"answers": [{"item": 99999, "value": "yes", "request": "p"}]},
    "POST /api/projects/{project}/skip": {"item": 99999, "request": "p"},
    "POST /api/projects/{project}/undo": {"request": "p"},
    "PUT /api/projects/{project}/judges/{judge}": {"counts": True},
    "POST /api/projects/{project}/judges/{judge}/votes": {"n": 1},
    "POST /api/projects/{project}/adjudications": {"item": 99999, "value": "yes", "request": "p"},
    "PUT /api/projects/{project}/publication": {"published": True},
    "PUT /api/projects/{project}/allowance": {"each": 1, "in_all": 1},
    "POST /api/projects/{project}/submissions": {},
    "POST /api/projects/{project}/reading": {"documents": 1},
    "POST /api/projects/{project}/annotations": {
        "item": 99999, "request": "p", "annotation": {"mentions": [], "relations": []},
    },
}  # fmt: skip
QUERIES = {
    "/api/projects/{project}/cutoff": {"precision": 0.9},
    "/api/uploads": {"name": "t.csv"},
    "/api/documents": {"name": "t.txt"},
    "/api/preview": {"source": "file:none"},
    "/api/projects/{project}/gold": {"name": "t.csv", "truth": "label"},
    "/api/projects/{project}/import": {"format": "csv"},
    "/api/projects/{project}/submissions": {"system": "s", "file": "s.csv"},
}
FILES = {
    "POST /api/uploads",
    "POST /api/documents",
    "POST /api/projects/{project}/gold",
    "POST /api/projects/{project}/import",
}


def body_of(route):
    return {"content": b"a,label\n1,yes\n"} if route in FILES else {"json": BODIES.get(route)}


def test_every_route_has_the_rule_it_should_have(app):
    documented = {f"{method.upper()} {path}" for path, methods in app.openapi()["paths"].items() for method in methods}
    assert documented == set(RULES)


@pytest.mark.parametrize("route", RULES)
def test_who_gets_in(route, client_of, cast):
    """Each kind of caller against each route: refused with 401, 403 or 404, or let in."""
    project, _, users = cast
    method, path = route.split(" ", 1)
    address = path.replace("{project}", project.slug)
    address = re.sub(r"\{\w+\}", "99999", address)
    let_in = set()
    for kind in KINDS:
        client = client_of(users.get(kind))
        response = client.request(method, address, params=QUERIES.get(path), **body_of(route))
        assert response.status_code < 500, (kind, response.text)
        refused = response.status_code == 403 or (
            response.status_code == 401 and "Sign in first" in response.text
        ) or (response.status_code == 404 and "no project" in response.text)  # fmt: skip
        if not refused:
            let_in.add(kind)
    assert let_in == ALLOWED[RULES[route]]


@pytest.mark.parametrize("route", [route for route, rule in RULES.items() if rule != "anyone"])
def test_a_token_opens_only_its_scope(route, client_of, cast, house):
    """A read token of an administrator changes nothing, and tokens never make tokens or passwords."""
    project, _, users = cast
    method, path = route.split(" ", 1)
    address = re.sub(r"\{\w+\}", "99999", path.replace("{project}", project.slug))
    _, secret = house.access.make_token(users["admin"].id, name="t", scopes=["read"])
    client = client_of(None)
    response = client.request(method, address, params=QUERIES.get(path), **body_of(route),
                              headers={"authorization": f"Bearer {secret}"})  # fmt: skip
    harmless = (method == "GET" and RULES[route] not in {"manage", "label", "submit"}) or "/export/" in route
    assert (response.status_code == 403) is not harmless, response.text
