"""The law of a submission: how much each of its predictions counts towards precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from karat.errors import InvalidInput
from karat.math.pooled.laws import entity_law, macro_law, own_law, uniform_law

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from karat.pool.source import Source

Law = Literal["uniform", "predicate", "subject", "entity", "own"]
LAWS: dict[str, tuple[str, ...]] = {
    "uniform": (),
    "predicate": ("predicate",),
    "subject": ("subject",),
    "entity": ("subject", "predicate"),
    "own": ("probability",),
}


def law_of(connection: duckdb.DuckDBPyConnection, source: Source, law: str) -> NDArray[np.float64]:
    """Mass of each prediction in line order."""
    if law == "own":
        bad = connection.execute(
            "SELECT line, probability FROM (SELECT line, probability, TRY_CAST(probability AS DOUBLE) AS p FROM "
            "submission) WHERE p IS NULL OR NOT (p > 0 AND isfinite(p)) ORDER BY line LIMIT 1"
        ).fetchone()
        if bad:
            raise source.refuse(bad[0], f"probability '{bad[1]}' is not a positive number.")
        column = connection.execute(
            "SELECT CAST(probability AS DOUBLE) AS p FROM submission ORDER BY line"
        ).fetchnumpy()
        try:
            return own_law(np.asarray(column["p"]))
        except InvalidInput:
            raise source.refuse(None, f"the probabilities sum to {float(np.sum(column['p'])):g}, not 1.") from None
    columns = LAWS[law]
    for name in columns:
        bad = connection.execute(f'SELECT line FROM submission WHERE "{name}" IS NULL ORDER BY line LIMIT 1').fetchone()
        if bad:
            raise source.refuse(bad[0], f"the {name} is empty.")
    codes = ", ".join(f'md5_number_lower(CAST("{name}" AS VARCHAR)) AS {name}' for name in (*columns, "relation"))
    rows = connection.execute(f"SELECT {codes} FROM submission ORDER BY line").fetchnumpy()
    if law == "uniform":
        return uniform_law(len(rows["relation"]))
    if law == "entity":
        return entity_law(rows["subject"], rows["predicate"], relations=rows["relation"])
    return macro_law(rows[law])
