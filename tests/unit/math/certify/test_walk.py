"""The walk: asking, telling, resuming, and that nothing leaks from larger ranks."""

from __future__ import annotations

import numpy as np
import pytest

from karat.errors import InvalidInput
from karat.math.certify.cells import Cells
from karat.math.certify.forecast import budgets_buy, labels_needed, next_labels
from karat.math.certify.noise import LabelErrors
from karat.math.certify.settings import Settings
from karat.math.certify.simulate import RateCurve, simulate_pass
from karat.math.certify.walk import Walk
from karat.math.path import bounds_at

N_ITEMS = 4000
SMALL = {"relative": 0.1, "absolute": 0.05, "from_rank": 300}
MODES = {
    "one pass": {},
    "budget": {"budget": 300},
    "looks": {"looks": 3},
    "looks and budget": {"looks": 3, "budget": 400},
    "lower": {"side": "lower"},
    "upper": {"side": "upper"},
    "top": {"top": 1500},
    "no pilot": {"pilot": 0},
}


def make_labels(seed=0, n_items=N_ITEMS):
    rng = np.random.default_rng(seed)
    return rng.random(n_items) < 0.9 - 0.06 * np.log1p(np.arange(n_items) / 30)


def make_proxy(labels, seed=1):
    return np.where(np.random.default_rng(seed).random(len(labels)) < 0.9, labels, ~labels).astype(np.uint8)


def same_cells(first, second):
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in Cells.__slots__)


