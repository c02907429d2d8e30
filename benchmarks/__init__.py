"""Ratios against named peers: `python -m benchmarks [name ...]` prints one table each."""
