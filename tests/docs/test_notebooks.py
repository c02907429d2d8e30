"""The notebooks run from top to bottom, and are committed without output."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from karat import NotebookBar

SCAN = """
import karat, numpy
from karat.demo.facts import write_facts
write_facts("facts.csv", 2000)
engine = karat.open("facts.csv", score="score", id="id", engine="duckdb", watch=karat.NotebookBar())
engine.items_at(numpy.array([1, 500]))
"""
FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three():
    assert [notebook.stem for notebook in NOTEBOOKS] == ["entity-matchers", "fraud-list", "knowledge-base"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # those of the kernel's own libraries
def test_it_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "commit it without output"
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert pictures, "a notebook without a picture"
    assert not [output for output in outputs if output.output_type == "error"]


@pytest.mark.filterwarnings("ignore")  # those of the kernel's own libraries
def test_a_long_scan_has_a_bar_in_each_cell(tmp_path):
    cells = [SCAN, "engine.items_at(numpy.array([7]))"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    for cell in notebook.cells:
        bars = [output for output in cell.outputs if "<progress" in output.get("data", {}).get("text/html", "")]
        assert len(bars) == 1  # one bar, drawn anew
        assert bars[0].data["text/html"] == '<progress max="1" value="1"></progress> fetching items'


def test_outside_a_notebook_there_is_no_bar(capsys):
    import_module("IPython")
    NotebookBar()("counting", 0.5)
    assert capsys.readouterr() == ("", "")
