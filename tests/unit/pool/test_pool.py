"""The pool in its folder: the same numbers as the matrices give, and a life of many systems."""

import json
import shutil

import duckdb
import numpy as np
import pytest

from karat.errors import InvalidData, InvalidInput
from karat.math.pooled.estimate import METRICS, estimate_metrics
from karat.math.pooled.proxy import N_FOLDS
from karat.math.pooled.sample import sample_from_matrix
from karat.pool import Pool
from karat.pool.scoring import gather
from karat.pool.tables import workspace

N_ITEMS = 900


def truth(name: str) -> int:
    return int((int(name[1:]) * 2654435761) % 97 < 55)


def write(folder, name, items, *, seed=0):
    rng = np.random.default_rng(seed)
    path = folder / f"{name}.csv"
    rows = [f"x{k},{0.5 * truth(f'x{k}') + rng.random():.6f}" for k in items]
    path.write_text("id,score\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    paths = {}
    for number in range(5):
        chance = [0.6 if truth(f"x{k}") else 0.1 + 0.1 * number for k in range(N_ITEMS)]
        items = np.flatnonzero(rng.random(N_ITEMS) < chance)
        paths[f"s{number}"] = write(tmp_path, f"s{number}", items, seed=number)
    return paths


def label_all(pool, *, n=None):
    asked = []
    while names := pool.next(n):
        asked += names
        pool.tell({name: truth(name) for name in names})
    return asked


def matrices(pool):
    """Everything the pool knows, as full matrices."""
    folder = str(pool.folder)
    state = pool.state
    with duckdb.connect() as connection:
        paths = [f"{folder}/{system.folder}/units.parquet" for system in state.admitted]
        rows = connection.execute(f"SELECT key, system, mass, score FROM read_parquet({paths})").fetchnumpy()
        ids = connection.execute(
            f"SELECT DISTINCT key, id FROM read_parquet('{folder}/systems/*/instances.parquet')"
        ).fetchnumpy()
    keys = np.unique(rows["key"])
    place = np.searchsorted(keys, rows["key"])
    row_of = {system.number: k for k, system in enumerate(state.admitted)}
    row = [row_of[number] for number in rows["system"]]
    law, scores = np.zeros((2, len(state.admitted), keys.size))
    law[row, place] = rows["mass"]
    scores[row, place] = rows["score"]
    labels = np.zeros(keys.size)
    inside = np.isin(ids["key"], keys)
    labels[np.searchsorted(keys, ids["key"][inside])] = [truth(name) for name in ids["id"][inside]]
    permanent = (keys >> np.uint64(11)).astype(np.float64) / 2**53
    fold = ((keys & np.uint64(2047)) % np.uint64(N_FOLDS)).astype(np.int64)
    first = np.where(law > 0, np.arange(len(law))[:, None], len(law)).min(axis=0)
    inclusion = np.zeros(keys.size)
    for batch in state.batches():
        members = [row_of[number] for number in batch.systems]
        is_new = np.isin(first, members)
        pairs = zip(members, batch.known, batch.new, strict=True)
        squares = sum((np.where(is_new, new, known) * law[row]) ** 2 for row, known, new in pairs)
        inclusion = np.maximum(inclusion, np.minimum(1, np.sqrt(squares)))
    return law, scores, labels, inclusion, permanent <= inclusion, fold


@pytest.mark.parametrize("together", [True, False])
def test_the_folder_gives_what_the_matrices_give(tmp_path, files, together):
    pool = Pool.create(tmp_path / "pool", seed=4, half_width=0.06)
    for name, path in files.items():
        pool.add(name, path)
        if not together:
            label_all(pool)
    label_all(pool)
    law, scores, labels, inclusion, drawn, fold = matrices(pool)
    assert drawn.sum() == pool.n_labels  # nothing is bought twice, nothing is missed
    sample = sample_from_matrix(law, labels, inclusion=inclusion, drawn=drawn, fold=fold, scores=scores)
    with workspace(pool.folder) as (connection, _):
        gathered = gather(connection, pool.folder, pool.state).sample
    for field in ("mass", "found", "true", "inclusion", "features", "mass_sums", "weight_sums", "pool_sums"):
        assert getattr(gathered, field) == pytest.approx(getattr(sample, field), abs=1e-9), field
    assert gathered.feature_scale == pytest.approx(sample.feature_scale)
    estimates = estimate_metrics(sample)
    board = {row.system: row for row in pool.scores().rows}
    for metric in METRICS:
        expected = [getattr(board[name], metric).estimate for name in files]
        assert estimates[metric].value == pytest.approx(expected, abs=1e-9)


def test_the_estimates_are_near_the_truth(tmp_path, files):
    pool = Pool.create(tmp_path / "pool", half_width=0.05)
    for name, path in files.items():
        pool.add(name, path)
    label_all(pool)
    true_items = sum(truth(f"x{k}") for k in range(N_ITEMS) if any(f"x{k}," in p.read_text() for p in files.values()))
    for row in pool.scores(confidence_level=0.999).rows:
        names = [line.split(",")[0] for line in files[row.system].read_text().splitlines()[1:]]
        right = sum(map(truth, names))
        assert row.precision.low <= right / len(names) <= row.precision.high
        assert row.recall.low <= right / true_items <= row.recall.high
    for row in pool.scores().rows:
        assert (row.precision.high - row.precision.low) / 2 <= 1.05 * 0.05  # planned from a first step of labels
    assert pool.n_labels < 0.6 * N_ITEMS


def test_a_pool_goes_on_from_its_files_alone(tmp_path, files):
    pool = Pool.create(tmp_path / "pool", seed=2)
    for name in ("s0", "s1"):
        pool.add(name, files[name])
    first = pool.next(20)
    pool.tell({name: truth(name) for name in first})
    shutil.copytree(pool.folder, tmp_path / "copy")
    again = Pool(tmp_path / "copy")
    assert again.next() == pool.next()
    for one in (pool, again):
        label_all(one)
        one.add("s2", files["s2"])
        label_all(one)
    for one, other in zip(again.scores().rows, pool.scores().rows, strict=True):
        # DuckDB adds in any order: the sums of two admissions of s2 agree but for rounding.
        assert one.f1.to_dict() == pytest.approx(other.f1.to_dict(), abs=1e-12)
    assert Pool(pool.folder).scores().to_dict() == pool.scores().to_dict()
    assert json.loads(json.dumps(pool.scores().to_dict()))["rows"][0]["rank"] == 1


def test_another_seed_draws_others_and_the_same_seed_the_same(tmp_path, files):
    drawn = []
    for number, seed in enumerate((1, 1, 2)):
        pool = Pool.create(tmp_path / f"pool{number}", seed=seed)
        pool.add("s0", files["s0"])
        drawn.append(pool.next())
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) != set(drawn[2])


