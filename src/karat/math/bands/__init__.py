"""Confidence bands for PR and ROC curves from a labelled sample: the mathematics, one concept a file."""
