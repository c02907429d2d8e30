"""What is known before anything is spent, what people see of an item, and labels that belong to nothing."""

import pytest

from karat.errors import InvalidData
from karat.math.pooled.recall import pool_recall
from karat.pool import Pool


def write(path, items, *, columns=""):
    names = ["id", *columns.split()]
    path.write_text(
        "\n".join([",".join(names), *(",".join([f"x{k}", *(f"{c}{k}" for c in names[1:])]) for k in items)])
    )
    return path


@pytest.fixture
def pool(tmp_path):
    return Pool.create(tmp_path / "pool", seed=1, half_width=0.08)


def test_the_price_is_known_before_it_is_paid(pool, tmp_path):
    path = write(tmp_path / "a.csv", range(400))
    before = sorted(str(p) for p in pool.folder.rglob("*"))
    preview = pool.preview(path)
    assert sorted(str(p) for p in pool.folder.rglob("*")) == before
    assert (preview.n_predictions, preview.n_new) == (400, 400)
    assert 0 < preview.first < preview.most < 400
    pool.add("a", path)
    assert len(pool.next()) == preview.first
    while asked := pool.next():
        pool.tell({name: int(name[1:]) % 4 > 0 for name in asked})
    assert preview.first <= pool.n_labels <= preview.most
    copy = pool.preview(path)
    assert (copy.n_new, copy.first) == (0, 0)
    half = pool.preview(write(tmp_path / "half.csv", range(200, 600)))
    assert half.n_new == 200
    assert 0 < half.most < preview.most


def test_a_preview_holds_until_something_changes_it_and_no_longer(pool, tmp_path):
    """After everything that can happen to a pool, previews made before it are compared with those made after it."""
    files = [write(tmp_path / f"f{k}.csv", numbers) for k, numbers in
             enumerate((range(300), range(250, 500), range(600, 650), range(100, 200)))]  # fmt: skip
    names = [f"x{k}" for k in range(300)]

    def answer():
        pool.tell({name: int(name[1:]) % 3 > 0 for name in pool.next()[:7]})

    steps = [
        (True, lambda: pool.add("a", files[0])),  # what waits is not counted on
        (False, pool.next),
        (True, answer),
        (True, lambda: pool.tell(dict.fromkeys(pool.next(), 1))),
        (False, pool.next),  # the rest, after the pilot
        (True, lambda: pool.tell_errors(None)),
        (True, lambda: pool.tell_truth(names[:3])),
        (True, lambda: pool.retract("a")),
        (False, lambda: pool.tell({f"x{k}": 1 for k in range(300, 420)}, keep_unknown=True)),  # nobody asked
        (True, lambda: pool.tell({f"y{k}": 1 for k in range(3)}, keep_unknown=True)),
    ]
    moved = 0
    for holds, step in steps:
        before, n_events = [pool.preview(file) for file in files[1:]], pool.refresh()
        assert pool.previews_hold(n_events)
        step()
        after = [pool.preview(file) for file in files[1:]]
        assert pool.previews_hold(n_events) is holds or before == after  # a needless look is no harm
        assert before == after if holds else before != after
        moved += before != after
    assert moved == 3
    assert not pool.previews_hold(pool.refresh() + 1)  # of another log


def test_columns_reach_those_who_label(pool, tmp_path):
    pool.add("a", write(tmp_path / "a.csv", range(60), columns="subject object score".replace("score", "where")))
    pool.add("b", write(tmp_path / "b.csv", range(40, 90), columns="subject"))
    asked = pool.next()
    shown = pool.items(asked)
    assert set(shown) == set(asked)
    for name in asked:
        number = int(name[1:])
        first = {"subject": f"subject{number}", "object": f"object{number}", "where": f"where{number}"}
        assert shown[name] == (first if number < 60 else {"subject": f"subject{number}"})
    assert pool.items(["nothing"]) == {}


def test_labels_of_nothing_are_refused_with_their_line(pool, tmp_path):
    pool.add("a", write(tmp_path / "a.csv", range(60)))
    asked = pool.next()
    labels = tmp_path / "labels.csv"
    labels.write_text(f'id,label\n{asked[0]},1\n"x0 ",0\nnope,1\n')
    with pytest.raises(InvalidData, match=r"labels.csv, line 3: id 'x0 ' \(and 1 more\) is in no submission"):
        pool.tell(labels)
    with pytest.raises(InvalidData, match="id 'nope' is in no submission"):
        pool.tell({"nope": 1})
    assert pool.n_labels == 0
    labels.write_text(f"id,label\n{asked[0]},unsure\n{asked[1]},1.0\n")
    assert pool.tell(labels) == 2
    assert pool.state.n_unsure == 1
    labels.write_text(f"id,label\n{asked[2]},0\n{asked[1]},0\n")
    with pytest.raises(ValueError, match=f"labels.csv, line 3: '{asked[1]}' was labelled 1 before; got 0"):
        pool.tell(labels)


def test_true_relations_can_be_weighted_and_replaced(pool, tmp_path):
    pool.add("a", write(tmp_path / "a.csv", range(60)))
    while asked := pool.next():
        pool.tell(dict.fromkeys(asked, 1))
    pool.tell_truth(["x0", "x1", "gone"], ["d", "d", "e"], weights=[1, 1, 4])
    assert pool.scores().pool_recall == pytest.approx(2 / 6)
    pool.tell_truth(["x0", "gone"], replace=True)
    assert Pool(pool.folder).scores().pool_recall == 0.5
    with pytest.raises(ValueError, match="'weights'"):
        pool.tell_truth(["x0"], ["d"], weights=[0], replace=True)


def test_equal_weights_change_nothing():
    hits, documents = [1, 0, 1, 1, 0, 1, 1], list("aabbccd")
    plain, weighted = pool_recall(hits, documents), pool_recall(hits, documents, weights=[3.0] * 7)
    assert (plain.value, plain.variance, plain.n_found) == pytest.approx(
        (weighted.value, weighted.variance, weighted.n_found)
    )


def test_a_submission_with_a_receipt_is_added_once(pool, tmp_path):
    path = write(tmp_path / "a.csv", range(20))
    other = Pool(pool.folder)
    pool.add("a", path, receipt="17")
    path.unlink()
    assert other.add("a", path, replace=True, receipt="17") is None  # it need not even be there any more
    assert [(system.name, system.version) for system in other.state.systems] == [("a", 1)]
    other.add("a", write(path, range(30)), replace=True, receipt="18")
    other.add("b", path)
    other.add("b", path, replace=True)  # without a receipt each counts
    pool.refresh()
    assert [(system.name, system.version) for system in pool.state.systems] == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