def test_labels_are_asked_once_and_contradictions_refused(tmp_path, files):
    pool = Pool.create(tmp_path / "pool")
    asked = []
    for name, path in files.items():
        pool.add(name, path)
        asked += label_all(pool, n=7)
    assert len(asked) == len(set(asked)) == pool.n_labels
    name = asked[0]
    assert pool.tell({name: truth(name)}) == 0
    with pytest.raises(InvalidInput, match=f"'{name}' was labelled {truth(name)} before"):
        pool.tell({name: 1 - truth(name)})
    assert Pool(pool.folder).state.labels[name] == truth(name)
    assert pool.tell({name: 1 - truth(name)}, replace=True) == 0
    with pytest.raises(InvalidInput, match=r"'labels' must be made of 0, 1 and -1 \(unsure\); got 2"):
        pool.tell({"x1": 2})


def test_labels_known_before_they_are_asked_for_are_not_asked_again(tmp_path, files):
    pool = Pool.create(tmp_path / "pool")
    pool.add("s0", files["s0"])
    pool.tell({f"x{k}": truth(f"x{k}") for k in range(0, N_ITEMS, 2)}, keep_unknown=True)
    assert all(int(name[1:]) % 2 for name in label_all(pool))


def test_a_copy_of_a_system_costs_nothing_and_ties(tmp_path, files):
    pool = Pool.create(tmp_path / "pool", learn=False)
    pool.add("s0", files["s0"])
    label_all(pool)
    before = pool.n_labels
    pool.add("twin", files["s0"])
    label_all(pool)
    assert pool.n_labels == before
    difference = pool.compare("s0", "twin", metric="precision")
    assert (difference.estimate, difference.low, difference.high) == (0, 0, 0)
    assert difference.is_tie
    assert [row.rank for row in pool.scores("precision").rows] == [1, 1]


