"""The band holds at every rank at once, at least as often as claimed, on lists of every shape and in every mode."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from karat.math.certify.noise import LabelErrors
from karat.math.certify.settings import Settings
from karat.math.certify.simulate import SimulatedPass, simulate_pass
from karat.math.certify.walk import Walk


def smooth(rng, n_items):
    return rng.random(n_items) < 0.85 - 0.06 * np.log1p(np.arange(n_items) / 50)


def flat(rng, n_items):
    return rng.random(n_items) < 0.5


def clumpy(rng, n_items):
    """Runs of equal labels, of every length up to a sixth of the list."""
    lengths = np.ceil(rng.pareto(0.8, n_items)).astype(int).clip(1, n_items // 6)
    return np.repeat(rng.random(n_items) < 0.6, lengths)[:n_items]


def alternating(rng, n_items):
    return (np.arange(n_items) + rng.integers(2)) % 2 == 0


def periodic(rng, n_items):
    return (np.arange(n_items) + rng.integers(7)) % 7 < 3


def rising(rng, n_items):
    return rng.random(n_items) < np.linspace(0.05, 0.9, n_items)


def rare(rng, n_items):
    return rng.random(n_items) < 0.004


def all_true(rng, n_items):  # noqa: ARG001
    return np.ones(n_items, bool)


SHAPES = [smooth, flat, clumpy, alternating, periodic, rising, rare, all_true]


def good_proxy(rng, labels):
    return np.where(rng.random(len(labels)) < 0.9, labels, ~labels).astype(np.uint8)


def hostile_proxy(rng, labels):
    """Right at first, so that it is trusted, then the opposite of the truth; with a class that never occurs early."""
    late = np.arange(len(labels)) > len(labels) // 4
    votes = np.where(late, ~labels, labels).astype(np.uint8)
    votes[len(labels) // 2 :][rng.random(len(labels) - len(labels) // 2) < 0.1] = 2
    return votes


def run_pending(labels, settings, seed, proxy=None):
    """Answer about 40 labels late, in random order, a few of them never ('unsure')."""
    rng = np.random.default_rng(seed)
    walk = Walk(settings, n_items=len(labels), seed=seed, proxy=proxy)
    waiting: list[int] = []
    while not walk.done:
        cells = walk.ask(20)
        waiting += cells.ranks[cells.new].tolist()
        rng.shuffle(waiting)
        out = 40 if len(cells) and walk.cells.look[-1] > 0 else 0
        told = np.array(waiting[out:], int)
        waiting = waiting[:out]
        walk.tell(told, np.where(rng.random(len(told)) < 0.01, -1, labels[told - 1]))
    return SimulatedPass(cells=walk.cells, bounds=walk.bounds(), n_labels=walk.n_labels, worst_share=walk.worst_share)


SENSITIVITY, SPECIFICITY = 0.92, 0.85


def misread(rng, labels):
    """Return what fallible people say."""
    right = rng.random(len(labels)) < np.where(labels, SENSITIVITY, SPECIFICITY)
    return labels == right


def rates_from_gold(rng, *, side, delta, n=150):
    """Return the rates as a sample of gold items bounds them."""
    told = [int(rng.binomial(n, rate)) for rate in (SENSITIVITY, SPECIFICITY)]
    return LabelErrors.from_gold((told[0], n), (told[1], n), delta=delta, side=side)


KNOWN_RATES = LabelErrors(sensitivity=(SENSITIVITY, SENSITIVITY), specificity=(SPECIFICITY, SPECIFICITY))

MODES = {
    "one pass": {"relative": 0.1, "absolute": 0.04, "from_rank": 200},
    "budget": {"budget": 250, "from_rank": 200},
    "looks": {"relative": 0.1, "absolute": 0.05, "from_rank": 200, "looks": 3},
    "lower": {"relative": 0.1, "absolute": 0.04, "from_rank": 200, "side": "lower"},
    "upper": {"relative": 0.1, "absolute": 0.04, "from_rank": 200, "side": "upper"},
    "pending": {"relative": 0.12, "absolute": 0.06, "from_rank": 200, "pending": 40},
    "good proxy": {"relative": 0.1, "absolute": 0.04, "from_rank": 200},
    "hostile proxy": {"relative": 0.1, "absolute": 0.04, "from_rank": 200},
    "hostile proxy in looks": {"relative": 0.1, "absolute": 0.05, "from_rank": 200, "looks": 2},
    "budget in looks": {"budget": 300, "from_rank": 200, "looks": 2},
    "pending in looks": {"relative": 0.12, "absolute": 0.06, "from_rank": 200, "pending": 40, "looks": 2},
    "good proxy pending": {"relative": 0.12, "absolute": 0.06, "from_rank": 200, "pending": 40},
    "known error rates": {"relative": 0.12, "absolute": 0.08, "from_rank": 200, "label_errors": KNOWN_RATES},
    "gold": {"relative": 0.15, "absolute": 0.1, "from_rank": 200},
    "gold, lower": {"relative": 0.15, "absolute": 0.1, "from_rank": 200, "side": "lower"},
    "gold, upper": {"relative": 0.15, "absolute": 0.1, "from_rank": 200, "side": "upper"},
}


def coverage(shape, mode, *, confidence_level, n_runs, n_items, seed):
    """Return how many of the runs were covered at every rank."""
    options = {"confidence_level": confidence_level, **MODES[mode]}
    covered = 0
    for run in range(n_runs):
        rng = np.random.default_rng([seed, run])
        labels = shape(rng, n_items)
        told = labels
        if mode.startswith("gold"):
            delta = (1 - confidence_level) / 5
            options["label_errors"] = rates_from_gold(rng, side=options.get("side", "both"), delta=delta)
        if "label_errors" in options:
            told = misread(rng, labels)
        proxy = None
        if "proxy" in mode:
            proxy = (hostile_proxy if "hostile" in mode else good_proxy)(rng, labels)
        run_one = run_pending if "pending" in mode else simulate_pass
        result = run_one(told, Settings(**options), seed=run, proxy=proxy)
        covered += result.covers(np.cumsum(labels))
    return covered


def least_covered(n_runs, confidence_level):
    """Return the smallest count that a band of that level falls below only once in a thousand times."""
    return int(stats.binom.ppf(1e-3, n_runs, confidence_level))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_whole_curve_is_covered(shape, mode):
    n_runs = 12 if "pending" in mode else 60
    covered = coverage(shape, mode, confidence_level=0.8, n_runs=n_runs, n_items=2500, seed=1)
    assert covered >= least_covered(n_runs, 0.8)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("confidence_level", [0.8, 0.95])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_whole_curve_is_covered_on_the_full_grid(shape, mode, confidence_level):
    n_runs = 300
    n_items = 2500 if "pending" in mode else 4000
    covered = coverage(shape, mode, confidence_level=confidence_level, n_runs=n_runs, n_items=n_items, seed=2)
    assert covered >= least_covered(n_runs, confidence_level)
