"""Turn the pool's files and labels into the sample that the estimators read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.errors import InvalidInput
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.recall import POOL_IS_EVERYTHING, PoolRecall, pool_recall
from karat.math.pooled.sample import PoolSample
from karat.pool.tables import FOLD, UNIFORM, files, inclusion_sql
from karat.pool.truths import Truths

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    from numpy.typing import NDArray

    from karat.math.agreement.vote_errors import ErrorRates
    from karat.pool.state import State, System

_TINY = 1e-9
FEWEST_ANSWERS = 10  # of its first draw, before a system is scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The sample over all systems that a draw has served, and how far the labelling has come."""

    sample: PoolSample
    systems: list[System]
    novel: NDArray[np.bool_]
    share_done: float
    truths: Truths
    errors: ErrorRates | None

    def settled(self, errors: ErrorRates | None) -> PoolSample:
        """Return the sample if labels were wrong at other rates."""
        return replace(self.sample, **self.truths.settled(errors))

    def leaning(self, row: int, *, to: float) -> PoolSample:
        """Return the sample if unsure answers were ``to`` on what a system predicts, and the opposite elsewhere."""
        return replace(self.sample, **self.truths.leaning(row, to=to, errors=self.errors))


def gather(connection: duckdb.DuckDBPyConnection, folder: Path, state: State, *, anydoc: bool = False) -> Gathered:
    """Collect the labelled units with their probabilities, labels and features.

    While a draw is only partly labelled its instances are answered in the order of u/pi, so with ``share_done`` the
    smallest u/pi still unanswered, all units with ``u < share_done * pi`` are labelled: a smaller sample of the same
    kind. Units of earlier draws keep their own probabilities.
    """
    competitors = state.competitors
    share_done = _collect_asked(connection, folder, state)
    rows = connection.execute(
        f"SELECT a.key, {UNIFORM.replace('key', 'a.key')} AS u, {FOLD.replace('key', 'a.key')} AS fold, inclusion "
        "FROM chosen a ORDER BY a.key"
    ).fetchnumpy()
    keys = np.asarray(rows["key"], dtype=np.uint64)
    mass, score, novel = _matrices(connection, keys, state.admitted)
    member_rows = [k for k, system in enumerate(state.admitted) if not system.is_judge]
    p = mass[member_rows]
    truths = _truths(connection, folder, keys, state, p, anydoc=anydoc)
    sums = _population_sums(connection, folder, state.admitted)
    sample = PoolSample(
        mass=p,
        **truths.settled(state.errors),
        weight=np.ones(keys.size),
        inclusion=np.asarray(rows["inclusion"], dtype=np.float64),
        fold=np.asarray(rows["fold"], dtype=np.int64),
        features=np.concatenate([np.ones((1, keys.size)), (mass > 0).astype(np.float64), score]).T,
        mass_sums=sums[0],
        weight_sums=sums[1],
        pool_sums=sums[2],
        feature_scale=sums[3],
        single=anydoc or not state.settings.relation,
    )
    return Gathered(
        sample=sample,
        systems=competitors,
        novel=novel[member_rows],
        share_done=share_done,
        truths=truths,
        errors=state.errors,
    )


def settled_state(connection: duckdb.DuckDBPyConnection, folder: Path, state: State) -> State:
    """Return the state that can be scored: without a first draw that has had only a handful of answers in order.

    From so few, the units that only the new systems predict are hardly seen, and no interval could be trusted.
    """
    draw = state.draws[-1]
    if any(set(earlier.systems) == set(draw.systems) for earlier in state.draws[:-1]):
        return state
    rows = connection.execute(f"SELECT id FROM {files([folder / draw.file])} ORDER BY priority, id").fetchall()
    answered = next((place for place, row in enumerate(rows) if row[0] not in state.labels), None)
    return state if answered is None or answered >= FEWEST_ANSWERS else state.without_last_draw()


def gather_settled(
    connection: duckdb.DuckDBPyConnection, folder: Path, state: State, *, anydoc: bool
) -> tuple[State, Gathered, PoolRecall, int]:
    """Read what can be scored: the state it stands for, the sample, theta and the true relations in the pool."""
    usable = settled_state(connection, folder, state) if state.draws else state
    if not usable.draws:
        raise InvalidInput("no system has enough labels yet; answer what next asks for.")
    gathered = gather(connection, folder, usable, anydoc=anydoc)
    return usable, gathered, *theta_of(connection, folder, usable)


