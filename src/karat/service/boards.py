"""Public leaderboards: what anybody who has the address may see of an evaluation whose owner opened it to all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.service import guidelines
from karat.service.campaign import Campaign
from karat.service.problems import NotFound
from karat.store import evaluations, projects

if TYPE_CHECKING:
    from karat.service.evaluations import Evaluations
    from karat.service.spending import Spending
    from karat.store.database import Database

SCORES = ("rows", "metric", "notes", "doubt", "n_labels", "confidence_level", "guarantee", "assumptions")


class Boards:
    """Shows scores and what they rest on; never who submitted or judged, labels, documents or systems that wait."""

    def __init__(self, database: Database, tasks: Evaluations, spending: Spending) -> None:
        self._database = database
        self._tasks = tasks
        self._spending = spending

    def read(self, slug: str, *, metric: str) -> dict[str, Any]:
        """Return a public leaderboard; one that is not public is as unknown as one that is none."""
        with self._database.read() as connection:
            project = projects.find_project(connection, slug)
            row = None if project is None else evaluations.find_evaluation(connection, project.id)
        if project is None or row is None or row.project_id != project.id or not row.is_public:
            raise NotFound(f"There is no public leaderboard {slug!r}.")
        campaign = Campaign.from_dict(project.settings)
        board = self._tasks.leaderboard(project, metric=metric, for_user=None)
        spent = self._spending.so_far(row, campaign)
        return {
            "title": project.title,
            "guidelines": guidelines.render(campaign.guidelines),
            **{name: board[name] for name in SCORES if name in board},
            "spent": spent.in_all,
            "spent_judging": spent.judging,
            "spent_reading": spent.reading,
            "currency": campaign.currency,
        }
