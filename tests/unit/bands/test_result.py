import json

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay

from karat.bands import Band, pr_band, roc_band
from karat.errors import InvalidInput

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    labels = rng.random(400) < 0.3
    return labels, rng.normal(1.5 * labels)


@pytest.fixture(scope="module")
def band(data):
    return pr_band(*data)


def steps(**changes):
    """A band whose readings can be done by hand."""
    fields = {
        "curve": "pr",
        "levels": np.array([0.2, 0.4, 0.6, 0.8]),
        "estimate": np.array([0.9, 0.8, 0.6, 0.4]),
        "low": np.array([0.8, 0.7, 0.5, 0.3]),
        "high": np.array([1.0, 0.9, 0.7, 0.5]),
        "confidence_level": 0.95,
        "guarantee": "bootstrap",
        "simultaneous": True,
        "method": "default",
        "n_labels": 100,
        "n_positives": 30,
        "scalars": {},
        "notes": (),
        "assumptions": (),
    }
    return Band(**(fields | changes))


def ends(interval):
    return interval.estimate, interval.low, interval.high


def test_at_interpolates_and_refuses_what_lies_outside():
    assert ends(steps().at(0.5)) == pytest.approx((0.7, 0.6, 0.8))
    with pytest.raises(InvalidInput, match=r"'recall' must be in \[0.1, 0.9\]; got 0.95"):
        steps().at(0.95)


def test_precision_at_a_recall_floor_looks_at_all_larger_recalls():
    assert ends(steps().precision_at_recall(0.6))[:2] == (0.6, 0.5)
    rising = steps(
        estimate=np.array([0.2, 0.3, 0.4, 0.8]),
        low=np.array([0.1, 0.2, 0.3, 0.7]),
        high=np.array([0.3, 0.4, 0.5, 0.9]),
    )
    assert ends(rising.precision_at_recall(0.4))[:2] == (0.8, 0.7)


def test_precision_beyond_the_band_is_bounded_by_its_last_level():
    """At recall 1 the odds of precision are at most 1/.8 of those at .8: .5 becomes 1.25 / 2.25."""
    flat = steps(high=np.array([0.5, 0.5, 0.5, 0.5]), estimate=np.full(4, 0.4), low=np.full(4, 0.3))
    assert flat.precision_at_recall(0.8).high == pytest.approx(1.25 / 2.25)


def test_recall_at_a_precision_floor():
    assert ends(steps().recall_at_precision(0.65)) == pytest.approx((0.4, 0.4, 0.8))
    assert ends(steps().recall_at_precision(0.95)) == pytest.approx((0.0, 0.0, 0.4))
    assert steps().recall_at_precision(0.55).high == 1.0


def test_readings_belong_to_pr_curves(data):
    roc = roc_band(*data, n_replicates=200)
    with pytest.raises(AttributeError, match="a ROC curve has 'false_positive_rate', not 'recall'"):
        roc.precision_at_recall(0.5)
    with pytest.raises(AttributeError, match="has 'recall', not 'false_positive_rate'"):
        steps().false_positive_rate  # noqa: B018


def test_arrays_are_read_only(band):
    with pytest.raises(ValueError, match="read-only"):
        band.low[0] = 0.0


def test_text_is_three_lines_and_says_what_is_claimed(band, data):
    lines = str(band).split("\n")
    assert len(lines) == 3
    assert "95% simultaneous, default (bootstrap), 400 labels" in lines[0]
    assert lines[1].startswith("AP ")
    naive = pr_band(*data, method="naive", n_replicates=200)
    assert "pointwise (each level by itself, not the whole curve)" in str(naive)
    assert len(str(naive).split("\n")) == 3


def test_html_escapes_and_shows_notes():
    shown = steps(notes=("a < b",))._repr_html_()
    assert "a &lt; b" in shown


def test_dict_is_plain_json(band):
    back = json.loads(json.dumps(band.to_dict(), allow_nan=False))
    assert back["recall"][0] == band.recall[0]
    assert back["scalars"]["average_precision"]["low"] == band.scalars["average_precision"].low
    assert back["simultaneous"] is True


def test_frame_has_one_row_a_level(band):
    frame = band.to_frame()
    assert list(frame.columns) == ["recall", "estimate", "low", "high"]
    np.testing.assert_array_equal(frame["high"].to_numpy(), band.high)


@pytest.mark.parametrize(("make", "display"), [(pr_band, PrecisionRecallDisplay), (roc_band, RocCurveDisplay)])
def test_plot_sits_beside_scikit_learns_display(make, display, data):
    found = make(*data, n_replicates=200)
    figure, axes = plt.subplots()
    display.from_predictions(*data, ax=axes)
    n_lines = len(axes.lines)
    assert found.plot(axes) is axes
    assert len(axes.lines) == n_lines + 1
    np.testing.assert_array_equal(axes.lines[-1].get_ydata(), found.estimate)
    assert axes.collections[-1].get_facecolor()[0, 3] == pytest.approx(0.2)
    plt.close(figure)
    alone = found.plot(label="mine")
    assert "mine" in [text.get_text() for text in alone.get_legend().get_texts()]
    plt.close(alone.figure)
