"""Evaluations: a task, submissions to it, the few labels they need, and the leaderboard."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.exc import IntegrityError

from karat import _check
from karat.documents import relations
from karat.documents.text import sentence_around, sentences_of, tokens_of
from karat.errors import InvalidData, InvalidInput
from karat.formats.sizes import refuse_oversize
from karat.service.campaign import make_slug
from karat.service.evaluation_task import Allowance, EvaluationTask
from karat.service.problems import Conflict, NotAllowed, NotFound
from karat.store import answers, evaluations, people, projects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy.engine import Connection

    from karat.documents.text import Document
    from karat.service.campaign import Campaign
    from karat.service.pools import Pools
    from karat.store.database import Database
    from karat.store.evaluations import EvaluationRow, Submission
    from karat.store.people import User
    from karat.store.projects import Project

MOST_SYSTEM = 100
MOST_WAITING = 30
"""Systems of one person that may wait to be accepted."""
CONTEXT = 1500
"""Characters of the document that are shown on either side of the sentence."""
MOST_PREDICTIONS = 10_000_000
"""Of a submission of items; one of relations has a limit of its own."""
_AT_ONCE = 200


class Cost(NamedTuple):
    """What labels cost, with all their votes."""

    labels: int
    answers: int
    money: float
    currency: str


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
        """Return what there is to know before submitting, and what was spent so far."""
        row = self.row(project)
        with self._database.read() as connection:
            n_documents, n_tokens = evaluations.count_documents(connection, project.id)
            by_label = projects.count_labels(connection, project.id)
            n_answers = answers.count_votes(connection, project.id)
        with self._pools.use(row) as pool:
            settings = pool.state.settings
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
            "n_documents": n_documents,
            "n_tokens": n_tokens,
            "labelled": sum(count for label, count in by_label.items() if label is not None),
            "open": by_label.get(None, 0),
            "answers": n_answers,
            "spent": n_answers * campaign.price,
            "price": campaign.price,
            "currency": campaign.currency,
            "allowance": asdict(task.allowance),
            "label_price": self.cost(campaign, 1).money,
        }

    def publish(self, project: Project, *, published: bool, by: User) -> None:
        """Show every system's scores to all members, or hide them again from those who did not submit them."""
        self.row(project)
        now = self._clock()
        with self._database.write() as connection:
            evaluations.set_published(connection, project.id, now if published else None)
            action = "publish" if published else "hide"
            projects.add_audit(connection, action, now=now, user_id=by.id, project_id=project.id)

    def allow(self, project: Project, *, each: int, in_all: int, by: User) -> Allowance:
        """Set what submissions may cost without the owner being asked; what was used so far stays used."""
        self.row(project)
        with self._database.write() as connection:
            task = self._locked_task(connection, project)
            allowance = Allowance(each=each, in_all=in_all, used=task.allowance.used)
            evaluations.set_settings(connection, project.id, replace(task, allowance=allowance).to_dict())
            projects.add_audit(connection, "allow", now=self._clock(), user_id=by.id, project_id=project.id,
                               each=each, in_all=in_all)  # fmt: skip
        return allowance

    def _locked_task(self, connection: Connection, project: Project) -> EvaluationTask:
        """Return the task as it is now; nobody else changes it until the transaction ends."""
        projects.lock_project(connection, project.id)
        row = evaluations.find_evaluation(connection, project.id)
        assert row is not None  # noqa: S101
        return self.task(row)

    def _use_allowance(self, project: Project, labels: int, *, only_if_covered: bool = True) -> bool:
        """Count labels against the allowance (or give them back); return whether it covers them."""
        with self._database.write() as connection:
            task = self._locked_task(connection, project)
            if only_if_covered and not task.allowance.covers(labels):
                return False
            allowance = replace(task.allowance, used=task.allowance.used + labels)
            evaluations.set_settings(connection, project.id, replace(task, allowance=allowance).to_dict())
        return True

    # --- submissions

    def submit(self, project: Project, system: str, path: Path, *, by: User, name: str) -> Submission:
        """Check a file of predictions and say what its labels will cost; nothing is spent and nobody is asked yet.

        Parameters
        ----------
        system
            The system's name; it belongs to whoever submitted it first.
        path
            The file, whose ending says its format; it is moved away.
        name
            What its sender calls it.
        """
        row = self.row(project)
        system = " ".join(system.split())
        if not 1 <= len(system) <= MOST_SYSTEM or not system.isprintable():
            raise _check.refuse("system", f"a name of 1 to {MOST_SYSTEM} characters", system[:120])
        if project.state == "closed":
            raise NotAllowed("The evaluation is closed.")
        before = self.submissions(project)
        _refuse_foreign(before, system, by)
        _refuse_many(before, system, by)
        try:
            checked = self._check(row, path)
            with self._pools.use(row) as pool:
                preview = pool.preview(checked)
        except InvalidData as error:  # the sender knows the file by its name, not by where it lies here
            raise InvalidData(str(error).replace(f"{path.parent}/", "")) from None
        with self._database.write() as connection:
            projects.lock_project(connection, project.id)
            before = evaluations.list_submissions(connection, project.id)
            _refuse_foreign(before, system, by)  # again: others may have submitted while the file was checked
            _refuse_many(before, system, by)
            id_ = evaluations.add_submission(
                connection, project_id=project.id, user_id=by.id, system=system, state="checked", file=name[:200],
                n_predictions=preview.n_predictions, n_new=preview.n_new, first_labels=preview.first,
                most_labels=preview.most, created_at=self._clock(),
            )  # fmt: skip
            # inside the transaction: a file that cannot be kept leaves no row behind
            checked.replace(self._pools.incoming(row) / f"{id_}{checked.suffix}")
            projects.add_audit(connection, "submit", now=self._clock(), user_id=by.id, project_id=project.id,
                               system=system, file=name[:200])  # fmt: skip
        for each in before:  # only the latest can be accepted
            if each.system == system and each.state == "checked":
                for file in self._pools.incoming(row).glob(f"{each.id}.*"):
                    file.unlink(missing_ok=True)
        return self.submission(project, id_)

    def _check(self, row: EvaluationRow, path: Path) -> Path:
        """Return the file that the pool takes; of relations, one with ids."""
        task = self.task(row)
        if task.kind != "relations":
            refuse_oversize(path, most_rows=MOST_PREDICTIONS)
            return path

        def texts_of(names: set[str]) -> dict[str, str]:
            with self._database.read() as connection:
                return evaluations.texts_of(connection, row.project_id, names)

        instances = relations.check_relations(path, texts_of=texts_of, predicates=task.predicates)
        checked = path.with_name("instances.jsonl")
        relations.write_instances(instances, checked)
        return checked

    def submissions(self, project: Project, *, of: User | None = None) -> list[Submission]:
        """Return all submissions, or those of one person."""
        with self._database.read() as connection:
            found = evaluations.list_submissions(connection, project.id)
        return [each for each in found if of is None or each.user_id == of.id]

    def submission(self, project: Project, id: int) -> Submission:
        with self._database.read() as connection:
            found = evaluations.list_submissions(connection, project.id, id=id)
        if not found:
            raise NotFound(f"There is no submission {id}.")
        return found[0]

    def accept_if_allowed(self, project: Project, campaign: Campaign, id: int, *, by: User) -> Submission:
        """Accept a submission if the allowance covers the most that it may need; otherwise it waits for the owner."""
        found = self.submission(project, id)
        if not self._use_allowance(project, found.most_labels):
            return found
        try:
            return self.accept(project, campaign, id, by=by, unasked=True)
        except BaseException:
            if self.submission(project, id).state != "accepted":
                self._use_allowance(project, -found.most_labels, only_if_covered=False)
            raise

    def accept(self, project: Project, campaign: Campaign, id: int, *, by: User, unasked: bool = False) -> Submission:
        """Let a submission into the pool and put what it needs before people: from here on it costs."""
        row = self.row(project)
        found = self.submission(project, id)
        if found.state == "accepted":
            return found
        if found.state != "checked":
            raise Conflict("This submission was retracted.")
        later = [each for each in self.submissions(project) if each.system == found.system and each.id > id]
        if later:
            raise Conflict(f"{found.system!r} was submitted again since; accept the latest.")
        with self._pools.use(row) as pool:
            version = 1 + sum(system.name == found.system for system in pool.state.systems)
            file = next(iter(self._pools.incoming(row).glob(f"{id}.*")), None)
            if file is None:
                raise InvalidInput("The file of this submission is gone; submit it again.")
            pool.add(found.system, file, team=found.user, replace=True)
            with self._database.write() as connection:
                for each in evaluations.list_submissions(connection, project.id):
                    if each.system == found.system and each.state == "accepted":
                        evaluations.set_submission(connection, each.id, state="retracted", version=each.version)
                evaluations.set_submission(connection, id, state="accepted", version=version)
                projects.add_audit(connection, "accept", now=self._clock(), user_id=by.id, project_id=project.id,
                                   system=found.system, version=version, unasked=unasked)  # fmt: skip
            file.unlink(missing_ok=True)
        self.replenish(project, campaign)
        return self.submission(project, id)

    def retract(self, project: Project, id: int, *, by: User) -> None:
        """Take a submission back; its labels stay and go on serving the others."""
        row = self.row(project)
        found = self.submission(project, id)
        if found.state == "retracted":
            return
        with self._pools.use(row) as pool:
            if found.state == "accepted" and any(system.name == found.system for system in pool.systems):
                pool.retract(found.system)
            with self._database.write() as connection:
                evaluations.set_submission(connection, id, state="retracted", version=found.version)
                projects.add_audit(connection, "retract", now=self._clock(), user_id=by.id, project_id=project.id,
                                   system=found.system)  # fmt: skip
            for file in self._pools.incoming(row).glob(f"{id}.*"):
                file.unlink(missing_ok=True)

    def cost(self, campaign: Campaign, labels: int) -> Cost:
        """Return what so many labels cost."""
        n_answers = labels * campaign.votes
        return Cost(labels, n_answers, n_answers * campaign.price, campaign.currency)

    # --- scores

    def leaderboard(self, project: Project, *, metric: str, for_user: User | None) -> dict[str, Any]:
        """Return the leaderboard as `karat pool scores --json` prints it.

        Before it is published, a participant (``for_user``) sees the rows of their own systems, without ranks: those
        would tell about the others.
        """
        row = self.row(project)
        try:
            board = self._pools.scores(row, metric).to_dict()
        except InvalidInput as error:
            if "enough labels" not in str(error):
                raise
            return {"rows": [], "metric": metric, "notes": ["No system has enough labels yet."], "hidden": 0}
        if for_user is None or row.published_at is not None:
            return {**board, "hidden": 0}
        mine = {each.system for each in self.submissions(project, of=for_user)}
        rows = [{**line, "rank": None} for line in board["rows"] if line["system"] in mine]
        notes = [note for note in board["notes"] if not note.startswith("Not in the pool yet")]
        return {**board, "rows": rows, "notes": notes, "hidden": len(board["rows"]) - len(rows)}

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
        return [_in_context(said[name], texts, sentences, task) for name in ids]