def theta_of(connection: duckdb.DuckDBPyConnection, folder: Path, state: State) -> tuple[PoolRecall, int]:
    """Recall of the pool from the true relations told so far, and how many of them the pool holds.

    Of a relation told several times for one document, the first counts.
    """
    kept = np.arange(len(state.truth))
    if state.documents:
        pairs = list(zip(state.truth, state.documents, strict=True))
        kept = np.array(sorted({pair: place for place, pair in reversed(list(enumerate(pairs)))}.values()), dtype=int)
    if kept.size < 2:
        return POOL_IS_EVERYTHING, 0
    connection.execute("CREATE OR REPLACE TEMP TABLE truth (place INTEGER, relation VARCHAR)")
    connection.executemany("INSERT INTO truth VALUES (?, ?)", [(n, state.truth[k]) for n, k in enumerate(kept)])
    inside = connection.execute(
        f"""SELECT place FROM (SELECT place, md5_number_lower('{state.settings.seed}:' || relation) AS key FROM truth)
        SEMI JOIN (SELECT key FROM {files(state.unit_files(folder))}) u USING (key)"""
    ).fetchnumpy()["place"]
    hits = np.zeros(kept.size, dtype=np.int8)
    hits[np.asarray(inside, dtype=np.int64)] = 1
    documents = [state.documents[k] for k in kept] if len(set(state.documents)) > 1 else None
    return pool_recall(hits, documents, weights=np.asarray(state.weights)[kept]), int(hits.sum())


def _collect_asked(connection: duckdb.DuckDBPyConnection, folder: Path, state: State) -> float:
    """Make the tables of asked units; returns the smallest u/pi still unanswered, 1 if there is none.

    ``spoken`` holds what every system says of them, ``asked_ids`` their instances, and ``chosen(key, inclusion)``
    those that count as labelled, with the probability that they do.
    """
    parts = [folder / system.folder / "asked.parquet" for system in state.admitted]
    parts += [(folder / draw.file).with_name("rows.parquet") for draw in state.draws]
    connection.execute(f"CREATE OR REPLACE TEMP TABLE spoken AS SELECT * FROM {files(parts)}")
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE asked_ids AS SELECT key, id FROM {files([folder / d.file for d in state.draws])}"
    )
    connection.register("told", {"id": np.array(list(state.labels), dtype=object)})
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE asked AS SELECT key, bool_and(t.id IS NOT NULL) AS done
        FROM asked_ids LEFT JOIN (SELECT CAST(id AS VARCHAR) AS id FROM told) t USING (id) GROUP BY key"""
    )
    connection.unregister("told")
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE everything AS SELECT a.key, a.done, i.inclusion FROM asked a "
        f"JOIN ({inclusion_sql(state.batches(), 'spoken')}) i USING (key)"
    )
    pending = connection.execute(f"SELECT min({UNIFORM} / inclusion) FROM everything WHERE NOT done").fetchall()[0][0]
    if pending is None:
        connection.execute("CREATE OR REPLACE TEMP TABLE chosen AS SELECT key, inclusion FROM everything")
        return 1.0
    share = float(pending)
    finished = len(state.draws) - 1
    earlier = state.batches(finished)
    # With relations, the new system may have added instances to units of earlier draws: those are not settled.
    if earlier and not state.settings.relation:
        before = (
            "SELECT e.key, e.done, coalesce(i.inclusion, 0.0) AS before, e.inclusion FROM everything e "
            f"LEFT JOIN ({inclusion_sql(earlier, 'spoken')}) i USING (key)"
        )
    else:
        before = "SELECT key, done, 0.0 AS before, inclusion FROM everything"
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE chosen AS SELECT key, greatest(before, {share!r} * inclusion) AS inclusion
        FROM ({before}) WHERE done AND ({UNIFORM} <= before OR {UNIFORM} < {share!r} * inclusion)"""
    )
    return share


def inclusion_by_id(connection: duckdb.DuckDBPyConnection, folder: Path, state: State) -> dict[str, float]:
    """Return the probability with which each instance that was asked for came to be drawn."""
    _collect_asked(connection, folder, state)
    rows = connection.execute("SELECT id, inclusion FROM asked_ids JOIN everything USING (key) ORDER BY id").fetchall()
    return {str(item): float(chance) for item, chance in rows}


