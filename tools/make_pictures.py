"""Draw the pictures of the docs into docs/pictures."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np

from karat import plotting
from karat.cli.main import main as karat
from karat.designs.certify import Certify
from karat.draws import Labels

PICTURES = Path(__file__).parents[1] / "docs/pictures"


def draw_cells() -> None:
    """Draw a short list: its cells, the item drawn from each, and the band."""
    n_items = 4000
    rng = np.random.default_rng(5)
    labels = (rng.random(n_items) < np.linspace(0.98, 0.35, n_items)).astype(np.int8)
    design = Certify(from_rank=300, relative=0.15, absolute=0.05, pilot=20).begin(n_items, seed=2)
    while len(ranks := design.ask()):
        design.tell(Labels.from_pairs(ranks, labels[ranks - 1]))
    axes = design.curve().plot(truth=labels)
    axes.set_title("")
    axes.set_title("", loc="left")
    axes.set_xscale("linear")
    axes.set_xlim(0, n_items)
    axes.set_ylim(0.42, 1.04)
    cells = design.walk.cells.part(design.walk.cells.look > 0)
    axes.vlines(cells.ends, 0.44, 0.455, color=plotting.GREY, linewidth=0.4)
    drawn = labels[cells.ranks - 1] == 1
    axes.plot(cells.ranks[drawn], np.full(drawn.sum(), 0.475), "|", color=plotting.GREEN, markersize=5, label="right")
    axes.plot(cells.ranks[~drawn], np.full((~drawn).sum(), 0.465), "|", color=plotting.RED, markersize=5, label="wrong")
    axes.text(30, 0.427, "cell ends; above them the labels of the drawn items", fontsize=7, color=plotting.GREY)
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    plotting.save(axes, PICTURES / "cells.png")


def draw_demo() -> None:
    """Draw the demo's picture."""
    with tempfile.TemporaryDirectory() as folder:
        karat(["demo", "--folder", folder, "--json"])
        shutil.copy(Path(folder, "curve.png"), PICTURES / "demo.png")


if __name__ == "__main__":
    draw_cells()
    draw_demo()
