"""Instances of relations: precision over instances, recall over distinct relations, with and without provenance."""

import numpy as np
import pytest

from karat.errors import InvalidInput
from karat.pool import Pool

COLUMNS = ("subject", "predicate", "object")


def figure_2():
    """Instances as (subject, predicate, object, provenance) with their labels; which system predicts which."""
    objects = {"i1": "o1", "i2": "o2", "i3": "o3", "i4": "o2", "i5": "o3", "i6": "o4"}
    right = {"i1": 1, "i2": 1, "i3": 1, "i4": 1, "i5": 0, "i6": 1}
    return objects, right, {"A": ["i1", "i2"], "B": ["i3", "i5"], "C": ["i1", "i4", "i6"]}


def write(path, objects, names):
    path.write_text("id,subject,predicate,object\n" + "".join(f"{n},s1,r,{objects[n]}\n" for n in names))
    return path


def test_figure_2_on_demand_is_the_truth(tmp_path):
    objects, right, systems = figure_2()
    pool = Pool.create(tmp_path / "pool", relation=COLUMNS, half_width=0.01)
    for name, names in systems.items():
        pool.add(name, write(tmp_path / f"{name}.csv", objects, names))
        while asked := pool.next():
            pool.tell({item: right[item] for item in asked})
    board = {row.system: row for row in pool.scores().rows}
    assert board["C"].precision.estimate == pytest.approx(1)
    assert board["C"].recall.estimate == pytest.approx(3 / 4)
    assert board["B"].precision.estimate == pytest.approx(1 / 2)
    assert board["B"].recall.estimate == pytest.approx(1 / 4)
    # Ignoring provenance, the wrong sentence i5 states a true relation.
    assert {row.system: row for row in pool.scores(anydoc=True).rows}["B"].precision.estimate == pytest.approx(1)


