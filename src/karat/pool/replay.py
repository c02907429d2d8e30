"""Replay and bias studies from files: one table of predictions of many systems, one of labels."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat import _check, _sql
from karat.errors import InvalidData
from karat.math.agreement.votes import UNSURE
from karat.math.pooled.arrivals import simulate_arrivals
from karat.math.pooled.bias import half_pool_bias, leave_out_bias, merge_instances
from karat.math.pooled.simulate import simulate
from karat.pool.read import joined, load_labels
from karat.pool.source import open_source
from karat.pool.tables import workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_ORDERS = 40  # of arrival, to replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Systems over items with every label known; items that no system predicts count for recall."""

    systems: tuple[str, ...]
    teams: tuple[str, ...]
    law: NDArray[np.float64]
    labels: NDArray[np.int8]
    scores: NDArray[np.float64]
    relations: NDArray[np.object_]

    @property
    def predicted(self) -> NDArray[np.bool_]:
        """Which system predicts which item."""
        held: NDArray[np.bool_] = self.law > 0
        return held


def load_study(predictions: str | Path, labels: str | Path, *, relation: Sequence[str] = ()) -> Study:
    """Load a table ``system, id`` (with ``score`` and ``team`` if there are any) and the labels of all its ids.

    Scores become ranks within their system; ``relation`` names columns of the predictions that make up the relation.
    """
    with tempfile.TemporaryDirectory() as scratch, workspace(Path(scratch)) as (connection, work):
        read = load_labels(connection, Path(labels), work=work)
        truth = read.labels
        if unsure := next((item for item, label in truth.items() if label == UNSURE), None):
            raise read.source.refuse(read.lines[unsure], f"id '{unsure}' is unsure; a replay needs every label.")
        source = open_source(connection, Path(predictions))
        source.need(["system", "id", *relation])
        columns = [name if name in source.columns else f"NULL AS {name}" for name in ("score", "team")]
        columns += [_sql.name(name) for name in relation if name not in {"id", "system", "score", "team"}]
        parts = joined(relation) if relation else "CAST(id AS VARCHAR)"
        rows = connection.execute(
            f"""SELECT CAST(system AS VARCHAR) AS system, CAST(id AS VARCHAR) AS id, line, team, {parts} AS relation,
                CASE WHEN number IS NULL THEN 0.0 ELSE rank() OVER (PARTITION BY system ORDER BY number)
                     / count(*) OVER (PARTITION BY system) END AS score
            FROM (SELECT *, TRY_CAST(score AS DOUBLE) AS number FROM (SELECT line, system, id, {", ".join(columns)}
                  FROM {source.sql})) ORDER BY line"""
        ).fetchall()
    place = {item: k for k, item in enumerate(truth)}
    names: dict[str, int] = {}
    teams: dict[str, str] = {}
    relations = np.array(list(truth), dtype=object)
    seen: set[tuple[str, str]] = set()
    for system, item, line, team, key, _ in rows:
        if system is None or item is None:
            raise source.refuse(line, "the system or the id is empty.")
        if item not in place:
            raise source.refuse(line, f"id '{item}' has no label.")
        if (system, item) in seen:
            raise source.refuse(line, f"system '{system}' predicts id '{item}' twice.")
        seen.add((system, item))
        names.setdefault(system, len(names))
        teams.setdefault(system, str(team) if team is not None else system)
        relations[place[item]] = key
    if not rows:
        raise InvalidData(f"{Path(predictions).name}: it has no predictions.")
    law, scores = np.zeros((2, len(names), len(truth)))
    for system, item, _, _, _, score in rows:
        law[names[system], place[item]] = 1.0
        scores[names[system], place[item]] = score
    return Study(
        systems=tuple(names),
        teams=tuple(teams[name] for name in names),
        law=law / law.sum(axis=1, keepdims=True),
        labels=np.array(list(truth.values()), dtype=np.int8),
        scores=scores,
        relations=relations,
    )


def simulate_study(
    study: Study,
    *,
    n_draws: int = 150,
    n_truth: int = 150,
    n_trials: int = 300,
    worth: int | None = None,
    estimators: tuple[str, ...] = ("simple", "joint", "default"),
    seed: int = 0,
) -> dict[str, Any]:
    """Measure labels, bias, width and coverage of each estimator; see `karat.math.pooled.simulate.simulate`.

    With ``worth``, systems also arrive one by one with the variance of that many labels each as target: the key
    ``arrivals`` then compares the paper's adaptive rule with ours in up to 40 orders of arrival, see
    `karat.math.pooled.arrivals.simulate_arrivals`.
    """
    rng = np.random.default_rng(_check.whole("seed", seed))
    result = simulate(
        study.law,
        study.labels,
        scores=study.scores,
        n_draws=n_draws,
        n_truth=n_truth,
        n_trials=n_trials,
        estimators=estimators,
        rng=rng,
    )
    result["systems"] = list(study.systems)
    if worth is not None:
        orders = max(2, min(MOST_ORDERS, n_trials))
        result["arrivals"] = simulate_arrivals(
            study.law, study.labels, scores=study.scores, worth=worth, n_trials=orders, rng=rng
        )
    return result


def bias_study(study: Study, *, n_trials: int = 500, seed: int = 0) -> dict[str, Any]:
    """Measure the pooling bias: systems left out, teams left out, pools of half the teams; also ignoring provenance.

    Each part has the median and largest bias of precision, recall and F1, and under ``systems`` every system's.
    """
    rng = np.random.default_rng(_check.whole("seed", seed))
    has_teams = 1 < len(set(study.teams)) < len(study.systems)
    halves = study.teams if len(set(study.teams)) > 1 else study.systems
    merged = merge_instances(study.predicted, study.labels, relations=study.relations)
    parts: dict[str, Any] = {"systems": list(study.systems)}
    studies = {"leave_one_out": leave_out_bias(study.predicted, study.labels, relations=study.relations)}
    studies["leave_one_out_anydoc"] = leave_out_bias(*merged)
    if has_teams:
        studies["leave_team_out"] = leave_out_bias(
            study.predicted, study.labels, teams=study.teams, relations=study.relations
        )
        studies["leave_team_out_anydoc"] = leave_out_bias(*merged, teams=study.teams)
    if len(set(halves)) > 1:
        studies["half_of_the_teams"] = half_pool_bias(
            study.predicted, study.labels, teams=halves, relations=study.relations, n_trials=n_trials, rng=rng
        )
    for name, found in studies.items():
        metrics = ("precision", "recall", "f1")
        by_system = {metric: row.tolist() for metric, row in zip(metrics, found.bias, strict=True)}
        parts[name] = {**found.to_dict(), "by_system": by_system}
    return parts
