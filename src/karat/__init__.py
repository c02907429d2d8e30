"""karat: how good are my predictions?

Precision, recall, PR, ROC and AP of a huge scored resource, with bounds that hold, from few labels.
The public names are fetched from their modules when first used, so that importing karat costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.bands.compare import compare_curves
    from karat.bands.result import Band, Comparison
    from karat.bands.single import pr_band, roc_band
    from karat.carried import Bought, carry_over, labels_to_be_as_tight
    from karat.curves import Curve
    from karat.designs.certify import Certify
    from karat.designs.paula import Paula
    from karat.designs.point import Point
    from karat.designs.stratified import Stratified
    from karat.designs.uniform import Uniform
    from karat.draws import Draw, Labels
    from karat.errors import InvalidData, InvalidInput, KaratError, MissingExtra
    from karat.exact_curve import ExactCurve, exact
    from karat.gates import Gate, check_gate
    from karat.notebook import NotebookBar
    from karat.pool.leaderboard import Difference, Leaderboard
    from karat.pool.pool import Pool
    from karat.results import Assumption, Interval
    from karat.simulation import Simulation, simulate
    from karat.slices import Slices, slice_precision
    from karat.study import Study, curve_from, load_draw, save_draw
    from karat.study import open_resource as open  # noqa: A004
    from karat.topics import TopicScores, evaluate_run

_HOMES = {
    "karat.bands.compare": ("compare_curves",),
    "karat.bands.result": (
        "Band",
        "Comparison",
    ),
    "karat.bands.single": (
        "pr_band",
        "roc_band",
    ),
    "karat.carried": (
        "Bought",
        "carry_over",
        "labels_to_be_as_tight",
    ),
    "karat.curves": ("Curve",),
    "karat.designs.certify": ("Certify",),
    "karat.designs.paula": ("Paula",),
    "karat.designs.point": ("Point",),
    "karat.designs.stratified": ("Stratified",),
    "karat.designs.uniform": ("Uniform",),
    "karat.draws": (
        "Draw",
        "Labels",
    ),
    "karat.errors": (
        "InvalidData",
        "InvalidInput",
        "KaratError",
        "MissingExtra",
    ),
    "karat.exact_curve": (
        "ExactCurve",
        "exact",
    ),
    "karat.gates": (
        "Gate",
        "check_gate",
    ),
    "karat.notebook": ("NotebookBar",),
    "karat.pool.leaderboard": (
        "Difference",
        "Leaderboard",
    ),
    "karat.pool.pool": ("Pool",),
    "karat.results": (
        "Assumption",
        "Interval",
    ),
    "karat.simulation": (
        "Simulation",
        "simulate",
    ),
    "karat.slices": (
        "Slices",
        "slice_precision",
    ),
    "karat.study": (
        "Study",
        "curve_from",
        "load_draw",
        "save_draw",
        "open",
    ),
    "karat.topics": (
        "TopicScores",
        "evaluate_run",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_OWN_NAMES = {"open": "open_resource"}

__all__ = [
    "Assumption",
    "Band",
    "Bought",
    "Certify",
    "Comparison",
    "Curve",
    "Difference",
    "Draw",
    "ExactCurve",
    "Gate",
    "Interval",
    "InvalidData",
    "InvalidInput",
    "KaratError",
    "Labels",
    "Leaderboard",
    "MissingExtra",
    "NotebookBar",
    "Paula",
    "Point",
    "Pool",
    "Simulation",
    "Slices",
    "Stratified",
    "Study",
    "TopicScores",
    "Uniform",
    "carry_over",
    "check_gate",
    "compare_curves",
    "curve_from",
    "evaluate_run",
    "exact",
    "labels_to_be_as_tight",
    "load_draw",
    "open",
    "pr_band",
    "roc_band",
    "save_draw",
    "simulate",
    "slice_precision",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"karat has no '{name}'; it has {', '.join(__all__)}.")
    value = getattr(import_module(_HOME_OF[name]), _OWN_NAMES.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
