"""`karat slices` and `karat rerank` from end to end, and the library beneath them."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

import karat
from karat.cli.main import main
from karat.formats.answers import read_answers

N = 5000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A resource with an old and a new score and a source an item, and its draw with all labels in."""
    folder = tmp_path_factory.mktemp("slices")
    rng = np.random.default_rng(3)
    quality = rng.random(N)
    truth = (rng.random(N) < quality).astype(int)
    source = np.where(rng.random(N) < 0.7, "web", np.where(quality > 0.4, "book", "forum"))
    frame = pd.DataFrame({
        "item": [f"i{n}" for n in range(N)],
        "old": quality + rng.normal(scale=0.3, size=N),
        "new": quality + rng.normal(scale=0.1, size=N),
        "source": source,
    })  # fmt: skip
    frame.to_csv(folder / "items.csv", index=False)
    right = dict(zip(frame["item"], truth.tolist(), strict=True))
    buy(folder, right, score="old", name="draw", seed=0, budget=900)
    buy(folder, right, score="new", name="second", seed=7, budget=400)
    sources = dict(zip(frame["item"], source.tolist(), strict=True))
    (folder / "truth.json").write_text(json.dumps({"right": right, "source": sources}), encoding="utf-8")
    return folder


def buy(folder, right, *, score: str, name: str, seed: int, budget: int) -> None:
    engine = karat.open(str(folder / "items.csv"), score=score, id="item", seed=seed)
    study = karat.Study(engine, karat.Certify(budget=budget, from_rank=500))
    answers = {}
    while len(ids := study.ask(200).ids):
        study.tell({id_: right[id_] for id_ in ids})
        answers |= {id_: right[id_] for id_ in ids}
    study.save(folder / f"{name}.json")
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["id", "label"], *answers.items()])


def taken_up(folder) -> karat.Study:
    draw = karat.load_draw(folder / "draw.json")
    return karat.Study.resume(draw, read_answers(str(folder / "draw.csv"), draw))


def run(folder, command: str, *rest: str) -> list[str]:
    return [command, str(folder / "draw.json"), str(folder / "draw.csv"), *rest]


def test_slices_hold_and_are_narrower_than_nothing(folder, capsys):
    assert main(run(folder, "slices", "--by", "source", "--plot", str(folder / "forest.png"), "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    known = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    assert {row["source"] for row in found["segments"]} == {"web", "book", "forum"}
    assert sum(row["n_items"] for row in found["segments"]) == N
    for row in found["segments"]:
        members = [known["right"][item] for item, name in known["source"].items() if name == row["source"]]
        assert row["precision_low"] <= np.mean(members) <= row["precision_high"]
        assert row["precision_high"] - row["precision_low"] < 0.45
    assert (folder / "forest.png").stat().st_size > 5000


def test_slices_of_the_top_only(folder, capsys):
    assert main(run(folder, "slices", "--by", "source", "--rank", "1000", "--json")) == 0
    assert sum(row["n_items"] for row in json.loads(capsys.readouterr().out)["segments"]) == 1000
    assert main(run(folder, "slices", "--by", "source", "--rank", "1000")) == 0
    assert "Among the top 1,000; with 95% confidence all 3 intervals hold." in capsys.readouterr().out


def test_slices_by_a_column_with_too_many_values(folder, capsys):
    assert main(run(folder, "slices", "--by", "item")) == 1
    assert "'--by' must be a column with at most 1,000 values; got \"5,000 in 'item'\"." in capsys.readouterr().err
    assert main(run(folder, "slices", "--by", "colour")) == 1
    assert "colour" in capsys.readouterr().err


def test_a_new_ranking_from_old_labels(folder, capsys):
    assert main(run(folder, "rerank", "--score", "new", "--forecast", "--json")) == 0
    old = json.loads(capsys.readouterr().out)
    more = ["--more", str(folder / "second.json"), "--more-labels", str(folder / "second.csv")]
    assert main(run(folder, "rerank", "--score", "new", *more, "--json")) == 0
    both = json.loads(capsys.readouterr().out)
    right = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["right"]
    engine = karat.open(str(folder / "items.csv"), score="new", id="item", seed=0)
    truth = np.cumsum([right[item] for item in engine.ids_at(np.arange(1, N + 1))])
    for found in (old, both):
        ranks = np.array(found["points"]["rank"])
        assert np.all(np.array(found["points"]["yield_low"]) <= truth[ranks - 1] + 1e-6)
        assert np.all(truth[ranks - 1] <= np.array(found["points"]["yield_high"]) + 1e-6)
    assert both["worst_over_target"] < old["worst_over_target"]
    assert old["labels_to_be_as_tight"] > 0
    assert [assumption["verdict"] for assumption in both["assumptions"]] == ["not testable"]
    assert main(run(folder, "rerank", "--score", "new")) == 0
    assert "Assumed: The new ranking does not depend on these labels: not testable." in capsys.readouterr().out


def test_more_labels_need_another_seed_and_the_same_score(folder, capsys):
    twice = ["--more", str(folder / "draw.json"), "--more-labels", str(folder / "draw.csv")]
    assert main(run(folder, "rerank", "--score", "old", *twice)) == 1
    assert "drawn with another seed" in capsys.readouterr().err
    assert main(run(folder, "rerank", "--score", "new", *twice)) == 1
    assert "'--more' must be a draw by 'new'; got one by 'old'." in capsys.readouterr().err
    assert main(run(folder, "rerank", "--score", "new", "--more", str(folder / "second.json"))) == 1
    assert "'--more' and '--more-labels' must be given together" in capsys.readouterr().err


def test_the_same_ranking_carried_over_says_the_same(folder):
    """Carried over to itself, a list has bounds that agree with its own and are not much wider."""
    study = taken_up(folder)
    carried = karat.carry_over(karat.Bought(study.engine, study.draw, study.labels), study.engine)
    for rank in (500, 2000, N):
        own, other = study.curve().at(rank), carried.at(rank)
        assert max(own.low, other.low) <= min(own.high, other.high)
        assert other.high - other.low < 1.8 * (own.high - own.low)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_results_as_tables(folder, library):
    study = taken_up(folder)
    method = {"pandas": "to_pandas", "polars": "to_polars", "pyarrow": "to_arrow"}[library]
    band = karat.pr_band([0, 1, 1, 0, 1] * 20, np.arange(100.0), method="exact")
    exact = karat.exact([0, 1, 0, 1, 1, 1], np.arange(6.0))
    for result in (study.curve(), study.slices("source"), band, exact):
        table = getattr(result, method)()
        assert type(table).__module__.split(".")[0] == library
        names = table.column_names if library == "pyarrow" else list(table.columns)
        assert names == list(result.points())
        assert len(table) == len(next(iter(result.points().values())))