def knowledge_base(n_relations=400, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.random(n_relations) < 0.5
    names, relation, label = [], [], {}
    for number in range(n_relations):
        for sentence in range(rng.integers(1, 5)):
            name = f"{number}.{sentence}"
            names.append(name)
            relation.append(number)
            label[name] = int(true[number] and rng.random() < 0.8)
    return np.array(names), np.array(relation), label


def scores_of(held, relation, label, names):
    right = np.array([label[name] for name in names])
    precision = right[held].mean()
    recall = np.unique(relation[held & (right > 0)]).size / np.unique(relation[right > 0]).size
    return precision, recall


def test_relations_are_labelled_whole_and_scored_rightly(tmp_path):
    names, relation, label = knowledge_base()
    rng = np.random.default_rng(1)
    right = np.array([label[name] for name in names])
    holds = [rng.random(names.size) < np.where(right, 0.7, 0.2 + 0.1 * k) for k in range(3)]
    everyone = np.logical_or.reduce(holds)
    names, relation, holds = names[everyone], relation[everyone], [held[everyone] for held in holds]
    errors = {"precision": [], "recall": []}
    covered = []
    for seed in range(6):
        pool = Pool.create(tmp_path / f"pool{seed}", relation=["relation"], half_width=0.08, seed=seed)
        asked_all = []
        for k, held in enumerate(holds):
            path = tmp_path / f"s{k}.csv"
            rows = zip(names[held], relation[held], strict=True)
            path.write_text("id,relation\n" + "".join(f"{n},r{r}\n" for n, r in rows))
            pool.add(f"s{k}", path)
            while asked := pool.next():
                asked_all += asked
                pool.tell({item: label[item] for item in asked})
        assert len(asked_all) == len(set(asked_all)) < names.size
        drawn = {item.split(".")[0] for item in asked_all}
        assert set(asked_all) == {name for name in names if name.split(".")[0] in drawn}  # whole relations
        for row in pool.scores().rows:
            precision, recall = scores_of(holds[int(row.system[1])], relation, label, names)
            errors["precision"].append(row.precision.estimate - precision)
            errors["recall"].append(row.recall.estimate - recall)
            covered.append(row.precision.low <= precision <= row.precision.high)
            covered.append(row.recall.low <= recall <= row.recall.high)
    for values in errors.values():  # three a pool, which depend on one another: six independent ones at least
        assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(6)
    assert np.mean(covered) > 0.9 - 3 * np.sqrt(0.09 / 12)


def test_a_new_sentence_for_a_drawn_relation_is_asked_for(tmp_path):
    pool = Pool.create(tmp_path / "pool", relation=["relation"], half_width=0.01)
    (tmp_path / "a.csv").write_text("id,relation\na1,r1\na2,r2\n")
    (tmp_path / "b.csv").write_text("id,relation\nb1,r1\na2,r2\n")
    pool.add("a", tmp_path / "a.csv")
    while asked := pool.next():
        pool.tell(dict.fromkeys(asked, 0))
    pool.add("b", tmp_path / "b.csv")
    assert pool.next() == ["b1"]
    pool.tell({"b1": 1})
    assert pool.next() == []
    board = {row.system: row for row in pool.scores().rows}
    assert board["a"].recall.estimate == pytest.approx(0)  # r1 is true, but a's sentence does not say so
    assert board["b"].recall.estimate == pytest.approx(1)


def collection(n_documents=120, n_relations=300, seed=3):
    """Documents that state true relations, some of them in many; the pool finds those that are stated often."""
    rng = np.random.default_rng(seed)
    stated_in = np.minimum(rng.geometric(0.4, n_relations), n_documents)
    held = rng.random(n_relations) < 1 - 0.75**stated_in
    places = [rng.choice(n_documents, count, replace=False) for count in stated_in]
    documents = [[r for r in range(n_relations) if d in places[r]] for d in range(n_documents)]
    return documents, stated_in, held


def theta_from(pool, documents, chosen, stated_in=None):
    rows = [(r, d) for d in chosen for r in documents[d]]
    counts = [] if stated_in is None else [int(stated_in[r]) for r, _ in rows]
    pool.tell_truth([f"r{r}" for r, _ in rows], [f"d{d}" for _, d in rows], stated_in=counts, replace=True)
    return pool.scores().pool_recall


@pytest.fixture
def holder(tmp_path):
    """A pool whose one system holds what `collection` says."""
    documents, stated_in, held = collection()
    path = tmp_path / "a.csv"
    path.write_text("id,relation\n" + "".join(f"i{r},r{r}\n" for r in np.flatnonzero(held)))
    pool = Pool.create(tmp_path / "pool", relation=["relation"], half_width=0.2)
    pool.add("a", path)
    while asked := pool.next():
        pool.tell(dict.fromkeys(asked, 1))
    return pool, documents, stated_in, held


def test_theta_counts_each_relation_once_however_many_documents_state_it(holder):
    pool, documents, stated_in, held = holder
    everything = range(len(documents))
    # Every document read: brute force over distinct relations, and over statements.
    assert theta_from(pool, documents, everything, stated_in) == pytest.approx(held.mean())
    statements = (held * stated_in).sum() / stated_in.sum()
    assert theta_from(pool, documents, everything) == pytest.approx(statements)
    assert statements > held.mean() + 0.08
    # A few documents at random: near the distinct share on average, which the share of statements is not.
    rng = np.random.default_rng(4)
    chosen = [rng.choice(len(documents), 25, replace=False) for _ in range(40)]
    for counts, is_right in ((stated_in, True), (None, False)):
        found = np.array([theta_from(pool, documents, some, counts) for some in chosen])
        z = (found.mean() - held.mean()) / (found.std(ddof=1) / np.sqrt(found.size))
        assert bool(abs(z) < 4) == is_right


def test_a_relation_told_twice_for_one_document_counts_once(holder):
    pool, *_, held = holder
    inside, outside = np.flatnonzero(held)[0], np.flatnonzero(~held)[:2]
    pool.tell_truth([f"r{inside}"] * 5 + [f"r{r}" for r in outside], ["d"] * 6 + ["e"], stated_in=[1] * 7)
    assert pool.scores().pool_recall == pytest.approx(1 / 3)


def test_how_many_documents_state_a_relation_is_checked(holder):
    pool = holder[0]
    with pytest.raises(InvalidInput, match="'stated_in' must be a whole number of at least 1; got 0"):
        pool.tell_truth(["r1", "r2"], ["d", "e"], stated_in=[1, 0])
    with pytest.raises(InvalidInput, match="stated_in"):
        pool.tell_truth(["r1", "r2"], ["d", "e"], stated_in=[1])