def same_bounds(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def answer(walk, labels, n=None):
    cells = walk.ask(n)
    asked = cells.ranks[cells.new]
    walk.tell(asked, labels[asked - 1].astype(int))
    return cells


def finish(walk, labels, n=None):
    while not walk.done:
        answer(walk, labels, n)
    return walk


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_compiled_pass_equals_asking_and_telling(mode, proxied):
    labels = make_labels()
    proxy = make_proxy(labels) if proxied else None
    settings = Settings(**SMALL, **MODES[mode])
    fast = simulate_pass(labels, settings, seed=3, proxy=proxy)
    walk = finish(Walk(settings, n_items=N_ITEMS, seed=3, proxy=proxy), labels)
    assert same_cells(fast.cells, walk.cells)
    assert same_bounds(fast.bounds, walk.bounds())
    assert fast.n_labels == walk.n_labels == walk.n_asked
    assert fast.worst_share == walk.worst_share


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_resumed_walk_goes_on_as_if_never_interrupted(mode, proxied):
    labels = make_labels()
    proxy = make_proxy(labels) if proxied else None
    settings = Settings(**SMALL, **MODES[mode])
    walk = Walk(settings, n_items=N_ITEMS, seed=4, proxy=proxy)
    answer(walk, labels)
    rng = np.random.default_rng(0)
    waiting: list[int] = []
    for step in range(200):
        cells = walk.ask(7)
        waiting += cells.ranks[cells.new].tolist()
        rng.shuffle(waiting)
        told = [waiting.pop() for _ in range(max(len(waiting) - 12, 0))] if step % 3 else []
        walk.tell(told, labels[np.array(told, int) - 1].astype(int) if told else [])
        if step % 40 == 10:
            ranks, values = walk.answers()
            again = Walk.resume(
                settings, n_items=N_ITEMS, seed=4, cells=walk.cells, ranks=ranks, values=values, proxy=proxy
            )
            assert np.array_equal(again.pending, walk.pending)
            assert same_bounds(again.bounds(), walk.bounds())
            assert (again.done, again.n_asked, again.n_labels) == (walk.done, walk.n_asked, walk.n_labels)
            assert same_cells(again.ask(9), walk.ask(9))
            waiting = walk.pending.tolist()


def test_pending_answers_only_widen_and_settle_to_the_same_bounds():
    labels = make_labels()
    walk = Walk(Settings(**SMALL), n_items=N_ITEMS, seed=5)
    answer(walk, labels)
    cells = walk.ask(150)
    ranks = cells.ranks[cells.new]
    order = np.random.default_rng(2).permutation(ranks)
    before = walk.bounds()
    for rank in order:
        walk.tell([rank], [int(labels[rank - 1])])
        now = walk.bounds()
        assert np.all(before.low <= now.low + 1e-9)
        assert np.all(now.high <= before.high + 1e-9)
        before = now
    in_order = Walk(Settings(**SMALL), n_items=N_ITEMS, seed=5)
    answer(in_order, labels)
    answer(in_order, labels, 150)
    assert same_bounds(before, in_order.bounds())


def test_unsure_items_are_never_drawn_again_and_adjudication_tightens():
    labels = make_labels()
    rng = np.random.default_rng(6)
    walk = Walk(Settings(**SMALL), n_items=N_ITEMS, seed=6)
    unsure = []
    while not walk.done:
        cells = walk.ask(25)
        asked = cells.ranks[cells.new]
        assert not set(asked.tolist()) & set(unsure)
        values = np.where(rng.random(len(asked)) < 0.03, -1, labels[asked - 1])
        unsure += asked[values == -1].tolist()
        walk.tell(asked, values)
    wide = walk.bounds()
    assert len(unsure) > 5
    walk.tell(unsure, labels[np.array(unsure) - 1].astype(int))
    ranks = np.arange(1, N_ITEMS + 1)
    at = [bounds_at(b.knots, b.low, b.high, at=ranks) for b in (wide, walk.bounds())]
    assert np.all(at[0][0] <= at[1][0] + 1e-9)
    assert np.all(at[1][1] <= at[0][1] + 1e-9)
    assert np.sum(at[0][1] - at[0][0]) > np.sum(at[1][1] - at[1][0])


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "no pilot"])
def test_flipping_labels_from_a_rank_on_changes_nothing_before_it(mode, proxied):
    labels = make_labels(7)
    proxy = make_proxy(labels) if proxied else None
    settings = Settings(**{**SMALL, "pilot": 0}, **MODES[mode])
    plain = simulate_pass(labels, settings, seed=8, proxy=proxy)
    for rank in (30, 500, 1201, 1490):
        flipped = labels.copy()
        flipped[rank - 1 :] ^= True
        other = simulate_pass(flipped, settings, seed=8, proxy=proxy)
        for look in range(1, min(plain.cells.look.max(), other.cells.look.max()) + 1):
            first, second = (run.cells.part(run.cells.look == look) for run in (plain, other))
            # The cell that holds the rank is laid out before its label; all up to it must agree.
            upto = int(np.searchsorted(first.ends, rank)) + 1
            assert upto > 1
            assert same_cells(first.part(slice(upto)), second.part(slice(upto)))


def test_the_flip_test_sees_a_leak():
    """A pilot does look ahead (the pass is valid given it): if its answers flip too, earlier cells must differ."""
    labels = make_labels(7)
    flipped = labels.copy()
    flipped[499:] ^= True
    first, second = (simulate_pass(truth, Settings(**SMALL, pilot=50), seed=8).cells for truth in (labels, flipped))
    first, second = (cells.part((cells.look == 1) & (cells.ends < 400)) for cells in (first, second))
    assert not same_cells(first, second)


@pytest.mark.parametrize("mode", ["one pass", "looks"])
def test_flipping_later_labels_leaves_the_bounds_before_it(mode):
    """Bounds of what has been walked: a walk stopped at the rank cannot know what follows."""
    labels = make_labels(9)
    settings = Settings(**{**SMALL, "pilot": 0}, **MODES[mode])
    rank = 900
    flipped = labels.copy()
    flipped[rank:] ^= True
    bounds = []
    for truth in (labels, flipped):
        walk = Walk(settings, n_items=N_ITEMS, seed=10)
        looks = MODES[mode].get("looks", 1)
        while True:
            if walk.rank_reached >= 800 and walk.cells.look[-1] == looks:
                break
            answer(walk, truth, 5)
        bounds.append(walk._looks[-1].raw_bounds())  # noqa: SLF001
    ends = [b[0] for b in bounds]
    n = int(np.searchsorted(ends[0], 800))
    for first, second in zip(*bounds, strict=True):
        np.testing.assert_array_equal(first[:n], second[:n])


