"""A bad resource: every defect is named by its line, whatever the kind, and the first one is still what is said."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import karat
from karat.cli.main import main
from karat.errors import InvalidData


def bad_table(path, n_rows, *, seed=0):
    """Write a table with defects of every kind at random lines; return those lines by kind."""
    rng = np.random.default_rng(seed)
    lines = [b"%d,%.6f,text %d" % (number, 1 - number / n_rows, number) for number in range(n_rows)]
    kinds = ["nan", "infinite", "missing", "double id", "encoding", "cells"]
    chosen = rng.permutation(np.arange(1, n_rows))[: 6 * (n_rows // 100)].reshape(6, -1)
    for kind, rows in zip(kinds, chosen, strict=True):
        for row in rows.tolist():
            lines[row] = {
                "nan": b"%d,NaN,x" % row,
                "infinite": b"%d,inf,x" % row,
                "missing": b"%d,,x" % row,
                "double id": b"0,0.5,x",
                "encoding": b"%d,0.5,\xff" % row,
                "cells": b"%d,0.5" % row,
            }[kind]
    path.write_bytes(b"id,score,text\n" + b"\n".join(lines) + b"\n")
    return {kind: sorted((rows + 2).tolist()) for kind, rows in zip(kinds, chosen, strict=True)}


@pytest.mark.parametrize("n_rows", [2000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_every_defect_is_named_by_its_line(tmp_path, n_rows, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made = bad_table(tmp_path / "bad.csv", n_rows)
    assert main(["init", "bad.csv", "--score", "score", "--id", "id", "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)["defects"]
    assert sorted(defect["line"] for defect in found) == sorted(line for lines in made.values() for line in lines)
    words = {"nan": "got 'NaN'", "infinite": "got 'inf'", "missing": "got nothing", "double id": "got '0', which",
             "encoding": "the byte 0xff", "cells": "expected 3 cells"}  # fmt: skip
    for kind, word in words.items():
        assert [defect["line"] for defect in found if word in defect["message"]] == made[kind]
    assert f"({len(found):,} defects in all; --json lists every one)" in err
    assert not (tmp_path / "karat.db").exists()


def test_other_kinds_of_files(tmp_path):
    lines = [
        '{"id": 1, "score": 0.5}',
        '{"id": 1, "score": "x"}',
        '{"id": null, "score": 0.1}',
        '{"id": 3, "score": 1}',
    ]
    (tmp_path / "bad.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidData) as caught:
        karat.open(tmp_path / "bad.jsonl", score="score", id="id")
    assert [defect.line for defect in caught.value.defects] == [2, 2, 3]
    pd.DataFrame({"id": [1, 2, 2], "score": [0.1, None, float("inf")]}).to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(InvalidData) as caught:
        karat.open(tmp_path / "bad.parquet", score="score", id="id")
    assert [defect.line for defect in caught.value.defects] == [2, 3, 3]


def test_one_defect_is_said_as_before(tmp_path):
    (tmp_path / "bad.csv").write_text("id,score\na,1\nb,x\n")
    with pytest.raises(InvalidData, match=r"row 2, column 'score': expected a finite number; got 'x'\.$") as caught:
        karat.open(tmp_path / "bad.csv", score="score", id="id")
    assert [defect.line for defect in caught.value.defects] == [3]
    with pytest.raises(InvalidData, match="No file matches"):
        karat.open(tmp_path / "none.csv", score="score")