def _matrices(
    connection: duckdb.DuckDBPyConnection, keys: NDArray[np.uint64], systems: list[System]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Masses and scores of the chosen units under every system and judge, and which units were new when."""
    rows = connection.execute(
        "SELECT u.key, u.system, u.mass, u.score, u.novel FROM spoken u SEMI JOIN chosen USING (key)"
    ).fetchnumpy()
    place = np.searchsorted(keys, np.asarray(rows["key"], dtype=np.uint64))
    row_of = {system.number: k for k, system in enumerate(systems)}
    row = np.array([row_of[int(number)] for number in rows["system"]], dtype=np.int64)
    mass, score = np.zeros((2, len(systems), keys.size))
    novel = np.zeros((len(systems), keys.size), dtype=bool)
    mass[row, place] = rows["mass"]
    score[row, place] = rows["score"]
    novel[row, place] = rows["novel"]
    return mass, score, novel


def _truths(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    keys: NDArray[np.uint64],
    state: State,
    unit_mass: NDArray[np.float64],
    *,
    anydoc: bool,
) -> Truths:
    """Collect the labels of the chosen units' instances; a unit is one instance unless the pool names relations."""
    if not state.settings.relation:
        rows = connection.execute("SELECT key, id FROM asked_ids SEMI JOIN chosen USING (key)").fetchnumpy()
        labels = np.zeros(keys.size, dtype=np.int64)
        place = np.searchsorted(keys, np.asarray(rows["key"], dtype=np.uint64))
        labels[place] = [state.labels[str(item)] for item in rows["id"]]
        sure = np.zeros(keys.size, dtype=bool)
        sure[place] = [str(item) in state.sure for item in rows["id"]]
        return Truths(
            labels=labels, unit=np.arange(keys.size), mass=unit_mass, unit_mass=unit_mass, by_unit=True, sure=sure
        )
    systems = state.competitors
    held = [
        connection.execute(
            f"SELECT i.key, i.id, i.mass FROM {files([folder / system.folder / 'instances.parquet'])} i "
            "SEMI JOIN chosen USING (key)"
        ).fetchnumpy()
        for system in systems
    ]
    code: dict[str, int] = {}
    unit: list[int] = []
    for rows in held:
        places = np.searchsorted(keys, np.asarray(rows["key"], dtype=np.uint64))
        for item, place in zip(rows["id"], places, strict=True):
            if str(item) not in code:
                code[str(item)] = len(code)
                unit.append(int(place))
    mass = np.zeros((len(systems), len(code)))
    for row, rows in enumerate(held):
        mass[row, [code[str(item)] for item in rows["id"]]] = rows["mass"]
    return Truths(
        labels=np.array([state.labels[item] for item in code], dtype=np.int64),
        unit=np.array(unit, dtype=np.int64),
        mass=mass,
        unit_mass=unit_mass,
        by_unit=anydoc,
        sure=np.array([item in state.sure for item in code], dtype=bool),
    )


def _population_sums(
    connection: duckdb.DuckDBPyConnection, folder: Path, systems: list[System]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Sum the features over all units of each fold, from the sums of overlap; see `PoolSample`.

    The features of a unit are 1, its membership in each system, and its score in each system.
    """
    n = len(systems)
    row_of = {system.number: k for k, system in enumerate(systems)}
    judge = np.array([system.is_judge for system in systems])
    columns = connection.execute(
        f"SELECT * FROM {files([folder / system.folder / 'overlap.parquet' for system in systems])}"
    ).fetchnumpy()
    kept = np.isin(columns["other"], list(row_of))
    table = {name: np.asarray(values)[kept] for name, values in columns.items()}
    a = np.array([row_of[int(number)] for number in table["system"]], dtype=np.int64)
    b = np.array([row_of[int(number)] for number in table["other"]], dtype=np.int64)
    k = table["fold"].astype(np.int64)
    mass_sums, weight_sums = np.zeros((2, N_FOLDS, n, 1 + 2 * n))
    itself = a == b
    mass_sums[k[itself], a[itself], 0] = table["new_mass"][itself]
    weight_sums[k[itself], a[itself], 0] = table["n_shared"][itself]
    for first, second, held, mass_score, score in (
        (a, b, "new_mass", "new_mass_old_score", "old_score"),
        (b, a, "old_mass", "old_mass_new_score", "new_score"),
    ):
        mass_sums[k, first, 1 + second] = table[held]
        mass_sums[k, first, 1 + n + second] = table[mass_score]
        weight_sums[k, first, 1 + second] = table["n_shared"]
        weight_sums[k, first, 1 + n + second] = table[score]
    pool = np.zeros((N_FOLDS, 1 + 2 * n))
    own = itself & ~judge[a]
    np.add.at(pool, (k[own], 0), table["n_novel"][own])
    np.add.at(pool, (k[own], 1 + a[own]), table["n_shared"][own])
    np.add.at(pool, (k[own], 1 + n + a[own]), table["new_score"][own])
    # A judge's votes count where the pool is: on its arrival, and with every later unit that is new to the pool.
    own = itself & judge[a]
    np.add.at(pool, (k[own], 1 + a[own]), (table["n_shared"] - table["n_novel"])[own])
    np.add.at(pool, (k[own], 1 + n + a[own]), (table["new_score"] - table["novel_old_score"])[own])
    later = ~itself & judge[b] & ~judge[a]
    np.add.at(pool, (k[later], 1 + b[later]), table["n_novel"][later])
    np.add.at(pool, (k[later], 1 + n + b[later]), table["novel_old_score"][later])
    total = pool.sum(axis=0)
    mean = total / max(total[0], 1.0)
    squares = mean.copy()  # memberships are 0 or 1, so their squares sum to the same
    squares[1 + n :] = np.bincount(a[itself], weights=table["new_score_square"][itself], minlength=n) / max(
        total[0], 1.0
    )
    deviation = np.sqrt(np.maximum(squares - mean**2, 0.0))
    rows = np.flatnonzero(~judge)
    return mass_sums[:, rows], weight_sums[:, rows], pool, np.where(deviation > _TINY, deviation, 1.0)
