"""A table's size is known before it is read, and what is too large is refused with its place."""

from __future__ import annotations

import duckdb
import pytest

from karat.errors import InvalidData
from karat.formats.sizes import MOST_COLUMNS, refuse_oversize

GIVEN = {
    "rows.csv": (b"id\n" + b"a\n" * 11, "rows.csv: expected at most 10 rows; it has more."),
    "line.jsonl": (b"{}\n" + b"x" * 102, "line.jsonl, line 2: expected at most 100 bytes; it is longer."),
    "wide.tsv": (b"a\t" * 40, None),
    "good.csv": (b"id\n" + b"a\n" * 10, None),
    "edge.jsonl": (b"x" * 100 + b"\n", None),
    "no.parquet": (b"PAR1", "no.parquet cannot be read as Parquet"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_text(tmp_path, name):
    body, message = GIVEN[name]
    path = tmp_path / name
    path.write_bytes(body)
    if message is None:
        refuse_oversize(path, most_rows=10, most_bytes=100)
        return
    with pytest.raises(InvalidData) as refused:
        refuse_oversize(path, most_rows=10, most_bytes=100)
    assert message in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize(("query", "message"), [
    ("SELECT 'x' AS id FROM range(11)", "t.parquet: expected at most 10 rows; it has 11."),
    ("SELECT repeat('y', if(range = 3, 101, 1)) AS id FROM range(9)",
     "t.parquet, row 4: expected at most 100 bytes; got 101."),
    ("SELECT 'x' AS \"a\"\"b\", 7 AS id FROM range(10)", None),
])  # fmt: skip
def test_parquet(tmp_path, query, message):
    path = tmp_path / "t.parquet"
    duckdb.sql(query).write_parquet(str(path))
    if message is None:
        refuse_oversize(path, most_rows=10, most_bytes=100)
        return
    with pytest.raises(InvalidData) as refused:
        refuse_oversize(path, most_rows=10, most_bytes=100)
    assert str(refused.value) == message


def test_columns(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("a," * MOST_COLUMNS)
    with pytest.raises(InvalidData, match=r"^wide\.csv: expected at most 1,000 columns; it has 1,001\.$"):
        refuse_oversize(path, most_rows=10)
