"""karat: how good are my predictions?

Precision, recall, PR, ROC and AP of a huge scored resource, with bounds that hold, from few labels.
"""

from karat.bands.compare import compare_curves
from karat.bands.result import Band, Comparison
from karat.bands.single import pr_band, roc_band
from karat.curves import Curve
from karat.designs.certify import Certify
from karat.designs.paula import Paula
from karat.designs.point import Point
from karat.designs.stratified import Stratified
from karat.designs.uniform import Uniform
from karat.draws import Draw, Labels
from karat.errors import InvalidData, InvalidInput, KaratError, MissingExtra
from karat.exact import ExactCurve, exact
from karat.pool.leaderboard import Difference, Leaderboard
from karat.pool.pool import Pool
from karat.results import Assumption, Interval
from karat.simulate import Simulation, simulate
from karat.study import Study, curve_from, load_draw, save_draw
from karat.study import open_resource as open  # noqa: A004

__all__ = [
    "Assumption",
    "Band",
    "Certify",
    "Comparison",
    "Curve",
    "Difference",
    "Draw",
    "ExactCurve",
    "Interval",
    "InvalidData",
    "InvalidInput",
    "KaratError",
    "Labels",
    "Leaderboard",
    "MissingExtra",
    "Paula",
    "Point",
    "Pool",
    "Simulation",
    "Stratified",
    "Study",
    "Uniform",
    "compare_curves",
    "curve_from",
    "exact",
    "load_draw",
    "open",
    "pr_band",
    "roc_band",
    "save_draw",
    "simulate",
]
__version__ = "0.1.0"
