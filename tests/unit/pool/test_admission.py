"""Admission reads each file once and finds what plain joins over all systems find."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

from karat.math.pooled.overlap import SUMS
from karat.pool.admission import write_units
from karat.pool.tables import FOLD, Batch, connect, files, inclusion_sql

N_KEYS = 3000
JUDGE = 4
BATCHES = [
    Batch(systems=(1,), known=(300.0,), new=(500.0,)),
    Batch(systems=(2, 3), known=(200.0, 900.0), new=(400.0, 100.0)),
    Batch(systems=(2, 3), known=(250.0, 100.0), new=(300.0, 800.0)),
]


@pytest.fixture
def admitted(tmp_path):
    """Three systems and a judge, admitted one after the other, then a fifth system; gives their folders."""
    rng = np.random.default_rng(5)
    folders = {}
    with connect(tmp_path) as connection:
        for system in (1, 2, 3, JUDGE, 5):
            folder = folders[system] = tmp_path / str(system)
            folder.mkdir()
            keys = rng.choice(N_KEYS, 1200, replace=False).astype(np.uint64) * np.uint64(6_000_000_000_000_001)
            rows = np.r_[keys, keys[:300]]  # some units have two instances
            pl.DataFrame(
                {
                    "key": rows,
                    "id": [f"i{n}" for n in range(1500)],
                    "mass": rng.random(1500) / 750,
                    "score": rng.random(1500),
                }
            ).write_parquet(folder / "instances.parquet")
            before = [number for number in folders if number != system]
            write_units(
                connection,
                folder,
                system=system,
                earlier=[(n, folders[n] / "units.parquet") for n in before if n != JUDGE],
                judges=[(n, folders[n] / "units.parquet") for n in before if n == JUDGE],
                asked=[],
                batches=BATCHES if system == 5 else [],
            )
    return folders


def units_of(folders, *systems):
    return files([folders[number] / "units.parquet" for number in systems])


def test_units_and_novelty(admitted):
    expected = duckdb.sql(
        f"""SELECT 5::INTEGER AS system, key, sum(mass) AS mass, max(score) AS score,
            key NOT IN (SELECT key FROM {units_of(admitted, 1, 2, 3)}) AS novel
        FROM {files([admitted[5] / "instances.parquet"])} GROUP BY key ORDER BY key"""
    ).pl()
    found = pl.read_parquet(admitted[5] / "units.parquet")
    assert found["novel"].sum() not in (0, len(found))
    assert found.equals(expected.with_columns(mass=found["mass"]))
    np.testing.assert_allclose(found["mass"], expected["mass"], rtol=1e-14)


def test_overlap_is_that_of_a_join(admitted):
    terms = dict(
        zip(
            SUMS,
            ("1", "n.mass", "o.mass", "n.mass * o.score", "o.mass * n.score", "n.score", "o.score", "n.mass * o.mass",
             "n.score * n.score", "n.novel::INT", "CASE WHEN n.novel THEN o.score ELSE 0 END"),
            strict=True,
        )
    )  # fmt: skip
    sums = ", ".join(f"sum({term})::DOUBLE AS {name}" for name, term in terms.items())
    expected = duckdb.sql(
        f"""SELECT o.system AS other, {FOLD.replace("key", "n.key")} AS fold, {sums}
        FROM {units_of(admitted, 1, 2, 3, JUDGE, 5)} o JOIN {units_of(admitted, 5)} n USING (key)
        GROUP BY ALL ORDER BY other, fold"""
    ).pl()
    found = pl.read_parquet(admitted[5] / "overlap.parquet")
    assert found["system"].unique().to_list() == [5]
    for name in expected.columns:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, err_msg=name)


def test_what_was_bought_before_is_the_largest_of_all_draws(admitted):
    expected = duckdb.sql(
        f"""SELECT key, coalesce(inclusion, 0) AS bought FROM {units_of(admitted, 5)}
        LEFT JOIN ({inclusion_sql(BATCHES, units_of(admitted, 1, 2, 3))}) USING (key) ORDER BY key"""
    ).pl()
    found = pl.read_parquet(admitted[5] / "bought.parquet")
    np.testing.assert_array_equal(found["key"], expected["key"])
    np.testing.assert_allclose(found["bought"], expected["bought"], rtol=1e-14)
    assert (found["bought"] == 0).any()
    assert (found["bought"] == 1).any()
    only_first = duckdb.sql(f"SELECT * FROM ({inclusion_sql(BATCHES[:1], units_of(admitted, 1, 2, 3))})").pl()
    assert not np.allclose(found["bought"].sum(), only_first["inclusion"].sum(), rtol=0.01)
