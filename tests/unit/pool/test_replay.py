import json

import numpy as np
import pytest

from karat.errors import InvalidData
from karat.pool.replay import bias_study, load_study, simulate_study


@pytest.fixture
def study_files(tmp_path):
    rng = np.random.default_rng(0)
    right = rng.random(400) < 0.5
    lines = ["system,team,id,score"]
    for number in range(4):
        items = np.flatnonzero(rng.random(400) < np.where(right, 0.5, 0.2))
        lines += [f"s{number},t{number // 2},x{item},{rng.random():.4f}" for item in items]
    (tmp_path / "predictions.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"x{k},{int(v)}\n" for k, v in enumerate(right)))
    return tmp_path / "predictions.csv", tmp_path / "labels.csv"


def test_the_simulation_s_json_has_the_promised_keys(study_files):
    study = load_study(*study_files)
    assert study.law.shape == (4, 400)
    assert study.law.sum(axis=1) == pytest.approx(1)
    result = json.loads(
        json.dumps(simulate_study(study, n_draws=20, n_truth=20, n_trials=4, worth=50), allow_nan=False)
    )
    keys = {
        "precision_bias_max", "precision_coverage", "recall_bias_max", "recall_coverage", "f1_coverage",
        "precision_variance_ratio", "labels",
    }  # fmt: skip
    assert set(result["estimators"]) == {"simple", "joint", "default"}
    for figures in result["estimators"].values():
        assert keys <= set(figures)
    assert result["arrivals"]["default"]["labels"] > 0
    again = simulate_study(study, n_draws=20, n_truth=20, n_trials=4, worth=50)
    assert json.loads(json.dumps(again)) == result


def test_the_bias_study(study_files):
    found = bias_study(load_study(*study_files), n_trials=20)
    assert {"leave_one_out", "leave_team_out", "half_of_the_teams", "leave_one_out_anydoc"} <= set(found)
    assert found["leave_team_out"]["precision"]["median"] > found["leave_one_out"]["precision"]["median"] > 0
    assert len(found["leave_one_out"]["by_system"]["f1"]) == 4
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("extra", "message"),
    [("s1,t0,nobody,1\n", "id 'nobody' has no label"), ("s9,t0,x1,1\ns9,t0,x1,1\n", "predicts id 'x1' twice")],
)
def test_bad_tables_are_refused(study_files, extra, message):
    predictions, labels = study_files
    predictions.write_text(predictions.read_text() + extra)
    with pytest.raises(InvalidData, match=message):
        load_study(predictions, labels)


def test_the_studies_draw_themselves(study_files):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from karat.pool.pictures import plot_arrivals, plot_bias

    study = load_study(*study_files)
    simulation = simulate_study(study, n_draws=20, n_truth=20, n_trials=3, worth=50)
    bias = bias_study(study, n_trials=5)
    axes = plot_bias(bias, simulation, metric="recall", part="leave_team_out")
    drawn = axes.get_lines()[0].get_ydata()
    assert sorted(drawn) == pytest.approx(sorted(-100 * np.array(bias["leave_team_out"]["by_system"]["recall"])))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["pooling", "simple", "joint", "default"]
    axes = plot_arrivals(simulation)
    assert axes.get_lines()[2].get_ydata().tolist() == simulation["arrivals"]["default"]["labels_by_system"]
    plt.close("all")


def test_the_name_of_a_relation_column_may_hold_quotes(tmp_path):
    (tmp_path / "p.csv").write_text('system,id,"the ""subject"""\ns,a,Ann\ns,b,Bob\n')
    (tmp_path / "l.csv").write_text("id,label\na,1\nb,0\n")
    study = load_study(tmp_path / "p.csv", tmp_path / "l.csv", relation=['the "subject"'])
    assert study.relations.tolist() == ["Ann", "Bob"]
