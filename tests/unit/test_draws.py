"""Draws and labels: two documents, sealed, from which everything can be computed again."""

from __future__ import annotations

import json

import builders
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Draw, InvalidData, KaratError, Labels


def sample_draw() -> Draw:
    draw = Draw(method="point", parameters={"rank": 50, "labels": 3}, seed=4, n_items=100, resource={"source": "x.csv"})
    draw = draw.append([3, 9, 20], columns={"drawn": [3, 9, 20]}, ids=["a", "b", "c"])
    draw = draw.append([30, 41], columns={"drawn": [30, 41]}, ids=["d", "e"])
    return draw.append([50], columns={"drawn": [50]}, ids=["f"])


def test_round_trip_through_json():
    draw = sample_draw()
    again = Draw.from_dict(json.loads(json.dumps(draw.to_dict())))
    assert again == draw
    assert hash(again) == hash(draw)
    assert again.seal == draw.seal
    assert again.ranks.tolist() == [3, 9, 20, 30, 41, 50]
    assert again.ids == ["a", "b", "c", "d", "e", "f"]
    assert again.column("drawn").tolist() == again.ranks.tolist()
    assert again.n_ranks == 6


def test_round_trip_through_a_file(tmp_path):
    karat.save_draw(tmp_path / "draw.json", sample_draw())
    assert karat.load_draw(tmp_path / "draw.json") == sample_draw()


TAMPERINGS = {
    "a rank": lambda d: d["batches"][0]["ranks"].__setitem__(1, 10),
    "a column": lambda d: d["batches"][1]["columns"]["drawn"].__setitem__(0, 31),
    "an id": lambda d: d["batches"][0]["ids"].__setitem__(0, "z"),
    "first batch dropped": lambda d: d["batches"].pop(0),
    "middle batch dropped": lambda d: d["batches"].pop(1),
    "batches reordered": lambda d: d["batches"].reverse(),
    "ranks reordered": lambda d: d["batches"][0]["ranks"].reverse(),
    "batch repeated": lambda d: d["batches"].append(d["batches"][2]),
    "batch added": lambda d: d["batches"].append({**d["batches"][2], "ranks": [77]}),
    "a seal": lambda d: d["batches"][2].__setitem__("seal", "0" * 64),
    "the seed": lambda d: d.__setitem__("seed", 5),
    "the size": lambda d: d.__setitem__("n_items", 101),
    "the method": lambda d: d.__setitem__("method", "uniform"),
    "a parameter": lambda d: d["parameters"].__setitem__("rank", 49),
    "the resource": lambda d: d["resource"].__setitem__("source", "y.csv"),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_tampering_is_noticed(what):
    document = json.loads(json.dumps(sample_draw().to_dict()))
    TAMPERINGS[what](document)
    with pytest.raises(InvalidData, match=r"Batch \d of the draw does not match its seal"):
        Draw.from_dict(document)


def damages():
    return [
        ({}, "not a draw"),
        ([], "not a draw"),
        ({"format": "other"}, "not a draw"),
        ({**sample_draw().to_dict(), "version": 99}, "version 99"),
        ({key: value for key, value in sample_draw().to_dict().items() if key != "seed"}, "damaged"),
    ]


@pytest.mark.parametrize(("document", "word"), damages())
def test_other_documents_are_refused(document, word):
    with pytest.raises(InvalidData, match=word):
        Draw.from_dict(document)


@pytest.mark.parametrize("key", ["ranks", "columns", "ids", "seal"])
def test_a_damaged_batch_is_refused_in_words(key):
    for value in ("xyz", 5, [1], [[1], [2, 3]], {"a": "b"}, None, [10**30], [1.5], [None]):
        document = json.loads(json.dumps(sample_draw().to_dict()))
        document["batches"][0][key] = value
        with pytest.raises(InvalidData):
            Draw.from_dict(document)


@pytest.mark.parametrize("key", ["parameters", "resource", "batches", "seed", "n_items", "method"])
def test_a_damaged_header_is_refused_in_words(key):
    for value in ("xyz", 5.5, [1], [[1, 2]], None):
        document = json.loads(json.dumps(sample_draw().to_dict()))
        document[key] = value
        with pytest.raises(InvalidData):
            Draw.from_dict(document)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '"draw"', "null", "\x00"])
def test_files_that_are_no_draws(tmp_path, text):
    path = tmp_path / "draw.json"
    path.write_text(text)
    with pytest.raises(InvalidData, match=r"draw\.json"):
        karat.load_draw(path)


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(InvalidData, match="cannot be read"):
        karat.load_draw(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidData, match="is not a draw"):
        karat.load_draw(tmp_path / "binary.json")


@pytest.mark.parametrize("method", ["paula", "stratified", "uniform", "point"])
def test_a_draw_without_batches_is_refused_or_says_nothing(method):
    """A draw whose only batch was cut off: refused, or a vacuous curve; never an accident."""
    try:
        curve = karat.curve_from(Draw(method=method, parameters={}, seed=0, n_items=10), Labels.none())
    except KaratError:
        return
    assert (curve.at(10).low, curve.at(10).high) == (0, 1)


def test_seals_depend_on_everything_before():
    one = Draw(method="point", parameters={}, seed=1, n_items=9)
    other = Draw(method="point", parameters={}, seed=2, n_items=9)
    assert one.append([1]).seal != other.append([1]).seal
    assert one.append([1]).append([2]).seal != one.append([2]).append([1]).seal
    assert one.append([1, 2]).seal != one.append([1]).append([2]).seal
    assert one != other
    assert one != "a draw"


