"""The simulated crowd labels with the accuracy it was given, under names that say what it is."""

from __future__ import annotations

import pytest
from scipy import stats

import karat
from karat.service.crowd import Crowd
from karat.store import answers


@pytest.fixture
def database_url(tmp_path):
    return str(tmp_path / "karat.db")


@pytest.mark.parametrize(("accuracy", "claimed", "fits"), [(0.9, 0.9, True), (0.9, 0.6, False)])
def test_accuracy(house, start, accuracy, claimed, fits):
    project, campaign = start(method=karat.Point(rank=400, labels=200))
    truth = {f"f{number}": int(number <= 200) for number in range(1, 401)}
    crowd = Crowd(house, project, truth=truth, accuracy=accuracy, size=2, pause=0, seed=1)
    crowd.start()
    crowd.join(120)
    with house.database.read() as connection:
        lines = answers.events(connection, project.id)
    right = sum(campaign.meaning(line["value"]) == truth[line["item"]] for line in lines)
    assert len(lines) == house.studies.design(project).draw.n_ranks
    assert {line["user"] for line in lines} == {"simulated-1", "simulated-2"}
    # a seeded binomial, tested at 1 in 1000
    assert bool(stats.binomtest(right, len(lines), claimed).pvalue > 0.001) is fits


def test_it_stops_when_told(house, start):
    project, _ = start()
    crowd = Crowd(house, project, truth={f"f{n}": 1 for n in range(401)}, pause=0.05)
    crowd.start()
    crowd.stop()
    with house.database.read() as connection:
        assert answers.count_votes(connection, project.id) < 30
