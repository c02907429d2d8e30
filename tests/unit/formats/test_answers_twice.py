"""Two answers for one item: agreement is fine, a contradiction is told, never settled in silence."""

from __future__ import annotations

import pytest

import karat
from karat.errors import InvalidData
from karat.formats.answers import read_answers


@pytest.fixture
def draw():
    design = karat.Point(rank=5, labels=5).begin(5, seed=1)
    design.ask()
    return design.draw


def write(path, rows):
    path.write_text("rank,label\n" + "".join(f"{rank},{label}\n" for rank, label in rows))
    return str(path)


def test_agreement_and_a_decision_after_doubt_are_taken(tmp_path, draw):
    first = write(tmp_path / "first.csv", [(1, "yes"), (2, "unsure")])
    second = write(tmp_path / "second.csv", [(1, 1), (2, "no"), (3, "")])
    labels = read_answers([first, second], draw)
    assert dict(zip(labels.ranks.tolist(), labels.values.tolist(), strict=True)) == {1: 1, 2: 0}


@pytest.mark.parametrize("later", ["no", "unsure"])
def test_a_contradiction_names_both_rows(tmp_path, draw, later):
    first = write(tmp_path / "first.csv", [(2, 0), (1, "yes")])
    second = write(tmp_path / "second.csv", [(1, later)])
    said = rf"second\.csv, row 1: item '1' is answered {later} here and yes in .*first\.csv, row 2; keep one"
    with pytest.raises(InvalidData, match=said):
        read_answers([first, second], draw)
