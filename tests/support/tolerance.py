"""When does a simulation contradict a promised probability? Exact binomial tails, so a seed change is harmless."""

from __future__ import annotations

from scipy.stats import binom

ERROR = 1e-4
"""How often a right method would fail one of these checks if the seed were not fixed."""


def covers(n_covered: int, n_runs: int, *, level: float) -> bool:
    """Return whether so few successes are believable if each run succeeds with at least this probability."""
    return bool(binom.cdf(n_covered, n_runs, level) >= ERROR)


def rare(n_alarms: int, n_runs: int, *, level: float) -> bool:
    """Return whether so many alarms are believable if each run gives one with at most this probability."""
    return bool(binom.sf(n_alarms - 1, n_runs, level) >= ERROR)
