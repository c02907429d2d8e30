"""Tables in files: every format gives the same rows; every defect is named by file, row and column."""

from __future__ import annotations

import gzip
import json

import builders
import numpy as np
import pandas as pd
import pytest

import karat
from karat.errors import InvalidData
from karat.formats.tables import FileTable, find_duplicates, find_files

N = 60
ROWS = {
    "fact": [f"fact é, {n}" if n % 7 else f'say "{n}"' for n in range(N)],
    "score": [round(1 / (1 + n % 13), 3) for n in range(N)],
    "text": [f"line {n}; tab\there" for n in range(N)],
}


def write(path, rows=ROWS):
    """Write the rows in the format that the name says."""
    frame = pd.DataFrame(rows)
    name = path.name
    if ".parquet" in name:
        frame.to_parquet(path)
    elif ".jsonl" in name or ".ndjson" in name:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in frame.to_dict("records"))
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    else:
        delimiter = "\t" if ".tsv" in name else (";" if "semicolon" in name else ",")
        frame.to_csv(path, sep=delimiter, index=False)
    return path


FORMATS = ("a.csv", "a.tsv", "semicolon.csv", "a.txt", "a.jsonl", "a.ndjson", "a.parquet", "a.pq.parquet", "a.csv.gz",
           "a.jsonl.gz", "A.CSV")  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_table(tmp_path, name):
    table = FileTable(write(tmp_path / name))
    assert table.columns == ["fact", "score", "text"]
    assert table.n_rows == N
    np.testing.assert_array_equal(table.numbers("score"), ROWS["score"])
    assert table.texts("fact") == ROWS["fact"]
    wanted = np.array([59, 0, 17, 17])
    assert [row["text"] for row in table.rows(wanted)] == [ROWS["text"][n] for n in wanted]
    assert [list(row) for row in table.rows(wanted[:1], ["text", "fact"])] == [["text", "fact"]]


def frames():
    import polars as pl
    import pyarrow as pa

    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy polars": pl.LazyFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy polars", "pyarrow"])
@pytest.mark.parametrize("id_column", ["fact", "number", None])
def test_files_and_frames_give_the_same_ranking_to_the_item(tmp_path, kind, id_column):
    rows = {**ROWS, "number": [n * 37 % 101 for n in range(N)]}
    ranks = np.arange(1, N + 1)
    oracle = karat.open(write(tmp_path / "a.csv", rows), score="score", id=id_column, seed=5)
    engine = karat.open(frames()[kind](rows), score="score", id=id_column, seed=5)
    assert engine.ids_at(ranks) == oracle.ids_at(ranks)
    got, wanted = engine.items_at(ranks), oracle.items_at(ranks)
    np.testing.assert_array_equal(got.scores, wanted.scores)
    assert [row["text"] for row in got.payload] == [row["text"] for row in wanted.payload]
    for name in FORMATS:
        other = karat.open(write(tmp_path / name, rows), score="score", id=id_column, seed=5)
        assert other.ids_at(ranks) == oracle.ids_at(ranks)
    assert engine.describe()["fingerprint"] == oracle.describe()["fingerprint"]


@pytest.mark.parametrize("ids", [[str(n) for n in range(1, 51)], [f"{n:03d}" for n in range(1, 51)]], ids=["1", "001"])
def test_text_ids_made_of_digits_rank_alike_in_files_and_frames(tmp_path, ids):
    """The same table, as a Parquet file and read into memory first: ties must fall alike."""
    import polars as pl

    frame = pl.DataFrame({"id": ids, "score": [0.5] * 50})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    ranks = np.arange(1, 51)
    in_memory = [str(id_) for id_ in karat.open(frame, score="score", id="id").ids_at(ranks)]
    for name in ("a.parquet", "a.csv"):
        in_file = [str(id_) for id_ in karat.open(tmp_path / name, score="score", id="id").ids_at(ranks)]
        assert in_file == in_memory, name