def test_retraction_keeps_the_labels_and_resubmission_replaces(tmp_path, files):
    pool = Pool.create(tmp_path / "pool")
    for name in ("s0", "s1", "s2"):
        pool.add(name, files[name])
    label_all(pool)
    before = {row.system: row.to_dict() for row in pool.scores("precision").rows}
    pool.retract("s1")
    after = {row.system: row.to_dict() for row in pool.scores("precision").rows}
    assert set(after) == {"s0", "s2"}
    for name in after:  # the labels bought for s1 still serve the others
        assert after[name]["precision"] == before[name]["precision"]
        assert after[name]["recall"] == before[name]["recall"]
    with pytest.raises(InvalidInput, match="'name' must be one of 's0', 's2'; got 's1'"):
        pool.retract("s1")
    with pytest.raises(InvalidInput, match=r"'s2' is in the pool already, with \d+ predictions; .*s3.csv"):
        pool.add("s2", files["s3"])
    assert pool.add("s2", files["s3"], replace=True).n_predictions == before["s2"]["n_predictions"]
    label_all(pool)
    rows = {row.system: row for row in Pool(pool.folder).scores().rows}
    assert rows["s2"].version == 2
    assert rows["s2"].n_predictions == len(files["s3"].read_text().splitlines()) - 1


def test_a_system_withdrawn_before_it_was_drawn_leaves_no_trace(tmp_path, files):
    pool, other = Pool.create(tmp_path / "pool"), Pool.create(tmp_path / "other")
    pool.add("gone", files["s4"])
    for one in (pool, other):
        one.add("s0", files["s0"])
        one.add("s1", files["s1"])
    pool.retract("gone")
    assert pool.next() == other.next()
    for one in (pool, other):
        label_all(one)
    assert pool.scores().to_dict()["rows"] == other.scores().to_dict()["rows"]


def test_scores_at_any_time(tmp_path, files):
    pool = Pool.create(tmp_path / "pool", half_width=0.03)
    pool.add("s0", files["s0"])
    for _ in range(2):
        with pytest.raises(InvalidInput, match="no system has enough labels yet"):
            pool.scores()
        pool.next()
    names = [line.split(",")[0] for line in files["s0"].read_text().splitlines()[1:]]
    precision = sum(map(truth, names)) / len(names)
    widths = []
    while asked := pool.next(40):
        pool.tell({name: truth(name) for name in asked})
        board = pool.scores("precision", confidence_level=0.999)
        score = board.rows[0].precision
        widths.append(score.high - score.low)
        assert score.low <= precision <= score.high
        assert bool(board.n_pending) == any("not labelled yet" in note for note in board.notes)
    assert widths[-1] < 0.6 * widths[0]
    # A second system leaves the first as it was until ten of its own labels are in.
    before = pool.scores("precision").rows
    pool.add("s1", files["s1"])
    assert "Waiting for their first labels: s1" in str(pool.scores())
    for name in pool.next(9):
        pool.tell({name: truth(name)})
    board = pool.scores("precision")
    assert "Waiting for their first labels: s1" in str(board)
    assert board.rows == before
    with pytest.raises(InvalidInput, match="'s1' has too few labels yet"):
        pool.compare("s0", "s1")
    name = pool.next(1)[0]
    pool.tell({name: truth(name)})
    assert {row.system for row in pool.scores("precision").rows} == {"s0", "s1"}


