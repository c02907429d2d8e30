"""A study: engine, design and labels joined; files that appear whole or not at all."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

import karat
from karat import InvalidInput, KaratError, Labels
from karat.study import write_items, write_whole

N = 400


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    return pd.DataFrame({
        "fact": [f"fact {n}" for n in range(N)],
        "score": np.round(rng.random(N), 2),
        "claim": [f"{n} is even" for n in range(N)],
    })  # fmt: skip


@pytest.fixture
def study(frame):
    return karat.Study(karat.open(frame, score="score", id="fact", seed=3), karat.Point(rank=200, labels=50))


def test_ask_tell_curve(study):
    items = study.ask(10)
    assert len(items.ids) == len(items.payload) == len(items.scores) == 10
    assert set(items.payload[0]) == {"claim"}
    assert all(row["claim"].split()[0] == id_.split()[1] for row, id_ in zip(items.payload, items.ids, strict=True))
    study.tell({items.ids[0]: "yes", items.ids[1]: False, items.ids[2]: "unsure", items.ids[3]: None})
    assert study.labels.n_sure == 2
    assert len(study.pending) == 7
    assert not study.done
    rest = study.ask()
    study.tell(dict.fromkeys([*items.ids, *rest.ids], 1))
    assert study.done
    assert study.curve().at(200).high == 1.0


def test_answers_are_checked(study):
    id_ = study.ask(1).ids[0]
    with pytest.raises(InvalidInput, match=f"'answers' for '{id_}': expected an answer such as .* got 'mabye'"):
        study.tell({id_: "mabye"})
    with pytest.raises(InvalidInput, match="'answers' must be about items that were asked for; got 'nothing'"):
        study.tell({"nothing": 1})
    with pytest.raises(InvalidInput, match="'answers' must be a mapping from id to answer"):
        study.tell([1, 0])
    with pytest.raises(InvalidInput, match="ranks that the draw asked for"):
        study.tell(Labels.from_pairs([400], [1]))
    assert len(study.labels) == 0


def test_the_draw_names_its_resource(study, tmp_path):
    study.save(tmp_path / "draw.json")
    draw = karat.load_draw(tmp_path / "draw.json")
    assert draw == study.draw
    assert draw.seed == 3
    assert draw.ids == study.engine.ids_at(draw.ranks)
    assert {"source", "score", "id", "higher_is_better", "fingerprint"} <= set(draw.resource)
    assert draw.resource["fingerprint"]["n_items"] == N


def test_a_draw_without_ids_takes_labels_by_rank_and_refuses_answers_by_id(frame):
    """A draw made without a resource has no ids to join by."""
    draw = karat.Point(rank=200, labels=50).begin(N).draw
    study = karat.Study(karat.open(frame, score="score", id="fact"), draw=draw)
    study.tell(Labels.from_pairs(draw.ranks[:1], [1]))
    with pytest.raises(KaratError):
        study.tell({"fact 1": 1})


def test_a_draw_of_another_list_is_refused(frame):
    """The draw has seen 400 items; this resource has 100."""
    draw = karat.Study(karat.open(frame, score="score", id="fact"), karat.Point(labels=50)).draw
    with pytest.raises(KaratError):
        karat.Study(karat.open(frame.head(100), score="score", id="fact"), draw=draw)


def test_taken_up_from_a_file(tmp_path, frame):
    frame.to_csv(tmp_path / "facts.csv", index=False)
    first = karat.Study(karat.open(tmp_path / "facts.csv", score="score", id="fact", seed=3), karat.Uniform(labels=60))
    asked = first.ask()
    first.tell(dict.fromkeys(asked.ids, 1))
    again = karat.Study.resume(first.draw, first.labels)
    assert json.dumps(again.curve().to_dict()) == json.dumps(first.curve().to_dict())
    frame.assign(score=frame["score"] + 1).to_csv(tmp_path / "facts.csv", index=False)
    with pytest.raises(KaratError, match="has changed since the draw was made"):
        karat.Study.resume(first.draw, first.labels)


# --- items to judge


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_items_are_written_in_an_order_that_tells_nothing(study, tmp_path):
    items = study.ask()
    assert write_items(tmp_path / "items.csv", items, seed=1) == []
    head, *rows = read(tmp_path / "items.csv")
    assert head == ["id", "claim", "label"]
    assert sorted(row[0] for row in rows) == sorted(items.ids)
    assert all(row[-1] == "" for row in rows)
    place = {id_: n for n, id_ in enumerate(items.ids)}
    correlation = np.corrcoef(np.arange(len(rows)), [place[row[0]] for row in rows])[0, 1]
    assert abs(correlation) < 4 / np.sqrt(len(rows))
    write_items(tmp_path / "again.csv", items, seed=1)
    assert read(tmp_path / "again.csv") == read(tmp_path / "items.csv")


def test_scores_are_shown_only_if_asked_for(study, tmp_path):
    items = study.ask()
    write_items(tmp_path / "items.csv", items, show_scores=True)
    head, *rows = read(tmp_path / "items.csv")
    assert head == ["id", "rank", "score", "claim", "label"]
    for id_, rank, score, *_ in rows:
        place = items.ids.index(id_)
        assert (int(rank), float(score)) == (items.ranks[place], items.scores[place])


def test_columns_that_would_clash_are_left_out_and_named(tmp_path):
    frame = pd.DataFrame(
        {"key": ["a", "b"], "s": [1.0, 2.0], "label": [1, 0], "rank": [5, 6], "id": [7, 8], "x": [0, 1]}
    )
    items = karat.open(frame, score="s", id="key").items_at(np.array([1, 2]))
    assert sorted(write_items(tmp_path / "items.csv", items)) == ["id", "label", "rank"]
    assert read(tmp_path / "items.csv")[0] == ["id", "x", "label"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_text_is_harmless_in_a_spreadsheet(tmp_path, text):
    frame = pd.DataFrame({"s": [1.0], "x": [text]})
    write_items(tmp_path / "items.csv", karat.open(frame, score="s").items_at(np.array([1])))
    assert read(tmp_path / "items.csv")[1][1] == f"'{text}"


# --- nothing half written


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out.txt"
    with pytest.raises(KeyboardInterrupt), write_whole(path) as stream:  # noqa: PT012
        stream.write("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with write_whole(path) as stream:
        stream.write("first")
        assert not path.exists()
    assert path.read_text() == "first"
    with pytest.raises(RuntimeError), write_whole(path) as stream:  # noqa: PT012
        stream.write("second, but")
        raise RuntimeError
    assert path.read_text() == "first"
    assert [child.name for child in tmp_path.iterdir()] == ["out.txt"]


def test_written_files_have_ordinary_rights(tmp_path):
    with write_whole(tmp_path / "ours.txt") as stream:
        stream.write("x")
    (tmp_path / "theirs.txt").write_text("x")
    assert (tmp_path / "ours.txt").stat().st_mode == (tmp_path / "theirs.txt").stat().st_mode


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"), write_whole(tmp_path / "none" / "x.txt"):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match="cannot be written"), write_whole(tmp_path / "folder") as stream:
        stream.write("x")
    assert [child.name for child in tmp_path.iterdir()] == ["folder"]


def test_saving_a_draw_twice_replaces_it(tmp_path):
    one, two = (karat.Point(labels=5).begin(50, seed=seed).draw for seed in (1, 2))
    karat.save_draw(tmp_path / "draw.json", one)
    karat.save_draw(tmp_path / "draw.json", two)
    assert karat.load_draw(tmp_path / "draw.json") == two