def test_many_files_are_one_table(tmp_path):
    parts = [slice(0, 20), slice(20, 21), slice(21, 60)]
    for number, part in enumerate(parts):
        write(tmp_path / f"part{number}.csv", {key: values[part] for key, values in ROWS.items()})
    whole = FileTable(write(tmp_path / "whole.parquet"))
    for source in (
        str(tmp_path / "part*.csv"),
        [tmp_path / f"part{number}.csv" for number in range(3)],
        [str(tmp_path / "part0.csv"), str(tmp_path / "part[12].csv")],
    ):
        table = FileTable(source)
        assert table.n_rows == N
        assert table.texts("fact") == whole.texts("fact")
        np.testing.assert_array_equal(table.numbers("score"), whole.numbers("score"))
        positions = np.array([0, 19, 20, 21, 59])
        assert table.rows(positions, ["fact"]) == whole.rows(positions, ["fact"])


def test_a_folder_is_all_its_tables(tmp_path):
    write(tmp_path / "b.csv", {"score": [3, 4]})
    write(tmp_path / "a.csv", {"score": [1, 2]})
    (tmp_path / "notes.md").write_text("not a table")
    assert FileTable(tmp_path).numbers("score").tolist() == [1, 2, 3, 4]


def test_many_row_groups_keep_their_order(tmp_path):
    n_rows = 300_000
    frame = pd.DataFrame({"n": np.arange(n_rows), "score": np.arange(n_rows) * 0.5})
    frame.to_parquet(tmp_path / "big.parquet", row_group_size=10_000)
    table = FileTable(tmp_path / "big.parquet")
    np.testing.assert_array_equal(table.numbers("score"), frame["score"])
    wanted = np.random.default_rng(0).integers(0, n_rows, 200)
    assert [row["n"] for row in table.rows(wanted, ["n"])] == wanted.tolist()


# --- the order of items


def test_shuffled_rows_rank_alike():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"id": [f"item {n}" for n in range(500)], "score": rng.integers(0, 4, 500) / 4})
    ranks = np.arange(1, 501)
    for seed in (0, 1):
        wanted = karat.open(frame, score="score", id="id", seed=seed).ids_at(ranks)
        for _ in range(3):
            shuffled = frame.sample(frac=1, random_state=rng.integers(2**31)).reset_index(drop=True)
            assert karat.open(shuffled, score="score", id="id", seed=seed).ids_at(ranks) == wanted
    other = karat.open(frame, score="score", id="id", seed=2).ids_at(ranks)
    assert other != wanted
    assert sorted(other) == sorted(wanted)


@pytest.mark.parametrize("whole", [True, False])
def test_ties_have_nothing_to_do_with_the_order_of_ids(whole):
    """In one tied group the rank of an item is uncorrelated with its number."""
    n_items = 4000
    ids = np.arange(1, n_items + 1)
    frame = pd.DataFrame({"id": ids if whole else [f"k{n}" for n in ids], "score": 1.0})
    for seed in range(5):
        order = karat.open(frame, score="score", id="id", seed=seed).ids_at(ids)
        numbers = [int(str(id_).lstrip("k")) for id_ in order]
        assert abs(np.corrcoef(ids, numbers)[0, 1]) < 4 / np.sqrt(n_items)


def test_lower_is_better_turns_the_ranking_round():
    frame = pd.DataFrame({"id": list("abcd"), "score": [3.0, 1.0, 4.0, 2.0]})
    ranks = np.arange(1, 5)
    assert karat.open(frame, score="score", id="id").ids_at(ranks) == ["c", "a", "d", "b"]
    assert karat.open(frame, score="score", id="id", higher_is_better=False).ids_at(ranks) == ["b", "d", "a", "c"]


def test_row_numbers_are_ids_from_1():
    engine = karat.open(pd.DataFrame({"score": [1.0, 3.0, 2.0]}), score="score")
    assert engine.ids_at(np.array([1, 2, 3])) == [2, 3, 1]


def test_negative_and_large_whole_ids_are_kept():
    ids = [-5, 0, 2**62, 7]
    frame = pd.DataFrame({"id": ids, "score": [4.0, 3.0, 2.0, 1.0]})
    assert karat.open(frame, score="score", id="id").ids_at(np.arange(1, 5)) == ids


