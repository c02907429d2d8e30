"""Confidence bands for PR and ROC curves from a labelled sample."""

from karat.bands.compare import compare_curves
from karat.bands.result import Band, Comparison, Interval
from karat.bands.single import from_estimator, pr_band, roc_band

__all__ = ["Band", "Comparison", "Interval", "compare_curves", "from_estimator", "pr_band", "roc_band"]
