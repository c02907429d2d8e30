"""Where a project's items come from: a design's draw, an evaluation's pool, or the documents of a reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.store import evaluations, projects

if TYPE_CHECKING:
    from karat.service.campaign import Campaign
    from karat.service.evaluations import Evaluations
    from karat.service.studies import Studies
    from karat.store.database import Database
    from karat.store.projects import Project

KINDS = ("campaign", "evaluation", "reading")
ROLES = {("evaluation", "viewer"): "participant", ("reading", "annotator"): "reader"}
"""What roles are called where it is not by their names; the page says the same."""


class Feeds:
    """Asks the right one for more."""

    def __init__(self, database: Database, studies: Studies, evaluations: Evaluations) -> None:
        self._database = database
        self._studies = studies
        self._evaluations = evaluations
        self._kinds: dict[int, str] = {}

    def kind(self, project: Project) -> str:
        """Return what a project is; that never changes."""
        if project.id not in self._kinds:
            with self._database.read() as connection:
                row = evaluations.find_evaluation(connection, project.id)
            kind = "campaign" if row is None else "evaluation" if row.project_id == project.id else "reading"
            self._kinds[project.id] = kind
        return self._kinds[project.id]

    def role_in_words(self, project: Project, role: str) -> str:
        """Return what a role is called: who views an evaluation takes part, who annotates documents reads."""
        return ROLES.get((self.kind(project), role), role)

    def replenish(self, project: Project, campaign: Campaign) -> int:
        """Lay out more items if they are needed; return how many."""
        kind = self.kind(project)
        if kind == "campaign":
            return self._studies.replenish(project, campaign)
        return self._evaluations.replenish(project, campaign) if kind == "evaluation" else 0

    def ends(self, project: Project) -> bool:
        """Whether what is done stays done: to an evaluation somebody may always submit another system."""
        return self.kind(project) != "evaluation"

    def is_done(self, project: Project) -> bool:
        """Whether nothing more is asked for."""
        kind = self.kind(project)
        if kind == "campaign":
            return self._studies.design(project).done
        if kind == "evaluation":
            return self._evaluations.is_done(project)
        with self._database.read() as connection:
            return not projects.count_labels(connection, project.id).get(None, 0)

    def proxy_of(self, project: Project) -> str | None:
        """Return the column that would give the answer away, if there is one."""
        if self.kind(project) != "campaign":
            return None
        return (self._studies.resource_of(project) or {}).get("proxy")
