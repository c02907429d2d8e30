"""Pictures of the studies: bias of every system, and labels against the number of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from karat import _check, plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_bias(
    bias: dict[str, Any],
    simulation: dict[str, Any] | None = None,
    *,
    metric: Literal["precision", "recall", "f1"] = "precision",
    part: str = "leave_one_out",
    ax: Axes | None = None,
) -> Axes:
    """Draw the bias of every system, worst first: pooling, and the estimators of a simulation beside it.

    Takes what `bias_study` and `simulate_study` return for the same systems (the paper's Figures 3, 4c and 4d).
    """
    _check.one_of("part", part, [name for name in bias if name != "systems"])
    axes = ax if ax is not None else plotting.new_axes()
    pooling = -np.array(bias[part]["by_system"][metric])  # a pooled score is too low
    order = np.argsort(pooling)
    places = np.arange(1, order.size + 1)
    axes.plot(places, 100 * pooling[order], "o", label="pooling")
    if simulation is not None and metric != "f1":
        for name, figures in simulation["estimators"].items():
            axes.plot(places, 100 * np.array(figures[f"{metric}_bias"])[order], ".", label=name)
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_xlabel("system, by its pooling bias")
    axes.set_ylabel(f"bias of {metric}, points")
    axes.legend()
    return axes


def plot_arrivals(simulation: dict[str, Any], ax: Axes | None = None) -> Axes:
    """Draw the labels bought against the number of systems, by the paper's rule and ours (its Figure 4e)."""
    arrivals = simulation["arrivals"]
    axes = ax if ax is not None else plotting.new_axes()
    places = np.arange(1, arrivals["n_systems"] + 1)
    axes.plot(places, arrivals["worth"] * places, "--", color="grey", label=f"{arrivals['worth']} each")
    for name in ("paper", "default"):
        axes.plot(places, arrivals[name]["labels_by_system"], label=name)
    axes.set_xlabel("systems")
    axes.set_ylabel("labels")
    axes.legend()
    return axes
