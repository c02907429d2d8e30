"""TREC runs by topic: by hand, by brute force, and by simulation of judging only a part."""

from __future__ import annotations

import io
import itertools
import json

import numpy as np
import pytest
from tolerance import covers

import karat
from karat.cli.main import main
from karat.math.inferred import Judged, inferred_average_precision, resample
from karat.topics import evaluate_run

RUN = "1 Q0 a 1 9 me\n1 Q0 b 2 8 me\n1 Q0 c 3 7 me\n1 Q0 d 4 6 me\n2 Q0 x 1 3 me\n2 Q0 y 2 3 me\n9 Q0 z 1 1 me\n"
QRELS = "1 0 a 1\n1 0 b -1\n1 0 d 2\n1 0 e 1\n2 0 x 0\n2 0 y 1\n3 0 q 1\n"


def evaluated(**options):
    return evaluate_run(io.StringIO(RUN), io.StringIO(QRELS), at=(2, 4), **options)


def test_by_hand():
    scores = evaluated()
    assert scores.topics == ("1", "2", "3")
    assert scores.n_retrieved.tolist() == [4, 2, 0]
    assert scores.n_judged.tolist() == [2, 2, 0]
    assert scores.n_relevant.tolist() == [3, 1, 1]
    assert scores.unjudged[4].tolist() == [2, 0, 0]
    assert scores.precision_low[2].tolist() == [0.5, 0.5, 0.0]
    assert scores.precision_high[4].tolist() == [1.0, 0.25, 0.0]
    # Topic 1: a at rank 1, d at rank 4, e missed. Topic 2: equal scores go by docid downwards, so y is first.
    assert scores.average_precision.tolist() == pytest.approx([(1 + 2 / 4) / 3, 1.0, 0.0])
    # infAP of topic 1: at d three documents are above, two of them pooled, the one judged is relevant.
    assert scores.inferred.tolist() == pytest.approx([(1 + (1 + 2) / 4) / 3, 1.0, 0.0], abs=1e-4)
    assert scores.notes == ("1 topics of the run have no judgements and were left out.",)


def test_grades_below_the_threshold_are_not_relevant():
    assert evaluated(positive_from=2).n_relevant.tolist() == [1, 0, 0]


def test_with_every_judgement_it_is_average_precision():
    rng = np.random.default_rng(2)
    labels = (rng.random(40) < 0.4).astype(np.int8)
    topic = Judged(labels, np.ones(40, dtype=bool), 3, 5)
    exact = karat.exact(np.r_[labels, [1, 1, 1]], -np.arange(43.0))
    ranks = np.arange(1, 41)
    expected = np.sum((np.cumsum(labels) / ranks)[labels == 1]) / (labels.sum() + 3)
    assert inferred_average_precision(topic)[0] == pytest.approx(expected, abs=1e-4)
    assert exact.average_precision() > expected  # missed documents are not at the end of the run: they are not in it


def judge_a_part(labels, missed: int, rng, share: float) -> Judged:
    judged = rng.random(len(labels)) < share
    known = int(rng.binomial(missed, share))
    return Judged(
        np.where(judged, labels, -1).astype(np.int8), np.ones(len(labels), dtype=bool), known, 0, missed - known
    )


def test_a_random_part_of_the_judgements_gives_average_precision_in_the_mean():
    rng = np.random.default_rng(3)
    labels = (rng.random(150) < np.linspace(0.8, 0.1, 150)).astype(np.int8)
    truth = float(inferred_average_precision(Judged(labels, np.ones(150, dtype=bool), 10, 0))[0])
    parts = [judge_a_part(labels, 10, rng, 0.3) for _ in range(400)]
    inferred = np.array([inferred_average_precision(part)[0] for part in parts])
    error = inferred.std() / np.sqrt(len(parts))
    assert abs(inferred.mean() - truth) < 4 * error + 0.004
    # The wrong variant: unjudged documents taken for not relevant.
    naive = [inferred_average_precision(part._replace(pooled=part.labels >= 0))[0] for part in parts]
    assert np.mean(naive) < truth - 0.1


def test_the_interval_of_the_mean_covers():
    rng = np.random.default_rng(4)
    topics = [(rng.random(80) < np.linspace(top, 0.05, 80)).astype(np.int8) for top in rng.uniform(0.4, 0.9, 12)]
    whole = [Judged(labels, np.ones(80, dtype=bool), 6, 0) for labels in topics]
    truth = np.mean([inferred_average_precision(topic)[0] for topic in whole])
    found = narrow = 0
    for _ in range(100):
        parts = [judge_a_part(labels, 6, rng, 0.4) for labels in topics]
        drawn = np.mean([resample(part, 200, rng) for part in parts], axis=0)
        low, high = np.quantile(drawn, [0.05, 0.95])
        found += bool(low <= truth <= high)
        middle, half = (low + high) / 2, (high - low) / 2
        narrow += bool(abs(middle - truth) <= half / 3)
    assert covers(found, 100, level=0.9)
    assert not covers(narrow, 100, level=0.9)


