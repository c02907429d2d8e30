"""Unsure answers: never asked again, wrong below and right above, and gone once decided."""

import itertools

import numpy as np
import pytest

from karat.errors import InvalidInput
from karat.math.pooled.estimate import METRICS, estimate_metrics
from karat.pool import Pool
from karat.pool.scoring import gather_settled
from karat.pool.tables import workspace
from karat.pool.truths import Truths


def truth(name):
    return int(int(name[1:]) % 5 > 0)


@pytest.fixture
def pool(tmp_path):
    made = Pool.create(tmp_path / "pool", seed=2, half_width=0.08)
    for name, items in (("a", range(300)), ("b", range(150, 420)), ("c", range(250, 500))):
        path = tmp_path / f"{name}.csv"
        path.write_text("id\n" + "".join(f"x{k}\n" for k in items))
        made.add(name, path)
    return made


def answer(pool, unsure):
    while asked := pool.next():
        pool.tell({name: -1 if name in unsure else truth(name) for name in asked})


def test_they_widen_the_interval_and_are_not_asked_again(pool):
    unsure = {f"x{k}" for k in range(0, 500, 9)}
    answer(pool, unsure)
    assert pool.next() == []
    n_unsure = pool.state.n_unsure
    assert n_unsure > 5
    board = pool.scores("precision")
    assert any(f"{n_unsure} unsure answers count as wrong" in note for note in board.notes)
    doubtful = {row.system: row for row in board.rows}
    # the ends are those of the pool whose unsure answers were all wrong, and all right
    for value in (0, 1):
        settled = pool.tell(dict.fromkeys([x for x in pool.state.labels if x in unsure], value), replace=True)
        assert settled == 0
        for row in pool.scores("precision").rows:
            end = row.precision.low if value == 0 else row.precision.high
            given = doubtful[row.system].precision.low if value == 0 else doubtful[row.system].precision.high
            assert given == pytest.approx(end, abs=0.02)  # the guesses of the others' labels shift a little
    sure = {row.system: row for row in pool.scores("precision").rows}
    for name, row in doubtful.items():
        assert row.precision.high - row.precision.low > sure[name].precision.high - sure[name].precision.low


def test_a_decision_contradicts_no_unsure_answer(pool):
    asked = pool.next()
    pool.tell({asked[0]: -1})
    assert pool.tell({asked[0]: 1}) == 0
    assert pool.state.n_unsure == 0
    with pytest.raises(InvalidInput, match="was labelled 1 before; got unsure"):
        pool.tell({asked[0]: -1})


@pytest.mark.parametrize("by_unit", [True, False])
def test_no_other_way_to_decide_them_is_worse_or_better(by_unit):
    """Brute force: over all ways to decide, the leaning one has the least and the largest value of each metric."""
    rng = np.random.default_rng(3)
    n_units, n_systems = 6, 3
    unit = np.repeat(np.arange(n_units), 2)
    mass = (rng.random((n_systems, unit.size)) < 0.6) / 5.0
    unit_mass = np.stack([np.bincount(unit, weights=row, minlength=n_units) for row in mass])
    labels = rng.integers(0, 2, unit.size)
    open_ = rng.permutation(unit.size)[:5]
    labels[open_] = -1
    truths = Truths(labels=labels, unit=unit, mass=mass, unit_mass=unit_mass, by_unit=by_unit)

    def metrics(parts, row):
        right, found, true = (parts[name] for name in ("right", "found", "true"))
        precision = (unit_mass[row] * right[row]).sum() / unit_mass[row].sum()
        recall = found[row].sum() / max(true.sum(), 1e-12)
        return np.array([precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)])

    for row in range(n_systems):
        every = []
        for decided in itertools.product((0, 1), repeat=open_.size):
            whole = labels.copy()
            whole[open_] = decided
            every.append(metrics(Truths(labels=whole, unit=unit, mass=mass, unit_mass=unit_mass,
                                        by_unit=by_unit).settled(), row))  # fmt: skip
        assert metrics(truths.leaning(row, to=0.0), row) == pytest.approx(np.min(every, axis=0))
        assert metrics(truths.leaning(row, to=1.0), row) == pytest.approx(np.max(every, axis=0))


def test_ties_stay_ties_while_answers_are_unsure(pool):
    answer(pool, unsure=set())
    before = pool.compare("a", "c", metric="recall")
    with workspace(pool.folder) as (connection, _):
        _, gathered, theta, _ = gather_settled(connection, pool.folder, pool.state, anydoc=False)
    assert set(estimate_metrics(gathered.sample, pool_recall=theta)) == set(METRICS)
    pool.tell(dict.fromkeys(list(pool.state.labels)[::3], -1), replace=True)
    after = pool.compare("a", "c", metric="recall")
    assert after.low < before.low
    assert after.high > before.high
