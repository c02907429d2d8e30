"""Designs: they know N, a seed and the labels so far, and answer with ranks."""