def test_what_is_judged_in_full_has_no_width():
    run = "".join(f"{topic} Q0 d{n} 1 {9 - n} me\n" for topic in range(11) for n in range(5))
    qrels = "".join(f"{topic} 0 d{n} {(n + topic) % 3 == 0:d}\n" for topic in range(11) for n in range(7))
    scores = evaluate_run(io.StringIO(run), io.StringIO(qrels), n_replicates=100)
    assert np.array_equal(scores.inferred_low, scores.inferred_high)
    assert scores.mean_inferred.low == scores.mean_inferred.high
    # One document of the pool is neither retrieved nor judged: something is left to luck.
    scores = evaluate_run(io.StringIO(run), io.StringIO(qrels + "0 0 d9 -1\n"), n_replicates=100)
    assert (scores.inferred_low < scores.inferred_high).tolist() == [True] + [False] * 10
    assert scores.mean_inferred.low < scores.mean_inferred.high


def test_a_topic_without_relevant_judgements_says_nothing():
    run = "1 Q0 a 1 9 me\n2 Q0 b 1 9 me\n3 Q0 c 1 9 me\n4 Q0 d 1 9 me\n"
    qrels = "1 0 a 1\n2 0 b -1\n3 0 c 0\n3 0 x -1\n4 0 d 0\n"  # topics 2 and 3: nothing, or nothing relevant yet
    scores = evaluate_run(io.StringIO(run), io.StringIO(qrels), n_replicates=100)
    assert scores.inferred_low.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert scores.inferred_high.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert (scores.mean_inferred.low, scores.mean_inferred.estimate, scores.mean_inferred.high) == (0.5, 0.5, 0.5)
    assert scores.notes[0].startswith("2 topics have no relevant document")
    nothing = evaluate_run(io.StringIO("2 Q0 b 1 9 me\n"), io.StringIO("2 0 b -1\n"), n_replicates=100)
    assert (nothing.mean_inferred.low, nothing.mean_inferred.high) == (0.0, 1.0)


def test_the_width_shrinks_with_the_judged_share_of_the_pool():
    labels = np.array([1, 0, 1, 0, 1, 1, 0, 0], dtype=np.int8)
    few = Judged(labels, np.ones(8, dtype=bool), 1, 1, 990)  # 10 of 1,000 judged
    half = few._replace(missed_unjudged=10)
    wide, narrow = (resample(topic, 500, np.random.default_rng(5)).std() for topic in (few, half))
    assert narrow / wide == pytest.approx(np.sqrt(0.5 / 0.99))


@pytest.mark.parametrize("seed", range(3))
def test_precision_bounds_are_those_of_all_completions(seed):
    rng = np.random.default_rng(seed)
    grades = rng.choice([1, 0, -1], size=6)
    run = "".join(f"1 Q0 d{n} {n + 1} {9 - n} me\n" for n in range(6))
    qrels = "".join(f"1 0 d{n} {grade}\n" for n, grade in enumerate(grades))
    scores = evaluate_run(io.StringIO(run), io.StringIO(qrels), at=(3, 6))
    completions = list(itertools.product(*[[grade] if grade >= 0 else [0, 1] for grade in grades]))
    for cut in (3, 6):
        values = [sum(labels[:cut]) / cut for labels in completions]
        assert (scores.precision_low[cut][0], scores.precision_high[cut][0]) == (min(values), max(values))


def test_command(tmp_path, capsys):
    (tmp_path / "run").write_text(RUN, encoding="utf-8")
    (tmp_path / "qrels").write_text(QRELS, encoding="utf-8")
    files = [str(tmp_path / "run"), str(tmp_path / "qrels")]
    assert main(["trec", *files, "--at", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["unjudged"] == 2
    assert document["by_topic"]["topic"] == ["1", "2", "3"]
    assert main(["trec", *files, "--by-topic"]) == 0
    assert "3 topics, 6 documents retrieved, 33.3% of them unjudged" in capsys.readouterr().out


def test_complaints(tmp_path, capsys):
    (tmp_path / "run").write_text(RUN + "1 Q0 a 1 9 other\n", encoding="utf-8")
    (tmp_path / "qrels").write_text("8 0 a 1\n", encoding="utf-8")
    assert main(["trec", str(tmp_path / "run"), str(tmp_path / "qrels")]) == 1
    assert "The run must hold one system; got 2: me, other." in capsys.readouterr().err
    (tmp_path / "run").write_text(RUN, encoding="utf-8")
    assert main(["trec", str(tmp_path / "run"), str(tmp_path / "qrels")]) == 1
    assert "no topic in common" in capsys.readouterr().err
