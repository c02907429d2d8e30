"""Pictures: the papers' figures, drawn from plain arrays."""

from __future__ import annotations

import subprocess
import sys

import builders
import numpy as np
import pytest

import karat
from karat import plotting
from karat.errors import InvalidInput
from karat.exact_curve import exact


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize("kind", ["precision", "precision-yield", "pr", "roc", "hits"])
def test_exact_curves_of_several_systems(kind):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    curves = {
        name: exact(labels, labels * weight + rng.random(300)).points() for name, weight in (("a", 1), ("b", 0.3))
    }
    axes = plotting.draw_exact(curves, kind, title="Systems")
    assert {"a", "b"} <= set(legend(axes))
    if kind == "hits":
        assert {"perfect", "random"} <= set(legend(axes))
    if kind == "roc":
        assert "random" in legend(axes)


def test_the_steps_of_paula_are_drawn_with_its_bounds():
    labels = builders.falling_rate(20_000, np.random.default_rng(1))
    axes = builders.curve_of(karat.Paula(), labels).plot(truth=labels)
    assert {"truth", "step lower", "step upper"} <= set(legend(axes))
    assert axes.get_xscale() == "log"


def test_labels_against_guarantee():
    axes = plotting.draw_label_counts([1.04, 1.08], {"paula": [79_339, 30_392], "uniform": [990_212, 490_228]})
    assert axes.get_yscale() == "log"
    assert legend(axes) == ["paula", "uniform"]


def test_pyplot_is_not_touched_where_nobody_uses_it():
    code = "import sys; from karat import plotting; plotting.new_axes(); assert 'matplotlib.pyplot' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pyplot_shows_a_picture_until_it_is_saved(tmp_path):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    axes = plotting.new_axes()
    assert plt.gca() is axes
    plotting.save(axes, tmp_path / "a.png")
    assert plt.get_fignums() == before


def test_an_unknown_kind_is_refused():
    with pytest.raises(InvalidInput, match="'kind' must be one of"):
        plotting.draw_exact({"a": exact([1, 0], [2, 1]).points()}, "pie")


def test_lists_of_one_item_can_be_drawn():
    axes = builders.curve_of(karat.Paula(), [1]).plot()
    assert axes.get_xlabel()


def test_a_forest_has_no_dot_where_nothing_is_known():
    low, high = np.array([0.0, 0.0, 0.9]), np.array([1.0, 0.2, 1.0])
    shown = (low > 0) | (high < 1)
    axes = plotting.draw_forest(["a", "b", "c"], np.array([0.5, 0.0, 1.0]), low, high, shown=shown)
    (dots,) = axes.get_lines()
    assert dots.get_xdata().tolist() == [0.0, 1.0]
    assert not dots.get_clip_on()  # whole dots at the edges
