"""A simulated crowd, for demonstrations: people who are right with a given chance and answer at a given pace."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from karat import _check
from karat.service.assignment import Answer
from karat.store import people

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.service.installation import Installation
    from karat.store.projects import Project


class Crowd:
    """Simulated annotators, named as such, who work until the project is done or they are stopped.

    Parameters
    ----------
    truth
        The right label (1 or 0) of every item by its id.
    accuracy
        The chance that an answer is right.
    size
        How many they are.
    pause
        Seconds between two answers of the whole crowd.
    """

    def __init__(
        self,
        house: Installation,
        project: Project,
        *,
        truth: Mapping[str, int],
        accuracy: float = 0.95,
        size: int = 3,
        pause: float = 0.2,
        seed: int = 0,
    ) -> None:
        self._house = house
        self._project = project
        self._truth = truth
        self._accuracy = _check.number("accuracy", accuracy, least=0, most=1)
        self._pause = _check.number("pause", pause, least=0, most=3600)
        self._rng = np.random.default_rng(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True, name="simulated crowd")
        self._users = [self._hire(number) for number in range(1, _check.whole("size", size, least=1, most=100) + 1)]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def join(self, timeout: float | None = None) -> None:
        """Wait until there is nothing left to do."""
        self._thread.join(timeout)

    def _hire(self, number: int) -> int:
        name = f"simulated-{number}"
        with self._house.database.read() as connection:
            found = people.find_user(connection, name=name)
        user = found or self._house.add_user(name)
        with self._house.database.write() as connection:
            people.set_member(connection, self._project.id, user.id, role="annotator", now=self._house.clock())
        return user.id

    def _work(self) -> None:
        step, idle = 0, 0
        while not self._stop.is_set() and idle < len(self._users):
            project = self._house.project(self._project.slug)
            user_id = self._users[step % len(self._users)]
            idle = 0 if self._answer_one(project, user_id, step) or project.state == "paused" else idle + 1
            step += 1
            self._stop.wait(self._pause)

    def _answer_one(self, project: Project, user_id: int, step: int) -> bool:
        campaign = self._house.campaign(project)
        hand = self._house.assignment.next_tasks(project, campaign, user_id=user_id, n=1)
        if not hand.tasks:
            return not hand.finished
        task = hand.tasks[0]
        right = bool(self._rng.random() < self._accuracy)
        wanted = "positive" if bool(self._truth[task.name]) == right else "negative"
        value = next(option.value for option in campaign.options if option.meaning == wanted)
        seconds = float(self._rng.gamma(4.0, 0.8))
        answer = Answer(task.item_id, value, request=f"simulated {task.item_id} {step}", seconds=seconds)
        self._house.assignment.answer(project, campaign, answer, user_id=user_id)
        return True