def test_ids_beyond_64_signed_bits():
    frame = pd.DataFrame({"id": np.array([2**63 + 5, 1], dtype=np.uint64), "score": [2.0, 1.0]})
    found = karat.open(frame, score="score", id="id").ids_at(np.array([1, 2]))
    assert [str(id_) for id_ in found] == [str(2**63 + 5), "1"]


def test_equal_hashes_fall_in_the_order_of_their_texts(monkeypatch):
    """Two texts with one number are possible; then the text itself decides."""
    from karat.formats import frames as module

    monkeypatch.setattr(module, "number_text", lambda _text: 7)
    frame = pd.DataFrame({"id": ["b", "c", "a"], "score": [1.0, 1.0, 1.0]})
    assert karat.open(frame, score="score", id="id").ids_at(np.arange(1, 4)) == ["a", "b", "c"]


# --- defects


@pytest.mark.parametrize(
    ("cell", "got"),
    [("", "nothing"), ("nan", "'nan'"), ("inf", "'inf'"), ("-Infinity", "'-Infinity'"), ("high", "'high'")],
)
@pytest.mark.parametrize("name", ["bad.csv", "bad.tsv"])
def test_bad_scores_in_text_files(tmp_path, name, cell, got):
    path = tmp_path / name
    builders.write_table(path, {"id": ["a", "b", "c"], "score": ["0.5", cell, "0.2"]},
                         delimiter="\t" if name.endswith("tsv") else ",")  # fmt: skip
    with pytest.raises(InvalidData) as caught:
        FileTable(path).numbers("score")
    assert str(caught.value) == f"{path}, row 2, column 'score': expected a finite number; got {got}."


def test_bad_scores_in_json_and_parquet(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"score": 0.5}\n{"score": "high"}\n{"other": 1}\n')
    with pytest.raises(
        InvalidData, match=r"bad\.jsonl, row 2, column 'score': expected a finite number; got .*high.*2 such"
    ):
        FileTable(path).numbers("score")
    path = tmp_path / "bad.parquet"
    pd.DataFrame({"score": [1.0, np.inf, np.nan]}).to_parquet(path)
    with pytest.raises(InvalidData, match=r"bad\.parquet, row 2, column 'score': .* got inf \(2 such rows in all\)"):
        FileTable(path).numbers("score")


def test_the_file_of_a_defect_is_named_among_many(tmp_path):
    write(tmp_path / "one.csv", {"id": ["a", "b", "c"], "score": [1, 2, 3]})
    write(tmp_path / "two.csv", {"id": ["d", "e"], "score": ["4", "x"]})
    with pytest.raises(InvalidData, match=r"two\.csv, row 2, column 'score'"):
        FileTable(str(tmp_path / "*.csv")).numbers("score")
    write(tmp_path / "two.csv", {"id": ["d", None], "score": [4, 5]})
    with pytest.raises(InvalidData, match=r"two\.csv, row 2, column 'id': expected an id; got nothing"):
        FileTable(str(tmp_path / "*.csv")).id_numbers("id")


def test_duplicate_ids_name_both_rows(tmp_path):
    path = write(tmp_path / "dup.csv", {"id": ["a", "b", "a"], "score": [1, 2, 3]})
    with pytest.raises(InvalidData) as caught:
        karat.open(path, score="score", id="id")
    assert str(caught.value) == (f"{path}, row 3, column 'id': expected ids that differ; got 'a', which row 1 has too.")


def test_duplicate_ids_in_the_second_of_two_files_name_their_own_rows(tmp_path):
    write(tmp_path / "one.csv", {"id": ["a", "b", "c"], "score": [1, 2, 3]})
    write(tmp_path / "two.csv", {"id": ["d", "e", "d"], "score": [4, 5, 6]})
    with pytest.raises(InvalidData, match=r"two\.csv, row 3, column 'id': .* got 'd', which .*row 1 .*has too"):
        karat.open(str(tmp_path / "*.csv"), score="score", id="id")