@pytest.mark.parametrize("looks", [1, 2, 4])
@pytest.mark.parametrize("budget", [0, 1, 2, 3, 7, 50, 51, 200, 1000])
def test_budget_is_never_exceeded(budget, looks):
    labels = make_labels(11)
    for pilot in (None, 50):
        result = simulate_pass(labels, Settings(**SMALL, budget=budget, looks=looks, pilot=pilot), seed=1)
        assert result.n_labels <= budget
        assert len(np.unique(result.cells.ranks[result.cells.new])) == result.n_labels
        assert result.covers(np.cumsum(labels))
        if budget >= 50 and pilot is None:
            assert result.n_labels >= 0.6 * budget


@pytest.mark.parametrize("n_items", [1, 2, 15, 19, 20, 21, 99, 101, 500])
@pytest.mark.parametrize("fill", ["zeros", "ones", "mixed"])
@pytest.mark.parametrize("wish", [{}, {"budget": 5}, {"looks": 3}, {"confidence_level": 1 - 1e-6}])
def test_small_lists(n_items, fill, wish):
    labels = {"zeros": np.zeros, "ones": np.ones}.get(fill, lambda n: np.arange(n) % 2)(n_items).astype(int)
    result = simulate_pass(labels, Settings(**wish), seed=2)
    assert result.covers(np.cumsum(labels))
    assert result.bounds.knots[0] == 0
    assert result.bounds.knots[-1] == n_items
    assert np.all(np.isfinite(result.bounds.low) & np.isfinite(result.bounds.high))
    if n_items < 20 and "budget" not in wish:
        np.testing.assert_array_equal(result.bounds.low, result.bounds.high)


@pytest.mark.parametrize("wish", [{"absolute": 0.0}, {"relative": 0.0}, {}])
@pytest.mark.parametrize("value", [0, 1])
def test_constant_lists(value, wish):
    labels = np.full(20_000, value)
    settings = Settings(**wish, confidence_level=1 - 1e-6)
    result = simulate_pass(labels, settings, seed=3)
    assert result.covers(np.cumsum(labels))
    assert result.target_met
    assert result.n_labels < 4500 or (value == 0 and settings.absolute == 0)


def test_a_thousand_million_items():
    curve = RateCurve(ranks=np.array([1, 10**6, 10**9]), rates=np.array([0.95, 0.8, 0.3]), seed=4)
    result = simulate_pass(curve, Settings(), seed=5, n_items=10**9)
    assert result.target_met
    assert result.n_labels < 12_000
    by_asking = simulate_pass(curve.labels_at, Settings(), seed=5, n_items=10**9)
    assert same_cells(result.cells, by_asking.cells)


def test_top_stops_the_walk_and_one_side_costs_less():
    labels = make_labels(12, 30_000)
    whole = simulate_pass(labels, Settings(), seed=6)
    top = simulate_pass(labels, Settings(top=3000), seed=6)
    assert top.cells.ends.max() == 3000
    assert top.target_met
    assert top.n_labels < whole.n_labels
    counts = {
        side: np.mean([simulate_pass(labels, Settings(side=side), seed=seed).n_labels for seed in range(6)])
        for side in ("both", "lower", "upper")
    }
    assert counts["lower"] < counts["both"]
    assert counts["upper"] < counts["both"]


def test_later_looks_keep_their_draws():
    labels = make_labels(13)
    result = simulate_pass(labels, Settings(**SMALL, looks=3), seed=7)
    for look in (2, 3):
        before, after = (result.cells.part(result.cells.look == k) for k in (look - 1, look))
        assert set(before.ranks) <= set(after.ranks)
        assert set(before.ends) <= set(after.ends)


