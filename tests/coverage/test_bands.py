"""Coverage by seeded simulation on populations with known curves, with controls that must fail."""

from pathlib import Path

import numpy as np
import pytest
from tests.coverage.band_populations import (
    POPULATIONS,
    least_count,
    measure,
    measure_comparison,
    measure_pointwise,
    measure_weighted,
)

from karat.bands import pr_band
from karat.math.bands.ordering import counts_above, descending_labels, precision_curve

DATA = Path(__file__).parents[2].parent / "shared" / "data"
QUICK = [("binormal", 200), ("skewed", 200), ("tied", 200), ("rare", 1500)]
N_QUICK = 50
GRID = [(name, n_items) for name in POPULATIONS for n_items in (200, 1000) if name != "rare"]
GRID += [("rare", 1000), ("rare", 1500), ("rare", 5000), ("heavy", 60), ("skewed", 60)]
N_FULL = 500
REAL = ("cskb_triples_logreg", "ppdb_paraphrase_hgb", "cover_iforest", "mnist_topclass_conf")


def assert_covers(held, n_runs, coverage=0.93):
    short = {name: count for name, count in held.items() if count < least_count(n_runs, coverage)}
    assert not short, f"{short} of {n_runs} runs, expected at least {least_count(n_runs, coverage)}"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_items"), QUICK)
def test_default_band_and_its_scalars_cover(name, n_items):
    held, _ = measure(name, n_items, N_QUICK)
    assert_covers(held, N_QUICK)


@pytest.mark.parametrize(("name", "n_items"), [("binormal", 200), ("rare", 1500)])
def test_naive_pointwise_envelope_fails_the_same_test(name, n_items):
    held, _ = measure(name, n_items, N_QUICK // 2, method="naive", seed=1)
    assert held["band"] < least_count(N_QUICK // 2, 0.93)


@pytest.mark.parametrize("method", ["pointwise", "studentised", "asymptotic"])
@pytest.mark.parametrize("curve", ["pr", "roc"])
def test_intervals_at_one_level_cover(method, curve):
    held = measure_pointwise("heavy", 1000, N_QUICK, method=method, curve=curve)
    assert_covers(held, N_QUICK)


def test_naive_percentiles_fail_even_at_one_level():
    """Where a sample shows no miss, none of its resamples does."""
    held = measure_pointwise("skewed", 1000, N_QUICK, method="naive", curve="roc")
    assert held[0.8] < least_count(N_QUICK, 0.93)


@pytest.mark.parametrize(("name", "n_items"), [("binormal", 40), ("skewed", 100), ("tied", 200), ("rare", 500)])
@pytest.mark.parametrize("curve", ["pr", "roc"])
def test_exact_band_covers_always(name, n_items, curve):
    held, _ = measure(name, n_items, 60, method="exact", curve=curve)
    assert_covers(held, 60, coverage=0.95)


@pytest.mark.parametrize("curve", ["pr", "roc"])
def test_difference_of_two_systems_covers(curve):
    held = measure_comparison(200, 30, curve=curve)
    assert_covers(held if curve == "pr" else {k: held[k] for k in ("band", "roc_auc")}, 30)


def test_weighted_samples_cover_and_ignoring_the_weights_does_not():
    assert measure_weighted(30, use_weights=True) >= least_count(30, 0.93)
    assert measure_weighted(15, use_weights=False) < least_count(15, 0.93)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("curve", ["pr", "roc"])
@pytest.mark.parametrize(("name", "n_items"), GRID)
def test_default_covers_on_the_full_grid(name, n_items, curve):
    held, _ = measure(name, n_items, N_FULL, curve=curve)
    # Best F1 is the largest of many noisy values: its interval is asked for .91 (see the explanation page).
    assert_covers({key: count for key, count in held.items() if key != "best_f1"}, N_FULL)
    if curve == "pr":
        assert held["best_f1"] >= least_count(N_FULL, 0.91)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("curve", ["pr", "roc"])
@pytest.mark.parametrize(("name", "n_items"), GRID)
def test_exact_covers_on_the_full_grid(name, n_items, curve):
    held, _ = measure(name, n_items, N_FULL, method="exact", curve=curve)
    assert_covers(held, N_FULL, coverage=0.95)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("shifts", [(1.5, 2.0), (3.0, 3.3), (1.5, 1.5)])
@pytest.mark.parametrize("n_items", [200, 1000])
def test_differences_cover_on_the_full_grid(n_items, shifts):
    assert_covers(measure_comparison(n_items, 200, shifts=shifts, n_replicates=2000), 200)


def read_rankings(folder):
    pandas = pytest.importorskip("pandas")
    found = {}
    for name in REAL:
        table = pandas.read_parquet(folder / f"single_{name}.parquet", columns=["score", "label"])
        found[name] = table["label"].to_numpy().astype(bool), table["score"].to_numpy().astype(float)
    return found


@pytest.fixture(scope="module")
def rankings():
    if not DATA.is_dir():
        pytest.skip(f"no labelled rankings at {DATA}")
    return read_rankings(DATA)


def compare_on_real_data(rankings, n_runs, methods):
    """Mean width and coverage by ranking and method, on samples of 1,000 with at least ten positives."""
    widths, held = {}, {}
    for name, (labels, scores) in rankings.items():
        rng = np.random.default_rng(0)
        ordered, _ = descending_labels(labels, scores, rng=rng)
        for run in range(n_runs):
            rows = rng.integers(0, labels.size, 1000)
            while labels[rows].sum() < 10 or labels[rows].all():
                rows = rng.integers(0, labels.size, 1000)
            for method in methods:
                band = pr_band(labels[rows], scores[rows], method=method, seed=run)
                counts = counts_above(ordered, band.recall, anchor_is_positive=True)
                true = precision_curve(band.recall, counts, n_positives=int(labels.sum()))
                widths.setdefault((name, method), []).append(np.mean(band.high - band.low))
                inside = np.all((band.low <= true + 1e-9) & (true <= band.high + 1e-9))
                held.setdefault((name, method), []).append(bool(inside))
    return {key: float(np.mean(value)) for key, value in widths.items()}, {k: sum(v) for k, v in held.items()}


def check_real_data(rankings, n_runs):
    widths, held = compare_on_real_data(rankings, n_runs, ("default", "clemencon-vayatis"))
    ratios = {name: widths[name, "default"] / widths[name, "clemencon-vayatis"] for name in rankings}
    # Over the four rankings together; a ranking whose scores are nearly normal already gains less.
    assert np.mean(list(ratios.values())) <= 0.7, ratios
    assert all(ratio < 0.85 for ratio in ratios.values()), ratios
    for name in rankings:
        assert held[name, "default"] >= least_count(n_runs, 0.93), (name, held[name, "default"])


@pytest.mark.slow
def test_default_is_much_narrower_than_the_papers_recipe_on_real_rankings(rankings):
    check_real_data(rankings, 10)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_default_is_much_narrower_on_many_samples_of_real_rankings(rankings):
    check_real_data(rankings, 200)