def test_duplicate_ids_across_files_name_the_other_file(tmp_path):
    write(tmp_path / "one.csv", {"id": ["a", "b", "c"], "score": [1, 2, 3]})
    write(tmp_path / "two.csv", {"id": ["d", "b"], "score": [4, 5]})
    with pytest.raises(
        InvalidData, match=r"two\.csv, row 2, column 'id': .* got 'b', which .*row 2 .*has too"
    ) as caught:
        karat.open(str(tmp_path / "*.csv"), score="score", id="id")
    assert "one.csv" in str(caught.value)


def test_duplicates_are_found_by_position():
    assert list(find_duplicates(np.array([5, 7, 5, 9, 7]))) == [(0, 2), (1, 4)]


def test_an_unknown_column_lists_those_that_exist(tmp_path):
    path = write(tmp_path / "a.csv")
    with pytest.raises(InvalidData) as caught:
        karat.open(path, score="confidence")
    assert str(caught.value) == f"{path} has no column 'confidence'; it has 'fact', 'score', 'text'."
    with pytest.raises(InvalidData, match="has no column 'key'"):
        karat.open(path, score="score", id="key")


def test_a_column_missing_in_one_of_many_files(tmp_path):
    write(tmp_path / "one.csv", {"id": ["a"], "score": [1]})
    write(tmp_path / "two.csv", {"id": ["b"], "points": [1]})
    with pytest.raises(InvalidData, match=r"two\.csv has no column 'score'; it has 'id', 'points'"):
        karat.open(str(tmp_path / "*.csv"), score="score")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", b""), ("a.csv", b"\n"), ("a.csv", b"id,score\n"), ("a.csv", b"id,score"), ("a.jsonl", b""),
     ("a.jsonl", b"\n \n"), ("a.tsv", b"id\tscore\n")],
)  # fmt: skip
def test_empty_files(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidData, match="is empty"):
        karat.open(path, score="score")


def test_an_empty_parquet_file(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"score": pd.Series([], dtype=float)}).to_parquet(path)
    with pytest.raises(InvalidData, match="is empty"):
        karat.open(path, score="score")


@pytest.mark.parametrize(("line", "content"), [
    (1, b"id,sc\xe9re\na,1\n"),
    (3, b"id,score\na,1\n\xff\xfe,2\n"),
])  # fmt: skip
def test_bad_encoding_names_the_line(tmp_path, line, content):
    path = tmp_path / "latin.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidData, match=rf"latin\.csv, line {line}: expected UTF-8 text; got the byte 0x"):
        karat.open(path, score="score", id="id")


def test_bad_encoding_in_json(tmp_path):
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"id": "a", "score": 1}\n{"id": "\xe9", "score": 2}\n')
    with pytest.raises(InvalidData, match=r"latin\.jsonl, line 2: expected UTF-8 text"):
        karat.open(path, score="score", id="id")


@pytest.mark.parametrize("row", ["c,3,4", "c"])
def test_a_ragged_row_names_its_line(tmp_path, row):
    path = tmp_path / "ragged.csv"
    path.write_text(f"id,score\na,1\nb,2\n{row}\nd,4\n")
    with pytest.raises(InvalidData, match=r"ragged\.csv, line 4: Expected Number of Columns: 2 Found: [13]"):
        karat.open(path, score="score", id="id")


def test_an_open_quote_is_named(tmp_path):
    path = tmp_path / "quote.csv"
    path.write_text('id,score\na,1\n"b,2\nc,3\n')
    with pytest.raises(InvalidData, match=r"quote\.csv"):
        karat.open(path, score="score", id="id")


