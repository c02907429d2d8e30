"""Submissions in every format, and bad ones: refused with line and reason, the pool unchanged."""

import hashlib

import duckdb
import pytest

from karat.errors import InvalidData
from karat.pool import Pool
from karat.pool.source import open_source

GOOD = "id,score\na,0.9\nb,0.8\nc,0.7\n"


def fingerprint(folder):
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


@pytest.fixture
def pool(tmp_path):
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "ids.csv").write_text("id\n" + "\n".join("abcdefgh") + "\n")
    made = Pool.create(tmp_path / "pool", universe=tmp_path / "ids.csv")
    made.add("good", tmp_path / "good.csv")
    return made


BAD = {
    "twice.csv": (b"id,score\na,0.9\nb,0.8\na,0.1\n", "twice.csv, line 4: id 'a' appears twice, first on line 2"),
    "twice.jsonl": (b'{"id":"a"}\n{"id":"a"}\n', "twice.jsonl, line 2: id 'a' appears twice, first on line 1"),
    "alike.jsonl": (b'{"id":"a","ID":"b"}\n', "alike.jsonl: the keys 'ID' and 'id' differ only in case"),
    "late.jsonl": (
        b"".join(b'{"id":"x%d"}\n' % k for k in range(21_000)) + b'{"id":"a","score":0.9}\n',
        "late.jsonl, line 1: the score is empty, but other lines have one",
    ),
    "unknown.csv": (b"id,score\na,0.9\nzebra,0.8\n", "unknown.csv, line 3: id 'zebra' is not known to this pool"),
    "nocolumn.csv": (b"name,score\na,1\n", "nocolumn.csv: column 'id' is missing; it has name, score"),
    "empty.csv": (b"id,score\n", "empty.csv: it has no predictions"),
    "noid.csv": (b"id,score\na,1\n,2\n", "noid.csv, line 3: the id is empty"),
    "nan.csv": (b"id,score\na,1\nb,nan\n", "nan.csv, line 3: score 'nan' is not a finite number"),
    "inf.csv": (b"id,score\na,1\nb,inf\n", "inf.csv, line 3: score 'inf' is not a finite number"),
    "word.csv": (b"id,score\na,1\nb,high\n", "word.csv, line 3: score 'high' is not a finite number"),
    "hole.csv": (b"id,score\na,1\nb,\n", "hole.csv, line 3: the score is empty, but other lines have one"),
    "latin.csv": ("id\na\nb\xe9\n".encode("latin-1"), "line 3: expected UTF-8 text; got the byte 0xe9 after 'b'. If"),
    "utf16.csv": (GOOD.encode("utf-16"), "utf16.csv, line 1: expected UTF-8 text; got the byte 0xff. If it is UTF-16"),
    "wide.csv": (b"id,score\na,1\nb,2,3\n", "wide.csv, line 3: expected 2 cells as in the header; got 3."),
    "narrow.csv": (b"id,score\na,1\nb\n", "narrow.csv, line 3: expected 2 cells as in the header; got 1."),
    "double.csv": (b"id,id\na,1\n", "double.csv, line 1: column 'id' appears twice"),
    "nothing.csv": (b"", "nothing.csv, line 1: it is empty"),
    "quote.csv": (b'id,score\na,1\n"b,2\nc,3\n', "quote.csv, line 3: a quote is not closed"),
    "stuck.csv": (b"id;score\na;1\n", "column 'id' is missing; it has id;score. Cells must be separated by a comma."),
    "broken.jsonl": (b'{"id":"a"}\n{"id":\n{"id":"c"}\n', "broken.jsonl, line 2: expected a JSON object; Expect"),
    "end.jsonl": (b'{"id":"a"}\n{"id":', "end.jsonl, line 2: expected a JSON object; Expecting value at character 7"),
    "array.jsonl": (b'[{"id":"a"}]\n', "array.jsonl, line 1: expected a JSON object; got a list."),
    "number.jsonl": (b'{"id":"a"}\n5\n', "number.jsonl, line 2: expected a JSON object; got a number."),
    "short.run": (b"1 Q0 d1 1 0.9 me\n1 Q0 d2 2 0.8\n", "short.run, line 2: 6 fields expected, 5 found"),
    "what.xlsx": (b"PK", "what.xlsx: unknown ending; known are .csv"),
    "fake.parquet": (b"not parquet at all", "fake.parquet"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_submission_is_refused_and_the_pool_unchanged(tmp_path, pool, name):
    data, message = BAD[name]
    (tmp_path / name).write_bytes(data)
    before = fingerprint(pool.folder)
    with pytest.raises(InvalidData) as refusal:
        pool.add("bad", tmp_path / name)
    assert message in str(refusal.value)
    assert fingerprint(pool.folder) == before
    assert [system.name for system in Pool(pool.folder).systems] == ["good"]
    pool.add("next", tmp_path / "good.csv")  # and the pool still works


@pytest.mark.parametrize(
    ("law", "text", "message"),
    [
        ("own", "id,probability\na,0.5\nb,0.4\n", "the probabilities sum to 0.9, not 1"),
        ("own", "id,probability\na,1.5\nb,-0.5\n", "line 3: probability '-0.5' is not a positive number"),
        ("own", "id,probability\na,0.5\nb,half\n", "line 3: probability 'half' is not a positive number"),
        ("own", "id,score\na,0.5\n", "column 'probability' is missing"),
        ("predicate", "id,predicate\na,born\nb,\n", "line 3: the predicate is empty"),
        ("entity", "id,subject\na,ann\n", "column 'predicate' is missing"),
    ],
)
def test_laws_that_do_not_fit_are_refused(tmp_path, law, text, message):
    pool = Pool.create(tmp_path / "pool", law=law)
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(InvalidData) as refusal:
        pool.add("bad", tmp_path / "bad.csv")
    assert message in str(refusal.value)
    assert pool.systems == []


def test_every_format_reads_the_same(tmp_path):
    import pandas as pd

    table = pd.DataFrame({"id": [f"i{k}" for k in range(50)], "score": [k / 50 for k in range(50)]})
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    table.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    table.to_parquet(tmp_path / "a.parquet")
    asked = []
    for ending in ("csv", "tsv", "jsonl", "parquet"):
        pool = Pool.create(tmp_path / ending, seed=3)
        pool.add("a", tmp_path / f"a.{ending}")
        asked.append(pool.next())
        assert pool.systems[0].n_predictions == 50
    assert asked[0] == asked[1] == asked[2] == asked[3]


def test_what_comes_late_in_a_long_file_is_read(tmp_path):
    """Types are not taken from the first lines alone: a text may be null there."""
    file = tmp_path / "late.jsonl"
    lines = [f'{{"id":"x{k}","note":null,"id_1":{k}}}\n' for k in range(21_000)]
    file.write_text("".join(lines) + '{"id":"a","note":"2020-01-01","id_1":1}\n')
    with duckdb.connect() as connection:
        source = open_source(connection, file)
        assert source.columns == ("id", "note", "id_1")
        found = connection.execute(f"SELECT id, note FROM {source.sql} WHERE note IS NOT NULL").fetchall()
    assert found == [("a", "2020-01-01")]


def test_numbers_and_quoted_text_are_ids_too(tmp_path):
    (tmp_path / "a.csv").write_text('id,score\n007,1\n7,2\n"a, ""b""",3\n')
    pool = Pool.create(tmp_path / "pool")
    pool.add("a", tmp_path / "a.csv")
    assert set(pool.next()) == {"007", "7", 'a, "b"'}


def test_trec_runs_and_qrels(tmp_path):
    lines = [f"{topic} Q0 doc{rank} {rank} {1 / rank} me" for topic in (1, 2) for rank in range(1, 31)]
    (tmp_path / "me.run").write_text("\n".join(lines) + "\n")
    grades = [f"{topic} 0 doc{rank} {int(rank <= 6) + int(rank <= 3)}" for topic in (1, 2) for rank in range(1, 31)]
    (tmp_path / "all.qrels").write_text("\n".join(grades) + "\n")
    pool = Pool.create(tmp_path / "pool", law="subject", half_width=0.01)
    pool.add("me", tmp_path / "me.run", depth=10)
    assert pool.systems[0].n_predictions == 20
    assert set(pool.next()) <= {f"{topic} doc{rank}" for topic in (1, 2) for rank in range(1, 11)}
    assert pool.tell(tmp_path / "all.qrels", least_grade=1) == 60
    while pool.next():
        raise AssertionError("everything is labelled")
    assert pool.scores("precision").rows[0].precision.estimate == pytest.approx(0.6, abs=0.05)


def test_bad_labels_are_refused(tmp_path, pool):
    for text, message in (
        ("id,label\na,1\nb,2\n", "line 3: the label must be 0, 1 or unsure; got '2'"),
        ("id,label\na,1\na,0\n", "line 3: id 'a' is labelled twice, differently"),
        ("id,answer\na,1\n", "column 'label' is missing"),
    ):
        (tmp_path / "labels.csv").write_text(text)
        with pytest.raises(InvalidData, match=message):
            pool.tell(tmp_path / "labels.csv")
    assert pool.n_labels == 0


def test_a_file_of_labels_is_no_submission(tmp_path):
    (tmp_path / "labels.csv").write_text("id,label\na,1\n")
    pool = Pool.create(tmp_path / "pool")
    with pytest.raises(InvalidData, match=r"labels.csv: it has a column 'label' and no 'score'"):
        pool.add("a", tmp_path / "labels.csv")