def _refuse_foreign(before: Sequence[Submission], system: str, by: User) -> None:
    owner = next((each for each in before if each.system == system), None)
    if owner is not None and owner.user_id != by.id:
        raise Conflict(f"The system {system!r} belongs to somebody else; choose another name.")


def _refuse_many(before: Sequence[Submission], system: str, by: User) -> None:
    """Refuse one more system of a person too many of whose systems wait; each counts by its latest submission."""
    latest = {each.system: each for each in sorted(before, key=lambda each: each.id) if each.user_id == by.id}
    waiting = [name for name, each in latest.items() if each.state == "checked" and name != system]
    if len(waiting) >= MOST_WAITING:
        raise Conflict(f"{len(waiting)} of your systems wait to be accepted; retract one or wait for the owner.")


def _in_context(
    said: dict[str, Any], texts: dict[str, str], sentences: dict[str, list[tuple[int, int]]], task: EvaluationTask
) -> dict[str, Any]:
    """Return an instance with the part of its document around it; offsets count from there."""
    name = said["document"]
    text = texts[name]
    low = min(said["subject_start"], said["object_start"])
    high = max(said["subject_end"], said["object_end"])
    first, last = sentence_around(sentences[name], low, high)
    begin, end = max(0, first - CONTEXT), min(len(text), last + CONTEXT)
    ends = {
        side: {"name": said[side], "link": said.get(f"{side}_link"), "start": said[f"{side}_start"] - begin,
               "end": said[f"{side}_end"] - begin}
        for side in relations.ENDS
    }  # fmt: skip
    return {
        "subject": ends["subject"],
        "predicate": task.in_words(said["predicate"]),
        "object": ends["object"],
        "document": name,
        "text": text[begin:end],
        "sentence": [first - begin, last - begin],
        "cut": [begin > 0, end < len(text)],
    }


def _document_row(document: Document) -> dict[str, Any]:
    mentions = [[mention.start, mention.end, mention.type] for mention in document.mentions]
    return {"name": document.name, "content": document.text, "n_tokens": len(tokens_of(document.text)),
            "mentions": json.dumps(mentions)}  # fmt: skip
