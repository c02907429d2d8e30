"""Answers in files: any common word, joined by id or by rank, every defect named."""

from __future__ import annotations

import builders
import pytest

from karat import Draw, InvalidData
from karat.formats.answers import RIGHT, UNDECIDED, WRONG, read_answers, read_word


@pytest.fixture
def draw() -> Draw:
    return Draw(method="point", parameters={}, seed=0, n_items=100).append([4, 9, 20], ids=["a", "b", 7])


def table(tmp_path, **columns):
    path = tmp_path / "labels.csv"
    builders.write_table(path, columns)
    return path


def test_words():
    for words, value in ((RIGHT, 1), (WRONG, 0), (UNDECIDED, -1)):
        for word in words:
            assert read_word(word) == read_word(f"  {word.upper()} ") == value
    assert read_word(True) == read_word(1) == read_word(1.0) == 1
    assert read_word(False) == read_word(0) == 0
    assert read_word(None) is read_word("  ") is None
    for word in ("maybe", 2, "yes!", 0.5):
        with pytest.raises(InvalidData, match="expected an answer such as 1, 0, yes, no or unsure"):
            read_word(word)


def test_by_id(tmp_path, draw):
    labels = read_answers(table(tmp_path, id=["7", "a", "b"], label=["yes", "0", "?"], note=["x", "y", "z"]), draw)
    assert labels.at([4, 9, 20]).tolist() == [0, -1, 1]


def test_by_rank(tmp_path, draw):
    labels = read_answers(table(tmp_path, rank=[20, 4], label=[1, 0]), draw)
    assert labels.ranks.tolist() == [4, 20]


def test_empty_answers_are_passed_over(tmp_path, draw):
    labels = read_answers(table(tmp_path, id=["a", "b", "a", "stranger"], label=["1", "", "", ""]), draw)
    assert labels.ranks.tolist() == [4]
    assert labels.at([4]).tolist() == [1]


def test_several_files(tmp_path, draw):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    builders.write_table(one, {"id": ["a", "b"], "label": ["1", "1"]})
    builders.write_table(two, {"id": ["b", "7"], "label": ["1", "0"]})
    assert read_answers([one, two], draw).at([4, 9, 20]).tolist() == [1, 1, 0]


def test_defects(tmp_path, draw):
    with pytest.raises(InvalidData, match=r"labels\.csv, row 2, column 'label': expected an answer .* got 'mabye'"):
        read_answers(table(tmp_path, id=["a", "b"], label=["1", "mabye"]), draw)
    with pytest.raises(InvalidData, match=r"labels\.csv, row 1, column 'id': expected an item of the draw; got 'z'"):
        read_answers(table(tmp_path, id=["z"], label=["1"]), draw)
    with pytest.raises(InvalidData, match=r"column 'rank': expected an item of the draw; got '5'"):
        read_answers(table(tmp_path, rank=[5], label=[1]), draw)
    with pytest.raises(InvalidData, match=r"has no column 'label'; it has 'id', 'answer'"):
        read_answers(table(tmp_path, id=["a"], answer=["1"]), draw)
    with pytest.raises(InvalidData, match=r"has no column 'id' or 'rank'; it has 'item', 'label'"):
        read_answers(table(tmp_path, item=["a"], label=["1"]), draw)
    nameless = Draw(method="point", parameters={}, seed=0, n_items=100).append([4])
    with pytest.raises(InvalidData, match=r"has no column 'rank' \(the draw has no ids\)"):
        read_answers(table(tmp_path, id=["a"], label=["1"]), nameless)


def test_a_defect_in_the_second_file_is_named_there(tmp_path, draw):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    builders.write_table(one, {"id": ["a", "b"], "label": ["1", "1"]})
    builders.write_table(two, {"id": ["7"], "label": ["mabye"]})
    with pytest.raises(InvalidData, match=r"two\.csv, row 1, column 'label'"):
        read_answers([one, two], draw)
