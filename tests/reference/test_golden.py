"""Numbers that were computed without karat (make_golden.py) or are printed in the papers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import karat
from karat.exact_curve import exact

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))

# N, epsilon, window, r~, l, g_l, m, L, factor, labels: every row of the table.
TABLE = [
    (217_076, 0.03, 100, 3400, 276, 3492, 103, 415, 1.0812, 17_392),
    (217_077, 0.03, 100, 3400, 276, 3492, 103, 415, 1.0812, 17_392),
    (35_615, 0.03, 100, 3400, 276, 3492, 103, 354, 1.0812, 11_292),
    (35_615, 0.05, 100, 2040, 157, 2122, 105, 214, 1.1230, 7_822),
    (10_000_000, 0.03, 100, 3400, 276, 3492, 103, 545, 1.0812, 30_392),
    (169_000_000, 0.03, 100, 3400, 276, 3492, 103, 640, 1.0812, 39_892),
    (2_000_000_000, 0.03, 100, 3400, 276, 3492, 103, 724, 1.0812, 48_292),
]
# epsilon, alpha, PAULA, log-stratified, uniform at N = 1e7, pmin = .5, window 100, 95%.
FIGURE_1 = [
    (0.01, 0.0402, 79_339, 166_757, 990_212),
    (0.03, 0.0812, 30_392, 62_365, 490_228),
    (0.05, 0.1230, 19_422, 32_262, 323_630),
    (0.10, 0.2322, 10_652, 11_024, 171_423),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_row_of_the_table(row, karat_cli):
    n_items, epsilon, window, r_tilde, first, g_l, m, last, factor, labels = row
    plan = karat_cli(
        "plan", "--items", n_items, "--method", "paula", "--epsilon", epsilon, "--window", window, "--json"
    ).json
    assert (plan["epsilon"], plan["window"]) == (epsilon, window)
    assert (plan["r_tilde"], plan["l"], plan["g_l"], plan["m"], plan["L"]) == (r_tilde, first, g_l, m, last)
    assert round(plan["factor"], 4) == factor
    assert plan["labels"] == labels


@pytest.mark.parametrize("row", FIGURE_1, ids=lambda row: str(row[0]))
def test_figure_1(row):
    epsilon, alpha, paula, stratified, uniform = row
    assert karat.Paula(epsilon=epsilon).plan(10_000_000)["labels"] == paula
    assert karat.Stratified(epsilon=epsilon, precision=0.5).plan(10_000_000)["labels"] == stratified
    factor = karat.Paula(epsilon=epsilon).plan(10_000_000)["factor"]
    assert round(factor - 1, 4) == alpha
    assert karat.Uniform(alpha=factor - 1, precision=0.5).plan(10_000_000)["labels"] == uniform


def test_the_papers_uniform_plan():
    assert karat.Uniform(alpha=0.08, precision=0.7).plan(217_077)["labels"] == pytest.approx(47_030, abs=1)


@pytest.mark.parametrize("wanted", GOLDEN["plans"], ids=lambda plan: str(plan["items"]))
def test_plans_from_exact_rationals(wanted):
    plan = karat.Paula(epsilon=wanted["epsilon"]).plan(wanted["items"])
    for key in ("labels", "r_tilde", "l", "g_l", "m", "L"):
        assert plan[key] == wanted[key]
    assert plan["gamma"] == pytest.approx(wanted["gamma"], rel=1e-14)


@pytest.mark.parametrize("wanted", GOLDEN["figure_1"], ids=lambda row: str(row["epsilon"]))
def test_figure_1_from_the_formulas(wanted):
    epsilon = wanted["epsilon"]
    assert karat.Stratified(epsilon=epsilon, precision=0.5).plan(10_000_000)["labels"] == round(wanted["stratified"])
    planned = karat.Uniform(alpha=wanted["alpha"], precision=0.5).plan(10_000_000)["labels"]
    assert planned == round(wanted["uniform"])
    assert karat.Paula(epsilon=epsilon).plan(10_000_000)["labels"] == wanted["paula"]


@pytest.mark.parametrize("number", range(len(GOLDEN["rankings"])))
def test_metrics_from_scikit_learn(number):
    wanted = GOLDEN["rankings"][number]
    curve = exact(wanted["labels"], wanted["scores"])
    assert curve.average_precision() == pytest.approx(wanted["average_precision"], abs=1e-12)
    assert curve.roc_auc() == pytest.approx(wanted["roc_auc"], abs=1e-12)
    assert curve.ndcg() == pytest.approx(wanted["ndcg"], abs=1e-12)
    assert curve.dcg(10) == pytest.approx(wanted["dcg_at_10"], abs=1e-12)


def test_the_committed_numbers_are_those_of_the_script():
    import runpy

    path = Path(__file__).parent / "make_golden.py"
    module = runpy.run_path(str(path))
    made = {
        "plans": [module["plan"](*row) for row in module["TABLE"]],
        "figure_1": [module["figure_1"](epsilon) for epsilon in (0.01, 0.03, 0.05, 0.10)],
    }
    assert json.loads(json.dumps(made)) == {key: GOLDEN[key] for key in made}


# --- real rankings beside the checkout: N, positives, AP, ROC AUC

REAL = {
    "single_ppdb_paraphrase_hgb": (26_413, 10_674, 0.645, 0.735),
    "single_cskb_triples_logreg": (25_514, 13_202, 0.865, 0.858),
    "single_abtbuy_allpairs_chartfidf": (1_180_452, 1_097, 0.697, 0.999),
    "single_cover_iforest": (286_048, 2_747, 0.073, 0.895),
    "single_mnist_topclass_conf": (10_000, 9_913, 0.9998, 0.978),
}


@pytest.mark.parametrize("name", REAL)
def test_real_rankings(shared_data, name):
    from sklearn.metrics import average_precision_score, roc_auc_score

    n_items, n_positives, ap, auc = REAL[name]
    frame = pd.read_parquet(shared_data / f"{name}.parquet", columns=["score", "label"])
    curve = exact(frame["label"].to_numpy(), frame["score"].to_numpy())
    assert (curve.n_items, curve.n_positives) == (n_items, n_positives)
    assert curve.average_precision() == pytest.approx(ap, abs=6e-4)
    assert curve.roc_auc() == pytest.approx(auc, abs=6e-4)
    assert curve.average_precision() == pytest.approx(
        average_precision_score(frame["label"], frame["score"]), abs=1e-12
    )
    assert curve.roc_auc() == pytest.approx(roc_auc_score(frame["label"], frame["score"]), abs=1e-12)


@pytest.mark.parametrize("name", ["single_cskb_triples_logreg", "single_mnist_topclass_conf"])
def test_uniform_covers_real_rankings(shared_data, name):
    frame = pd.read_parquet(shared_data / f"{name}.parquet", columns=["score", "label"])
    scores, labels = frame["score"].to_numpy(dtype=np.float64), frame["label"].to_numpy(dtype=np.int8)
    result = karat.simulate(scores, labels, method=karat.Uniform(labels=4000), replications=10, seed=1)
    assert result.coverage == 1.0


def test_paula_on_a_real_ranking_stays_within_its_factor(shared_data):
    frame = pd.read_parquet(shared_data / "single_cskb_triples_logreg.parquet", columns=["score", "label"])
    scores, labels = frame["score"].to_numpy(dtype=np.float64), frame["label"].to_numpy(dtype=np.int8)
    result = karat.simulate(scores, labels, method=karat.Paula(), replications=2)
    assert result.labels_max == 10_192
    assert result.factor_max <= result.claimed_factor