def test_a_goal_that_was_missed_is_said_once_nothing_is_left_to_judge(tmp_path, files):
    """The first step shows few wrong labels; were the rest so too, they would do, but most of them are wrong."""

    def judged(folder, label):
        pool = Pool.create(folder, half_width=0.05)
        pool.add("s0", files["s0"])
        first = pool.next()
        pool.tell({name: int(place % 10 > 0) for place, name in enumerate(first)})
        assert not said(pool)  # the rest is still to be asked
        while names := pool.next(20):
            assert not said(pool)
            pool.tell({name: label(name) for name in names})
        return pool

    def said(pool, **options):
        return [note for note in pool.scores("precision", **options).remarks if "less well than asked" in note]

    missed = judged(tmp_path / "missed", lambda _: 0)
    row = missed.scores("precision").rows[0].precision
    assert row.high - row.low > 2 * 0.05
    (note,) = said(missed)
    assert f"asked, though nothing is left to judge: s0 (±{(row.high - row.low) / 2:.3f})." in note
    assert not said(missed, confidence_level=0.5)  # the goal is about the pool's own level
    missed.add("s1", files["s1"])
    assert not said(missed)
    met = judged(tmp_path / "met", lambda _: 1)
    row = met.scores("precision").rows[0].precision
    assert row.high - row.low <= 2 * 0.05
    assert not said(met)


def test_recall_against_everything_true(tmp_path, files):
    pool = Pool.create(tmp_path / "pool")
    for name, path in files.items():
        pool.add(name, path)
    label_all(pool)
    alone = {row.system: row for row in pool.scores("recall").rows}
    held = next(line.split(",")[0] for line in files["s0"].read_text().splitlines()[1:])
    assert not any("exhaustively" in each for each in pool.scores().assumptions)
    pool.tell_truth([held] * 60 + ["nobody has this"] * 40)
    assert any("exhaustively" in each for each in pool.scores().assumptions)
    board = pool.scores("recall")
    assert board.pool_recall == 0.6
    for row in board.rows:
        assert row.recall.estimate == pytest.approx(0.6 * alone[row.system].recall.estimate)
        assert row.precision == alone[row.system].precision
    with pytest.raises(InvalidInput, match="for all true relations or for none"):
        pool.tell_truth(["a"], documents=["d"])


def test_intervals_of_other_kinds(tmp_path, files):
    learned, fixed = Pool.create(tmp_path / "learned"), Pool.create(tmp_path / "fixed", learn=False, half_width=0.08)
    for pool in (learned, fixed):
        pool.add("s0", files["s0"])
        pool.add("s1", files["s1"])
        label_all(pool)
    with pytest.raises(InvalidInput, match="learn=False"):
        learned.scores(interval="betting")
    boards = {kind: fixed.scores("precision", interval=kind) for kind in ("logit", "bootstrap", "betting")}
    assert boards["betting"].guarantee == "finite-sample"
    width = {kind: board.rows[0].precision.high - board.rows[0].precision.low for kind, board in boards.items()}
    assert width["bootstrap"] == pytest.approx(width["logit"], rel=0.35)
    assert width["logit"] < width["betting"] < 6 * width["logit"]


def test_a_judge_helps_without_being_scored(tmp_path, files):
    plain, judged = Pool.create(tmp_path / "plain", seed=5), Pool.create(tmp_path / "judged", seed=5)
    judge = tmp_path / "judge.csv"
    votes = [f"x{k}" for k in range(N_ITEMS + 200) if truth(f"x{k}") ^ (k % 11 == 0)]
    judge.write_text("id\n" + "\n".join(votes) + "\n")
    judged.add("s4", files["s4"])
    judged.add("judge", judge, is_judge=True)
    plain.add("s4", files["s4"])
    for pool in (plain, judged):
        label_all(pool)
        pool.add("s3", files["s3"])
        label_all(pool)
    with workspace(judged.folder) as (connection, _):
        sums = gather(connection, judged.folder, judged.state).sample.pool_sums.sum(axis=0)
    pool_names = {line.split(",")[0] for n in ("s3", "s4") for line in files[n].read_text().splitlines()[1:]}
    place = [system.name for system in judged.state.admitted].index("judge")
    assert sums[0] == len(pool_names)
    assert sums[1 + place] == len(pool_names & set(votes))
    assert {row.system for row in judged.scores().rows} == {"s3", "s4"}
    assert judged.n_labels < plain.n_labels

    def width(pool):
        return sum(row.precision.high - row.precision.low for row in pool.scores().rows)

    assert width(judged) * judged.n_labels**0.5 < 0.9 * width(plain) * plain.n_labels**0.5


