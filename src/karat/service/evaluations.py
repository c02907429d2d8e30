"""Evaluations: the task, what people judge for it, and the leaderboard."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import IntegrityError

from karat import _check
from karat.documents import relations
from karat.documents.text import count_tokens, sentences_of
from karat.errors import InvalidInput
from karat.service import money
from karat.service.allowances import labels_beyond
from karat.service.campaign import make_slug
from karat.service.evaluation_task import EvaluationTask
from karat.service.instances import in_context
from karat.service.problems import Conflict, NotFound
from karat.store import answers, evaluations, people, projects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from karat.documents.text import Document
    from karat.service.campaign import Campaign
    from karat.service.pools import Pools
    from karat.store.database import Database
    from karat.store.evaluations import EvaluationRow
    from karat.store.people import User
    from karat.store.projects import Project

AUDIENCES = ("nobody", "members", "anyone")
_AT_ONCE = 200


class Evaluations:
    """All evaluations of an installation."""

    def __init__(self, database: Database, pools: Pools, *, clock: Callable[[], float]) -> None:
        self._database = database
        self._pools = pools
        self._clock = clock

    # --- the task

    def create(
        self,
        title: str,
        campaign: Campaign,
        task: EvaluationTask,
        *,
        by: User,
        documents: Sequence[Document] = (),
        slug: str | None = None,
        **pool: Any,
    ) -> str:
        """Start an evaluation and return its short name; further arguments are those of `Pool.create`."""
        if not 1 <= len(title.strip()) <= 200:
            raise _check.refuse("title", "text of 1 to 200 characters", title[:220])
        if (task.kind == "relations") != bool(documents):
            raise _check.refuse("documents", "given for relations, and only for them", f"{len(documents)} documents")
        if task.kind == "relations":
            pool = {**pool, "relation": relations.RELATION}
        name = make_slug(slug or title)
        folder = f"{name}-{secrets.token_hex(4)}"
        try:
            self._pools.create(folder, **pool)
            with self._database.write() as connection:
                now = self._clock()
                id_ = projects.add_project(connection, name, title=title.strip(), settings=campaign.to_dict(), now=now)
                people.set_member(connection, id_, by.id, role="owner", now=now)
                evaluations.add_evaluation(connection, id_, folder=folder, settings=task.to_dict(), now=now)
                for begin in range(0, len(documents), _AT_ONCE):
                    rows = [_document_row(document) for document in documents[begin : begin + _AT_ONCE]]
                    evaluations.add_documents(connection, id_, rows)
                projects.add_audit(connection, "create evaluation", now=now, user_id=by.id, project_id=id_, slug=name)
        except IntegrityError as error:
            self._pools.remove(folder)
            raise Conflict(f"There is a project {name!r} already.") from error
        except BaseException:
            self._pools.remove(folder)
            raise
        return name

    def row(self, project: Project) -> EvaluationRow:
        """Return a project's evaluation."""
        with self._database.read() as connection:
            found = evaluations.find_evaluation(connection, project.id)
        if found is None or found.project_id != project.id:
            raise NotFound(f"{project.slug!r} is no evaluation.")
        return found

    def task(self, row: EvaluationRow) -> EvaluationTask:
        return EvaluationTask.from_dict(row.settings)

    def describe(self, project: Project, campaign: Campaign) -> dict[str, Any]:
        """Return what there is to know before submitting, and how far judging is."""
        row = self.row(project)
        with self._database.read() as connection:
            n_documents, n_tokens = evaluations.count_documents(connection, project.id)
            by_label = projects.count_labels(connection, project.id)
            n_answers = answers.count_votes(connection, project.id)
            submitted = evaluations.list_submissions(connection, project.id)
        with self._pools.use(row) as pool:
            settings, beyond = pool.state.settings, labels_beyond(pool.state, submitted)
        task = self.task(row)
        return {
            "kind": task.kind,
            "predicates": task.predicates,
            "types": list(task.types),
            "columns": list(relations.NEEDED) if task.kind == "relations" else ["id"],
            "half_width": settings.half_width,
            "confidence_level": settings.confidence_level,
            "law": settings.law,
            "published": row.published_at is not None,
            "public": row.is_public,
            "n_documents": n_documents,
            "n_tokens": n_tokens,
            "labelled": sum(count for label, count in by_label.items() if label is not None),
            "open": by_label.get(None, 0),
            "answers": n_answers,
            "price": campaign.price,
            "currency": campaign.currency,
            "allowance": {**asdict(task.allowance), "beyond": beyond},
            "label_price": money.multiply(campaign.votes, campaign.price),
        }

    def publish(self, project: Project, *, audience: str, by: User) -> None:
        """Show every system's scores to all members or to anyone, or hide them from those who did not submit them."""
        _check.one_of("audience", audience, AUDIENCES)
        self.row(project)
        now = self._clock()
        with self._database.write() as connection:
            published = None if audience == "nobody" else now
            evaluations.set_published(connection, project.id, published, is_public=audience == "anyone")
            action = "hide" if published is None else "publish"
            projects.add_audit(connection, action, now=now, user_id=by.id, project_id=project.id, audience=audience)

    # --- scores

    def leaderboard(self, project: Project, *, metric: str, for_user: User | None) -> dict[str, Any]:
        """Return the leaderboard as `karat pool scores --json` prints it, with what is to doubt about its labels.

        Before it is published, a participant (``for_user``) sees the rows of their own systems, without ranks: those
        would tell about the others.
        """
        row = self.row(project)
        try:
            scores, doubt = self._pools.scores(row, metric)
        except InvalidInput as error:
            if "enough labels" not in str(error):
                raise
            return {"rows": [], "metric": metric, "notes": ["No system has enough labels yet."], "doubt": None,
                    "waiting": [], "hidden": 0}  # fmt: skip
        board = {**scores.to_dict(), "doubt": doubt}
        if for_user is None or row.published_at is not None:
            return {**board, "hidden": 0}
        mine = self._systems_of(project, for_user)
        rows = [{**line, "rank": None} for line in board["rows"] if line["system"] in mine]
        return {**board, "rows": rows, "waiting": [], "hidden": len(board["rows"]) - len(rows)}

    def _systems_of(self, project: Project, user: User) -> set[str]:
        with self._database.read() as connection:
            found = evaluations.list_submissions(connection, project.id)
        return {each.system for each in found if each.user_id == user.id}

    # --- what people judge

    def replenish(self, project: Project, campaign: Campaign) -> int:
        """Lay out what the pool asks for, once all that was asked before is labelled."""
        row = self.row(project)
        return self._pools.lay_out(row, campaign, lambda ids, said: self._shown(row, ids, said))

    def is_done(self, project: Project) -> bool:
        return self._pools.is_done(self.row(project))

    def _shown(self, row: EvaluationRow, ids: Sequence[str], said: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Return what people see of each instance."""
        task = self.task(row)
        if task.kind != "relations":
            return [said.get(name) or {"id": name} for name in ids]
        with self._database.read() as connection:
            texts = evaluations.texts_of(connection, row.project_id, {said[name]["document"] for name in ids})
        sentences = {name: sentences_of(text) for name, text in texts.items()}
        return [in_context(said[name], texts, sentences, task) for name in ids]


def _document_row(document: Document) -> dict[str, Any]:
    mentions = [[mention.start, mention.end, mention.type] for mention in document.mentions]
    return {"name": document.name, "content": document.text, "n_tokens": count_tokens(document.text),
            "mentions": json.dumps(mentions)}  # fmt: skip
