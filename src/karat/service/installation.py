"""One installation: a database and everything that is done with it."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import IntegrityError

from karat import _check
from karat.service.access import Access, check_name
from karat.service.adjudication import Adjudication
from karat.service.allowances import Allowances
from karat.service.aside import Aside
from karat.service.assignment import Assignment
from karat.service.boards import Boards
from karat.service.campaign import Campaign, make_slug
from karat.service.evaluations import Evaluations
from karat.service.feeds import Feeds
from karat.service.gold import Gold
from karat.service.imports import Imports
from karat.service.judging import Judging
from karat.service.link_warnings import LinkWarnings
from karat.service.membership import Membership
from karat.service.pools import Pools, default_home
from karat.service.prices import Prices
from karat.service.problems import Conflict, NotFound
from karat.service.progress import Progress
from karat.service.reading import Readings
from karat.service.reading_results import ReadingResults
from karat.service.spending import Spending
from karat.service.studies import Studies
from karat.service.submissions import Submissions
from karat.store import people, projects
from karat.store.database import Database
from karat.store.schema import STATES
from karat.store.upgrade import upgrade

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from karat.designs.base import Method
    from karat.engines.base import Engine
    from karat.judges.settings import Judge
    from karat.store.people import User
    from karat.store.projects import Project

OWNER = "owner"


class Installation:
    """The service without HTTP.

    Parameters
    ----------
    url
        A path (SQLite) or a URL of SQLite or PostgreSQL; an empty database is set up.
    clock
        Tells the time; tests turn it.
    dice
        Decides when a gold question comes; nobody can foresee it.
    judges
        Judge models that may be asked, by name.
    pools
        Folder for the pools of evaluations; by default beside a SQLite file, else in the working folder.

    Examples
    --------
    >>> import pandas, tempfile, karat
    >>> from karat.service.assignment import Answer
    >>> facts = pandas.DataFrame({"fact": ["a", "b", "c"], "score": [0.2, 0.9, 0.5]})
    >>> house = Installation(tempfile.mkdtemp() + "/karat.db")
    >>> resource = karat.open(facts, score="score", id="fact")
    >>> method = karat.Point(rank=3, labels=3)
    >>> project = house.create_project("Facts", resource, Campaign(), by=house.owner(), method=method)
    >>> hand = house.assignment.next_tasks(project, Campaign(), user_id=house.owner().id)
    >>> for number, task in enumerate(hand.tasks):
    ...     answer = Answer(task.item_id, "yes", request=f"request {number}")
    ...     _ = house.assignment.answer(project, Campaign(), answer, user_id=house.owner().id)
    >>> print(house.studies.curve(project).at(3))
    precision at 3: 1.000 [1.000, 1.000]
    >>> house.close()
    """

    def __init__(
        self,
        url: str | Path,
        *,
        clock: Callable[[], float] = time.time,
        dice: random.Random | None = None,
        judges: Mapping[str, Judge] | None = None,
        pools: str | Path | None = None,
    ) -> None:
        self.database = Database(url)
        self.clock = clock
        upgrade(self.database)
        self.studies = Studies(self.database, clock=clock)
        self.access = Access(self.database, clock=clock)
        home = Path(pools) if pools else default_home(self.database)
        self.pools = Pools(self.database, home.absolute(), clock=clock)
        self.evaluations = Evaluations(self.database, self.pools, clock=clock)
        self.allowances = Allowances(self.database, self.pools, self.evaluations, clock=clock)
        aside = Aside(self.pools)
        prices = Prices(self.database, self.pools, aside)
        self.submissions = Submissions(
            self.database, self.pools, self.evaluations, self.allowances, prices, clock=clock
        )  # fmt: skip
        self.link_warnings = LinkWarnings(self.pools, aside)
        self.feeds = Feeds(self.database, self.studies, self.evaluations)
        self.assignment = Assignment(self.database, self.feeds, clock=clock, dice=dice or random.SystemRandom())
        self.readings = Readings(self.database, self.assignment, clock=clock)
        self.reading_results = ReadingResults(self.database, self.pools)
        self.spending = Spending(self.database, self.reading_results.marked)
        self.boards = Boards(self.database, self.evaluations, self.spending)
        self.membership = Membership(self.database, clock=clock)
        self.gold = Gold(self.database, clock=clock)
        self.adjudication = Adjudication(self.database, clock=clock)
        self.imports = Imports(self.database, clock=clock)
        self.judging = Judging(self.database, self.studies, judges or {}, clock=clock)
        self.progress = Progress(self.database, self.studies, clock=clock)

    def close(self) -> None:
        self.database.close()

    def owner(self) -> User:
        """Return the first administrator, who is made where there is none."""
        with self.database.read() as connection:
            user = people.first_admin(connection)
        if user is not None:
            return user
        return self.add_user(OWNER, is_admin=True)

    def add_user(self, name: str, *, is_admin: bool = False) -> User:
        """Add somebody without a password: a sign-in link or an invitation lets them in."""
        name = check_name(name)
        try:
            with self.database.write() as connection:
                people.add_user(connection, name, password_hash=None, is_admin=is_admin, now=self.clock())
        except IntegrityError as error:
            raise Conflict(f"The name {name!r} is taken.") from error
        with self.database.read() as connection:
            user = people.find_user(connection, name=name)
        assert user is not None  # noqa: S101
        return user

    # --- projects

    def create_project(
        self,
        title: str,
        engine: Engine,
        campaign: Campaign,
        *,
        by: User,
        method: Method | None = None,
        proxy: str | None = None,
        slug: str | None = None,
    ) -> Project:
        """Start a campaign on a resource; its first items are laid out at once."""
        if not 1 <= len(title.strip()) <= 200:
            raise _check.refuse("title", "text of 1 to 200 characters", title[:220])
        if method is None:
            from karat.designs.certify import Certify  # noqa: PLC0415

            method = Certify(**campaign.suit("certify", {}))
        design = method.begin(
            engine.n_items,
            seed=engine.seed,
            resource={**engine.describe(), "proxy": proxy},
            identify=engine.ids_at,
            proxy=None if proxy is None else engine.classes(proxy),
        )
        design.ask(campaign.ahead)
        name = make_slug(slug or title)
        try:
            with self.database.write() as connection:
                now = self.clock()
                id_ = projects.add_project(connection, name, title=title.strip(), settings=campaign.to_dict(), now=now)
                people.set_member(connection, id_, by.id, role="owner", now=now)
                self.studies.begin(connection, id_, engine=engine, design=design, votes=campaign.votes)
                projects.add_audit(connection, "create project", now=now, user_id=by.id, project_id=id_, slug=name)
        except IntegrityError as error:
            raise Conflict(f"There is a project {name!r} already.") from error
        return self.project(name)

    def project(self, slug: str) -> Project:
        with self.database.read() as connection:
            found = projects.find_project(connection, slug)
        if found is None:
            raise NotFound(f"There is no project {slug!r}.")
        return found

    def slug_of(self, project_id: int) -> str:
        """Return a project's short name."""
        with self.database.read() as connection:
            return projects.get_project(connection, project_id).slug

    def campaign(self, project: Project) -> Campaign:
        return Campaign.from_dict(project.settings)

    def change_project(
        self, project: Project, changes: dict[str, Any], *, by: User, title: str | None = None, state: str | None = None
    ) -> Project:
        """Change what people see; what answers mean and how they become labels stay as the project began."""
        campaign, before = Campaign.from_dict({**project.settings, **changes}), self.campaign(project)
        for name in ("votes", "extra", "rule", "tie"):
            if getattr(campaign, name) != getattr(before, name):
                raise _check.refuse(name, "left as it was: answers were given under it", changes[name])
        if [(o.value, o.meaning) for o in campaign.options] != [(o.value, o.meaning) for o in before.options]:
            raise _check.refuse("options", "left as they were, but for labels and keys: answers were given under them",
                                [option.value for option in campaign.options])  # fmt: skip
        new_state = project.state if state is None else _check.one_of("state", state, STATES)
        with self.database.write() as connection:
            new_title = project.title if title is None else title.strip()[:200] or project.title
            projects.change_project(connection, project.id, title=new_title, state=new_state,
                                    settings=campaign.to_dict())  # fmt: skip
            projects.add_audit(connection, "change project", now=self.clock(), user_id=by.id, project_id=project.id,
                               changed=sorted(changes), state=new_state)  # fmt: skip
        return self.project(project.slug)