def test_forecasts():
    needed = labels_needed([1, 20_000], [0.9, 0.6], settings=Settings(), n_items=20_000, n_runs=3)
    rows = budgets_buy([1, 20_000], [0.9, 0.6], settings=Settings(), n_items=20_000, budgets=(300, 1000, 3000))
    assert rows[0].worst_share > rows[1].worst_share > rows[2].worst_share
    assert rows[2].worst_share < 1 < rows[0].worst_share
    assert 300 < needed.mean < 3000
    labels = make_labels(14)
    walk = Walk(Settings(**SMALL), n_items=N_ITEMS, seed=8)
    answer(walk, labels)
    answer(walk, labels, 60)
    walk.ask(10)
    before = (walk.n_asked, walk.pending.tolist())
    first, second = next_labels(walk, (100, 400))
    assert (walk.n_asked, walk.pending.tolist()) == before
    assert first.rank_reached < second.rank_reached
    assert first.worst_share >= second.worst_share


def test_wrong_labels_ask_for_pilot_items_again():
    errors = LabelErrors(sensitivity=(0.95, 0.95), specificity=(0.95, 0.95))
    settings = Settings(**SMALL, pilot=120, label_errors=errors)
    walk = Walk(settings, n_items=600, seed=9)
    pilot = walk.ask()
    walk.tell(pilot.ranks, np.ones(len(pilot), int))
    asked: list[int] = []
    while not walk.done:
        cells = walk.ask(20)
        asked += cells.ranks[cells.new].tolist()
        walk.tell(cells.ranks[cells.new], np.ones(cells.new.sum(), int))
    both = set(asked) & set(pilot.ranks.tolist())
    assert both
    ranks, values = walk.answers()
    again = Walk.resume(settings, n_items=600, seed=9, cells=walk.cells, ranks=ranks, values=values)
    assert same_bounds(again.bounds(), walk.bounds())
    assert again.done


def test_refusals():
    labels = make_labels()
    walk = Walk(Settings(**SMALL), n_items=N_ITEMS, seed=1)
    pilot = walk.ask()
    assert len(walk.ask()) == 0  # waits for the pilot
    with pytest.raises(InvalidInput, match="'ranks' must be ranks that were asked for"):
        walk.tell([1], [1])
    with pytest.raises(InvalidInput, match=r"'values' must be 1, 0 or -1 \(unsure\); got 2"):
        walk.tell(pilot.ranks[:1], [2])
    with pytest.raises(InvalidInput, match="same length"):
        walk.tell(pilot.ranks, [1])
    walk.tell(pilot.ranks, labels[pilot.ranks - 1].astype(int))
    answer(walk, labels, 300)
    ranks, values = walk.answers()
    cells = walk.cells

    def resume(cells, seed=1):
        return Walk.resume(Settings(**SMALL), n_items=N_ITEMS, seed=seed, cells=cells, ranks=ranks, values=values)

    assert resume(cells).n_labels == walk.n_labels
    with pytest.raises(InvalidInput, match="another pilot"):
        resume(cells, seed=2)
    place = int(np.flatnonzero((cells.look == 1) & (np.diff(cells.ends, prepend=0) > 1))[0])
    moved = cells.ranks.copy()
    moved[place] = cells.ends[place] if moved[place] != cells.ends[place] else moved[place] - 1
    tampered = Cells(**{name: moved if name == "ranks" else getattr(cells, name) for name in Cells.__slots__})
    with pytest.raises(InvalidInput, match="drawn by this seed"):
        resume(tampered)
    with pytest.raises(InvalidInput, match="'proxy' must be whole numbers from 0 to 14"):
        Walk(Settings(), n_items=2, seed=1, proxy=[1, 15])
    for wish in ({"relative": 0, "absolute": 0}, {"side": "left"}, {"looks": 0}, {"budget": -1}, {"top": 0}):
        with pytest.raises(InvalidInput):
            Settings(**wish)