def test_a_malformed_json_line_is_named(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"score": 1}\n{"score": 2\n{"score": 3}\n')
    with pytest.raises(InvalidData, match=r"bad\.jsonl, line 2: expected a JSON object; .* at \d+"):
        karat.open(path, score="score")


def test_a_column_twice_in_the_header(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("score,score\n1,2\n")
    with pytest.raises(InvalidData, match="has the column 'score' twice"):
        karat.open(path, score="score")


def test_files_that_are_not_there_or_of_no_known_kind(tmp_path):
    with pytest.raises(InvalidData, match=r"No file matches '.*none\.csv'"):
        karat.open(tmp_path / "none.csv", score="score")
    with pytest.raises(InvalidData, match="No file was given"):
        karat.open([], score="score")
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(InvalidData, match=r"a\.xlsx is of no known kind; its name must end in \.csv"):
        karat.open(tmp_path / "a.xlsx", score="score")
    (tmp_path / "a.parquet").write_bytes(b"not parquet")
    with pytest.raises(InvalidData, match=r"a\.parquet"):
        karat.open(tmp_path / "a.parquet", score="score")


def test_globs_are_sorted_and_literal_names_win(tmp_path):
    for name in ("b.csv", "a.csv", "[x].csv"):
        (tmp_path / name).write_text("score\n1\n")
    assert [path.name for path in find_files(str(tmp_path / "?.csv"))] == ["a.csv", "b.csv"]
    assert [path.name for path in find_files(str(tmp_path / "[x].csv"))] == ["[x].csv"]


def test_crlf_byte_order_mark_and_quotes(tmp_path):
    path = tmp_path / "windows.csv"
    path.write_bytes(b'\xef\xbb\xbfid,"my score",note\r\n"a, b",1,"he said ""hi"""\r\nc,2,"two\r\nlines"\r\n')
    engine = karat.open(path, score="my score", id="id")
    assert engine.ids_at(np.array([1, 2])) == ["c", "a, b"]
    assert engine.items_at(np.array([2])).payload == [{"note": 'he said "hi"'}]


@pytest.mark.parametrize("column", ["row_number", "wanted", "value", "select", "a'b", 'a"b', "ü, ö"])
def test_any_name_of_a_column(tmp_path, column):
    """Names that the reading itself uses, and names that need quoting."""
    path = write(tmp_path / "a.csv", {column: ["x", "y"], "score": [1, 2]})
    engine = karat.open(path, score="score", id=column)
    assert engine.ids_at(np.array([1, 2])) == ["y", "x"]
    payload = karat.open(path, score="score").items_at(np.array([1])).payload
    assert payload == [{column: "y"}]


def test_a_path_with_quotes_and_spaces(tmp_path):
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    assert FileTable(write(folder / "my file.csv")).n_rows == N


# --- frames


def test_defects_of_frames():
    with pytest.raises(InvalidData, match=r"The table, row 2, column 'score': expected a finite number; got nothing"):
        karat.open(pd.DataFrame({"score": [1.0, None]}), score="score")
    with pytest.raises(InvalidData, match=r"row 2, column 'score': expected a finite number; got inf"):
        karat.open(pd.DataFrame({"score": [1.0, np.inf]}), score="score")
    with pytest.raises(InvalidData, match="column 'score' must be numeric"):
        karat.open(pd.DataFrame({"score": ["a", "b"]}), score="score")
    with pytest.raises(
        InvalidData, match=r"row 3, column 'id': expected ids that differ; got 'a', which row 1 has too"
    ):
        karat.open(pd.DataFrame({"id": ["a", "b", "a"], "score": [1, 2, 3]}), score="score", id="id")
    with pytest.raises(InvalidData, match=r"row 2, column 'id': expected an id; got nothing"):
        karat.open(pd.DataFrame({"id": ["a", None], "score": [1, 2]}), score="score", id="id")
    with pytest.raises(InvalidData, match="The table is empty"):
        karat.open(pd.DataFrame({"score": []}), score="score")
    with pytest.raises(InvalidData, match="The table has no column 'x'; it has 'score'"):
        karat.open(pd.DataFrame({"score": [1]}), score="x")
    for wrong in (5, None, {"score": [1]}, [1, 2], np.ones(3)):
        with pytest.raises(InvalidData, match="A resource must be a path"):
            karat.open(wrong, score="score")


def test_payload_of_any_type_survives():
    frame = pd.DataFrame({"score": [1.0, 2.0], "vector": [np.arange(3), np.arange(2)], "tags": [["a"], None]})
    payload = karat.open(frame, score="score").items_at(np.array([1, 2])).payload
    assert [list(row["vector"]) for row in payload] == [[0, 1], [0, 1, 2]]
    assert payload[0]["tags"] is None