def test_a_leaderboard_prints_and_plots_itself(tmp_path, files):
    import matplotlib as mpl

    mpl.use("Agg")
    pool = Pool.create(tmp_path / "pool")
    for name, path in files.items():
        pool.add(name, path)
    label_all(pool)
    board = pool.scores("precision")
    text = str(board)
    assert text.splitlines()[0].split() == ["rank", "system", "precision", "recall", "f1", "predictions", "labels"]
    assert len(text.splitlines()) == 2 + 5 + 1
    ranks = [row.rank for row in board.rows]
    assert ranks == sorted(ranks)
    axes = board.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"{r.rank}. {r.system}" for r in board.rows]
    import matplotlib.pyplot as plt

    plt.close(axes.figure)
    assert "paired" in str(pool.compare("s0", "s4"))


def test_a_changed_log_is_refused_and_a_torn_line_forgotten(tmp_path, files):
    pool = Pool.create(tmp_path / "pool")
    pool.add("s0", files["s0"])
    names = pool.next(3)
    pool.tell({name: truth(name) for name in names})
    log = pool.folder / "log.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"seal": "half a li')
    torn = Pool(pool.folder)
    assert torn.n_labels == 3
    more = torn.next(2)
    torn.tell({name: truth(name) for name in more})
    assert Pool(pool.folder).n_labels == 5
    # The first object catches up with what the second wrote.
    pool.tell({"unasked": 1}, keep_unknown=True)
    assert pool.n_labels == Pool(pool.folder).n_labels == 6
    log.write_bytes(whole.replace(b'"name":"s0"', b'"name":"s9"'))
    with pytest.raises(InvalidData, match=r"log.jsonl, line 2: changed after it was written"):
        Pool(pool.folder)
    with pytest.raises(InvalidData, match="holds no pool"):
        Pool(tmp_path)
    with pytest.raises(InvalidInput, match="a new or empty folder"):
        Pool.create(pool.folder)


def add_one(folder, name, path):
    Pool(folder).add(name, path)


def test_writers_in_several_processes_take_turns(tmp_path, files):
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pool = Pool.create(tmp_path / "pool")
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as processes:
        jobs = [processes.submit(add_one, pool.folder, name, path) for name, path in files.items()]
        for job in jobs:
            job.result()
    label_all(pool)
    assert sorted(row.system for row in pool.scores().rows) == sorted(files)
    pool.verify()
    changed = pool.folder / pool.state.systems[1].folder / "instances.parquet"
    changed.write_bytes(changed.read_bytes() + b" ")
    with pytest.raises(InvalidData, match="changed after it was written"):
        pool.verify()


@pytest.mark.parametrize("n_together", [1, 2])
def test_a_pool_whose_pilot_an_older_version_drew_goes_on_as_if_it_had_not(tmp_path, files, n_together):
    """Older versions kept no table of what was bought before a system came; it follows from the other files."""
    pool = Pool.create(tmp_path / "pool", seed=4, half_width=0.06)
    names = list(files)
    for name in names[:2]:
        pool.add(name, files[name])
        label_all(pool)
    pool.add("judge", files["s4"], is_judge=True)
    for name in names[2 : 2 + n_together]:
        pool.add(name, files[name])
    pilot = pool.next()
    pool.tell({name: truth(name) for name in pilot})
    pool.add("late judge", files["s3"], is_judge=True)
    older = shutil.copytree(pool.folder, tmp_path / "older")
    kept = list(older.glob("systems/*/bought.parquet"))
    assert len(kept) == 2 + n_together + 2
    for path in kept:
        path.unlink()
    rest = pool.next()
    assert rest
    assert Pool(older).next() == rest
    label_all(pool)
    again = Pool(older)
    label_all(again)
    assert again.scores() == pool.scores()