def test_a_draw_is_frozen():
    draw = sample_draw()
    with pytest.raises(ValueError, match="read-only"):
        draw.batches[0].ranks[0] = 5
    with pytest.raises(AttributeError):
        draw.seed = 3
    before = draw.seal
    draw.append([7])
    assert draw.seal == before


# --- labels


def test_later_answers_replace_earlier_ones():
    labels = Labels.from_pairs([5, 2, 5], [1, 0, 0])
    assert labels.ranks.tolist() == [2, 5]
    assert labels.values.tolist() == [0, 0]
    more = labels.and_then(Labels.from_pairs([5, 9], [1, -1]))
    assert more.at([2, 5, 9, 10]).tolist() == [0, 1, -1, -1]
    assert len(more) == 3
    assert more.n_sure == 2


def test_missing_and_unsure_count_0_below_and_1_above():
    low, high = Labels.from_pairs([1, 2, 3], [1, 0, -1]).bounds([1, 2, 3, 4])
    assert low.tolist() == [1, 0, 0, 0]
    assert high.tolist() == [1, 0, 1, 1]


def test_no_labels():
    none = Labels.none()
    assert len(none) == 0
    assert none.n_sure == 0
    assert none.at([1, 2]).tolist() == [-1, -1]
    assert none.and_then(none).at([7]).tolist() == [-1]


@pytest.mark.parametrize(
    ("ranks", "values"),
    [
        ([1], [2]),
        ([1], [0.5]),
        ([1], ["yes"]),
        ([1], [None]),
        ([1], [float("nan")]),
        ([1, 2], [1]),
        (["a"], [1]),
        ([None], [1]),
        ([1.5], [1]),
        ([float("nan")], [1]),
        ([10**30], [1]),
    ],
)
def test_labels_that_make_no_sense_are_refused(ranks, values):
    with pytest.raises(KaratError):
        Labels.from_pairs(ranks, values)


@given(st.lists(st.tuples(st.integers(1, 30), st.sampled_from([-1, 0, 1])), max_size=40))
def test_labels_are_a_dictionary_by_rank(pairs):
    labels = Labels.from_pairs([rank for rank, _ in pairs], [value for _, value in pairs])
    wanted = dict(pairs)
    assert dict(zip(labels.ranks.tolist(), labels.values.tolist(), strict=True)) == wanted
    assert labels.at(np.arange(1, 31)).tolist() == [wanted.get(rank, -1) for rank in range(1, 31)]
    half = len(pairs) // 2
    first, second = (
        Labels.from_pairs([r for r, _ in part], [v for _, v in part]) for part in (pairs[:half], pairs[half:])
    )
    np.testing.assert_array_equal(first.and_then(second).values, labels.values)


# --- resume

METHODS = [
    karat.Paula(epsilon=0.25, window=6),
    karat.Stratified(epsilon=0.25, window=6),
    karat.Uniform(labels=120),
    karat.Point(rank=300, labels=40),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_the_two_documents_give_the_same_curve(method, tmp_path):
    labels = builders.falling_rate(600, np.random.default_rng(3))
    design = method.begin(600, seed=9)
    first = design.ask(20)
    design.tell(Labels.from_pairs(first, labels[first - 1]))
    karat.save_draw(tmp_path / "draw.json", design.draw)
    again = method.resume(karat.load_draw(tmp_path / "draw.json"), design.labels)
    assert json.dumps(again.curve().to_dict()) == json.dumps(design.curve().to_dict())
    rest = design.ask()
    assert not again.done
    assert set(again.pending) == set(rest)
    for one in (design, again):
        one.tell(Labels.from_pairs(rest, labels[rest - 1]))
        assert one.done
        assert len(one.pending) == 0
    assert json.dumps(again.curve().to_dict()) == json.dumps(design.curve().to_dict())
    by_name = karat.curve_from(karat.load_draw(tmp_path / "draw.json"), design.labels)
    assert json.dumps(by_name.to_dict()) == json.dumps(design.curve().to_dict())


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_the_seed_decides_the_draw(method):
    assert method.begin(600, seed=1).draw == method.begin(600, seed=1).draw
    if method.name != "paula":
        assert method.begin(600, seed=1).draw.ranks.tolist() != method.begin(600, seed=2).draw.ranks.tolist()


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_labels_nobody_asked_for_are_refused(method):
    design = method.begin(600, seed=1)
    stray = next(rank for rank in range(1, 601) if rank not in set(design.draw.ranks.tolist()))
    with pytest.raises(KaratError, match=f"for ranks that the draw asked for; got 'rank {stray}'"):
        design.tell(Labels.from_pairs([stray], [1]))
    with pytest.raises(KaratError):
        method.resume(design.draw, Labels.from_pairs([stray], [1]))


@pytest.mark.parametrize(
    ("other", "method"),
    [
        (karat.Paula(epsilon=0.05), karat.Paula(epsilon=0.03)),
        (karat.Uniform(), karat.Paula()),
        (karat.Point(rank=10, labels=5), karat.Point(rank=500, labels=5)),
    ],
    ids=["epsilon", "method", "rank"],
)
def test_a_draw_is_not_taken_up_by_another_method_or_other_parameters(other, method):
    draw = method.begin(10_000, seed=1).draw
    with pytest.raises(KaratError):
        other.resume(draw, Labels.none()).curve()


def test_asking_in_pieces_gives_the_whole():
    design = karat.Uniform(labels=120).begin(600, seed=3)
    pieces = [design.ask(50), design.ask(50), design.ask(50), design.ask(50)]
    assert np.concatenate(pieces).tolist() == design.draw.ranks.tolist()
    assert len(design.ask()) == 0
    with pytest.raises(KaratError, match="'n' must be"):
        design.ask(0)
